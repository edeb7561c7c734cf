//! Commands of operators: break a lock, stop, change the members.
//!
//! Every command and its operator are logged. What only the leader of the consensus can do is forwarded to it.

use std::collections::BTreeSet;

use doorway_client::clock;
use doorway_core::{NodeId, Refusal, Ticks};
use doorway_node::timing::milliseconds;
use doorway_node::{BreakTarget, ClientId, Command};
use doorway_protocol::{AdminCommand, DaemonMsg};

use super::{Client, Driver, MOST_QUESTIONS, NodeEvent, Reminder};
use crate::clients::Caller;
use crate::peers::peer_msg::{Lane, Operator, PeerMsg, PeerQuery, PeerReply};
use crate::revocation;

/// A command of an operator until its result is known.
pub(super) struct PendingCommand {
    asked: CommandOrigin,
    desire: ClusterChange,
    /// The leader to which it was forwarded.
    passed_to: Option<NodeId>,
}

/// Who gets the result of a command, and how the log names it.
pub(super) struct CommandOrigin {
    asker: CommandSender,
    operator: Operator,
    order: String,
}

#[derive(Clone, Copy)]
enum CommandSender {
    /// A client of this daemon, with its number.
    Client(ClientId, u32),
    /// Another daemon, with its number.
    Daemon(NodeId, u64),
}

#[derive(Clone, PartialEq, Eq)]
pub(super) enum ClusterChange {
    Break(BreakTarget),
    Remove(NodeId),
    /// The same, and its certificates are void.
    Revoke(NodeId),
    Lead(NodeId),
    Appoint(BTreeSet<NodeId>),
}

/// The timeout of a command, and the pause before the search for a leader is repeated.
const PATIENCE: Ticks = milliseconds(10_000);
const PAUSE: Ticks = milliseconds(100);

impl Driver {
    /// Breaks a section: tells its holder to stop.
    pub(super) fn break_open(&mut self, client: ClientId, number: u32, target: BreakTarget) {
        if let Some(asked) = self.permitted(client, number, format!("break {}", target_in_words(&target))) {
            self.wish(asked, ClusterChange::Break(target));
        }
    }

    pub(super) fn administer(&mut self, client: ClientId, number: u32, order: AdminCommand) {
        let Some(asked) = self.permitted(client, number, order_in_words(&order)) else { return };
        match order {
            AdminCommand::Stop => {
                self.leavers.push(asked);
                self.leave(self.shared.config.stop_patience.0);
            }
            AdminCommand::Reload => self.reload(client, number),
            AdminCommand::Remove { .. }
            | AdminCommand::Revoke { .. }
            | AdminCommand::Lead { .. }
            | AdminCommand::Appoint { .. } => match self.desire(order) {
                Ok(desire) => self.wish(asked, desire),
                Err(refusal) => self.answer_wish(&asked, Err(refusal)),
            },
        }
    }

    /// Handles a command, if its client may give it: at the administrators' socket, or from within this process.
    /// Who asked for what, and who was refused, is always logged.
    fn permitted(&mut self, client: ClientId, number: u32, order: String) -> Option<CommandOrigin> {
        let Client { caller, label, outbox } = self.clients.get(&client)?;
        let Caller { uid, process, .. } = *caller;
        if caller.administers() {
            tracing::info!(
                audit = true,
                order,
                client = client.0,
                uid,
                process,
                label,
                "operator command received"
            );
            let operator = Operator { uid, process };
            return Some(CommandOrigin { asker: CommandSender::Client(client, number), operator, order });
        }
        // A client that asks without end would fill the disk with log lines: refusals beyond the limit are counted, and the next line has the count.
        if let Some(unlogged) = self.refusals.admit(clock::now()) {
            tracing::warn!(
                audit = true,
                order,
                client = client.0,
                uid,
                process,
                label,
                unlogged,
                "refused: not at the administrators' socket"
            );
        }
        let sentence = self.shared.for_administrators(&order);
        outbox.push(&DaemonMsg::Failed { number, sentence });
        None
    }

    fn reload(&mut self, client: ClientId, number: u32) {
        let shared = self.shared.clone();
        self.shared.runtime.spawn_blocking(move || {
            let outcome = shared.reload().map(|()| "configuration and certificates reloaded".to_owned());
            shared.tell(NodeEvent::Finished { client, number, outcome });
        });
    }

    /// Configuration and certificates have been read again, or cannot be.
    pub(super) fn hear_reloaded(&mut self, client: ClientId, number: u32, outcome: Result<String, Refusal>) {
        let caller = self.clients.get(&client).map(|client| client.caller);
        let operator =
            caller.map_or_else(Operator::default, |Caller { uid, process, .. }| Operator { uid, process });
        let order = order_in_words(&AdminCommand::Reload);
        self.answer_wish(
            &CommandOrigin { asker: CommandSender::Client(client, number), operator, order },
            outcome,
        );
    }

    /// An order about nodes, with their names looked up.
    fn desire(&self, order: AdminCommand) -> Result<ClusterChange, Refusal> {
        let look_up = |name: &String| {
            self.shared.roster.id(name).ok_or_else(|| Refusal::new(format!("there is no node {name:?}")))
        };
        match order {
            AdminCommand::Remove { node } => look_up(&node).map(ClusterChange::Remove),
            AdminCommand::Revoke { node } => look_up(&node).map(ClusterChange::Revoke),
            AdminCommand::Lead { node } => look_up(&node).map(ClusterChange::Lead),
            AdminCommand::Appoint { nodes } if nodes.is_empty() => {
                Err(Refusal::new("at least one node must vote"))
            }
            AdminCommand::Appoint { nodes } => {
                nodes.iter().map(look_up).collect::<Result<_, _>>().map(ClusterChange::Appoint)
            }
            AdminCommand::Stop | AdminCommand::Reload => Err(Refusal::new("tell that node itself")),
        }
    }

    /// The same with their names, for another daemon.
    fn order(&self, desire: &ClusterChange) -> Option<AdminCommand> {
        let name = |node: &NodeId| self.shared.roster.name(*node);
        match desire {
            ClusterChange::Break(_) => None,
            ClusterChange::Remove(node) => Some(AdminCommand::Remove { node: name(node) }),
            ClusterChange::Revoke(node) => Some(AdminCommand::Revoke { node: name(node) }),
            ClusterChange::Lead(node) => Some(AdminCommand::Lead { node: name(node) }),
            ClusterChange::Appoint(nodes) => {
                Some(AdminCommand::Appoint { nodes: nodes.iter().map(name).collect() })
            }
        }
    }

    /// Another daemon forwards a command that only a leader can carry out.
    pub(super) fn lead_for(&mut self, from: NodeId, number: u64, order: AdminCommand, operator: Operator) {
        let (node, Operator { uid, process }) = (self.shared.roster.name(from), operator);
        let words = order_in_words(&order);
        tracing::info!(
            audit = true,
            order = words,
            from = node,
            uid,
            process,
            "operator command forwarded by another node"
        );
        let asked = CommandOrigin { asker: CommandSender::Daemon(from, number), operator, order: words };
        // A certificate alone is no word in the cluster: who was removed has one, too.
        let newest = self.node.look().newest;
        if !newest.is_some_and(|view| view.members.contains_key(&from)) {
            return self.answer_wish(&asked, Err(Refusal::new("the asking node is not a member")));
        }
        match self.desire(order) {
            Ok(desire) => self.wish(asked, desire),
            Err(refusal) => self.answer_wish(&asked, Err(refusal)),
        }
    }

    fn wish(&mut self, asked: CommandOrigin, desire: ClusterChange) {
        if self.wishes.len() >= MOST_QUESTIONS {
            return self.answer_wish(&asked, Err(Refusal::new("too many commands are pending: try again")));
        }
        let number = self.next_question;
        self.next_question += 1;
        self.wishes.insert(number, PendingCommand { asked, desire, passed_to: None });
        self.remind(PATIENCE, Reminder::PendingCommand(number));
        self.try_wish(number);
    }

    /// Gives the command to the node; the result may come later.
    pub(super) fn try_wish(&mut self, number: u64) {
        let Some(wish) = self.wishes.get(&number).filter(|wish| wish.passed_to.is_none()) else { return };
        let command = match wish.desire.clone() {
            ClusterChange::Break(target) => Command::Break(target),
            ClusterChange::Remove(node) => Command::Remove(node),
            ClusterChange::Revoke(node) => {
                let (name, until) = (self.shared.roster.name(node), self.void_until(node));
                Command::Revoke { node, name, until }
            }
            ClusterChange::Lead(node) => Command::Lead(node),
            ClusterChange::Appoint(nodes) => Command::Appoint(nodes.into_iter().collect()),
        };
        self.trying = Some(number);
        self.command(command);
        self.trying = None;
    }

    /// The last time of issue that is void if the certificates of a node are revoked now: the one in use is, even if the clock of the machine
    /// that issued it was ahead.
    fn void_until(&self, node: NodeId) -> u64 {
        let shown = self.shared.peers.get(node).map_or(0, |link| link.issued());
        revocation::now().max(shown)
    }

    /// The wish that is being told to the node, if that is one for leaders, or else all of those that wait for it to lead, cannot be
    /// fulfilled here.
    pub(super) fn hear_not_leader(&mut self, leader: Option<NodeId>) {
        let waits = |wish: &PendingCommand| {
            wish.passed_to.is_none() && !matches!(wish.desire, ClusterChange::Break(_))
        };
        let trying = self.trying.filter(|number| self.wishes.get(number).is_some_and(waits));
        let those: Vec<u64> = match trying {
            Some(number) => vec![number],
            None => self.wishes.iter().filter(|(_, wish)| waits(wish)).map(|(number, _)| *number).collect(),
        };
        those.into_iter().for_each(|number| self.pass_wish_on(number, leader));
    }

    fn pass_wish_on(&mut self, number: u64, leader: Option<NodeId>) {
        let Some(wish) = self.wishes.get(&number) else { return };
        if let CommandSender::Daemon(node, its_number) = wish.asked.asker {
            // The daemon that forwarded it finds out by itself who leads now.
            self.wishes.remove(&number);
            let word = PeerMsg::Answer { number: its_number, answer: PeerReply::TryAgain };
            self.shared.peers.tell(node, Lane::Load, &word);
            return;
        }
        let leader = leader.filter(|leader| *leader != self.me);
        let operator = wish.asked.operator;
        let question = self.order(&wish.desire).map(|order| PeerQuery::Lead { order, operator });
        if let (Some(leader), Some(question)) = (leader, question)
            && self.shared.peers.tell(leader, Lane::Life, &PeerMsg::Ask { number, question })
        {
            if let Some(wish) = self.wishes.get_mut(&number) {
                wish.passed_to = Some(leader);
            }
            return;
        }
        self.remind(PAUSE, Reminder::TryAgain(number));
    }

    /// The node to which a wish was passed leads no more.
    pub(super) fn take_back_wish(&mut self, from: NodeId, number: u64) {
        if let Some(wish) = self.wishes.get_mut(&number).filter(|wish| wish.passed_to == Some(from)) {
            wish.passed_to = None;
            self.remind(PAUSE, Reminder::TryAgain(number));
        }
    }

    /// The node refuses the command that it was just given.
    pub(super) fn hear_not_done(&mut self, why: String) {
        let Some((number, wish)) = self.trying.and_then(|number| Some((number, self.wishes.get(&number)?)))
        else {
            return;
        };
        let name = |node: &NodeId| self.shared.roster.name(*node);
        let sentence = match &wish.desire {
            ClusterChange::Remove(node) | ClusterChange::Revoke(node) => {
                format!("node {:?} cannot be removed: {why}", name(node))
            }
            ClusterChange::Lead(node) => format!("node {:?} cannot lead: {why}", name(node)),
            ClusterChange::Break(_) | ClusterChange::Appoint(_) => why,
        };
        self.end_wish(number, Err(Refusal::new(sentence)));
    }

    /// It is agreed who votes.
    pub(super) fn hear_appointed(&mut self, nodes: &[NodeId]) {
        let names: Vec<String> = nodes.iter().map(|node| self.shared.roster.name(*node)).collect();
        let sentence = format!("agreed: {} will vote as soon as all of them are members", names.join(", "));
        self.fulfil(&ClusterChange::Appoint(nodes.iter().copied().collect()), &sentence);
    }

    /// All members have checked whether they hold a section.
    pub(super) fn hear_broken(&mut self, target: BreakTarget, was_inside: bool) {
        let meant = target_in_words(&target);
        let sentence = if was_inside {
            format!(
                "the holder of {meant} was told to stop; the lock is free when it has released it, or a margin after its deadline"
            )
        } else {
            format!("{meant} was not held")
        };
        self.fulfil(&ClusterChange::Break(target), &sentence);
    }

    /// It is agreed that the certificates of a node are void.
    pub(super) fn hear_revoked(&mut self, node: NodeId) {
        let name = self.shared.roster.name(node);
        let sentence = format!(
            "node {name:?} was removed from the cluster, and the certificates that it had are revoked"
        );
        self.fulfil(&ClusterChange::Revoke(node), &sentence);
    }

    /// A node leads, as was wished.
    pub(super) fn hear_leads(&mut self, node: NodeId) {
        let already = if self.trying.is_some() { " already" } else { "" };
        let sentence = format!("node {:?} leads{already}", self.shared.roster.name(node));
        self.fulfil(&ClusterChange::Lead(node), &sentence);
    }

    /// A node was to lead and did not take over: this one continues to lead, and if it is to be removed, it tries again.
    pub(super) fn hear_not_handed_over(&mut self, to: NodeId) {
        let waits = |wish: &PendingCommand, desire: &ClusterChange| {
            wish.passed_to.is_none() && wish.desire == *desire
        };
        let own = [ClusterChange::Remove(self.me), ClusterChange::Revoke(self.me)];
        let those = |desires: &[ClusterChange]| -> Vec<u64> {
            let those =
                self.wishes.iter().filter(|(_, wish)| desires.iter().any(|desire| waits(wish, desire)));
            those.map(|(number, _)| *number).collect()
        };
        let (failed, again) = (those(&[ClusterChange::Lead(to)]), those(&own));
        let sentence = format!(
            "node {:?} did not take over leadership in time; {:?} still leads",
            self.shared.roster.name(to),
            self.shared.roster.name(self.me)
        );
        failed.into_iter().for_each(|number| self.end_wish(number, Err(Refusal::new(sentence.as_str()))));
        again.into_iter().for_each(|number| self.remind(PAUSE, Reminder::TryAgain(number)));
    }

    /// A change is agreed: answers the commands that asked for it.
    pub(super) fn fulfil(&mut self, desire: &ClusterChange, sentence: &str) {
        let those = self.wishes.iter().filter(|(_, wish)| wish.desire == *desire && wish.passed_to.is_none());
        let those: Vec<u64> = those.map(|(number, _)| *number).collect();
        if those.is_empty() {
            tracing::info!(audit = true, sentence, "operator command done after the operator's timeout");
        }
        those.into_iter().for_each(|number| self.end_wish(number, Ok(sentence.to_owned())));
    }

    /// The node that leads has answered.
    pub(super) fn hear_of_wish(&mut self, from: NodeId, number: u64, outcome: Result<String, Refusal>) {
        if self.wishes.get(&number).is_some_and(|wish| wish.passed_to == Some(from)) {
            self.end_wish(number, outcome);
        }
    }

    pub(super) fn end_wish(&mut self, number: u64, outcome: Result<String, Refusal>) {
        if let Some(PendingCommand { asked, .. }) = self.wishes.remove(&number) {
            self.answer_wish(&asked, outcome);
        }
    }

    /// Sends the result to the operator, and logs it.
    pub(super) fn answer_wish(&mut self, asked: &CommandOrigin, outcome: Result<String, Refusal>) {
        let CommandOrigin { asker, operator: Operator { uid, process }, order } = asked;
        match &outcome {
            Ok(sentence) => {
                tracing::info!(audit = true, order, uid, process, sentence, "operator command done");
            }
            Err(why) => {
                tracing::warn!(audit = true, order, uid, process, %why, "operator command failed");
            }
        }
        match *asker {
            CommandSender::Client(client, number) => self.tell(client, &told(number, outcome)),
            CommandSender::Daemon(node, number) => {
                let answer = match outcome {
                    Ok(sentence) => PeerReply::Done(sentence),
                    Err(refusal) => PeerReply::Failed(refusal.to_string()),
                };
                self.shared.peers.tell(node, Lane::Load, &PeerMsg::Answer { number, answer });
            }
        }
    }

    pub(super) fn give_up_wish(&mut self, number: u64) {
        let sentence = if self.node.look().leader.is_none() {
            "the cluster has no leader: a majority of the voters must run and reach each other"
        } else {
            "timed out waiting for a majority of the voters; the command may still take effect later"
        };
        self.end_wish(number, Err(Refusal::new(sentence)));
    }
}

/// The result of a command.
fn told(number: u32, outcome: Result<String, Refusal>) -> DaemonMsg {
    match outcome {
        Ok(sentence) => DaemonMsg::Done { number, sentence },
        Err(refusal) => DaemonMsg::Failed { number, sentence: refusal.to_string() },
    }
}

/// A command in words, for the log and for a refusal.
fn order_in_words(order: &AdminCommand) -> String {
    match order {
        AdminCommand::Stop => "stop this node".to_owned(),
        AdminCommand::Reload => "reload configuration and certificates".to_owned(),
        AdminCommand::Remove { node } => format!("remove node {node:?}"),
        AdminCommand::Revoke { node } => format!("remove node {node:?} and revoke its certificates"),
        AdminCommand::Lead { node } => format!("make node {node:?} the leader"),
        AdminCommand::Appoint { nodes } => format!("appoint the voters {nodes:?}"),
    }
}

/// The target of a break in words.
fn target_in_words(BreakTarget { section, fence }: &BreakTarget) -> String {
    match fence {
        Some(fence) => format!("{section} with fence {fence}"),
        None => section.to_string(),
    }
}
