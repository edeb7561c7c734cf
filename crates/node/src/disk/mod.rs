//! What a node must not forget, as a file of records.
//!
//! The file begins with a mark, then come records, each with its length and a checksum. Most writes append records; now and then
//! the whole file is replaced by a shorter one that says the same. A write that was not finished when the machine
//! stopped leaves a torn end, which is cut off at the next start: nothing that depended on it has left the node.

mod file;
mod memory;

use std::io;

use doorway_core::{NodeId, Refusal};
use serde::{Deserialize, Serialize};

pub use self::file::FileDisk;
pub use self::memory::MemoryDisk;
use crate::consensus::{Config, Entry, Position, Snapshot};
use crate::{DiskId, View};

/// A place that keeps what was written to it. Each method returns when what it did will survive a loss of power.
pub trait Disk {
    /// All that is there.
    ///
    /// # Errors
    /// If it cannot be read.
    fn read(&mut self) -> io::Result<Vec<u8>>;

    /// Adds bytes at the end.
    ///
    /// # Errors
    /// If they cannot be written; then nobody knows how many of them are there.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Puts bytes in the place of all that is there: after a crash one finds either the old or the new.
    ///
    /// # Errors
    /// If they cannot be written.
    fn replace(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Carries out a write of a node.
    ///
    /// # Errors
    /// If it cannot be.
    fn write(&mut self, write: &Write) -> io::Result<()> {
        match write {
            Write::Append(bytes) => self.append(bytes),
            Write::Replace(bytes) => self.replace(bytes),
        }
    }
}

/// What a node asks of its disk.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum Write {
    /// Add these bytes at the end.
    Append(Vec<u8>),
    /// Put these bytes in the place of all that is there.
    Replace(Vec<u8>),
}

impl Write {
    /// How many bytes it has.
    #[must_use]
    pub fn len(&self) -> usize {
        let (Write::Append(bytes) | Write::Replace(bytes)) = self;
        bytes.len()
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// One thing that a node must not forget.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Record {
    /// The disk was made.
    Made(DiskId),
    /// The node was started for the so-manieth time.
    Boot(u64),
    /// The term of the consensus, and for whom the node has voted in it.
    Vote { term: u64, voted_for: Option<DiskId> },
    /// All that was decided up to a position of the log.
    Snapshot(Box<Snapshot>),
    /// The log goes on like this after a position; what stood there is void.
    Entries { after: Position, entries: Vec<Entry> },
}

/// The first bytes of every file: its name and version.
const MARK: &[u8; 8] = b"doorway\x02";

/// Records as bytes.
pub(crate) fn write_down(records: &[Record]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for record in records {
        // Records have only types that postcard knows.
        let body = postcard::to_stdvec(record).unwrap_or_default();
        bytes.extend_from_slice(&(body.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&crc32fast::hash(&body).to_le_bytes());
        bytes.extend_from_slice(&body);
    }
    bytes
}

/// A whole file of these records.
pub(crate) fn file_of(records: &[Record]) -> Vec<u8> {
    let mut bytes = MARK.to_vec();
    bytes.extend(write_down(records));
    bytes
}

/// The file of a new disk whose node will look for a cluster to join.
#[must_use]
pub fn blank(disk: DiskId) -> Vec<u8> {
    file_of(&[Record::Made(disk)])
}

/// The files of the disks of a new cluster: all begin with the same voters, so that nobody has to found it. Each disk with
/// its node.
#[must_use]
pub fn found(voters: &[(DiskId, NodeId)]) -> Vec<Vec<u8>> {
    let view = View::genesis(voters.iter().copied().collect());
    let snapshot = Snapshot::genesis(view);
    let file = |disk| file_of(&[Record::Made(disk), Record::Snapshot(Box::new(snapshot.clone()))]);
    voters.iter().map(|(disk, _)| file(*disk)).collect()
}

/// By how many views and terms a survivor leaps: more than any majority can have decided without its knowledge.
pub const LEAP: u64 = 1 << 20;

/// The file of a new disk on which the survivor of a lost majority goes on, alone for the beginning. All others who ever were
/// beside it count as removed, and its views and terms leap ahead of all that they can have decided: so its fences go on
/// rising, and none of them is ever taken in again with the disk that it had.
///
/// That two clusters do not live side by side is not in the power of this function: those others must be gone for good.
///
/// # Errors
/// If this is not the file of a node that took part in a cluster.
pub fn recover(bytes: &[u8], disk: DiskId, me: NodeId) -> Result<Vec<u8>, Refusal> {
    let memory = Memory::read(bytes)?;
    let views = memory.entries.iter().filter_map(|(_, entry)| match entry {
        Entry::View(view) => Some(&**view),
        Entry::Term(_) | Entry::Config(_) => None,
    });
    let views: Vec<&View> = memory.snapshot.view.iter().chain(views).collect();
    let Some(newest) = views.iter().max_by_key(|view| view.number) else {
        return Err(Refusal::new("this node has never known its cluster, so there is nothing to go on from"));
    };
    let of_config = memory.entries.iter().filter_map(|(_, entry)| match entry {
        Entry::Config(config) => Some(config),
        Entry::Term(_) | Entry::View(_) => None,
    });
    let configs = of_config.chain([&memory.snapshot.config]).flat_map(Config::everybody);
    let members = views.iter().flat_map(|view| view.members.values()).map(|life| life.disk);
    let voters = views.iter().flat_map(|view| view.all_voters().into_keys());
    let mut removed = newest.removed.clone();
    removed.extend(configs.map(|(disk, _)| disk).chain(members).chain(voters).chain([memory.disk]));
    let number = newest.number + LEAP;
    let genesis = View::genesis([(disk, me)].into());
    let view = View { number, voters_since: number, removed, ..genesis };
    let last = memory.entries.last().map_or(memory.snapshot.position, |(position, _)| *position);
    let position = Position { index: last.index + 1, term: memory.term + LEAP };
    // Disks that only this knows of are as gone as the others.
    let lives = memory.snapshot.lives.clone();
    let snapshot = Snapshot { position, lives, forgotten_to: number, ..Snapshot::genesis(view) };
    let bytes = file_of(&[
        Record::Made(disk),
        Record::Vote { term: position.term, voted_for: None },
        Record::Snapshot(Box::new(snapshot)),
    ]);
    // What cannot be is found here and not when the node is started: a cluster can be recovered a hundred times, not for ever.
    Memory::read(&bytes).map(|_| bytes)
}

/// What was found on a disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    /// The disk.
    pub disk: DiskId,
    /// How often a node was started from it.
    pub boot: u64,
    pub(crate) term: u64,
    pub(crate) voted_for: Option<DiskId>,
    pub(crate) snapshot: Snapshot,
    pub(crate) entries: Vec<(Position, Entry)>,
    /// How many bytes are whole; what follows is a torn end.
    pub whole: usize,
}

impl Memory {
    /// Nobody starts a node this often.
    const MOST_BOOTS: u64 = 1 << 62;

    /// Reads a disk's bytes.
    ///
    /// # Errors
    /// If they are not those of a node's disk, or were damaged other than by an unfinished write.
    pub fn read(bytes: &[u8]) -> Result<Self, Refusal> {
        let Some(body) = bytes.strip_prefix(MARK) else {
            return Err(Refusal::new("this is not the file of a Doorway node, or one of another version"));
        };
        let (records, whole) = read_records(body)?;
        let mut records = records.into_iter();
        let Some(Record::Made(disk)) = records.next() else {
            return Err(Refusal::new("the file of a Doorway node does not say which disk it is of"));
        };
        let mut memory = Memory {
            disk,
            boot: 0,
            term: 0,
            voted_for: None,
            snapshot: Snapshot::default(),
            entries: Vec::new(),
            whole: MARK.len() + whole,
        };
        records.try_for_each(|record| memory.take(record))?;
        memory.check()?;
        Ok(memory)
    }

    fn take(&mut self, record: Record) -> Result<(), Refusal> {
        match record {
            Record::Made(_) => {
                return Err(Refusal::new("the file of a Doorway node is of two disks at once"));
            }
            Record::Boot(boot) => self.boot = boot,
            Record::Vote { term, voted_for } => (self.term, self.voted_for) = (term, voted_for),
            Record::Snapshot(snapshot) => {
                if !self.entries.is_empty() {
                    return Err(Refusal::new("the log in the file of a Doorway node begins twice"));
                }
                self.snapshot = *snapshot;
            }
            Record::Entries { after, entries } => {
                self.entries.retain(|(position, _)| position.index <= after.index);
                let last = self.entries.last().map_or(self.snapshot.position, |(position, _)| *position);
                if last != after {
                    return Err(Refusal::new("the log in the file of a Doorway node has a gap"));
                }
                if after.after_all(&entries).is_none() {
                    return Err(Refusal::new("the log in the file of a Doorway node cannot be"));
                }
                let mut position = after;
                for entry in entries {
                    position = position.followed_by(&entry);
                    self.entries.push((position, entry));
                }
            }
        }
        Ok(())
    }

    /// Whether all of it together can be.
    fn check(&self) -> Result<(), Refusal> {
        let last = self.entries.last().map_or(self.snapshot.position, |(position, _)| *position);
        let Snapshot { position, config, view, lives, .. } = &self.snapshot;
        let is_newest =
            Position { index: position.index, term: self.term }.is_possible() && last.term <= self.term;
        let is_sound = *config == Config::default() || config.is_sound();
        if self.boot >= Self::MOST_BOOTS
            || !is_newest
            || !is_sound
            || !view.as_ref().is_none_or(View::is_sound)
            || lives.len() > Snapshot::MOST_LIVES
        {
            return Err(Refusal::new(
                "the file of this node says what cannot be: start it with a new data folder, as a new node",
            ));
        }
        Ok(())
    }

    /// The term that it remembers, and whom it voted for in it.
    #[must_use]
    pub fn vote(&self) -> (u64, Option<DiskId>) {
        (self.term, self.voted_for)
    }

    /// Where its log ends.
    #[must_use]
    pub fn last(&self) -> Position {
        self.entries.last().map_or(self.snapshot.position, |(position, _)| *position)
    }

    /// The records that say the same.
    pub(crate) fn records(&self) -> Vec<Record> {
        vec![
            Record::Made(self.disk),
            Record::Boot(self.boot),
            Record::Vote { term: self.term, voted_for: self.voted_for },
            Record::Snapshot(Box::new(self.snapshot.clone())),
            Record::Entries {
                after: self.snapshot.position,
                entries: self.entries.iter().map(|(_, entry)| entry.clone()).collect(),
            },
        ]
    }
}

/// The records, and how many bytes they take. An end that is torn is left out.
fn read_records(body: &[u8]) -> Result<(Vec<Record>, usize), Refusal> {
    let (mut records, mut at) = (Vec::new(), 0);
    while let Some((record, length)) = read_record(&body[at..]) {
        records.push(record);
        at += length;
    }
    // Writes are finished in order, so behind a record that was not finished there is no whole one.
    let claimed = body.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map(u32::from_le_bytes);
    let behind = claimed.and_then(|length| body.get(at + 8 + length as usize..));
    if behind.is_some_and(|rest| read_record(rest).is_some()) {
        return Err(Refusal::new(
            "the file of this node is damaged in the middle: start it with a new data folder, as a new node",
        ));
    }
    Ok((records, at))
}

fn read_record(bytes: &[u8]) -> Option<(Record, usize)> {
    let number = |at: usize| bytes.get(at..at + 4)?.try_into().ok().map(u32::from_le_bytes);
    let (length, checksum) = (number(0)? as usize, number(4)?);
    let body = bytes.get(8..)?.get(..length)?;
    let record = (crc32fast::hash(body) == checksum).then(|| postcard::from_bytes(body).ok())??;
    Some((record, 8 + length))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boots(count: u64) -> Vec<u8> {
        let mut bytes = blank(DiskId(7));
        for boot in 1..=count {
            bytes.extend(write_down(&[Record::Boot(boot)]));
        }
        bytes
    }

    #[test]
    fn a_torn_end_is_cut_off_wherever_it_is_torn() {
        let (three, two) = (boots(3), boots(2));
        for length in two.len()..three.len() {
            let memory = Memory::read(&three[..length]).expect("a torn end is no damage");
            assert_eq!((memory.boot, memory.whole), (2, two.len()));
        }
        assert_eq!(Memory::read(&three).expect("it is whole").boot, 3);
    }

    #[test]
    fn damage_in_the_middle_is_told_from_a_torn_end() {
        let mut bytes = boots(3);
        let first = boots(0).len() + 8;
        bytes[first] ^= 1;
        assert!(
            Memory::read(&bytes).expect_err("it is damaged").to_string().contains("damaged in the middle")
        );
        assert!(Memory::read(b"something else").is_err());
        assert!(Memory::read(b"").is_err());
    }

    #[test]
    fn entries_replace_those_behind_their_place_and_never_leave_a_gap() {
        let position = |term, index| Position { term, index };
        let entries = |after, terms: &[u64]| Record::Entries {
            after,
            entries: terms.iter().map(|&term| Entry::Term(term)).collect(),
        };
        let mut bytes = blank(DiskId(7));
        bytes.extend(write_down(&[Record::Vote { term: 5, voted_for: None }]));
        bytes.extend(write_down(&[entries(position(0, 0), &[1, 2, 3]), entries(position(1, 1), &[4])]));
        let memory = Memory::read(&bytes).expect("it is whole");
        let positions: Vec<Position> = memory.entries.iter().map(|(position, _)| *position).collect();
        assert_eq!(positions, [position(1, 1), position(4, 2)]);
        bytes.extend(write_down(&[entries(position(4, 9), &[5])]));
        assert!(Memory::read(&bytes).expect_err("a gap").to_string().contains("gap"));
    }

    #[test]
    fn a_survivor_goes_on_alone_ahead_of_all_that_it_knew_of() {
        let node = NodeId::new;
        let files = found(&[(DiskId(1), node(0)), (DiskId(2), node(1)), (DiskId(3), node(2))]);
        let bytes = recover(&files[1], DiskId(9), node(1)).expect("it was founded");
        let memory = Memory::read(&bytes).expect("it is whole");
        let view = memory.snapshot.view.expect("there is one");
        assert_eq!((memory.disk, memory.boot, memory.term), (DiskId(9), 0, LEAP));
        assert_eq!((view.number, view.voters), (1 + LEAP, [(DiskId(9), node(1))].into()));
        assert_eq!(view.removed, [1, 2, 3].map(DiskId).into());
        let again = recover(&bytes, DiskId(10), node(1)).expect("it can be done again");
        let view = Memory::read(&again).expect("it is whole").snapshot.view.expect("there is one");
        assert_eq!((view.number, view.removed), (1 + 2 * LEAP, [1, 2, 3, 9].map(DiskId).into()));
        assert!(recover(&blank(DiskId(7)), DiskId(8), node(0)).is_err(), "it knew no cluster");
        let mut bytes = bytes;
        let most = (0..200).take_while(|disk| {
            let next = recover(&bytes, DiskId(100 + disk), node(1));
            next.is_ok_and(|next| {
                bytes = next;
                true
            })
        });
        assert_eq!(most.count(), 126, "then there are no numbers left for views");
    }
}
