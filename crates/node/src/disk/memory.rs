//! A disk in memory that can lose power, for simulations.

use std::io;

use super::{Disk, Write};

/// A disk in memory. What was asked of it and not finished can be lost, in part or as a whole.
#[derive(Clone, Debug, Default)]
pub struct MemoryDisk {
    bytes: Vec<u8>,
}

impl MemoryDisk {
    /// A disk with this on it.
    #[must_use]
    pub fn new(bytes: Vec<u8>) -> Self {
        Self { bytes }
    }

    /// All that is there.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The power fails while these writes are under way: of all their bytes the first `reached` have reached the disk. A
    /// file is replaced as a whole or not at all.
    pub fn lose_power<'a>(&mut self, unfinished: impl Iterator<Item = &'a Write>, mut reached: usize) {
        for write in unfinished {
            match write {
                Write::Append(bytes) => {
                    let part = &bytes[..reached.min(bytes.len())];
                    self.bytes.extend_from_slice(part);
                    if part.len() < bytes.len() {
                        return;
                    }
                    reached -= bytes.len();
                }
                Write::Replace(bytes) if reached >= bytes.len() => {
                    self.bytes.clone_from(bytes);
                    reached -= bytes.len();
                }
                Write::Replace(_) => return,
            }
        }
    }
}

impl Disk for MemoryDisk {
    fn read(&mut self) -> io::Result<Vec<u8>> {
        Ok(self.bytes.clone())
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn replace(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.bytes = bytes.to_vec();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_of_power_keeps_a_prefix_of_the_writes() {
        let writes =
            [Write::Append(b"ab".to_vec()), Write::Replace(b"xyz".to_vec()), Write::Append(b"c".to_vec())];
        let after = |reached| {
            let mut disk = MemoryDisk::new(b"-".to_vec());
            disk.lose_power(writes.iter(), reached);
            String::from_utf8_lossy(disk.bytes()).into_owned()
        };
        assert_eq!([0, 1, 2, 4, 5, 6].map(after), ["-", "-a", "-ab", "-ab", "xyz", "xyzc"]);
    }
}
