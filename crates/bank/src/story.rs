//! A run of the bank, told event by event, with the state of the sections that each event is about.

use std::collections::{BTreeMap, BTreeSet};

use doorway_core::{Explain, Fence, Field, NodeId, Phase, SectionName, Ticks};
use doorway_trace::{Event, What};
use serde::Serialize;
use serde_json::Value;

use super::message::{Answer, Msg, Order};
use super::process::{BankNotice, BankProcess};
use super::settings::Bank;
use super::tally::BankViolation;
use super::teller::{Ended, Teller, Transfer, Work};

/// The events to tell: those from one time to another, and no more than this many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Window {
    /// The first time.
    pub from: Ticks,
    /// The last time.
    pub to: Ticks,
    /// The most events.
    pub most: usize,
}

/// What happened in a run, as far as the window goes.
#[derive(Clone, Debug)]
pub struct Story {
    /// The bank.
    pub bank: Bank,
    /// The window.
    pub window: Window,
    /// The events in the window.
    pub episodes: Vec<Episode>,
    /// Whether the run was left before its end, because the window ended.
    pub is_cut: bool,
    /// What was wrong up to there.
    pub violations: Vec<BankViolation>,
}

/// One step of one process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Episode {
    /// When.
    pub time: Ticks,
    /// The process that took the step.
    pub process: String,
    /// What it did, a phrase for each part of the step.
    pub did: Vec<String>,
    /// The sections that the step is about, as they are after it.
    pub sections: Vec<SectionState>,
}

/// A section after a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SectionState {
    /// Its name.
    pub section: SectionName,
    /// Who is inside: one process at most, if the lock is right.
    pub inside: Vec<String>,
    /// The fence of the last entry, if there was any.
    pub fence: Option<Fence>,
    /// Who waits for it, in the order of asking.
    pub waiting: Vec<String>,
    /// What the algorithm knows at the process that took the step, in the textbook's words: each field and its value. Nodes are
    /// numbered as the participants: client 1 is node 1, and the auditor is the last.
    pub state: Vec<(&'static str, String)>,
}

/// What a narrator sees of the hall.
pub(super) struct Scene<'a, A> {
    pub(super) bank: &'a Bank,
    pub(super) tellers: &'a [BankProcess<A>],
    pub(super) asked_at: &'a [Ticks],
}

/// Writes the story while the run goes on.
pub(super) struct Narrator {
    window: Window,
    fences: BTreeMap<SectionName, Fence>,
    episodes: Vec<Episode>,
}

impl Narrator {
    pub(super) fn new(window: Window) -> Self {
        Self { window, fences: BTreeMap::new(), episodes: Vec::new() }
    }

    /// Whether nothing that happens from now on will be told.
    pub(super) fn is_full(&self, now: Ticks) -> bool {
        now > self.window.to || self.episodes.len() >= self.window.most
    }

    pub(super) fn wants(&self, now: Ticks) -> bool {
        now >= self.window.from && !self.is_full(now)
    }

    pub(super) fn into_episodes(self) -> Vec<Episode> {
        self.episodes
    }

    /// Tells a step: `events` are the step and what it sent, `notices` what it reported.
    pub(super) fn tell<A: Explain>(
        &mut self,
        scene: &Scene<'_, A>,
        time: Ticks,
        process: NodeId,
        events: &[Event],
        notices: &[BankNotice],
    ) {
        for notice in notices {
            if let BankNotice::Entered(section, fence) = notice {
                self.fences.insert(section.clone(), *fence);
            }
        }
        if !self.wants(time) {
            return;
        }
        let mut told = Telling { scene, process, did: Vec::new(), about: BTreeSet::new() };
        events.iter().take(1).for_each(|event| told.cause(event));
        notices.iter().for_each(|notice| told.notice(notice));
        told.sendings(&events[events.len().min(1)..]);
        if told.did.is_empty() {
            return;
        }
        let sections = told.about.iter().map(|section| self.state(scene, process, section)).collect();
        let process = scene.bank.title(process);
        self.episodes.push(Episode { time, process, did: told.did, sections });
    }

    fn state<A: Explain>(
        &self,
        scene: &Scene<'_, A>,
        process: NodeId,
        section: &SectionName,
    ) -> SectionState {
        let titles = |mut found: Vec<(Ticks, NodeId)>| {
            found.sort_unstable();
            found.into_iter().map(|(_, process)| scene.bank.title(process)).collect()
        };
        let having = |phase: Phase| {
            let tellers = scene.tellers().filter(|(_, teller)| teller.sections.phase(section) == phase);
            tellers.map(|(process, _)| (scene.asked_at[process.index()], process)).collect::<Vec<_>>()
        };
        let node = scene.teller(process).and_then(|teller| teller.sections.node(section));
        let fields = node.map(|node| node.node().algorithm().fields()).unwrap_or_default();
        SectionState {
            section: section.clone(),
            inside: titles(having(Phase::Inside)),
            fence: self.fences.get(section).copied(),
            waiting: titles(having(Phase::Waiting)),
            state: fields.into_iter().map(|Field { name, value }| (name, value)).collect(),
        }
    }
}

impl<A: Explain> Scene<'_, A> {
    fn tellers(&self) -> impl Iterator<Item = (NodeId, &Teller<A>)> {
        NodeId::first(self.tellers.len()).filter_map(|process| Some((process, self.teller(process)?)))
    }

    fn teller(&self, process: NodeId) -> Option<&Teller<A>> {
        match self.tellers.get(process.index())? {
            BankProcess::Teller(teller) => Some(teller),
            BankProcess::Account(_) => None,
        }
    }

    fn account(&self, account: usize) -> String {
        self.bank.title(NodeId::new(account))
    }
}

/// One step on its way into words.
struct Telling<'a, A> {
    scene: &'a Scene<'a, A>,
    process: NodeId,
    did: Vec<String>,
    about: BTreeSet<SectionName>,
}

impl<A: Explain> Telling<'_, A> {
    /// What the step began with.
    fn cause(&mut self, event: &Event) {
        match &event.what {
            What::Deliver { from, message, .. } => {
                let from = self.scene.bank.title(*from);
                match read(message) {
                    Some(Msg::Section(named)) => {
                        let kind = kind_of(&named.msg);
                        self.did.push(format!("receives {kind} for {} from {from}", named.section));
                        self.about.insert(named.section);
                    }
                    Some(Msg::Order(pass, order)) => {
                        let (order, fence) = (order_in_words(order), pass.fence);
                        self.did.push(format!("is told by {from} to {order}, with fence {fence}"));
                        self.did.extend(self.balance());
                        self.about.insert(pass.section);
                    }
                    Some(Msg::Answer(answer)) => {
                        self.did.push(format!("hears from {from}: {}", answer_in_words(answer)));
                    }
                    None => {}
                }
            }
            What::Timer => {
                let work = self.scene.teller(self.process).and_then(Teller::work);
                self.did.extend(work.map(|work| format!("wants to {}", self.work_in_words(work))));
            }
            _ => {}
        }
    }

    fn balance(&self) -> Option<String> {
        match self.scene.tellers.get(self.process.index())? {
            BankProcess::Account(account) => Some(format!("has {}", account.balance)),
            BankProcess::Teller(_) => None,
        }
    }

    fn notice(&mut self, notice: &BankNotice) {
        let told = match notice {
            BankNotice::Asked(section) => {
                self.about.insert(section.clone());
                format!("asks for {section}")
            }
            BankNotice::Entered(section, fence) => {
                self.about.insert(section.clone());
                format!("enters {section} with fence {fence}")
            }
            BankNotice::Left(section) => {
                self.about.insert(section.clone());
                format!("leaves {section}")
            }
            BankNotice::Ended(ended) => self.end_in_words(*ended),
            BankNotice::Stale => "saw a larger fence before".to_owned(),
            BankNotice::Overdrawn(balance) => format!("is overdrawn: {balance}"),
            BankNotice::Spoke { .. } | BankNotice::Changed { .. } => return,
        };
        self.did.push(told);
    }

    /// What the step sent: messages of one kind about one section are one phrase.
    fn sendings(&mut self, events: &[Event]) {
        let mut phrases: Vec<(String, Vec<String>)> = Vec::new();
        for event in events {
            let What::Send { to, message, .. } = &event.what else { continue };
            let phrase = match read(message) {
                Some(Msg::Section(named)) => {
                    let phrase = format!("sends {} for {} to", kind_of(&named.msg), named.section);
                    self.about.insert(named.section);
                    phrase
                }
                Some(Msg::Order(_, order)) => format!("gives the order to {} to", order_in_words(order)),
                Some(Msg::Answer(_)) | None => continue,
            };
            let to = self.scene.bank.title(*to);
            match phrases.last_mut().filter(|(last, _)| *last == phrase) {
                Some((_, receivers)) => receivers.push(to),
                None => phrases.push((phrase, vec![to])),
            }
        }
        self.did.extend(phrases.into_iter().map(|(phrase, to)| format!("{phrase} {}", to.join(", "))));
    }

    fn work_in_words(&self, work: Work) -> String {
        match work {
            Work::Audit => "add up all accounts".to_owned(),
            Work::Transfer(Transfer { from, to, amount }) => {
                format!("move {amount} from {} to {}", self.scene.account(from), self.scene.account(to))
            }
        }
    }

    fn end_in_words(&self, ended: Ended) -> String {
        match ended {
            Ended::Transferred => "has moved the money".to_owned(),
            Ended::Refused => "gives up: there is not enough money".to_owned(),
            Ended::Audited(sum) => format!("counts {sum} of {} in all accounts", self.scene.bank.total()),
            Ended::Fenced(_) => "gives up: an account rejected its fence".to_owned(),
        }
    }
}

fn read(message: &Value) -> Option<Msg<Value>> {
    serde_json::from_value(message.clone()).ok()
}

/// The kind of an algorithm's message: `REQUEST`.
fn kind_of(message: &Value) -> &str {
    let first = message.as_object().and_then(|fields| fields.keys().next()).map(String::as_str);
    first.or(message.as_str()).unwrap_or("a message")
}

fn order_in_words(order: Order) -> String {
    match order {
        Order::Read => "READ the balance".to_owned(),
        Order::Debit(amount) => format!("DEBIT {amount}"),
        Order::Credit(amount) => format!("CREDIT {amount}"),
        Order::Write(balance) => format!("WRITE the balance {balance}"),
    }
}

fn answer_in_words(answer: Answer) -> String {
    match answer {
        Answer::Balance(balance) => format!("the balance is {balance}"),
        Answer::Done => "done".to_owned(),
        Answer::Fenced => "rejected, a larger fence was seen".to_owned(),
    }
}
