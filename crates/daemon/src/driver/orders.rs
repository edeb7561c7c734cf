//! What operators ask for: to break a section open, to stop, to change who takes part.
//!
//! Whoever asks, and for what, is on the record. What only the leader of the consensus can do is passed on to it.

use std::collections::BTreeSet;

use doorway_client::protocol::Order;
use doorway_core::{NodeId, Refusal, Ticks};
use doorway_node::timing::milliseconds;
use doorway_node::{ClientId, Command, Stay};

use super::{Driver, Event, MOST_QUESTIONS, Reminder, told};
use crate::peers::words::{Answer, Lane, Question, Word};

/// Something that an operator wishes, until it is known what came of it.
pub(super) struct Wish {
    asker: Asker,
    desire: Desire,
    /// The node that was told because it leads.
    passed_to: Option<NodeId>,
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
    Appoint(BTreeSet<NodeId>),
}

/// How long a wish may take, and after what time somebody is asked again who leads.
const PATIENCE: Ticks = milliseconds(10_000);
const PAUSE: Ticks = milliseconds(100);

impl Driver {
    /// Puts out whoever is inside a section.
    pub(super) fn break_open(&mut self, client: ClientId, number: u32, stay: Stay) {
        self.record(client, &format!("break {}", stay_in_words(&stay)));
        self.wish(Asker::Client(client, number), Desire::Break(stay));
    }

    pub(super) fn administer(&mut self, client: ClientId, number: u32, order: Order) {
        self.record(client, &format!("{order:?}"));
        match order {
            Order::Stop => {
                self.leavers.push((client, number));
                self.leave(self.shared.config.stop_patience.0);
            }
            Order::Reload => self.reload(client, number),
            Order::Remove { .. } | Order::Appoint { .. } => match self.desire(order) {
                Ok(desire) => self.wish(Asker::Client(client, number), desire),
                Err(refusal) => self.tell(client, &told(number, Err(refusal))),
            },
        }
    }

    /// Who asked for what is never done in silence.
    fn record(&self, client: ClientId, order: &str) {
        let asker = self.clients.get(&client);
        let (process, label) = asker.map_or((None, ""), |client| (client.process, client.label.as_str()));
        tracing::info!(audit = true, order, client = client.0, process, label, "an operator asks");
    }

    fn reload(&mut self, client: ClientId, number: u32) {
        let shared = self.shared.clone();
        self.shared.runtime.spawn_blocking(move || {
            let outcome =
                shared.reload().map(|()| "configuration and certificates have been read again".to_owned());
            shared.tell(Event::Finished { client, number, outcome });
        });
    }

    /// An order about nodes, with their names looked up.
    fn desire(&self, order: Order) -> Result<Desire, Refusal> {
        let look_up = |name: &String| {
            self.shared.roster.id(name).ok_or_else(|| Refusal::new(format!("there is no node {name:?}")))
        };
        match order {
            Order::Remove { node } => look_up(&node).map(Desire::Remove),
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
            Desire::Appoint(nodes) => Some(Order::Appoint { nodes: nodes.iter().map(name).collect() }),
        }
    }

    /// Another daemon wants what only a leader can do.
    pub(super) fn lead_for(&mut self, from: NodeId, number: u64, order: Order) {
        tracing::info!(
            audit = true,
            ?order,
            from = self.shared.roster.name(from),
            "an operator asks elsewhere"
        );
        let asker = Asker::Daemon(from, number);
        // A certificate alone is no word in the cluster: who was removed has one, too.
        let newest = self.node.look().newest;
        if !newest.is_some_and(|view| view.members.contains_key(&from)) {
            return self.answer_wish(asker, Err(Refusal::new("the node that asks is no member")));
        }
        match self.desire(order) {
            Ok(desire) => self.wish(asker, desire),
            Err(refusal) => self.answer_wish(asker, Err(refusal)),
        }
    }

    fn wish(&mut self, asker: Asker, desire: Desire) {
        if self.wishes.len() >= MOST_QUESTIONS {
            return self.answer_wish(asker, Err(Refusal::new("too much is asked for at once: ask again")));
        }
        let number = self.next_question;
        self.next_question += 1;
        self.wishes.insert(number, Wish { asker, desire, passed_to: None });
        self.remind(PATIENCE, Reminder::Wish(number));
        self.try_wish(number);
    }

    /// Tells the node; if it cannot say at once what comes of it, that is told later.
    pub(super) fn try_wish(&mut self, number: u64) {
        let Some(wish) = self.wishes.get(&number) else { return };
        let command = match wish.desire.clone() {
            Desire::Break(stay) => Command::Break(stay),
            Desire::Remove(node) => Command::Remove(node),
            Desire::Appoint(nodes) => Command::Appoint(nodes.into_iter().collect()),
        };
        self.trying = Some(number);
        self.command(command);
        self.trying = None;
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
        if let Asker::Daemon(..) = wish.asker {
            return self.end_wish(number, Err(Refusal::new("another node leads by now: try again")));
        }
        let leader = leader.filter(|leader| *leader != self.me);
        let question = self.order(&wish.desire).map(Question::Lead);
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

    /// What was told to the node just now cannot be.
    pub(super) fn hear_not_done(&mut self, why: String) {
        if let Some(number) = self.trying {
            self.end_wish(number, Err(Refusal::new(why)));
        }
    }

    /// Something has come true, for whoever wished it.
    pub(super) fn fulfil(&mut self, desire: &Desire, sentence: &str) {
        let those = self.wishes.iter().filter(|(_, wish)| wish.desire == *desire && wish.passed_to.is_none());
        let those: Vec<u64> = those.map(|(number, _)| *number).collect();
        tracing::info!(audit = true, sentence, "done as an operator asked");
        those.into_iter().for_each(|number| self.end_wish(number, Ok(sentence.to_owned())));
    }

    /// The node that leads has answered.
    pub(super) fn hear_of_wish(&mut self, from: NodeId, number: u64, outcome: Result<String, Refusal>) {
        if self.wishes.get(&number).is_some_and(|wish| wish.passed_to == Some(from)) {
            self.end_wish(number, outcome);
        }
    }

    pub(super) fn end_wish(&mut self, number: u64, outcome: Result<String, Refusal>) {
        if let Some(Wish { asker, .. }) = self.wishes.remove(&number) {
            self.answer_wish(asker, outcome);
        }
    }

    fn answer_wish(&mut self, asker: Asker, outcome: Result<String, Refusal>) {
        match asker {
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
        let sentence = "no majority of the voters has agreed in time; it may come true later nevertheless";
        self.end_wish(number, Err(Refusal::new(sentence)));
    }
}

/// Who is meant by a break, for the record.
pub(super) fn stay_in_words(Stay { section, fence }: &Stay) -> String {
    match fence {
        Some(fence) => format!("{section} of fence {fence}"),
        None => section.to_string(),
    }
}
