//! The node's thread: it owns the pure node, feeds it events, and performs its effects.
//!
//! The time of a step is read when its input is in hand and not before, so that a process that was stopped in between
//! never acts on an old clock.

mod looking;
mod orders;
mod quotas;
mod requests;
mod status;
mod telling;
pub(crate) mod warnings;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::thread;
use std::time::Duration;

use doorway_client::clock;
use doorway_core::{Effects, Machine as _, NodeId, Refusal, Sent, Ticks, To};
use doorway_node::disk::Write;
use doorway_node::{ClientId, Command, LockNode, Msg, Notice};
use doorway_protocol::{ClientMsg, DaemonMsg};
use tokio::sync::OwnedSemaphorePermit;

use self::looking::LastLogged;
use self::orders::{ClusterChange, CommandOrigin, PendingCommand};
use self::quotas::Quotas;
use self::requests::Requests;
use self::status::{Accounting, Survey};
use self::telling::LockEvent;
use crate::clients::{Caller, Outbox};
use crate::config::other_times;
use crate::peers::lane_of;
use crate::peers::peer_msg::{Lane, PeerMsg, PeerQuery, PeerReply};
use crate::shared::DaemonState;
use crate::throttle::Throttle;

/// An event for a daemon's node. An event that carries room gives it back once it is handled.
pub(crate) enum NodeEvent {
    /// A message of another node.
    Message { from: NodeId, msg: Msg, room: OwnedSemaphorePermit },
    /// A word of another daemon.
    PeerMsg { from: NodeId, word: PeerMsg, room: OwnedSemaphorePermit },
    /// Something is on the disk.
    Written(Write),
    /// A client has connected.
    Came { client: ClientId, outbox: Arc<Outbox>, caller: Caller },
    /// A client asks for something.
    Asked { client: ClientId, ask: ClientMsg, room: QueuePermit },
    /// A client is gone: every copy of its socket is closed.
    Gone(ClientId),
    /// A client cannot be reached any more, but may still run.
    Unreachable(ClientId),
    /// A command of an operator is done or has failed.
    Finished { client: ClientId, number: u32, outcome: Result<String, Refusal> },
    /// The node is to leave and the daemon to end.
    Stop { patience: Duration },
    /// The daemon is to end at once.
    End,
}

/// The room that a client's question takes: among all that wait for the node, and among those of its own connection, which a question
/// about the status keeps until its answer is written.
pub(crate) struct QueuePermit {
    pub(crate) all: OwnedSemaphorePermit,
    pub(crate) own: OwnedSemaphorePermit,
}

impl NodeEvent {
    /// Whether the lease depends on it that it is looked at soon.
    pub(crate) fn is_urgent(&self) -> bool {
        match self {
            NodeEvent::Message { msg, .. } => lane_of(msg) == Lane::Life,
            NodeEvent::Written(_) | NodeEvent::Stop { .. } | NodeEvent::End => true,
            NodeEvent::PeerMsg { .. }
            | NodeEvent::Came { .. }
            | NodeEvent::Asked { .. }
            | NodeEvent::Gone(_)
            | NodeEvent::Unreachable(_)
            | NodeEvent::Finished { .. } => false,
        }
    }
}

/// A timer of the daemon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reminder {
    /// A timer of the node.
    Node(Ticks),
    /// The answers to a question have had their time.
    Survey(u64),
    /// A command of an operator has timed out.
    PendingCommand(u64),
    /// There may be a leader by now that can carry out a command.
    TryAgain(u64),
    /// A leaving node checks whether any voter is left to tell.
    Alone,
    /// The node has had its time to leave.
    Leave,
}

/// A client as the daemon knows it.
struct Client {
    outbox: Arc<Outbox>,
    caller: Caller,
    label: String,
}

/// The node's thread.
pub(crate) struct Driver {
    shared: Arc<DaemonState>,
    node: LockNode,
    effects: Effects<LockNode>,
    disk: Sender<Write>,
    me: NodeId,
    started: Ticks,
    reminders: BinaryHeap<Reverse<(Ticks, Reminder)>>,
    /// Messages of the node to itself.
    own: VecDeque<Msg>,
    clients: BTreeMap<ClientId, Client>,
    requests: Requests,
    /// Questions to other daemons that are under way.
    surveys: BTreeMap<u64, Survey>,
    /// Accounts of this node that are being put together, slice by slice.
    accountings: VecDeque<Accounting>,
    wishes: BTreeMap<u64, PendingCommand>,
    /// The command that the node is handling.
    trying: Option<u64>,
    next_question: u64,
    /// The clients to tell that the node has left.
    leavers: Vec<CommandOrigin>,
    is_leaving: bool,
    /// Limits the logged refusals of administrators' commands.
    refusals: Throttle,
    /// How far the cluster is founded.
    founding: warnings::FoundingProgress,
    /// How many messages went to other nodes for the sake of sections.
    sent: u64,
    seen: LastLogged,
    /// The certificates that are void, as the node last said.
    void: BTreeMap<String, u64>,
    /// When the daemon last looked around, and whether something has happened since.
    looked: Ticks,
    is_changed: bool,
    outcome: Option<Result<(), Refusal>>,
}

/// The longest time for which the thread rests.
const LONGEST_REST: Duration = Duration::from_millis(500);

/// The shortest time between two looks around.
const LOOK_INTERVAL: Ticks = doorway_node::timing::milliseconds(5);

/// How long a leaving node waits at least for voters that do not answer.
const ALONE: Ticks = doorway_node::timing::milliseconds(300);

/// How many questions and wishes may be under way at once.
const MOST_QUESTIONS: usize = 64;

/// How many refusals a second are logged one by one.
const REFUSALS_A_SECOND: u32 = 20;

/// How many events are looked at before the daemon looks around.
const BATCH: usize = 32;

impl Driver {
    pub(crate) fn new(shared: Arc<DaemonState>, node: LockNode, disk: Sender<Write>) -> Self {
        let limits = &shared.config.limits;
        let quotas =
            Quotas::new(limits.names_per_uid, limits.requests_per_uid, shared.config.timing.timing().idle);
        let requests = Requests::new(quotas);
        let me = shared.config.me().id();
        Self {
            shared,
            node,
            effects: Effects::default(),
            disk,
            me,
            started: clock::now(),
            reminders: BinaryHeap::new(),
            own: VecDeque::new(),
            clients: BTreeMap::new(),
            requests,
            surveys: BTreeMap::new(),
            accountings: VecDeque::new(),
            wishes: BTreeMap::new(),
            trying: None,
            // No number of an earlier life comes again, so that a late answer to one is taken for nothing.
            next_question: clock::now().0,
            leavers: Vec::new(),
            is_leaving: false,
            refusals: Throttle::new(REFUSALS_A_SECOND),
            founding: warnings::FoundingProgress::default(),
            sent: 0,
            seen: LastLogged::default(),
            void: BTreeMap::new(),
            looked: Ticks(0),
            is_changed: true,
            outcome: None,
        }
    }

    /// Runs until the daemon ends; tells how it did.
    pub(crate) fn run(mut self) -> Result<(), Refusal> {
        self.step(|node, now, effects| node.on_start(now, effects));
        loop {
            self.look_now_and_then();
            if let Some(outcome) = self.outcome.take() {
                self.say_goodbye();
                return outcome;
            }
            match self.shared.inbox.take(self.rest()) {
                Some(event) => self.take_in(event),
                None => self.ring(),
            }
            self.account_for_a_slice();
        }
    }

    /// How long nothing is due.
    fn rest(&self) -> Duration {
        if !self.accountings.is_empty() {
            return Duration::ZERO;
        }
        let mut due = self.reminders.peek().map_or(Ticks(u64::MAX), |Reverse((due, _))| *due);
        if self.is_changed {
            due = due.min(self.looked + LOOK_INTERVAL);
        }
        clock::span(due - clock::now()).min(LONGEST_REST)
    }

    /// Handles an event, and those that have arrived meanwhile.
    fn take_in(&mut self, event: NodeEvent) {
        let mut next = Some(event);
        for _ in 0..BATCH {
            self.ring();
            let Some(event) = next.take() else { return };
            self.happen(event);
            next = self.shared.inbox.take(Duration::ZERO);
        }
        if let Some(event) = next {
            self.happen(event);
        }
    }

    /// Handles all timers that are due.
    fn ring(&mut self) {
        while let Some(Reverse((due, reminder))) = self.reminders.peek().copied() {
            if due > clock::now() {
                return;
            }
            self.reminders.pop();
            match reminder {
                Reminder::Node(timer) => self.step(|node, now, effects| node.on_timer(now, timer, effects)),
                Reminder::Survey(number) => self.end_survey(number),
                Reminder::PendingCommand(number) => self.give_up_wish(number),
                Reminder::TryAgain(number) => self.try_wish(number),
                Reminder::Alone => self.end_if_alone(),
                Reminder::Leave => self.outcome = self.outcome.take().or(Some(Ok(()))),
            }
        }
    }

    fn remind(&mut self, after: Ticks, reminder: Reminder) {
        self.reminders.push(Reverse((clock::now() + after, reminder)));
    }

    fn happen(&mut self, event: NodeEvent) {
        match event {
            NodeEvent::Message { from, msg, room } => {
                drop(room);
                tracing::trace!(from = self.shared.roster.name(from), ?msg, "received");
                self.step(|node, now, effects| node.on_message(now, from, (), msg, effects));
            }
            NodeEvent::PeerMsg { from, word, room } => {
                drop(room);
                self.hear(from, word);
            }
            NodeEvent::Written(write) => {
                self.step(|node, now, effects| node.on_written(now, write, effects));
            }
            NodeEvent::Came { client, outbox, caller } => {
                self.clients.insert(client, Client { outbox, caller, label: String::new() });
            }
            NodeEvent::Asked { client, ask, room: QueuePermit { all, own } } => {
                drop(all);
                self.answer(client, ask, own);
            }
            NodeEvent::Gone(client) => {
                self.tell_log_gone(client, LockEvent::Released, "its client closed the connection");
                if self.clients.remove(&client).is_some() {
                    self.requests.forget_client(client);
                    self.command(Command::Gone(client));
                }
            }
            NodeEvent::Unreachable(client) => {
                self.tell_log_gone(client, LockEvent::Lost, "the connection to its client was given up");
                if self.clients.remove(&client).is_some() {
                    // Its sections count until the node has freed them.
                    self.requests.forget_waiting(client);
                    self.command(Command::Unreachable(client));
                }
            }
            NodeEvent::Finished { client, number, outcome } => self.hear_reloaded(client, number, outcome),
            NodeEvent::Stop { patience } => self.leave(patience),
            NodeEvent::End => self.outcome = Some(Ok(())),
        }
    }

    fn hear(&mut self, from: NodeId, word: PeerMsg) {
        tracing::trace!(from = self.shared.roster.name(from), ?word, "received");
        match word {
            PeerMsg::StillHere => {}
            PeerMsg::Ask { number, question: PeerQuery::Status { section } } => {
                self.account_for_peer(from, number, section);
            }
            PeerMsg::Ask { number, question: PeerQuery::Lead { order, operator } } => {
                self.lead_for(from, number, order, operator);
            }
            PeerMsg::Answer { number, answer: PeerReply::Status(account) } => {
                self.hear_account(number, from, *account);
            }
            PeerMsg::Answer { number, answer: PeerReply::Done(sentence) } => {
                self.hear_of_wish(from, number, Ok(sentence));
            }
            PeerMsg::Answer { number, answer: PeerReply::Failed(sentence) } => {
                self.hear_of_wish(from, number, Err(Refusal::new(sentence)));
            }
            PeerMsg::Answer { number, answer: PeerReply::TryAgain } => self.take_back_wish(from, number),
        }
    }

    fn command(&mut self, command: Command) {
        self.step(|node, now, effects| node.on_command(now, command, effects));
    }

    /// One step of the node, and all that it tells itself.
    fn step(&mut self, act: impl FnOnce(&mut LockNode, Ticks, &mut Effects<LockNode>)) {
        self.is_changed = true;
        act(&mut self.node, clock::now(), &mut self.effects);
        self.carry_out();
        while let Some(msg) = self.own.pop_front() {
            self.node.on_message(clock::now(), self.me, (), msg, &mut self.effects);
            self.carry_out();
        }
    }

    /// Performs the effects of a step.
    fn carry_out(&mut self) {
        if let Some(breach) = self.effects.out.breach() {
            tracing::warn!(breach, "protocol violation");
        }
        for Sent { to, msg, .. } in self.effects.out.take_sends(Vec::new()) {
            match to {
                To::One(to) => self.send(to, &msg),
                To::Set(nodes) => nodes.iter().for_each(|to| self.send(to, &msg)),
            }
        }
        for (after, timer) in std::mem::take(&mut self.effects.timers) {
            self.remind(after, Reminder::Node(timer));
        }
        for write in self.effects.writes.drain(..) {
            let _ = self.disk.send(write);
        }
        let notices = std::mem::take(&mut self.effects.notices);
        self.effects.clear();
        notices.into_iter().for_each(|notice| self.pass_on(notice));
        self.log_founding();
    }

    fn send(&mut self, to: NodeId, msg: &Msg) {
        if to == self.me {
            self.own.push_back(msg.clone());
            return;
        }
        tracing::trace!(to = self.shared.roster.name(to), ?msg, "sent");
        self.sent += u64::from(matches!(msg, Msg::Parcel { .. }));
        self.shared.peers.send(to, msg);
    }

    /// Passes on the node's notices.
    fn pass_on(&mut self, notice: Notice) {
        match notice {
            Notice::Granted { request, fences, until } => self.grant(request, fences, until),
            Notice::Renewed { request, until } => {
                self.tell_request(request, |number| DaemonMsg::Renewed { number, until });
            }
            Notice::Lost { request, why } => self.lose(request, why),
            Notice::Freed { request } => self.free(request),
            Notice::Refused { request, why } => self.refuse(request, why),
            Notice::Wanted { request, section } => {
                self.tell_request(request, |number| DaemonMsg::Wanted { number, section });
            }
            Notice::Left => self.end(Ok(())),
            Notice::NotLeader { leader } => self.hear_not_leader(leader),
            Notice::NotDone(why) => self.hear_not_done(why),
            Notice::Appointed(nodes) => self.hear_appointed(&nodes),
            Notice::Removed(node) => {
                let sentence = format!("node {:?} was removed from the cluster", self.shared.roster.name(node));
                self.fulfil(&ClusterChange::Remove(node), &sentence);
            }
            Notice::Revoked(node) => self.hear_revoked(node),
            Notice::Leads(node) => self.hear_leads(node),
            Notice::NotHandedOver { to } => self.hear_not_handed_over(to),
            Notice::Broken { target, was_inside } => self.hear_broken(target, was_inside),
            Notice::WrongAlgorithm { cluster } => self.end(Err(Refusal::new(format!(
                "the cluster runs {cluster}, but this node {}: it can never join",
                self.shared.config.algorithm.get_ref()
            )))),
            Notice::WrongTiming { cluster } => {
                self.end(Err(other_times(&self.shared.config.timing.timing(), &cluster)));
            }
            Notice::Expelled => self.end(Err(Refusal::new(
                "this node was removed from its cluster: to come back as a new node it needs an empty data folder",
            ))),
            Notice::SetBack { by, seen } => self.hear_set_back(by, &seen),
            Notice::ViewReplaced(view) => tracing::warn!(
                view,
                "the leader replaced this view in the log of this node: harmless if the view was not decided; if a disk was set back, \
                 locks may have been handed out twice since, with equal fences"
            ),
            Notice::Stranger { node, why } => self.hear_stranger(node, why),
            Notice::TwoClusters(epochs) => tracing::error!("{}", warnings::two_clusters(&epochs)),
            Notice::OtherFounder(node) => self.hear_other_founder(node),
            Notice::KeptOut(kept_out) => self.hear_kept_out(&kept_out),
            Notice::Corrupt(why) => self.end(Err(Refusal::new(why))),
        }
    }

    fn tell(&self, client: ClientId, told: &DaemonMsg) {
        if let Some(known) = self.clients.get(&client) {
            known.outbox.push(told);
        }
    }

    /// Hands over and leaves; the daemon ends when that is done or has had its time.
    fn leave(&mut self, patience: Duration) {
        const FAREWELL: Ticks = doorway_node::timing::milliseconds(6_000);
        if self.is_leaving {
            return;
        }
        self.is_leaving = true;
        let patience = clock::ticks(patience);
        tracing::info!(patience_ms = patience.0 / 1_000, "leaving the cluster");
        self.remind(patience + FAREWELL, Reminder::Leave);
        self.remind(ALONE, Reminder::Alone);
        self.command(Command::Leave { patience });
    }

    /// A leaving node tells the voters, so that no node has to wait for its lease. If no majority of them is left, as
    /// when a whole cluster is stopped, they cannot decide anything, and it need not wait for them.
    fn end_if_alone(&mut self) {
        let is_there =
            |node: &NodeId| *node == self.me || self.shared.peers.get(*node).is_some_and(|link| link.is_up());
        let look = self.node.look();
        let is_decidable = look.newest.is_some_and(|view| {
            view.voter_sets()
                .all(|voters| voters.values().filter(|node| is_there(node)).count() > voters.len() / 2)
        });
        if is_decidable || self.requests.is_anybody_inside() {
            self.remind(ALONE, Reminder::Alone);
        } else {
            self.end(Ok(()));
        }
    }

    fn end(&mut self, outcome: Result<(), Refusal>) {
        if let Err(refusal) = &outcome {
            tracing::error!(%refusal, "fatal error: the node stops");
        }
        self.outcome.get_or_insert(outcome);
    }

    /// Tells the clients that asked that the node has left, and gives clients a moment to read their last messages.
    fn say_goodbye(&mut self) {
        const PATIENCE: Ticks = doorway_node::timing::milliseconds(500);
        for asked in std::mem::take(&mut self.leavers) {
            let sentence = format!("node {:?} has left its cluster", self.shared.config.node.get_ref());
            self.answer_wish(&asked, Ok(sentence));
        }
        let until = clock::now() + PATIENCE;
        while clock::now() < until && !self.clients.values().all(|client| client.outbox.is_done()) {
            thread::sleep(Duration::from_millis(2));
        }
    }
}
