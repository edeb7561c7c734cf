//! The highest fence that was seen, on a disk that may fail.
//!
//! The mark has two places of equal length, each a fence and its complement as decimal digits. Only the lower of the two is
//! ever overwritten with something else, so that a machine that loses power in the middle still finds the other.
//!
//! A disk may refuse to sync, and what it was to keep is then in memory alone: everybody reads it, nobody will find it after a
//! loss of power, and a second sync says that all is well because it believes that there is nothing left to do. So what somebody
//! else wrote, or what was not synced, is never relied on: it is written once more and synced before a fence passes and before
//! the other place is touched.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use doorway_core::Fence;

/// What a mark is written on.
pub(crate) trait Medium {
    /// Reads from the beginning; tells how much there was.
    fn read(&self, bytes: &mut [u8]) -> io::Result<usize>;
    fn write(&self, bytes: &[u8], at: u64) -> io::Result<()>;
    /// What was written is there after a loss of power.
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
pub(crate) enum Stop {
    /// This higher one has been seen.
    Stale(Fence),
    /// It cannot be what was written.
    Damaged,
    Io(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Stop::Io(error)
    }
}

/// The highest fence that whoever has this has seen to be synced.
pub(crate) type Synced = Option<Fence>;

/// Lets a fence pass if it is not old, and sees to it that it is remembered.
pub(crate) fn pass(medium: &impl Medium, fence: Fence, synced: &mut Synced) -> Result<(), Stop> {
    let places = places(medium)?;
    if fence < places.highest {
        return Err(Stop::Stale(places.highest));
    }
    if *synced != Some(places.highest) {
        put(medium, places.highest, places.higher(), synced)?;
    }
    if fence > places.highest {
        put(medium, fence, places.lower, synced)?;
    }
    Ok(())
}

/// Writes the first mark, if nobody has finished writing it yet. A part of another mark is none that was begun: whoever cut it off took
/// fences away that were seen.
pub(crate) fn begin(medium: &impl Medium) -> Result<(), Stop> {
    let first = place(Fence(0)).repeat(2);
    let mut text = [0; 2 * PLACE];
    let count = medium.read(&mut text)?;
    let is_begun = text.iter().zip(first.bytes()).all(|(byte, right)| *byte == 0 || *byte == right);
    match () {
        () if text == first.as_bytes() => Ok(()),
        () if is_begun => {
            medium.write(first.as_bytes(), 0)?;
            Ok(medium.sync()?)
        }
        () if count < text.len() => Err(Stop::Damaged),
        () => Ok(()),
    }
}

/// The highest fence that was seen.
pub(crate) fn highest(medium: &impl Medium) -> Result<Fence, Stop> {
    Ok(places(medium)?.highest)
}

fn put(medium: &impl Medium, fence: Fence, at: u64, synced: &mut Synced) -> io::Result<()> {
    *synced = None;
    medium.write(place(fence).as_bytes(), at)?;
    medium.sync()?;
    *synced = Some(fence);
    Ok(())
}

/// What a mark says, and where the next fence goes.
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

fn places(medium: &impl Medium) -> Result<Places, Stop> {
    let mut text = [0; 2 * PLACE];
    let count = medium.read(&mut text)?;
    let (first, second) = text[..count].split_at_checked(PLACE).ok_or(Stop::Damaged)?;
    match (fence_of(first), fence_of(second)) {
        (None, None) => Err(Stop::Damaged),
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

    /// A disk with a memory before it. What is written is in memory, and all who read see it; a sync brings it to the disk. A
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
        /// A disk that was begun when all was well.
        fn new() -> Self {
            let disk = Self::default();
            begin(&disk).expect("the disk is well");
            disk
        }

        /// So many bytes of what is not synced reach the disk, and of the others nobody knows any more.
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
        assert!(matches!(pass(&disk, Fence(42), &mut synced), Err(Stop::Io(_))));
        assert_eq!(highest(&disk).expect("memory has it"), Fence(42));
        // For its holder, and for one that opens the file and knows nothing of the failure.
        for mut synced in [synced, None] {
            pass(&disk, Fence(42), &mut synced).expect("the disk is well again");
            assert_eq!(synced, Some(Fence(42)));
        }
        disk.lose_power(0);
        assert!(matches!(pass(&disk, Fence(41), &mut None), Err(Stop::Stale(Fence(42)))));
    }

    #[test]
    fn a_mark_that_was_cut_off_is_damaged_and_one_that_was_never_finished_is_begun_anew() {
        let finished = place(Fence(41)) + &place(Fence(42));
        for length in 1..2 * PLACE {
            let disk = Disk::default();
            disk.write(&finished.as_bytes()[..length], 0).expect("the disk is well");
            // Up to its last digits the first fence looks like none.
            let is_told = length > 18;
            assert_eq!(matches!(begin(&disk), Err(Stop::Damaged)), is_told, "{length}");
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
    fn whatever_passed_is_remembered_through_failing_syncs_and_losses_of_power_at_any_byte() {
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
                    Err(Stop::Stale(seen)) => assert!(fence < seen.0 && seen.0 <= newest, "seed {seed}"),
                    Err(Stop::Io(_)) => {}
                    Err(Stop::Damaged) => panic!("seed {seed}: one place is always whole"),
                }
            }
        }
    }
}
