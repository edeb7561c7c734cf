//! The lock node: takes one input, makes one step, hands out messages, notices and writes.
//!
//! Comments such as `// R15: quiet time` name the rule of `docs/views.md` that a line keeps.

mod founding;
mod greeting;
mod joining;
mod kept;
mod look;
mod member;
mod operator;
mod reports;
mod views;

use std::collections::{BTreeMap, BTreeSet};

use doorway_core::{Effects, Machine, NodeId, Refusal, Ticks};

use self::founding::Meeting;
use self::greeting::KnownPeers;
pub use self::greeting::Stranger;
use self::joining::{Joining, Leaving};
use self::kept::KeptParcels;
pub use self::look::{Backlog, NodeSummary, Standing};
use self::member::Membership;
use self::operator::Handover;
use self::reports::Early;
use crate::consensus::Consensus;
use crate::disk::{Boot, DiskContents, Write};
use crate::leader::{PeerWatch, Proposal};
use crate::lease::Lease;
use crate::message::Msg;
use crate::recipe::Recipe;
use crate::sections::Sections;
use crate::voter::Voter;
use crate::{Command, Damping, DiskId, Flaw, Incarnation, Loss, Nonce, Notice, Reason, Rules, Sound, Timing};

/// What makes a node the one that it is.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Its number in the cluster, which no other node ever has.
    pub me: NodeId,
    /// The nodes that it knows from the start.
    pub peers: BTreeSet<NodeId>,
    /// The nodes that found the cluster together, this one among them; empty if this one joins a cluster that others founded.
    pub founders: BTreeSet<NodeId>,
    /// What it has drawn at this start; no two starts draw the same.
    pub nonce: Nonce,
    /// The algorithm of the cluster.
    pub recipe: Recipe,
    /// The times of the cluster.
    pub timing: Timing,
    /// After how many decided entries the log is cut.
    pub longest_log: u64,
    /// The most sections that can be open at this node. All nodes of a cluster should have the same limit: each opens only so many
    /// of its own that others have room for them.
    pub most_open: usize,
    /// How it keeps nodes out that keep failing, while it leads.
    pub damping: Damping,
}

/// A lock node. Broken rules are for tests of clusters alone: see [`Rules`].
#[derive(Debug)]
pub struct LockNode<R = Sound> {
    setup: Setup,
    rules: R,
    /// The write that its start waits for: what was on its disk, with this start.
    first_write: Option<Write>,
    now: Ticks,
    state: State,
    incarnation: Incarnation,
    consensus: Consensus,
    voter: Voter,
    watch: PeerWatch<R>,
    membership: Option<Membership>,
    lease: Lease,
    /// Since when it has had a lease without a gap.
    lease_since: Ticks,
    /// Before this, only sections are entered whose holder is known.
    quiet_until: Ticks,
    /// When it last learned that the voters change.
    voters_changed: Option<Ticks>,
    sections: Sections<R>,
    /// Parcels of views that this node has not installed yet.
    kept: KeptParcels,
    /// Parts of reports of views that it has not learned of yet.
    early_reports: Early,
    /// How long each voter took to answer its latest heartbeat.
    round_trips: BTreeMap<NodeId, Ticks>,
    /// The number of the latest heartbeat, and when the next one is due.
    beats: u64,
    beat_at: Ticks,
    /// The newest heartbeat that each voter has answered.
    answered: BTreeMap<DiskId, u64>,
    joining: Joining,
    leaving: Leaving,
    acquaintances: KnownPeers,
    meeting: Meeting,
    /// Leadership that this node hands to another one.
    handover: Option<Handover>,
    /// When a leader looks whether something is to be proposed.
    lead_at: Ticks,
    /// Since when voters say that there is a view without this node.
    told_left_out: Option<Ticks>,
    /// Lives that were left out, for a while: none of them may ever come back.
    left_out: BTreeSet<Incarnation>,
    /// The timer that is set.
    armed: Option<Ticks>,
    breach: Option<&'static str>,
}

/// How far a node's life has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It waits until its disk knows that it was started.
    Starting,
    /// It lives.
    Running,
    /// Its disk was set back: it no longer takes part, and says so.
    SetBack,
    /// It has left, or had to stop.
    Over,
}

impl Setup {
    /// After how many decided entries the log is cut, by default.
    pub const LONGEST_LOG: u64 = 64;

    /// The most sections that can be open at a node, by default.
    pub const MOST_OPEN: usize = 1 << 20;
}

impl LockNode {
    /// A node that will start from what is on its disk.
    ///
    /// # Errors
    /// If the disk is damaged, or the times do not fit together.
    pub fn new(setup: Setup, disk: &[u8]) -> Result<Self, Refusal> {
        Self::with_rules(setup, disk, Sound)
    }
}

impl<R: Rules> LockNode<R> {
    /// How often a leader looks whether something is to be proposed.
    const LEAD_INTERVAL: Ticks = crate::timing::milliseconds(50);

    /// A node that keeps these rules; see [`LockNode::new`].
    ///
    /// # Errors
    /// If the disk is damaged, or the times do not fit together.
    pub fn with_rules(setup: Setup, disk: &[u8], rules: R) -> Result<Self, Refusal> {
        setup.timing.check()?;
        for n in 1..=setup.peers.len().max(1) {
            setup.recipe.blueprint(n).map_err(|why| {
                Refusal::new(format!(
                    "{} cannot run this cluster, which can have up to {n} members: {why}",
                    setup.recipe.name()
                ))
            })?;
        }
        let memory = DiskContents::read(disk)?;
        let timing = setup.timing;
        let (number, nonce) = (memory.boot().saturating_add(1), setup.nonce);
        // R27: every start is a life
        let incarnation = Incarnation { disk: memory.disk(), boot: number, tenure: 0, nonce };
        let mut consensus = Consensus::new(&memory, timing, setup.longest_log, Ticks(0));
        if consensus.node_of(incarnation.disk).is_some_and(|owner| owner != setup.me) {
            return Err(Refusal::new(
                "this data folder belongs to another node of the cluster: start that node with it, and give this one an empty folder",
            ));
        }
        let first_write =
            Some(consensus.start(Boot { number, nonce, after: memory.synced }, memory.whole < disk.len()));
        Ok(Self {
            now: Ticks(0),
            first_write,
            state: State::Starting,
            incarnation,
            consensus,
            voter: Voter::new(Ticks(0)),
            watch: PeerWatch::new(&setup, rules),
            membership: None,
            lease: Lease::default(),
            lease_since: Ticks(0),
            quiet_until: Ticks(0),
            voters_changed: None,
            sections: Sections::new(&setup, rules),
            kept: KeptParcels::default(),
            early_reports: Early::default(),
            round_trips: BTreeMap::new(),
            beats: 0,
            beat_at: Ticks(0),
            answered: BTreeMap::new(),
            joining: Joining::default(),
            leaving: Leaving::No,
            acquaintances: KnownPeers::default(),
            meeting: Meeting::default(),
            handover: None,
            lead_at: Ticks(0),
            told_left_out: None,
            left_out: BTreeSet::new(),
            armed: None,
            breach: None,
            setup,
            rules,
        })
    }

    fn has(&self, flaw: Flaw) -> bool {
        self.rules.breaks(flaw)
    }

    /// Every step begins with the time: a holder past its deadline is told to stop before anything else happens, and its sections
    /// are freed a margin later.
    fn begin(&mut self, now: Ticks) {
        // A running node has something to do several times in this span.
        if now >= self.now + self.setup.timing.election {
            self.consensus.wake_up(now);
        }
        self.now = now.max(self.now);
        self.set_gate();
        // R1: expire before anything else
        if self.now >= self.sections.gate.deadline && self.sections.is_anybody_staying() {
            // R14: lease lost
            self.sections.stop_all(Loss::Lease);
        }
        self.sections.ring();
    }

    fn set_gate(&mut self) {
        let gate = &mut self.sections.gate;
        gate.now = self.now;
        gate.deadline = self.lease.until() - self.setup.timing.margin;
        gate.quiet_until = self.quiet_until;
    }

    /// Every step ends here: it collects the effects.
    fn end(&mut self, effects: &mut Effects<Self>) {
        if self.state == State::Running {
            let has_dropped = self.remember_dropped_lives();
            if self.consensus.take_views_changed() || has_dropped {
                self.check_acquaintances();
            }
            self.learn(effects);
            self.go_on_leaving(effects);
            self.lead(effects);
            effects.notices.append(&mut self.watch.answer_wishes(&self.consensus));
            self.follow_handover(effects);
            self.consensus.compact(self.now);
            if self.consensus.is_corrupt() {
                self.stop("the log of this node contradicts that of its leader", effects);
            }
        }
        effects.notices.extend(self.consensus.take_replaced().into_iter().map(Notice::ViewReplaced));
        for (disk, what) in self.consensus.take_doubts() {
            self.consensus.node_of(disk).into_iter().for_each(|node| self.sections.suspect(node, what));
        }
        let (ballots, writes) = self.consensus.take_output();
        ballots.into_iter().for_each(|(to, ballot)| effects.out.send(to, Msg::Ballot(ballot)));
        effects.writes.extend(writes);
        let parcels = self.sections.delivery().map(|delivery| delivery.take_outbox()).unwrap_or_default();
        parcels.into_iter().for_each(|(to, msg)| effects.out.send(to, msg));
        effects.notices.append(&mut self.sections.notices);
        // With a flaw on purpose, the damage must show from outside, not by the node's own check.
        let breach = self.breach.take().filter(|_| self.rules.is_sound());
        breach.into_iter().for_each(|what| effects.out.broken(what));
        self.arm(effects);
    }

    /// The node must stop.
    fn stop(&mut self, why: &str, effects: &mut Effects<Self>) {
        // Frozen first: no waiter may enter in place of a holder that is forgotten.
        self.sections.freeze();
        self.sections.forget_holders(Loss::LeftOut);
        self.sections.refuse_all(Reason::Leaving);
        self.membership = None;
        self.state = State::Over;
        effects.notices.push(Notice::Corrupt(why.to_owned()));
    }

    /// Asks to be woken when something is due, unless that is so already.
    fn arm(&mut self, effects: &mut Effects<Self>) {
        let due = self.alarm().max(self.now);
        if self.state == State::Running && self.armed.is_none_or(|armed| due < armed) {
            self.armed = Some(due);
            effects.timers.push((due - self.now, due));
        }
    }

    /// When the next thing is due.
    fn alarm(&self) -> Ticks {
        let mut due = self.consensus.alarm().min(self.beat_at).min(self.lead_at);
        due = due.min(self.leaving.alarm());
        due = self.sections.alarm().map_or(due, |alarm| alarm.min(due));
        due = self.membership.as_ref().map_or(due, |membership| membership.alarm().min(due));
        if self.sections.is_anybody_staying() {
            due = due.min(self.sections.gate.deadline);
        }
        self.sections.delivery_alarm().map_or(due, |alarm| alarm.min(due))
    }

    fn on_alarm(&mut self, effects: &mut Effects<Self>) {
        let now = self.now;
        self.consensus.tick(now);
        if now >= self.beat_at {
            self.beat_at = now + self.setup.timing.heartbeat;
            self.greet_strangers(effects);
            self.meet_founders(effects);
            if self.membership.is_some() {
                self.send_heartbeats(effects);
            } else {
                self.say_hello(effects);
            }
        }
        self.send_report(effects);
        self.sections.try_gate();
        self.sections.sweep();
        self.sections.delivery().into_iter().for_each(|delivery| delivery.tick(now));
    }

    /// As a leader: proposes what is to be proposed.
    fn lead(&mut self, effects: &mut Effects<Self>) {
        if self.now >= self.lead_at {
            self.lead_at = self.now + Self::LEAD_INTERVAL;
            match self.watch.propose(&self.consensus, &self.setup.recipe, self.now) {
                Some(Proposal::View(view)) => self.consensus.propose(view, self.now),
                Some(Proposal::Config(config)) => self.consensus.propose_config(&config, self.now),
                None => {}
            }
            effects.notices.append(&mut self.watch.newly_kept_out(&self.consensus, self.now));
        }
    }

    /// Whether a disk is known to be at another node than this one.
    fn is_elsewhere(&self, disk: DiskId, node: NodeId) -> bool {
        let is_mine = disk == self.incarnation.disk && node != self.setup.me;
        is_mine || self.consensus.is_elsewhere(disk, node)
    }

    fn receive(&mut self, from: NodeId, msg: Msg, effects: &mut Effects<Self>) {
        match msg {
            Msg::Greeting(greeting) => self.hear_greeting(from, &greeting, effects),
            Msg::Founding(founding) => self.hear_founder(from, founding, effects),
            // R28: greet first. What must arrive is sent again.
            _ if !self.knows(from) => {}
            _ if !self.is_of_known_start(from, &msg) => {}
            Msg::Heartbeat(heartbeat) => self.answer_heartbeat(from, heartbeat, effects),
            Msg::Ack(ack) => self.count_ack(from, &ack),
            Msg::Hello(hello) => self.answer_hello(from, hello, effects),
            Msg::Welcome(welcome) => self.count_welcome(from, welcome, effects),
            Msg::Leave(incarnation) => self.hear_leave(from, incarnation),
            Msg::Report(part) => self.hear_report(from, part, effects),
            Msg::Heard { view, reporter, part } => self.note_heard(from, view, reporter, part, effects),
            Msg::Parcel { view, seq, ack, parcel } => self.hear_parcel(from, view, seq, ack, parcel),
            Msg::Got { view, ack } => {
                if self.sections.view() == Some(view) {
                    self.count_arrivals(from, ack);
                }
            }
            Msg::Ballot(ballot) => {
                // A disk that is known to be at another node does not speak from here.
                if self.is_elsewhere(ballot.from, from) {
                    self.sections.suspect(from, "a ballot that names another sender");
                } else if !self.is_beginning()
                    && self.consensus.node_of(ballot.from).is_none_or(|node| node == from)
                    && self.shares_epoch(from, ballot.epoch, ballot.is_from_leader())
                {
                    self.consensus.look_up(ballot.from, from);
                    self.consensus.receive(ballot, self.now);
                }
            }
        }
    }
}

impl<R: Rules> Machine for LockNode<R> {
    type Header = ();
    type Msg = Msg;
    type Command = Command;
    type Notice = Notice;
    type Timer = Ticks;
    type Write = Write;

    fn on_start(&mut self, now: Ticks, effects: &mut Effects<Self>) {
        self.now = now;
        // R27: the start is synced first
        effects.writes.extend(self.first_write.take());
    }

    fn on_command(&mut self, now: Ticks, command: Command, effects: &mut Effects<Self>) {
        self.begin(now);
        match command {
            Command::Lock(lock) if self.state == State::SetBack => {
                effects.notices.push(Notice::Refused { request: lock.request, why: Reason::SetBack });
            }
            Command::Lock(lock) if self.state == State::Over => {
                effects.notices.push(Notice::Refused { request: lock.request, why: Reason::Leaving });
            }
            Command::Lock(lock) => self.sections.lock(lock),
            Command::Cancel(request) => self.sections.cancel(request),
            Command::Release { request, fence } => self.sections.release(request, fence),
            Command::Gone(client) => self.sections.client_gone(client),
            Command::Unreachable(client) => self.sections.on_unreachable(client),
            Command::Alive(client) => self.sections.hear_sign_of_life(client),
            Command::Leave { .. } if matches!(self.state, State::Over | State::SetBack) => {
                effects.notices.push(Notice::Left)
            }
            Command::Leave { patience } => self.begin_leaving(patience),
            Command::Appoint(nodes) => self.appoint(nodes, effects),
            Command::Remove(node) => self.remove(node, effects),
            Command::Revoke { node, name, until } => self.revoke(node, name, until, effects),
            Command::Lead(node) => self.lead_by(node, effects),
            Command::Break(_) if self.state == State::Over => {
                effects
                    .notices
                    .push(Notice::NotDone("this node no longer takes part in a cluster".to_owned()));
            }
            Command::Break(stay) => self.sections.begin_break(stay),
        }
        self.end(effects);
    }

    fn on_message(&mut self, now: Ticks, from: NodeId, (): (), msg: Msg, effects: &mut Effects<Self>) {
        if let (State::SetBack, Msg::Greeting(greeting)) = (self.state, &msg) {
            self.hear_greeting(from, greeting, effects);
        }
        if self.state == State::Running {
            self.begin(now);
            self.receive(from, msg, effects);
            self.end(effects);
        }
    }

    fn on_timer(&mut self, now: Ticks, timer: Ticks, effects: &mut Effects<Self>) {
        if self.armed == Some(timer) {
            self.armed = None;
        }
        if self.state == State::Running {
            self.begin(now);
            self.on_alarm(effects);
            self.end(effects);
        }
    }

    fn on_written(&mut self, now: Ticks, write: Write, effects: &mut Effects<Self>) {
        self.begin(now);
        if self.state == State::Starting {
            self.consensus.written(&write, self.now);
            // R28: the mark is durable
            if let Some(seen) = self.consensus.identity().set_back {
                self.state = State::SetBack;
                self.consensus.silence();
                effects.notices.push(Notice::SetBack { by: None, seen });
                return;
            }
            self.state = State::Running;
            (self.beat_at, self.lead_at) = (self.now, self.now);
            self.acquaintances.since = self.now;
            self.voter = Voter::new(self.now);
            self.recall_voters();
            self.joining.begin_life(self.consensus.newest_decided());
            self.consensus.begin(self.now);
            self.restart_into_view(effects);
        } else {
            self.consensus.written(&write, self.now);
            if !self.consensus.is_syncing() {
                self.begin_cluster();
                self.meet_founders(effects);
            }
        }
        self.end(effects);
    }
}
