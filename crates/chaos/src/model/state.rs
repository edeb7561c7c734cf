//! A state of the model: the nodes, what is on its way between them, and what was decided.

use super::roster::Roster;
use super::voters::{Voters, Voting};

/// How many nodes there are at most. The fourth is there only if it becomes a voter.
pub(super) const NODES: usize = 4;
/// How many nodes the first view has.
pub(super) const FIRST_NODES: usize = 3;
/// The most views; the first is there from the beginning.
pub(super) const MOST_VIEWS: u8 = 3;

/// All that is the case at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct State {
    pub(super) nodes: [Node; NODES],
    /// For each view the receiver of its permission, while that is in flight.
    pub(super) flights: [Option<u8>; MOST_VIEWS as usize],
    /// The client of a node that crashed or was set back, if it was inside and its deadline has not come.
    pub(super) orphan: Option<Orphan>,
    /// Whether a node has crashed.
    pub(super) has_crashed: bool,
    /// The newest view in which a client entered, or that all nodes have learned: no client can enter in an older one.
    pub(super) fence: u8,
    /// The node whose disk was set back, as long as it has not marked itself.
    pub(super) set_back: Option<SetBack>,
    /// The views from the second on that were decided, and that only the node had learned whose disk was set back.
    pub(super) lost: [Option<Roster>; MOST_VIEWS as usize - 1],
    /// The view directly after which logs have the new voters of consensus, once that entry is decided.
    pub(super) configured: Option<u8>,
}

/// A node, with its disk and its client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) standing: Standing,
    /// Its incarnation: boot and tenure in one number, which only grows.
    pub(super) life: u8,
    /// The newest view that it has learned; if it has a view, this is it.
    pub(super) learned: u8,
    /// The views from the second on in its log, decided or not.
    pub(super) log: [Option<Roster>; MOST_VIEWS as usize - 1],
    /// What it reported at the beginning of each view from the second on.
    pub(super) reports: [Option<ClientReport>; MOST_VIEWS as usize - 1],
    /// The view directly after which its log has the new voters of consensus, decided or not.
    pub(super) config: Option<u8>,
    pub(super) is_inside: bool,
    /// Whether its client was told to stop, and may be inside until its deadline and the margin have passed.
    pub(super) is_stopping: bool,
    /// Whether the permission of its view is here.
    pub(super) has_permission: bool,
    /// When the heartbeat was sent that its lease counts from, if it has one.
    pub(super) lease: Option<Sent>,
    /// A heartbeat that some voters have acknowledged, and when it was sent.
    pub(super) heartbeat: Option<(Voters, Sent)>,
    /// Whether its quiet time lasts.
    pub(super) is_quiet: bool,
}

/// What an incarnation of a node reports: whether its client is inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ClientReport {
    pub(super) life: u8,
    pub(super) is_inside: bool,
}

/// How a node takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// It crashed, and was not started again.
    Down,
    /// It runs, and has no view.
    Apart,
    /// It has a view, and not all reports.
    Limbo,
    /// Its view is installed.
    Active,
    /// It has said that it leaves; it still votes.
    Left,
    /// It has marked its disk as set back: it never votes or takes part again.
    Marked,
    /// There is no such node in this run.
    Absent,
}

/// A disk that was set back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SetBack {
    pub(super) node: u8,
    pub(super) evidence: Evidence,
}

/// What shows the other voters that a disk was set back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Evidence {
    /// Its list of lives lacks one that every log names.
    Life,
    /// These voters, one bit each, remember that it had synced more.
    Synced(u8),
}

/// The client of a crashed node: it knows its deadline, and nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Orphan {
    pub(super) node: u8,
    pub(super) life: u8,
    pub(super) lease: Sent,
}

/// When a heartbeat was sent, relative to quiet times, and which voters acknowledged it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sent {
    /// The nodes whose quiet time began later, one bit each.
    pub(super) quiet: u8,
    /// Whether the view with only the new voters was decided later. Asked by the age rule.
    pub(super) is_before_new: bool,
    /// Of which voters a majority has acknowledged it. Asked by the age rule.
    pub(super) voting: Voting,
    /// The voters that have restarted since. Asked by the age rule if it has no boot guard.
    pub(super) forgotten: Voters,
}

impl State {
    /// Three nodes are active in the first view with leases; its permission is with node 1. A fourth waits to be taken in.
    pub(super) fn first(has_fourth: bool) -> Self {
        let node = Node {
            standing: Standing::Active,
            life: 0,
            learned: 1,
            log: [None; MOST_VIEWS as usize - 1],
            reports: [None; MOST_VIEWS as usize - 1],
            config: None,
            is_inside: false,
            is_stopping: false,
            has_permission: false,
            lease: Some(Sent::NOW),
            heartbeat: None,
            is_quiet: false,
        };
        let mut nodes = [node; NODES];
        nodes[0].has_permission = true;
        nodes[FIRST_NODES].forget(if has_fourth { Standing::Apart } else { Standing::Absent });
        let flights = [None; MOST_VIEWS as usize];
        let lost = [None; MOST_VIEWS as usize - 1];
        Self {
            nodes,
            flights,
            orphan: None,
            has_crashed: false,
            fence: 1,
            set_back: None,
            lost,
            configured: None,
        }
    }

    /// The content of a view, if it is decided: a node has learned it, or had before its disk was set back.
    pub(super) fn decided(&self, view: u8) -> Option<Roster> {
        self.learned(view).or_else(|| self.lost(view))
    }

    /// The content of a view, if a node has learned it.
    pub(super) fn learned(&self, view: u8) -> Option<Roster> {
        self.nodes.iter().find(|node| node.learned >= view).and_then(|node| node.view(view))
    }

    /// The content of a view that was decided, and that only a set-back disk had as learned.
    pub(super) fn lost(&self, view: u8) -> Option<Roster> {
        if view == 1 { None } else { self.lost[usize::from(view) - 2] }
    }

    /// The view directly after which the new voters of consensus are decided, if that is before this view.
    pub(super) fn config_before(&self, view: u8) -> Option<u8> {
        self.configured.filter(|place| *place < view)
    }

    /// Whether the client that a crash left behind at a node is inside.
    pub(super) fn has_orphan(&self, node: usize) -> bool {
        self.orphan.is_some_and(|orphan| usize::from(orphan.node) == node)
    }

    /// What a member reported at the beginning of a view with this content: whether its client is inside. Reports of an incarnation
    /// that the content lacks, or for a content that another majority decided, do not count.
    pub(super) fn reported(&self, view: u8, roster: Roster, member: usize) -> Option<bool> {
        if view == 1 {
            return Some(false);
        }
        let node = &self.nodes[member];
        let is_for = |report: &ClientReport| {
            roster.has(member, report.life) && node.view(view).is_none_or(|own| own == roster)
        };
        node.reports[usize::from(view) - 2].filter(is_for).map(|report| report.is_inside)
    }

    /// The node reported to be inside at the beginning of a view with this content, or several if something is wrong.
    pub(super) fn holders(&self, view: u8, roster: Roster) -> impl Iterator<Item = usize> {
        (0..NODES).filter(move |node| self.reported(view, roster, *node) == Some(true))
    }

    /// Stops a node. Its client continues until its deadline.
    pub(super) fn stop(&mut self, me: usize) {
        let node = &mut self.nodes[me];
        let orphan = |lease| Orphan { node: me as u8, life: node.life, lease };
        self.orphan = node.lease.filter(|_| node.is_inside).map(orphan).or(self.orphan);
        node.forget(Standing::Down);
        self.forget_quiet(me);
    }

    /// Rule 28: whether two voters count what the other says. They do not if one was set back and the other knows it.
    pub(super) fn is_greeted(&self, one: usize, other: usize) -> bool {
        let Some(SetBack { node, evidence }) = self.set_back else { return true };
        let node = usize::from(node);
        !(node == one && evidence.is_known_to(other) || node == other && evidence.is_known_to(one))
    }

    /// Begins a node's quiet time: every heartbeat so far was sent before it.
    pub(super) fn begin_quiet(&mut self, node: usize) {
        self.nodes[node].is_quiet = true;
        self.each_sent(|sent| sent.quiet |= 1 << node);
    }

    /// Forgets a node's quiet time.
    pub(super) fn forget_quiet(&mut self, node: usize) {
        self.nodes[node].is_quiet = false;
        self.each_sent(|sent| sent.quiet &= !(1 << node));
    }

    /// Those inside, each with its node, its incarnation and its lease.
    pub(super) fn inside(&self) -> impl Iterator<Item = (usize, u8, Option<Sent>)> {
        let own = (0..NODES).map(|node| (node, &self.nodes[node])).filter(|(_, node)| node.is_inside);
        let orphan = self.orphan.map(|orphan| (usize::from(orphan.node), orphan.life, Some(orphan.lease)));
        own.map(|(number, node)| (number, node.life, node.lease)).chain(orphan)
    }

    /// Whether a view that is decided has an incarnation, from the views of these numbers.
    pub(super) fn was_in(&self, views: std::ops::Range<u8>, node: usize, life: u8) -> bool {
        views.into_iter().any(|view| self.decided(view).is_some_and(|roster| roster.has(node, life)))
    }

    /// Changes what is noted of every heartbeat.
    pub(super) fn each_sent(&mut self, change: impl Fn(&mut Sent)) {
        let orphan = self.orphan.iter_mut().map(|orphan| &mut orphan.lease);
        let nodes = self
            .nodes
            .iter_mut()
            .flat_map(|node| node.lease.iter_mut().chain(node.heartbeat.iter_mut().map(|(_, sent)| sent)));
        orphan.chain(nodes).for_each(change);
    }
}

impl Node {
    /// Whether it runs, so that it can vote.
    pub(super) fn is_running(&self) -> bool {
        !matches!(self.standing, Standing::Down | Standing::Marked | Standing::Absent)
    }

    /// Whether it has a view.
    pub(super) fn has_view(&self) -> bool {
        matches!(self.standing, Standing::Limbo | Standing::Active)
    }

    /// A view of its log.
    pub(super) fn view(&self, view: u8) -> Option<Roster> {
        if view == 1 { Some(Roster::FIRST) } else { self.log[usize::from(view) - 2] }
    }

    /// The number of the newest view in its log, decided or not.
    pub(super) fn newest(&self) -> u8 {
        1 + self.log.iter().flatten().count() as u8
    }

    /// The view directly after which its log has the new voters of consensus, if that is before this view.
    pub(super) fn config_before(&self, view: u8) -> Option<u8> {
        self.config.filter(|place| *place < view)
    }

    /// Whose acknowledgements its lease needs by the newest view that it has learned.
    pub(super) fn voting(&self) -> Voting {
        self.view(self.learned).map_or(Voting::Old, |roster| roster.voting)
    }

    /// Rule 3: the number of the view in its log in which the voters last changed, up to this view.
    pub(super) fn voters_since(&self, view: u8) -> u8 {
        let voting = |view| self.view(view).map(|roster| roster.voting);
        (2..=view).rev().find(|view| voting(*view) != voting(*view - 1)).unwrap_or(1)
    }

    /// Forgets all but its disk, as a node does without a view.
    pub(super) fn forget(&mut self, standing: Standing) {
        self.standing = standing;
        self.is_inside = false;
        self.is_stopping = false;
        self.has_permission = false;
        self.lease = None;
        self.heartbeat = None;
    }
}

impl Evidence {
    /// Whether it is known to a voter other than the one whose disk was set back.
    pub(super) fn is_known_to(self, voter: usize) -> bool {
        match self {
            Evidence::Life => true,
            Evidence::Synced(voters) => voters & 1 << voter != 0,
        }
    }

    /// Whether two voters remember it.
    pub(super) fn is_known_to_two(self) -> bool {
        matches!(self, Evidence::Synced(voters) if voters.count_ones() == 2)
    }
}

impl Sent {
    /// Just now: no quiet time began later, and nothing was decided.
    pub(super) const NOW: Self =
        Self { quiet: 0, is_before_new: false, voting: Voting::Old, forgotten: Voters::NONE };

    /// Whether it was sent before a node's quiet time began.
    pub(super) fn is_before(self, node: usize) -> bool {
        self.quiet & 1 << node != 0
    }

    /// The same with other voters behind it.
    pub(super) fn by(self, voting: Voting) -> Self {
        Self { voting, ..self }
    }
}
