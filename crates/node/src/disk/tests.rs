//! What a file says after writes, torn ends, damage and recoveries.

use std::collections::BTreeMap;

use doorway_core::NodeId;

use super::making::genesis;
use super::*;
use crate::consensus::{BallotEntry, Position};
use crate::{DiskId, Epoch, Nonce, Revocation};

/// A disk with this many starts, each a write of its own.
fn starts(count: u64) -> Vec<u8> {
    let mut bytes = blank(DiskId(7), Nonce(0));
    append(&mut bytes, (1..=count).map(|number| vec![Record::Boot { number, nonce: Nonce(number.into()) }]));
    bytes
}

/// Adds writes to a file that has one.
fn append(bytes: &mut Vec<u8>, writes: impl IntoIterator<Item = Vec<Record>>) {
    let mut journal = Journal::new(1);
    for records in writes {
        let Write::Append(frame) = journal.append(&records) else { panic!("it adds to the file") };
        bytes.extend(frame);
    }
}

#[test]
fn a_torn_end_is_cut_off_wherever_it_is_torn() {
    let (three, two) = (starts(3), starts(2));
    for length in two.len()..three.len() {
        let memory = DiskContents::read(&three[..length]).expect("a torn end is no damage");
        assert_eq!((memory.boot(), memory.synced, memory.whole), (2, 3, two.len()));
    }
    let memory = DiskContents::read(&three).expect("it is whole");
    assert_eq!((memory.boot(), memory.synced), (3, 4));
    let grown = [&two[..], &[0; 100]].concat();
    assert_eq!(DiskContents::read(&grown).expect("a file that grew without its bytes").whole, two.len());
}

#[test]
fn damage_is_distinguished_from_a_torn_end() {
    let first = starts(0).len();
    for at in [first, first + 5, first + 13, first + 17, first + frames::HEADER] {
        let mut bytes = starts(3);
        bytes[at] ^= 1;
        let why = DiskContents::read(&bytes).expect_err("it is damaged").to_string();
        assert!(why.contains(&format!("is damaged at byte {first}:")), "{at}: {why}");
    }
    let mut bytes = starts(3);
    bytes[frames::MARK.len() + frames::HEADER] ^= 1;
    assert!(DiskContents::read(&bytes).expect_err("it is damaged").to_string().contains("at byte 8:"));
}

#[test]
fn a_damaged_mark_or_first_write_is_reported_with_its_byte() {
    let why = |bytes: &[u8]| DiskContents::read(bytes).expect_err("it is damaged").to_string();
    for at in 0..frames::MARK.len() {
        let mut bytes = starts(3);
        bytes[at] ^= 1;
        // Not a file of another version, whose advice would be to begin the whole cluster anew.
        assert!(why(&bytes).contains("is damaged at byte 0: the mark"), "{at}: {}", why(&bytes));
    }
    assert!(why(frames::MARK).contains("is damaged at byte 8: the first write is missing"));
}

#[test]
fn files_of_other_kinds_and_versions_are_distinguished() {
    let why = |bytes: &[u8]| DiskContents::read(bytes).expect_err("none of this version").to_string();
    assert!(why(b"something else").contains("not the file of a Doorway node"));
    assert!(why(b"").contains("not the file of a Doorway node"));
    assert!(why(b"doorway\x02rest").contains("version 2, written by an earlier Doorway"));
    assert!(why(b"doorway\x04rest").contains("version 4, written by a later Doorway"));
    assert!(why(b"doorway\x04rest").contains("if there was none, the file is damaged at byte 7."));
}

#[test]
fn a_write_that_stands_twice_or_is_missing_is_refused() {
    let (one, two, three) = (starts(1), starts(2), starts(3));
    let doubled = [&two[..], &two[one.len()..]].concat();
    let missing = [&one[..], &three[two.len()..]].concat();
    for bytes in [doubled, missing] {
        let why = DiskContents::read(&bytes).expect_err("it is damaged").to_string();
        assert!(why.contains("missing or duplicated"), "{why}");
    }
}

#[test]
fn entries_replace_later_ones_and_leave_no_gap() {
    let position = |term, index| Position { term, index };
    let entries = |after, terms: &[u64]| Record::Entries {
        after,
        entries: terms.iter().map(|&term| BallotEntry::Term(term)).collect(),
    };
    let vote = Record::Vote { term: 5, voted_for: None };
    let first = vec![vote, entries(position(0, 0), &[1, 2, 3])];
    let mut bytes = blank(DiskId(7), Nonce(0));
    append(&mut bytes, [first.clone(), vec![entries(position(1, 1), &[4])]]);
    let memory = DiskContents::read(&bytes).expect("it is whole");
    let positions: Vec<Position> = memory.entries.iter().map(|(position, _)| *position).collect();
    assert_eq!(positions, [position(1, 1), position(4, 2)]);
    let mut bytes = blank(DiskId(7), Nonce(0));
    append(&mut bytes, [first, vec![entries(position(4, 9), &[5])]]);
    assert!(DiskContents::read(&bytes).expect_err("a gap").to_string().contains("gap"));
}

/// What is drawn for a recovery onto this disk of node 1.
fn recovery(disk: u64, draw: u64) -> Recovery {
    Recovery { disk: DiskId(disk), me: NodeId::new(1), epoch: Epoch(disk.into()), draw }
}

#[test]
fn a_survivor_continues_alone_above_all_known_views() {
    let node = NodeId::new;
    let files = found(&[(DiskId(1), node(0)), (DiskId(2), node(1)), (DiskId(3), node(2))]);
    let bytes = recover(&files[1], &recovery(9, 5)).expect("it was founded");
    let memory = DiskContents::read(&bytes).expect("it is whole");
    let view = memory.snapshot.view.clone().expect("there is one");
    assert_eq!((memory.disk(), memory.boot(), memory.term), (DiskId(9), 0, LEAP + 5));
    assert_eq!((view.number, view.voters), (1 + LEAP + 5, [(DiskId(9), node(1))].into()));
    assert_eq!((view.removed, memory.identity.epoch), ([1, 2, 3].map(DiskId).into(), Some(Epoch(9))));
    let again = recover(&bytes, &recovery(10, LEAP / 2 + 3)).expect("it can be done again");
    let view = DiskContents::read(&again).expect("it is whole").snapshot.view.expect("there is one");
    assert_eq!((view.number, view.removed), (1 + 2 * LEAP + 8, [1, 2, 3, 9].map(DiskId).into()));
    let refused = recover(&blank(DiskId(7), Nonce(0)), &recovery(8, 0)).expect_err("it knew no cluster");
    assert!(refused.to_string().contains("recover at a node that was"), "{refused}");
    let mut bytes = bytes;
    let most = (0..200).take_while(|disk| {
        let next = recover(&bytes, &recovery(100 + disk, LEAP / 2 - 1));
        next.is_ok_and(|next| {
            bytes = next;
            true
        })
    });
    assert_eq!(
        most.count(),
        84,
        "then there are no numbers left for views, even if the largest leaps are drawn"
    );
}

#[test]
fn a_restored_cluster_begins_above_the_view_of_its_backup() {
    let revoked: BTreeMap<_, _> =
        [("e".to_owned(), Revocation { node: NodeId::new(5), until: 1_000 })].into();
    let memory =
        DiskContents::read(&restore(77, revoked.clone(), &recovery(9, 5)).expect("there are numbers left"))
            .expect("it is whole");
    let view = memory.snapshot.view.expect("there is one");
    assert_eq!((view.number, memory.identity.epoch), (77 + 8 * LEAP + 5, Some(Epoch(9))));
    assert_eq!(view.revoked, revoked, "what was revoked stays so");
    for view in [(1 << 27) - 2, (1 << 27) - 8 * LEAP, u64::MAX] {
        let refusal = restore(view, BTreeMap::new(), &recovery(9, 0))
            .expect_err("there are no numbers left")
            .to_string();
        assert!(refusal.contains("no view numbers are left above that: a fence can be at most"), "{refusal}");
    }
}

#[test]
fn founders_that_drew_other_shares_found_another_epoch() {
    let founders = |share: u128| {
        Founders([1, 2].map(|n| (NodeId::new(n), (DiskId(n as u64), Nonce(share << n)))).into())
    };
    assert_ne!(founders(5).epoch(), founders(6).epoch());
    assert_eq!(genesis(&founders(5)), genesis(&founders(5)));
}
