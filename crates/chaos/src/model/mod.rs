//! The view change as a small model, for every interleaving of it to be explored.
//!
//! Doorway survives crashes by views: a decided list of incarnations, in which the lock's algorithm runs. A node that
//! is left out must have stopped before another client enters, although no one can ask it. Leases, frozen reports and a quiet time
//! guarantee that together. Only a search over every order of events shows that they do.
//! The rules that comments here refer to by number are those of the lock's node:
//!
//! - a voter acknowledges a heartbeat unless the newest view in its log, decided or not, is newer and lacks the sender, or the
//!   voters changed in a view that the sender does not know (3); a majority of each voter set of the sender's view makes a lease,
//!   counted from the sending (4);
//! - a view takes in only incarnations higher than all of their disk before (6), and is learned by each node when a majority has
//!   it (8); a node that learns it freezes the old view, reports whether its client is inside, and never changes that report (9, 10);
//! - with the reports of all members a node installs the view: the section begins with the one reported inside, or empty (11);
//!   messages of older views are dropped (12); a node that is left out stops its client and restarts as a new incarnation (13);
//! - a node waits a quiet time after it learns a view that leaves a node out, and when it is taken in (15); it lets clients in only in
//!   an installed view, with a lease, and after the quiet time or if the section was reported (17);
//! - the quiet time ends early if a majority of the voters has acknowledged no node outside the view for that long, unless the
//!   voters themselves changed within that time (16);
//! - a node that leaves by itself stops first, so that no other node waits for it (21);
//! - voters change in three steps: a view with both voter sets, then the consensus, then a view with the new set (22);
//! - every start of a disk is a life of its own by a nonce (27); two voters count each other's acknowledgements and log entries
//!   only if neither knows of a life or a synced record that the other's disk lacks, and a node that hears of one marks its
//!   disk and never votes again (28);
//! - a client that was told to stop counts as inside until it has left or its deadline and a margin have passed (31).
//!
//! # What is in the model
//!
//! Three nodes, or four if a new one becomes a voter, each with a log, one section, one client a node that goes in and out, up to three views, one crash with a
//! restart, one node that leaves, one disk that is set back. The client of a crashed node stays inside until its deadline: it counts. Of
//! **consensus** the logs are left: any node that has learned all of its log proposes any next view, any node takes over an entry of
//! another's log or loses an undecided one, and what a majority has may be learned and is then never lost. That allows more than
//! Raft does: leaders and terms only forbid. Of the **algorithm** within a view one permission is left, which begins with the node that
//! was reported inside, or else with the first member, and is sent from node to node.
//!
//! **Time** is an order, not a number. All that the rules need to know of it is that a quiet time is longer than a lease. So if a
//! heartbeat was sent before a quiet time began, the lease that counts from it ends before the quiet time does; of all else every
//! order is possible. For each heartbeat the state has those nodes whose quiet time began after it was sent, and a quiet time ends only
//! when no client is inside by such a lease, be it a member's or not. The model does not assume that the lease of a
//! left-out node cannot be renewed after the decision: the search checks it.
//!
//! # Voters that change
//!
//! A run may change the voters once ([`VoterChange`]). A view names the old voters, both sets or the new ones; a lease needs a
//! majority of each set of the view that its node has adopted. A log has one more kind of entry: *the new voters decide*. What
//! comes before it is decided by a majority of the old voters, the entry itself by a majority of each set, what comes after it by a
//! majority of the new voters, and only once the entry is decided.
//!
//! That allows more than Raft does. Raft writes two entries, one that begins the joint phase and one that ends it; the entry here
//! is the first of them. Between the two Raft needs both majorities, the model only the new one. Before the first, a Raft leader
//! that already has it in its log needs both majorities, the model only the old one. In Raft the view with the new set waits for the
//! second entry, here for the first. And the model still decides each place of a log once: all who decide a place have the same
//! decided log before it, so they ask the same voters, and of those any two majorities meet. Any node may propose, voter or
//! not, and a view may change members and voters at once, or follow an entry that is not decided yet; the real leader does neither.
//!
//! # The age rule
//!
//! Every voter that is a member reports how long it has acknowledged no node outside the view, and never longer than since its start.
//! For each lease the model has the voters that stood behind it: the old, both sets or the new. If some majority of them
//! could have done without the reporting voters, no reporting voter knows of the lease, and the quiet time may end while its client is inside.
//! Otherwise one of the reporting voters has acknowledged it, and the lease has ended before that voter is old enough. The guard
//! against changed voters waits from the decision of the view with the new set; a real node waits from when it learned of it, which
//! is later. As in the real node, a view with both sets does not use the rule. Which voters stand behind a lease
//! is noted only if a model has the age rule.
//!
//! # A disk that is set back
//!
//! A node stops, its disk is replaced by an earlier copy of itself, and the node starts again. There are two kinds of copies:
//!
//! - one from before the first start. Its list of lives lacks one that every log names, because view 1 does. So every voter
//!   notices it, even a voter that remembers nothing;
//! - one with the same list of lives and a shorter log. Only the number of synced records shows that, and a voter has that
//!   number in memory, not in its log. Heartbeats, acknowledgements and entries carry it, so every running voter may know it.
//!   Which voters do is chosen when the disk is set back ([`Witnesses`]).
//!
//! A voter that knows does not count the set-back node. So with three voters **exclusion holds if both others know of a record
//! that the copy lacks, and neither restarts before the node has marked its disk**. Then the node is as good as crashed, and
//! the model checks that what it had acknowledged, learned and reported, and the client that it left behind, do no harm. In
//! general: every majority of the voters that contains the set-back node must contain a voter that knows, from its log or from
//! memory since its own start. Less is not enough, and the rules cannot do more: if one of the two others knows nothing newer
//! ([`Witnesses::One`]), or forgets it by a restart ([`Witnesses::BothUntilRestart`]), the search finds two clients inside.
//!
//! An acknowledgement that arrives after its sender was set back is the same as a set-back that comes later, as long as no voter
//! counts the node in between. What a majority decided stays decided in the logs that have it, even if only the set-back node
//! had learned it: a leader without it would need the vote of a voter that has it.
//!
//! # What is left out
//!
//! Logs have no terms and votes. A copy that lacks nothing but a vote is as dangerous as one that lacks an entry: the condition
//! above is about every synced record. There is no copy with some but not all of the later lives (a voter notices it if a view
//! in its log names a lost one, and else from memory), no second set-back, which could undo the mark, and no set-back of a node
//! that has left by itself.
//!
//! Voters change at most once, and not in a run with a set-back disk. There are no clocks that drift, so that a lease counted from
//! the wrong moment or a clock that stops cannot be found wrong; no counter of a fence within a view (19), no
//! forgetting (20), no failure detection (23): any node may be left out at any time. Each node has one heartbeat on its way at
//! a time, and an acknowledgement arrives when it is given: if it came later the same lease would only be known later. A margin is
//! the time between two steps, *told to stop* and *left*; nothing else depends on its length. Founding (29) is over when the
//! model begins, and there is one cluster, so there are no epochs (30) and no time-to-live of a client (32, 33).
//!
//! # Fewer states
//!
//! What only lets more happen is done at once: a lease is renewed whenever a majority would acknowledge it, a view installed
//! when its last report is made, a permission received when it can be, a disk marked when both other voters know for good that
//! it was set back. Only a lease that other voters stand behind than before is a step of its own, because the age rule can tell the
//! difference. To be slow is the same as not to use what one has. [`ViewModel::without_reduction`] makes all of this steps
//! of their own, [`ViewModel::with_greetings`] only the last, and both come to the same verdicts.

mod act;
mod acting;
mod age;
mod change;
mod consensus;
mod disk;
mod flaw;
mod invariants;
mod roster;
mod state;
mod voters;
mod word;

use doorway_checker::{Property, Step, StepsKnown, System};
use doorway_core::{Phase, Refusal};

use act::Act;
use consensus::Slot;
pub use disk::Witnesses;
pub use flaw::ViewFlaw;
use state::{FIRST_NODES, MOST_VIEWS, NODES, Node, Standing, State};
pub use voters::VoterChange;

/// The view change as a system to explore.
#[derive(Clone, Copy, Debug)]
pub struct ViewModel {
    bounds: ViewBounds,
    flaw: Option<ViewFlaw>,
    /// The view in which every entry is reported as a violation.
    sought: Option<u8>,
    reduces: bool,
    /// Whether a greeting that both other voters would give is a step of its own.
    greets: bool,
}

/// How much may happen in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ViewBounds {
    /// How many views there are at most, the first included: 1 to 3.
    pub views: u8,
    /// In how many nodes a view may differ from the one before: each can be left out, taken in or replaced by a later incarnation.
    pub changes: usize,
    /// Whether one node may crash, and be started again.
    pub crash: bool,
    /// Whether one node may leave by itself.
    pub leave: bool,
    /// Whether one disk may be set back, and which voters remember that it had synced more.
    pub set_back: Option<Witnesses>,
    /// Which change of voters there may be, if any. Without one the three nodes of the first view vote.
    pub voters: Option<VoterChange>,
    /// Whether quiet times may be shortened by the age rule (16).
    pub age: bool,
    /// Whether clients are told to stop before they are stopped (31).
    pub slack: bool,
}

impl ViewBounds {
    /// Only changes of views, with this many nodes, and nothing else.
    #[must_use]
    pub const fn quiet(views: u8, changes: usize) -> Self {
        Self {
            views,
            changes,
            crash: false,
            leave: false,
            set_back: None,
            voters: None,
            age: false,
            slack: false,
        }
    }
}

impl ViewModel {
    /// The model with all rules as they should be.
    ///
    /// # Errors
    /// If there are more views than a state has room for, or none, or a disk may be set back while voters change.
    pub fn new(bounds: ViewBounds) -> Result<Self, Refusal> {
        if !(1..=MOST_VIEWS).contains(&bounds.views) {
            return Err(Refusal::new(format!(
                "1 to {MOST_VIEWS} views can be explored, not {}",
                bounds.views
            )));
        }
        if bounds.set_back.is_some() && bounds.voters.is_some() {
            return Err(Refusal::new(
                "a disk that is set back and a change of voters cannot be explored together",
            ));
        }
        Ok(Self { bounds, flaw: None, sought: None, reduces: true, greets: false })
    }

    /// The same with one rule broken.
    #[must_use]
    pub fn with_flaw(self, flaw: ViewFlaw) -> Self {
        Self { flaw: Some(flaw), ..self }
    }

    /// The same with every step on its own.
    #[must_use]
    pub fn without_reduction(self) -> Self {
        Self { reduces: false, ..self }
    }

    /// The same, but a set-back disk is marked by a step of its own also where both other voters know of it: until then only the
    /// greeting keeps its node from being counted.
    #[must_use]
    pub fn with_greetings(self) -> Self {
        Self { greets: true, ..self }
    }

    /// The same, but the first entry in a view is reported as a violation: this shows that the view is reachable, and how.
    #[must_use]
    pub fn seeking_entry_in(self, view: u8) -> Self {
        Self { sought: Some(view), ..self }
    }

    /// The newest view in the log of any node, decided or not.
    #[must_use]
    pub fn newest_view(state: &[u32]) -> u8 {
        State::of(state).nodes.iter().map(Node::newest).max().unwrap_or_default()
    }

    /// How many nodes there are.
    fn nodes(&self) -> usize {
        if self.has_fourth() { NODES } else { FIRST_NODES }
    }

    fn has_fourth(&self) -> bool {
        self.bounds.voters == Some(VoterChange::Replacement)
    }

    fn has(&self, flaw: ViewFlaw) -> bool {
        self.flaw == Some(flaw)
    }

    /// Calls `visit` with every act at a node that is possible in a state, and the state after it.
    fn acts(&self, state: &State, me: usize, visit: &mut impl FnMut(Act, State)) {
        let view = state.nodes[me].learned;
        let mut give = |act, after: Option<State>| after.into_iter().for_each(|after| visit(act, after));
        for other in 0..self.nodes() {
            give(Act::Heartbeat { voter: other }, self.heartbeat(state, me, other));
            give(Act::Renew { voter: other }, self.renew(state, me, other));
            give(Act::Pass { view, to: other }, self.pass(state, me, other));
            give(Act::Greet { voter: other }, self.greet(state, me, other));
            if let Some((slot, after)) = self.accept(state, me, other) {
                let act = match slot {
                    Slot::View(view) => Act::Accept { view, from: other },
                    Slot::Config(_) => Act::AcceptConfig { from: other },
                };
                give(act, Some(after));
            }
        }
        for view in 1..=self.bounds.views {
            give(Act::Learn { view }, self.learn(state, me, view));
            give(Act::Receive { view }, self.receive(state, me, view));
        }
        let is_frozen = state.nodes[me].standing == Standing::Limbo;
        let enter = if is_frozen { Act::EnterUnfrozen } else { Act::Enter { view } };
        give(enter, self.enter(state, me));
        give(Act::Install { view }, self.install_alone(state, me));
        give(Act::Release, self.release(state, me));
        give(Act::Tell, self.tell(state, me));
        give(Act::Configure, self.configure(state, me));
        give(Act::DecideConfig, self.decide_config(state, me));
        give(Act::LeaseEnds, self.end_lease(state, me));
        give(Act::OrphanEnds, self.end_orphan(state, me));
        give(Act::QuietEnds, self.end_quiet(state, me));
        give(Act::Leave, self.leave(state, me));
        give(Act::Crash, self.crash(state, me));
        give(Act::Restart, self.restart(state, me));
        self.ages(state, me, &mut |voters, after| give(Act::QuietAges { voters }, Some(after)));
        self.set_backs(state, me, &mut |act, after| give(act, Some(after)));
        self.proposals(state, me, &mut |roster| {
            give(Act::Propose { view: view + 1, roster }, Some(self.propose(state, me, roster)));
        });
    }

    /// Does at once what only lets more happen, unless a flaw makes it matter when it is done, and drops what has no effect
    /// any more.
    fn settle(&self, state: &mut State) {
        if self.reduces && !self.greets {
            self.mark_at_once(state);
        }
        if self.reduces && !self.has(ViewFlaw::ReportRebuilt) {
            (0..self.nodes()).for_each(|me| self.install(state, me, 0));
        }
        if self.reduces {
            (0..self.nodes()).for_each(|me| self.lease(state, me));
        }
        let takes_part = |node: &&Node| !matches!(node.standing, Standing::Marked | Standing::Absent);
        let learned = state.nodes.iter().filter(takes_part).map(|node| node.learned);
        state.fence = learned.fold(u8::MAX, u8::min).max(state.fence);
        state.drop_found();
        for node in &mut state.nodes {
            let voting = self.noted_voting(node);
            node.heartbeat = node.heartbeat.filter(|(_, sent)| node.lease != Some(sent.by(voting)));
        }
        if !self.has(ViewFlaw::OldMessagesTaken) {
            for view in 1..=self.bounds.views {
                if self.reduces {
                    self.deliver(state, view);
                }
                self.drop_lost(state, view);
            }
        }
    }
}

impl ViewModel {
    /// A step for the checker. No liveness is asked, only safety.
    fn step(&self, state: &State, me: usize, act: Act) -> Step {
        let process = me as u32;
        let broken = match act {
            Act::Enter { view } if view < state.fence => {
                Some((Property::Fence, "a client is let in with the fence of an older view"))
            }
            Act::Enter { view } if self.sought == Some(view) => {
                Some((Property::Invariants, "a client is let in in the view that is sought"))
            }
            _ => None,
        };
        Step { process, action: act.code(), owed: None, lane: process, sends: 0, broken }
    }
}

impl System for ViewModel {
    fn processes(&self) -> usize {
        self.nodes()
    }

    fn initial(&mut self) -> Vec<Vec<u32>> {
        let mut word = Vec::new();
        State::first(self.has_fourth()).write(&mut word);
        vec![word]
    }

    fn steps(&self, state: &[u32], visit: &mut impl FnMut(Step, &[u32])) -> StepsKnown {
        let (state, mut word) = (State::of(state), Vec::new());
        for me in 0..self.nodes() {
            self.acts(&state, me, &mut |act, mut after| {
                self.settle(&mut after);
                if after != state {
                    after.write(&mut word);
                    visit(self.step(&state, me, act), &word);
                }
            });
        }
        StepsKnown::All
    }

    fn phase(&self, state: &[u32], process: usize) -> Phase {
        if State::is_inside(state, process) { Phase::Inside } else { Phase::Outside }
    }

    fn flaws(&self, state: &[u32]) -> Vec<(Property, String)> {
        invariants::broken(&State::of(state), self.bounds.views)
    }

    fn describe(&self, step: &Step) -> String {
        Act::of(step.action).at(step.process as usize)
    }
}
