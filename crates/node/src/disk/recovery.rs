//! A cluster begun anew by one survivor, when the majority of its voters is lost for good.
//!
//! The survivor's disk becomes the disk of a cluster of one, whose views are numbered so far above all that it knows of that the lost ones
//! cannot have got there: fences go on rising. All disks that it knows of are removed, so that none of them is ever taken in again.
//! Nobody can tell from here that the others are really gone; if they are not, there are two clusters, and two holders. Only a
//! person may order this.

use std::collections::BTreeSet;

use doorway_core::{NodeId, Refusal};

use super::{Memory, Record, file_of};
use crate::consensus::{Config, Entry, Position, Snapshot};
use crate::view::Voters;
use crate::{DiskId, View};

/// By how much the number of the view rises. A view each minute would take two years to get there.
pub const LEAP: u64 = 1 << 20;

/// The disk of a new cluster of one, made of the disk of a survivor; the new disk has this number, so that whoever knew the old one
/// does not take it for that.
///
/// # Errors
/// If the disk cannot be read, was never part of a cluster, or has been through this too often.
pub fn recovered(bytes: &[u8], disk: DiskId, me: NodeId) -> Result<Vec<u8>, Refusal> {
    let memory = Memory::read(bytes)?;
    let newest = newest_view(&memory).ok_or_else(|| {
        Refusal::new("this node has never been part of a cluster: there is nothing to recover from its disk")
    })?;
    let number = newest + LEAP;
    if number > View::LAST {
        return Err(Refusal::new("this cluster has been recovered too often: found a new one"));
    }
    let voters = Voters::from([(disk, me)]);
    let removed = known_disks(&memory).take(View::MOST_REMOVED).collect();
    let view = View { number, voters_since: number, removed, ..View::genesis(voters) };
    let last = memory.entries.last().map_or(memory.snapshot.position, |(position, _)| *position);
    let position = Position { index: last.index + 1, term: memory.term + 1 };
    let config = Config { voters: view.voters.clone(), ..Config::default() };
    let snapshot = Snapshot { position, config, view: Some(view), ..Snapshot::default() };
    let vote = Record::Vote { term: position.term, voted_for: None };
    Ok(file_of(&[Record::Made(disk), vote, Record::Snapshot(Box::new(snapshot))]))
}

/// The number of the newest view that a disk knows of, decided or not.
fn newest_view(memory: &Memory) -> Option<u64> {
    views(memory).map(|view| view.number).max()
}

/// The views that a disk knows of, the newest first.
fn views(memory: &Memory) -> impl Iterator<Item = &View> {
    let entries = memory.entries.iter().rev().filter_map(|(_, entry)| match entry {
        Entry::View(view) => Some(&**view),
        Entry::Term(_) | Entry::Config(_) => None,
    });
    entries.chain(&memory.snapshot.view)
}

/// The disks that a disk knows of, each once, those of the newest views first.
fn known_disks(memory: &Memory) -> impl Iterator<Item = DiskId> {
    let of_views = views(memory).flat_map(|view| {
        let members = view.members.values().map(|member| member.disk);
        members.chain(view.all_voters().into_keys()).chain(view.removed.iter().copied())
    });
    let own = std::iter::once(memory.disk);
    let mut seen = BTreeSet::new();
    own.chain(of_views).chain(memory.snapshot.lives.keys().copied()).filter(move |disk| seen.insert(*disk))
}

#[cfg(test)]
mod tests {
    use super::super::{blank, found, write_down};
    use super::*;

    #[test]
    fn a_survivor_becomes_a_cluster_of_one_far_above_all_views_that_it_knows() {
        let three: Vec<_> = (0..3).map(|node| (DiskId(node), NodeId::new(node as usize))).collect();
        let mut bytes = found(&three).remove(1);
        let known = View::genesis(three.into_iter().collect()).successor();
        let after = Position::default();
        bytes.extend(write_down(&[
            Record::Vote { term: 7, voted_for: None },
            Record::Entries { after, entries: vec![Entry::Term(7), Entry::View(Box::new(known))] },
        ]));
        let bytes = recovered(&bytes, DiskId(9), NodeId::new(1)).expect("there is something to recover");
        let memory = Memory::read(&bytes).expect("what was made can be read");
        let view = memory.snapshot.view.clone().expect("a view");
        assert_eq!((view.number, view.voters_since), (2 + LEAP, 2 + LEAP));
        assert_eq!(view.removed, BTreeSet::from([DiskId(0), DiskId(1), DiskId(2)]));
        assert_eq!(view.voters, Voters::from([(DiskId(9), NodeId::new(1))]));
        assert_eq!((memory.disk, memory.term, memory.snapshot.position.index), (DiskId(9), 8, 3));
        let again = recovered(&bytes, DiskId(10), NodeId::new(1)).expect("once more");
        let memory = Memory::read(&again).expect("what was made can be read");
        assert_eq!(memory.snapshot.view.map(|view| view.number), Some(2 + 2 * LEAP));
    }

    #[test]
    fn what_was_never_part_of_a_cluster_cannot_be_recovered() {
        let refusal = recovered(&blank(DiskId(1)), DiskId(2), NodeId::new(0)).expect_err("nothing is there");
        assert!(refusal.to_string().contains("never been part"));
    }
}
