//! What was found on a disk.

use doorway_core::Refusal;

use super::frames;
use super::identity::{Boot, Identity};
use super::record::Record;
use crate::consensus::{BallotEntry, Electorate, LogSnapshot, Position};
use crate::{DiskId, View};

/// What was found on a disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskContents {
    /// Which disk it is.
    pub identity: Identity,
    /// How many writes it has ever synced.
    pub synced: u64,
    pub(crate) term: u64,
    pub(crate) voted_for: Option<DiskId>,
    pub(crate) snapshot: LogSnapshot,
    pub(crate) entries: Vec<(Position, BallotEntry)>,
    /// How many bytes are whole; what follows is a torn end.
    pub whole: usize,
}

impl DiskContents {
    /// No node is started this often.
    const MOST_BOOTS: u64 = 1 << 62;

    /// Reads a disk's bytes.
    ///
    /// # Errors
    /// If they are not those of a node's disk, or were damaged other than by an unfinished write.
    pub fn read(bytes: &[u8]) -> Result<Self, Refusal> {
        let frames::Frames { records, synced, whole } = frames::read(bytes)?;
        let mut records = records.into_iter();
        let Some((_, Record::Made { disk, share })) = records.next() else {
            return Err(Refusal::new("the file of a Doorway node does not name its disk"));
        };
        let mut memory = DiskContents {
            identity: Identity::new(disk, share),
            synced,
            term: 0,
            voted_for: None,
            snapshot: LogSnapshot::default(),
            entries: Vec::new(),
            whole,
        };
        records.try_for_each(|(number, record)| memory.take(number, record))?;
        memory.check()?;
        Ok(memory)
    }

    /// Takes a record that the write of this number brought.
    fn take(&mut self, write: u64, record: Record) -> Result<(), Refusal> {
        let identity = &mut self.identity;
        match record {
            Record::Made { .. } => {
                return Err(Refusal::new("the file of a Doorway node names two disks"));
            }
            Record::Boot { number, nonce } => identity.start(Boot { number, nonce, after: write }),
            Record::Boots(boots) => identity.boots = boots,
            Record::Founders(founders) => identity.founders = Some(founders),
            Record::Epoch(epoch) => identity.epoch = Some(epoch),
            Record::SetBack(seen) => identity.set_back = Some(seen),
            Record::Vote { term, voted_for } => (self.term, self.voted_for) = (term, voted_for),
            Record::Snapshot(snapshot) => {
                if !self.entries.is_empty() {
                    return Err(Refusal::new("the log in the file of a Doorway node begins twice"));
                }
                self.snapshot = *snapshot;
            }
            Record::Entries { after, entries } => self.take_entries(after, entries)?,
        }
        Ok(())
    }

    fn take_entries(&mut self, after: Position, entries: Vec<BallotEntry>) -> Result<(), Refusal> {
        self.entries.retain(|(position, _)| position.index <= after.index);
        if self.last() != after {
            return Err(Refusal::new("the log in the file of a Doorway node has a gap"));
        }
        if after.after_all(&entries).is_none() {
            return Err(Refusal::new("the log in the file of a Doorway node is inconsistent"));
        }
        let mut position = after;
        for entry in entries {
            position = position.followed_by(&entry);
            self.entries.push((position, entry));
        }
        Ok(())
    }

    /// Whether all of it together can be.
    fn check(&self) -> Result<(), Refusal> {
        let LogSnapshot { position, config, view, lives, .. } = &self.snapshot;
        let is_newest = Position { index: position.index, term: self.term }.is_possible()
            && self.last().term <= self.term;
        let is_sound = *config == Electorate::default() || config.is_sound();
        let boots = &self.identity.boots;
        if self.boot() >= Self::MOST_BOOTS
            || boots.len() > Identity::MOST_BOOTS
            || !boots.is_sorted_by(|one, next| one.number < next.number && one.after <= next.after)
            || !is_newest
            || !is_sound
            || !view.as_ref().is_none_or(View::is_sound)
            || lives.len() > LogSnapshot::MOST_LIVES
        {
            return Err(Refusal::new(
                "the file of this node is inconsistent: start the node with a new data folder, as a new node",
            ));
        }
        Ok(())
    }

    /// The disk.
    #[must_use]
    pub fn disk(&self) -> DiskId {
        self.identity.disk
    }

    /// How often a node was started from it.
    #[must_use]
    pub fn boot(&self) -> u64 {
        self.identity.boot()
    }

    /// Whether its node never knew a cluster.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        self.identity.epoch.is_none()
    }

    /// The term that it remembers, and its vote in it.
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
        let Identity { disk, share, boots, founders, epoch, set_back } = &self.identity;
        let mut records = vec![Record::Made { disk: *disk, share: *share }, Record::Boots(boots.clone())];
        records.extend(founders.clone().map(Record::Founders));
        records.extend(epoch.map(Record::Epoch));
        records.extend(set_back.map(Record::SetBack));
        records.extend([
            Record::Vote { term: self.term, voted_for: self.voted_for },
            Record::Snapshot(Box::new(self.snapshot.clone())),
            Record::Entries {
                after: self.snapshot.position,
                entries: self.entries.iter().map(|(_, entry)| entry.clone()).collect(),
            },
        ]);
        records
    }
}
