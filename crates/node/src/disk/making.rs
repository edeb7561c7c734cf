//! New disks: blank ones, those of a laboratory's founded cluster, and those on which a lost cluster continues.

use std::collections::{BTreeMap, BTreeSet};

use doorway_core::{NodeId, Refusal};

use super::frames::file_of;
use super::identity::Founders;
use super::{DiskContents, Record};
use crate::consensus::{BallotEntry, Electorate, LogSnapshot, Position};
use crate::{DiskId, Epoch, Nonce, Revocation, View};

/// The file of a new disk. Its node founds a cluster with others whose disks are new, or looks for one to join. The disk draws its
/// share of the epoch of a cluster that it founds.
#[must_use]
pub fn blank(disk: DiskId, share: Nonce) -> Vec<u8> {
    file_of(0, &[Record::Made { disk, share }])
}

/// The files of disks whose nodes have founded a cluster already: each disk with its node. The laboratory begins with them; real
/// nodes found their cluster when they first meet.
#[must_use]
pub fn found(voters: &[(DiskId, NodeId)]) -> Vec<Vec<u8>> {
    let share =
        |disk: DiskId| Nonce(u128::from(disk.0).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835));
    let founders = Founders(voters.iter().map(|(disk, node)| (*node, (*disk, share(*disk)))).collect());
    let file = |disk| {
        let mut records = vec![Record::Made { disk, share: share(disk) }, Record::Founders(founders.clone())];
        records.extend(genesis(&founders));
        file_of(0, &records)
    };
    voters.iter().map(|(disk, _)| file(*disk)).collect()
}

/// What a founder writes down when all founders have the same list.
pub(crate) fn genesis(founders: &Founders) -> [Record; 2] {
    let voters = founders.0.iter().map(|(node, (disk, _))| (*disk, *node)).collect();
    let snapshot = LogSnapshot::genesis(View::genesis(voters));
    [Record::Epoch(founders.epoch()), Record::Snapshot(Box::new(snapshot))]
}

/// By how many views and terms a survivor leaps at least: more than any majority can have decided without its knowledge.
pub const LEAP: u64 = 1 << 20;

/// By how many views a restored cluster leaps further than a recovered one: a backup may be from before some recoveries.
const RESTORED: u64 = 7 * LEAP;

/// What is drawn for a cluster that begins anew.
#[derive(Clone, Copy, Debug)]
pub struct Recovery {
    /// The disk of its first node.
    pub disk: DiskId,
    /// Its first node.
    pub me: NodeId,
    /// Its epoch.
    pub epoch: Epoch,
    /// By how many views and terms it leaps more than [`LEAP`]: of this only what is below half of it counts. Two recoveries of one
    /// cluster draw different numbers, so that they hardly ever hand out equal fences.
    pub draw: u64,
}

impl Recovery {
    fn leap(&self) -> u64 {
        // R30: leap at a recovery
        LEAP + self.draw % (LEAP / 2)
    }

    /// The file of a disk whose node is alone in a view and term so far above others.
    fn file(
        &self,
        newest: &View,
        removed: BTreeSet<DiskId>,
        last: Position,
        mut base: LogSnapshot,
    ) -> Result<Vec<u8>, Refusal> {
        let number = newest.number.saturating_add(self.leap());
        let genesis = View::genesis([(self.disk, self.me)].into());
        let revoked = newest.revoked.clone();
        let view = View { number, voters_since: number, removed, revoked, ..genesis };
        let position = Position { index: last.index + 1, term: last.term.saturating_add(self.leap()) };
        let lives = std::mem::take(&mut base.lives);
        let snapshot = LogSnapshot { position, lives, forgotten_to: number, ..LogSnapshot::genesis(view) };
        let bytes = file_of(
            0,
            &[
                Record::Made { disk: self.disk, share: Nonce(0) },
                Record::Epoch(self.epoch),
                Record::Vote { term: position.term, voted_for: None },
                Record::Snapshot(Box::new(snapshot)),
            ],
        );
        // Numbers can run out: a cluster can be recovered some eighty times. That is found here, not at the start of the node.
        DiskContents::read(&bytes).map(|_| bytes)
    }
}

/// The file of a new disk on which the survivor of a lost majority continues, alone at first and in an epoch of its own. All others that
/// ever were beside it count as removed, and its views and terms leap ahead of all that they can have decided: so its fences go on
/// rising, and none of them is ever taken in again with the disk that it had.
///
/// That two clusters do not live side by side is not in the power of this function: those others must be gone for good.
///
/// # Errors
/// If this is not the file of a node that took part in a cluster.
pub fn recover(bytes: &[u8], recovery: &Recovery) -> Result<Vec<u8>, Refusal> {
    let memory = DiskContents::read(bytes)?;
    let views = memory.entries.iter().filter_map(|(_, entry)| match entry {
        BallotEntry::View(view) => Some(&**view),
        BallotEntry::Term(_) | BallotEntry::Config(_) => None,
    });
    let views: Vec<&View> = memory.snapshot.view.iter().chain(views).collect();
    let Some(newest) = views.iter().max_by_key(|view| view.number) else {
        return Err(Refusal::new(
            "this node never belonged to its cluster, so there is nothing to recover: recover at a node that was, or begin anew with \
             `doorway cluster restore`",
        ));
    };
    let of_config = memory.entries.iter().filter_map(|(_, entry)| match entry {
        BallotEntry::Config(config) => Some(config),
        BallotEntry::Term(_) | BallotEntry::View(_) => None,
    });
    let configs = of_config.chain([&memory.snapshot.config]).flat_map(Electorate::everybody);
    let members = views.iter().flat_map(|view| view.members.values()).map(|life| life.disk);
    let voters = views.iter().flat_map(|view| view.all_voters().into_keys());
    let mut removed = newest.removed.clone();
    removed.extend(configs.map(|(disk, _)| disk).chain(members).chain(voters).chain([memory.disk()]));
    let last = Position { index: memory.last().index, term: memory.term };
    // Disks that only this knows of are as gone as the others.
    recovery.file(newest, removed, last, memory.snapshot.clone())
}

/// The file of a new disk on which a cluster begins anew of which only the number of a view is known, from a backup or a fence, and
/// the certificates that it had revoked, from a backup.
///
/// # Errors
/// If there are no numbers left for views, or the revocations are more than a cluster can have.
pub fn restore(
    view: u64,
    revoked: BTreeMap<String, Revocation>,
    recovery: &Recovery,
) -> Result<Vec<u8>, Refusal> {
    let number = view.saturating_add(RESTORED);
    if number.saturating_add(recovery.leap()) > View::LAST {
        let most = (View::LAST - RESTORED - LEAP * 3 / 2) << crate::wire::COUNTER_BITS;
        return Err(Refusal::new(format!(
            "no view numbers are left above that: a fence can be at most {most}"
        )));
    }
    let newest = View { number, revoked, ..View::genesis([(recovery.disk, recovery.me)].into()) };
    recovery.file(&newest, BTreeSet::new(), Position::default(), LogSnapshot::default())
}
