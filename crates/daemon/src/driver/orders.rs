//! What operators ask for: to break a section open, to stop, to change who takes part.
//!
//! Whoever asks, and for what, is on the record. What only the leader of the consensus can do is passed on to it.

use std::collections::BTreeSet;

use doorway_client::clock;
use doorway_core::{NodeId, Refusal, Ticks};
use doorway_node::timing::milliseconds;
use doorway_node::{ClientId, Command, Stay};
use doorway_protocol::{Order, Told};

use super::{Client, Driver, Event, MOST_QUESTIONS, Reminder};
use crate::clients::Caller;
use crate::peers::words::{Answer, Lane, Operator, Question, Word};
use crate::revocation;

/// Something that an operator wishes, until it is known what came of it.
pub(super) struct Wish {
    asked: Asked,
    desire: Desire,
    /// The node that was told because it leads.
    passed_to: Option<NodeId>,
}

/// Who is told what comes of something, and what the record says of it.
pub(super) struct Asked {
    asker: Asker,
    operator: Operator,
    order: String,
}

#[derive(Clone, Copy)]
enum Asker {
    /// A client of this daemon, with its number.
    Client(ClientId, u32),
    /// Another daemon, with its number.
    Daemon(NodeId, u64),
}

#[derive(Clone, PartialEq, Eq)]
pub(super) enum Desire {
    Break(Stay),
    Remove(NodeId),
    /// The same, and its certificates are void.
    Revoke(NodeId),
    Lead(NodeId),
    Appoint(BTreeSet<NodeId>),
}

/// How long a wish may take, and after what time somebody is asked again who leads.
const PATIENCE: Ticks = milliseconds(10_000);
const PAUSE: Ticks = milliseconds(100);

impl Driver {
    /// Puts out whoever is inside a section.
    pub(super) fn break_open(&mut self, client: ClientId, number: u32, stay: Stay) {
        if let Some(asked) = self.permitted(client, number, format!("break {}", stay_in_words(&stay))) {
            self.wish(asked, Desire::Break(stay));
        }
    }

    pub(super) fn administer(&mut self, client: ClientId, number: u32, order: Order) {
        let Some(asked) = self.permitted(client, number, order_in_words(&order)) else { return };
        match order {
            Order::Stop => {
                self.leavers.push(asked);
                self.leave(self.shared.config.stop_patience.0);
            }
            Order::Reload => self.reload(client, number),
            Order::Remove { .. } | Order::Revoke { .. } | Order::Lead { .. } | Order::Appoint { .. } => {
                match self.desire(order) {
                    Ok(desire) => self.wish(asked, desire),
                    Err(refusal) => self.answer_wish(&asked, Err(refusal)),
                }
            }
        }
    }

    /// What a client asks for, if it may have that done: only one may that came by the administrators' socket, or from within this process.
    /// Who asked for what, and who was refused, is always logged.
    fn permitted(&mut self, client: ClientId, number: u32, order: String) -> Option<Asked> {
        let Client { caller, label, outbox } = self.clients.get(&client)?;
        let Caller { uid, process, .. } = *caller;
        if caller.administers() {
            tracing::info!(audit = true, order, client = client.0, uid, process, label, "an operator asks");
            let operator = Operator { uid, process };
            return Some(Asked { asker: Asker::Client(client, number), operator, order });
        }
        // A client that asks without end would fill the disk: then its refusals are counted, and told with the next one.
        if let Some(unlogged) = self.refusals.admit(clock::now()) {
            tracing::warn!(
                audit = true,
                order,
                client = client.0,
                uid,
                process,
                label,
                unlogged,
                "refused: it did not ask at the administrators' socket"
            );
        }
        let sentence = self.shared.for_administrators(&order);
        outbox.push(&Told::Failed { number, sentence });
        None
    }

    fn reload(&mut self, client: ClientId, number: u32) {
        let shared = self.shared.clone();
        self.shared.runtime.spawn_blocking(move || {
            let outcome =
                shared.reload().map(|()| "configuration and certificates have been read again".to_owned());
            shared.tell(Event::Finished { client, number, outcome });
        });
    }

    /// Configuration and certificates have been read again, or cannot be.
    pub(super) fn hear_reloaded(&mut self, client: ClientId, number: u32, outcome: Result<String, Refusal>) {
        let caller = self.clients.get(&client).map(|client| client.caller);
        let operator =
            caller.map_or_else(Operator::default, |Caller { uid, process, .. }| Operator { uid, process });
        let order = order_in_words(&Order::Reload);
        self.answer_wish(&Asked { asker: Asker::Client(client, number), operator, order }, outcome);
    }

    /// An order about nodes, with their names looked up.
    fn desire(&self, order: Order) -> Result<Desire, Refusal> {
        let look_up = |name: &String| {
            self.shared.roster.id(name).ok_or_else(|| Refusal::new(format!("there is no node {name:?}")))
        };
        match order {
            Order::Remove { node } => look_up(&node).map(Desire::Remove),
            Order::Revoke { node } => look_up(&node).map(Desire::Revoke),
            Order::Lead { node } => look_up(&node).map(Desire::Lead),
            Order::Appoint { nodes } if nodes.is_empty() => Err(Refusal::new("at least one node must vote")),
            Order::Appoint { nodes } => {
                nodes.iter().map(look_up).collect::<Result<_, _>>().map(Desire::Appoint)
            }
            Order::Stop | Order::Reload => Err(Refusal::new("each node is told that itself")),
        }
    }

    /// The same with their names, for another daemon.
    fn order(&self, desire: &Desire) -> Option<Order> {
        let name = |node: &NodeId| self.shared.roster.name(*node);
        match desire {
            Desire::Break(_) => None,
            Desire::Remove(node) => Some(Order::Remove { node: name(node) }),
            Desire::Revoke(node) => Some(Order::Revoke { node: name(node) }),
            Desire::Lead(node) => Some(Order::Lead { node: name(node) }),
            Desire::Appoint(nodes) => Some(Order::Appoint { nodes: nodes.iter().map(name).collect() }),
        }
    }

    /// Another daemon wants what only a leader can do.
    pub(super) fn lead_for(&mut self, from: NodeId, number: u64, order: Order, operator: Operator) {
        let (node, Operator { uid, process }) = (self.shared.roster.name(from), operator);
        let words = order_in_words(&order);
        tracing::info!(audit = true, order = words, from = node, uid, process, "an operator asks elsewhere");
        let asked = Asked { asker: Asker::Daemon(from, number), operator, order: words };
        // A certificate alone is no word in the cluster: who was removed has one, too.
        let newest = self.node.look().newest;
        if !newest.is_some_and(|view| view.members.contains_key(&from)) {
            return self.answer_wish(&asked, Err(Refusal::new("the node that asks is no member")));
        }
        match self.desire(order) {
            Ok(desire) => self.wish(asked, desire),
            Err(refusal) => self.answer_wish(&asked, Err(refusal)),
        }
    }

    fn wish(&mut self, asked: Asked, desire: Desire) {
        if self.wishes.len() >= MOST_QUESTIONS {
            return self.answer_wish(&asked, Err(Refusal::new("too much is asked for at once: ask again")));
        }
        let number = self.next_question;
        self.next_question += 1;
        self.wishes.insert(number, Wish { asked, desire, passed_to: None });
        self.remind(PATIENCE, Reminder::Wish(number));
        self.try_wish(number);
    }

    /// Tells the node; if it cannot say at once what comes of it, that is told later.
    pub(super) fn try_wish(&mut self, number: u64) {
        let Some(wish) = self.wishes.get(&number).filter(|wish| wish.passed_to.is_none()) else { return };
        let command = match wish.desire.clone() {
            Desire::Break(stay) => Command::Break(stay),
            Desire::Remove(node) => Command::Remove(node),
            Desire::Revoke(node) => {
                let (name, until) = (self.shared.roster.name(node), self.void_until(node));
                Command::Revoke { node, name, until }
            }
            Desire::Lead(node) => Command::Lead(node),
            Desire::Appoint(nodes) => Command::Appoint(nodes.into_iter().collect()),
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
        let waits = |wish: &Wish| wish.passed_to.is_none() && !matches!(wish.desire, Desire::Break(_));
        let trying = self.trying.filter(|number| self.wishes.get(number).is_some_and(waits));
        let those: Vec<u64> = match trying {
            Some(number) => vec![number],
            None => self.wishes.iter().filter(|(_, wish)| waits(wish)).map(|(number, _)| *number).collect(),
        };
        those.into_iter().for_each(|number| self.pass_wish_on(number, leader));
    }

    fn pass_wish_on(&mut self, number: u64, leader: Option<NodeId>) {
        let Some(wish) = self.wishes.get(&number) else { return };
        if let Asker::Daemon(node, its_number) = wish.asked.asker {
            // Whoever has passed it on finds out by itself who leads now.
            self.wishes.remove(&number);
            let word = Word::Answer { number: its_number, answer: Answer::TryAgain };
            self.shared.peers.tell(node, Lane::Load, &word);
            return;
        }
        let leader = leader.filter(|leader| *leader != self.me);
        let operator = wish.asked.operator;
        let question = self.order(&wish.desire).map(|order| Question::Lead { order, operator });
        if let (Some(leader), Some(question)) = (leader, question)
            && self.shared.peers.tell(leader, Lane::Life, &Word::Ask { number, question })
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

    /// What was told to the node just now cannot be.
    pub(super) fn hear_not_done(&mut self, why: String) {
        let Some((number, wish)) = self.trying.and_then(|number| Some((number, self.wishes.get(&number)?)))
        else {
            return;
        };
        let name = |node: &NodeId| self.shared.roster.name(*node);
        let sentence = match &wish.desire {
            Desire::Remove(node) | Desire::Revoke(node) => {
                format!("node {:?} cannot be removed: {why}", name(node))
            }
            Desire::Lead(node) => format!("node {:?} cannot lead: {why}", name(node)),
            Desire::Break(_) | Desire::Appoint(_) => why,
        };
        self.end_wish(number, Err(Refusal::new(sentence)));
    }

    /// It is agreed who votes.
    pub(super) fn hear_appointed(&mut self, nodes: &[NodeId]) {
        let names: Vec<String> = nodes.iter().map(|node| self.shared.roster.name(*node)).collect();
        let sentence =
            format!("it is agreed that {} vote, as soon as all of them take part", names.join(", "));
        self.fulfil(&Desire::Appoint(nodes.iter().copied().collect()), &sentence);
    }

    /// All members have looked who is inside a section.
    pub(super) fn hear_broken(&mut self, stay: Stay, was_inside: bool) {
        let meant = stay_in_words(&stay);
        let sentence = if was_inside {
            format!("the holder of {meant} was told to stop; it is free then, or a margin after its deadline")
        } else {
            format!("nobody was inside {meant}")
        };
        self.fulfil(&Desire::Break(stay), &sentence);
    }

    /// It is agreed that the certificates of a node are void.
    pub(super) fn hear_revoked(&mut self, node: NodeId) {
        let name = self.shared.roster.name(node);
        let sentence = format!("node {name:?} is gone for good, and the certificates that it had are void");
        self.fulfil(&Desire::Revoke(node), &sentence);
    }

    /// A node leads, as was wished.
    pub(super) fn hear_leads(&mut self, node: NodeId) {
        let already = if self.trying.is_some() { " already" } else { "" };
        let sentence = format!("node {:?} leads{already}", self.shared.roster.name(node));
        self.fulfil(&Desire::Lead(node), &sentence);
    }

    /// A node was to lead and has not taken it over: this one goes on, and if it is to be removed, it tries again.
    pub(super) fn hear_not_handed_over(&mut self, to: NodeId) {
        let waits = |wish: &Wish, desire: &Desire| wish.passed_to.is_none() && wish.desire == *desire;
        let own = [Desire::Remove(self.me), Desire::Revoke(self.me)];
        let those = |desires: &[Desire]| -> Vec<u64> {
            let those =
                self.wishes.iter().filter(|(_, wish)| desires.iter().any(|desire| waits(wish, desire)));
            those.map(|(number, _)| *number).collect()
        };
        let (failed, again) = (those(&[Desire::Lead(to)]), those(&own));
        let sentence = format!(
            "node {:?} has not taken leadership over in time, and {:?} leads as before",
            self.shared.roster.name(to),
            self.shared.roster.name(self.me)
        );
        failed.into_iter().for_each(|number| self.end_wish(number, Err(Refusal::new(sentence.as_str()))));
        again.into_iter().for_each(|number| self.remind(PAUSE, Reminder::TryAgain(number)));
    }

    /// Something has come true, for whoever wished it.
    pub(super) fn fulfil(&mut self, desire: &Desire, sentence: &str) {
        let those = self.wishes.iter().filter(|(_, wish)| wish.desire == *desire && wish.passed_to.is_none());
        let those: Vec<u64> = those.map(|(number, _)| *number).collect();
        if those.is_empty() {
            tracing::info!(audit = true, sentence, "done as an operator asked, who was not told in time");
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
        if let Some(Wish { asked, .. }) = self.wishes.remove(&number) {
            self.answer_wish(&asked, outcome);
        }
    }

    /// Tells whoever asked what came of it, and the record, here and where it was asked.
    pub(super) fn answer_wish(&mut self, asked: &Asked, outcome: Result<String, Refusal>) {
        let Asked { asker, operator: Operator { uid, process }, order } = asked;
        match &outcome {
            Ok(sentence) => {
                tracing::info!(audit = true, order, uid, process, sentence, "done as an operator asked");
            }
            Err(why) => {
                tracing::warn!(audit = true, order, uid, process, %why, "not done as an operator asked");
            }
        }
        match *asker {
            Asker::Client(client, number) => self.tell(client, &told(number, outcome)),
            Asker::Daemon(node, number) => {
                let answer = match outcome {
                    Ok(sentence) => Answer::Done(sentence),
                    Err(refusal) => Answer::Failed(refusal.to_string()),
                };
                self.shared.peers.tell(node, Lane::Load, &Word::Answer { number, answer });
            }
        }
    }

    pub(super) fn give_up_wish(&mut self, number: u64) {
        let sentence = if self.node.look().leader.is_none() {
            "no node leads, so nothing can be agreed: a majority of the voters must run and reach each other"
        } else {
            "no majority of the voters has agreed in time; it may come true later nevertheless"
        };
        self.end_wish(number, Err(Refusal::new(sentence)));
    }
}

/// What comes of something that was asked for.
fn told(number: u32, outcome: Result<String, Refusal>) -> Told {
    match outcome {
        Ok(sentence) => Told::Done { number, sentence },
        Err(refusal) => Told::Failed { number, sentence: refusal.to_string() },
    }
}

/// What an operator asks for, for the log and for a refusal.
fn order_in_words(order: &Order) -> String {
    match order {
        Order::Stop => "stop this node".to_owned(),
        Order::Reload => "read configuration and certificates again".to_owned(),
        Order::Remove { node } => format!("remove node {node:?}"),
        Order::Revoke { node } => format!("remove node {node:?} and revoke its certificates"),
        Order::Lead { node } => format!("have node {node:?} lead"),
        Order::Appoint { nodes } => format!("appoint the voters {nodes:?}"),
    }
}

/// Who is meant by a break, for the record.
fn stay_in_words(Stay { section, fence }: &Stay) -> String {
    match fence {
        Some(fence) => format!("{section} of fence {fence}"),
        None => section.to_string(),
    }
}
