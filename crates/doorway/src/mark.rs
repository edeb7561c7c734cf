//! The highest fence that was seen, on a disk that may fail.
//!
//! The mark has two places of equal length, each a fence and its complement as decimal digits. Only the lower of the two is
//! ever overwritten with something else, so that a machine that loses power in the middle still finds the other.
//!
//! A sync may fail, and then the bytes are in memory alone: every process reads them, a loss of power loses them, and a second
//! sync reports success because the system believes that there is nothing left to do. So bytes of another process, or bytes
//! that were not synced, are never relied on: they are written again and synced before a fence passes and before
//! the other place is touched.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use doorway_core::Fence;

/// The file of a mark.
pub(crate) trait Medium {
    /// Reads from the beginning; returns the number of bytes.
    fn read(&self, bytes: &mut [u8]) -> io::Result<usize>;
    fn write(&self, bytes: &[u8], at: u64) -> io::Result<()>;
    /// Makes the written bytes survive a loss of power.
    fn sync(&self) -> io::Result<()>;
}

impl Medium for File {
    fn read(&self, bytes: &mut [u8]) -> io::Result<usize> {
        let mut count = 0;
        loop {
            match self.read_at(&mut bytes[count..], count as u64)? {
                0 => return Ok(count),
                more => count += more,
            }
        }
    }

    fn write(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        self.write_all_at(bytes, at)
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_all()
    }
}

/// How long one place is: twenty digits, a space, twenty digits, a newline.
pub(crate) const PLACE: usize = 42;

/// Why a fence does not pass.
#[derive(Debug)]
pub(crate) enum FenceError {
    /// This higher one has been seen.
    Stale(Fence),
    /// The mark is damaged.
    Damaged,
    Io(io::Error),
}

impl From<io::Error> for FenceError {
    fn from(error: io::Error) -> Self {
        FenceError::Io(error)
    }
}

/// The highest fence that this process has synced.
pub(crate) type Synced = Option<Fence>;

/// Lets a fence pass if it is not old, and makes it durable.
pub(crate) fn pass(medium: &impl Medium, fence: Fence, synced: &mut Synced) -> Result<(), FenceError> {
    let places = places(medium)?;
    if fence < places.highest {
        return Err(FenceError::Stale(places.highest));
    }
    if *synced != Some(places.highest) {
        put(medium, places.highest, places.higher(), synced)?;
    }
    if fence > places.highest {
        put(medium, fence, places.lower, synced)?;
    }
    Ok(())
}

/// Writes the first mark, unless it was completely written before. A truncated later mark does not count as an unfinished first one:
/// the truncation has lost fences that were seen.
pub(crate) fn begin(medium: &impl Medium) -> Result<(), FenceError> {
    let first = place(Fence(0)).repeat(2);
    let mut text = [0; 2 * PLACE];
    let count = medium.read(&mut text)?;
    let is_begun = text.iter().zip(first.bytes()).all(|(byte, right)| *byte == 0 || *byte == right);
    if text == first.as_bytes() {
        Ok(())
    } else if is_begun {
        medium.write(first.as_bytes(), 0)?;
        Ok(medium.sync()?)
    } else if count < text.len() {
        Err(FenceError::Damaged)
    } else {
        Ok(())
    }
}

/// The highest fence that was seen.
pub(crate) fn highest(medium: &impl Medium) -> Result<Fence, FenceError> {
    Ok(places(medium)?.highest)
}

fn put(medium: &impl Medium, fence: Fence, at: u64, synced: &mut Synced) -> io::Result<()> {
    *synced = None;
    medium.write(place(fence).as_bytes(), at)?;
    medium.sync()?;
    *synced = Some(fence);
    Ok(())
}

/// The content of a mark, and where the next fence goes.
struct Places {
    highest: Fence,
    lower: u64,
}

impl Places {
    /// Where the highest is.
    fn higher(&self) -> u64 {
        PLACE as u64 - self.lower
    }
}

fn places(medium: &impl Medium) -> Result<Places, FenceError> {
    let mut text = [0; 2 * PLACE];
    let count = medium.read(&mut text)?;
    let (first, second) = text[..count].split_at_checked(PLACE).ok_or(FenceError::Damaged)?;
    match (fence_of(first), fence_of(second)) {
        (None, None) => Err(FenceError::Damaged),
        (first, second) if first < second => Ok(Places { highest: second.unwrap_or_default(), lower: 0 }),
        (first, _) => Ok(Places { highest: first.unwrap_or_default(), lower: PLACE as u64 }),
    }
}

fn place(fence: Fence) -> String {
    format!("{:020} {:020}\n", fence.0, !fence.0)
}

fn fence_of(place: &[u8]) -> Option<Fence> {
    let text = std::str::from_utf8(place).ok()?.strip_suffix('\n')?;
    let (fence, complement) = text.split_once(' ')?;
    let fence: u64 = fence.parse().ok()?;
    (complement.parse() == Ok(!fence)).then_some(Fence(fence))
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use rand_core::Rng;
    use rand_pcg::Pcg64Mcg;

    use super::*;

    /// A disk with a memory before it. Writes go to memory, where all readers see them; a sync brings them to the disk. A
    /// sync that fails brings a part of it there, and forgets that there was more to do.
    #[derive(Default)]
    struct Disk {
        memory: RefCell<Vec<u8>>,
        disk: RefCell<Vec<u8>>,
        unsynced: RefCell<Vec<(usize, Vec<u8>)>>,
        /// How many bytes reach the disk when the next sync fails, if it does.
        fails_after: Cell<Option<usize>>,
    }

    impl Disk {
        /// A disk with an intact first mark.
        fn new() -> Self {
            let disk = Self::default();
            begin(&disk).expect("the disk is well");
            disk
        }

        /// This many unsynced bytes reach the disk, and the others are lost.
        fn bring(&self, mut count: usize) {
            for (at, bytes) in self.unsynced.take() {
                let reached = count.min(bytes.len());
                put_into(&mut self.disk.borrow_mut(), &bytes[..reached], at);
                count -= reached;
            }
        }

        fn lose_power(&self, reached: usize) {
            self.bring(reached);
            *self.memory.borrow_mut() = self.disk.borrow().clone();
        }
    }

    fn put_into(file: &mut Vec<u8>, bytes: &[u8], at: usize) {
        file.resize(file.len().max(at + bytes.len()), 0);
        file[at..at + bytes.len()].copy_from_slice(bytes);
    }

    impl Medium for Disk {
        fn read(&self, bytes: &mut [u8]) -> io::Result<usize> {
            let memory = self.memory.borrow();
            let count = memory.len().min(bytes.len());
            bytes[..count].copy_from_slice(&memory[..count]);
            Ok(count)
        }

        fn write(&self, bytes: &[u8], at: u64) -> io::Result<()> {
            let at = usize::try_from(at).expect("a small file");
            put_into(&mut self.memory.borrow_mut(), bytes, at);
            self.unsynced.borrow_mut().push((at, bytes.to_vec()));
            Ok(())
        }

        fn sync(&self) -> io::Result<()> {
            let fails_after = self.fails_after.take();
            self.bring(fails_after.unwrap_or(usize::MAX));
            fails_after.map_or(Ok(()), |_| Err(io::Error::other("the disk does not sync")))
        }
    }

    #[test]
    fn a_fence_whose_sync_failed_is_written_again_before_it_passes() {
        let (disk, mut synced) = (Disk::new(), None);
        pass(&disk, Fence(41), &mut synced).expect("the disk is well");
        disk.fails_after.set(Some(0));
        assert!(matches!(pass(&disk, Fence(42), &mut synced), Err(FenceError::Io(_))));
        assert_eq!(highest(&disk).expect("memory has it"), Fence(42));
        // For its holder, and for a process that opens the file and does not know of the failure.
        for mut synced in [synced, None] {
            pass(&disk, Fence(42), &mut synced).expect("the disk is well again");
            assert_eq!(synced, Some(Fence(42)));
        }
        disk.lose_power(0);
        assert!(matches!(pass(&disk, Fence(41), &mut None), Err(FenceError::Stale(Fence(42)))));
    }

    #[test]
    fn a_truncated_mark_is_damaged_an_unfinished_one_restarts() {
        let finished = place(Fence(41)) + &place(Fence(42));
        for length in 1..2 * PLACE {
            let disk = Disk::default();
            disk.write(&finished.as_bytes()[..length], 0).expect("the disk is well");
            // Up to its last digits the first fence looks like none.
            let is_told = length > 18;
            assert_eq!(matches!(begin(&disk), Err(FenceError::Damaged)), is_told, "{length}");
            let disk = Disk::default();
            let begun = place(Fence(0)).repeat(2);
            disk.write(&begun.as_bytes()[..length], 0).expect("the disk is well");
            disk.write(&[], 2 * PLACE as u64).expect("the disk is well");
            begin(&disk).expect("nobody has finished it");
            assert_eq!(highest(&disk).expect("it is whole"), Fence(0), "{length}");
        }
    }

    #[test]
    fn a_fence_that_was_seen_to_be_synced_is_not_written_again() {
        let (disk, mut synced) = (Disk::new(), None);
        pass(&disk, Fence(7), &mut synced).expect("the disk is well");
        disk.fails_after.set(Some(0));
        pass(&disk, Fence(7), &mut synced).expect("nothing is to be synced");
        assert!(pass(&disk, Fence(7), &mut None).is_err(), "another does not know it");
    }

    #[test]
    fn passed_fences_survive_failed_syncs_and_power_losses() {
        for seed in 0..400 {
            let mut random = Pcg64Mcg::new(seed);
            let mut below = |most: u64| random.next_u64() % most;
            let (disk, mut synced, mut passed, mut newest) = (Disk::new(), None, 0, 0);
            for _ in 0..200 {
                match below(8) {
                    0 => {
                        disk.lose_power(below(PLACE as u64 + 2) as usize);
                        synced = None;
                    }
                    1 => synced = None,
                    2 | 3 => disk.fails_after.set(Some(below(PLACE as u64 + 2) as usize)),
                    chance => newest += u64::from(chance == 4),
                }
                let fence = newest - below(newest.min(2) + 1);
                match pass(&disk, Fence(fence), &mut synced) {
                    Ok(()) => {
                        assert!(fence >= passed, "seed {seed}: {fence} passes after {passed}");
                        passed = fence;
                    }
                    Err(FenceError::Stale(seen)) => {
                        assert!(fence < seen.0 && seen.0 <= newest, "seed {seed}")
                    }
                    Err(FenceError::Io(_)) => {}
                    Err(FenceError::Damaged) => panic!("seed {seed}: one place is always whole"),
                }
            }
        }
    }
}
