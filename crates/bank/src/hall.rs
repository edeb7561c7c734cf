//! The hall of the bank: all processes in the engine, and an observer that checks every step.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use doorway_core::{
    Channels, Charter, Explain, Factory, Fence, NodeId, Refusal, Register, SectionName, Sections, Ticks,
};
use doorway_simulator::{Engine, SafetyMonitor, WrongEntry};
use doorway_trace::What;

use super::account::Account;
use super::no_lock::NoLock;
use super::process::{BankNotice, BankProcess};
use super::settings::Bank;
use super::story::{Narrator, Scene, Story, Window};
use super::tally::{BankTally, BankViolation, Wrong};
use super::teller::Teller;

/// The outcome of a run of the bank.
#[derive(Clone, Debug)]
pub struct BankOutcome {
    /// What was counted.
    pub tally: BankTally,
    /// The first things that were wrong, at most [`BankOutcome::MOST_VIOLATIONS`] of each kind, in the order of time.
    pub violations: Vec<BankViolation>,
    /// What each account has at the end.
    pub balances: Vec<i64>,
}

impl BankOutcome {
    /// The most violations of a kind that are reported; further ones are only counted.
    pub const MOST_VIOLATIONS: u64 = 10;

    /// Whether nothing was wrong.
    #[must_use]
    pub fn is_right(&self) -> bool {
        self.tally.found.is_empty()
    }
}

impl Bank {
    /// Runs the bank with a lock until all errands are done and nothing is on its way, or until it cannot go on. `needs` is the
    /// weakest order of channels under which the lock is right.
    ///
    /// # Errors
    /// If the settings do not fit together, or the algorithm cannot run with this many participants.
    pub fn run<A: Explain>(&self, needs: Channels, lock: &Factory<A>) -> Result<BankOutcome, Refusal> {
        self.check()?;
        Hall::run(self, needs, lock)
    }

    /// The same run, told event by event as far as the window goes.
    ///
    /// # Errors
    /// As [`Bank::run`].
    pub fn trace<A: Explain>(
        &self,
        needs: Channels,
        lock: &Factory<A>,
        window: Window,
    ) -> Result<Story, Refusal> {
        self.check()?;
        Hall::trace(self, needs, lock, window)
    }

    /// The run without a lock, told event by event.
    ///
    /// # Errors
    /// As [`Bank::run_without_lock`].
    pub fn trace_without_lock(&self, window: Window) -> Result<Story, Refusal> {
        self.trace(Channels::Any, &NoLock::factory(), window)
    }

    /// Runs the bank without a lock.
    ///
    /// # Errors
    /// If the settings do not fit together.
    pub fn run_without_lock(&self) -> Result<BankOutcome, Refusal> {
        self.run(Channels::Any, &NoLock::factory())
    }
}

/// A run in progress.
struct Hall<'a, A: Explain> {
    bank: &'a Bank,
    engine: Engine<BankProcess<A>>,
    watches: BTreeMap<SectionName, SafetyMonitor>,
    /// When each process asked for the section that it waits for.
    asked_at: Vec<Ticks>,
    /// By how much each account was changed, as the clients' logs have it.
    logged: Vec<i64>,
    tally: BankTally,
    violations: Vec<BankViolation>,
    steps_without_entry: u64,
    /// Tells what happens, if the run is traced.
    narrator: Option<Narrator>,
}

impl<'a, A: Explain> Hall<'a, A> {
    fn run(bank: &'a Bank, needs: Channels, factory: &Factory<A>) -> Result<BankOutcome, Refusal> {
        let mut hall = Self::open(bank, needs, factory)?;
        hall.begin();
        hall.go_on();
        hall.close();
        Ok(hall.outcome())
    }

    fn trace(
        bank: &'a Bank,
        needs: Channels,
        factory: &Factory<A>,
        window: Window,
    ) -> Result<Story, Refusal> {
        let mut hall = Self::open(bank, needs, factory)?;
        hall.narrator = Some(Narrator::new(window));
        hall.engine.record();
        hall.begin();
        hall.go_on();
        let is_cut = hall.is_told();
        if !is_cut {
            hall.close();
        }
        let episodes = hall.narrator.take().map(Narrator::into_episodes).unwrap_or_default();
        let violations = hall.violations;
        Ok(Story { bank: bank.clone(), window, episodes, is_cut, violations })
    }

    fn open(bank: &'a Bank, needs: Channels, factory: &Factory<A>) -> Result<Self, Refusal> {
        let network = bank.network(needs);
        if A::PERPETUAL && network.latency.is_always_zero() {
            return Err(Refusal::new(
                "messages of this algorithm travel for ever, so that time would stand still without latency",
            ));
        }
        let guards = bank.guards()?;
        let charter = Arc::new(Charter::new(&bank.participants().collect(), factory)?);
        let known: BTreeSet<SectionName> = guards.iter().cloned().collect();
        let register = Register::new(move |section| known.contains(section).then(|| Arc::clone(&charter)));
        let account = || BankProcess::Account(Account::new(bank.balance as i64, bank.fencing));
        let teller = |me| {
            let sections = Sections::new(me, register.clone());
            let errands = bank.errands(me).take(bank.errand_count(me)).collect();
            BankProcess::Teller(Box::new(Teller::new(sections, guards.clone(), bank.update, errands)))
        };
        let mut processes: Vec<BankProcess<A>> = (0..bank.accounts).map(|_| account()).collect();
        processes.extend(bank.participants().map(teller));
        Ok(Self {
            engine: Engine::new(processes, &network),
            watches: BTreeMap::new(),
            asked_at: vec![Ticks(0); bank.processes()],
            logged: vec![0; bank.accounts],
            tally: BankTally::default(),
            violations: Vec::new(),
            steps_without_entry: 0,
            narrator: None,
            bank,
        })
    }

    fn begin(&mut self) {
        for process in NodeId::first(self.bank.processes()) {
            if let Some(log) = self.engine.log() {
                log.push(Ticks(0), process, What::Start, "", None);
            }
            self.engine.start(process);
            self.after_step(process);
        }
    }

    fn go_on(&mut self) {
        while self.engine.next_time().is_some() && self.steps_without_entry < self.patience() {
            if A::PERPETUAL && self.is_all_done() || self.is_told() {
                return;
            }
            if let Some(process) = self.engine.advance() {
                self.after_step(process);
            }
        }
    }

    /// The most steps without an entry. Every participant may ask every other before the first one enters.
    fn patience(&self) -> u64 {
        let participants = self.bank.participant_count() as u64;
        1_000_000 + 8 * participants * participants
    }

    fn is_all_done(&self) -> bool {
        self.engine.machines().iter().all(BankProcess::is_done)
    }

    /// Checks the effects of a step.
    fn after_step(&mut self, process: NodeId) {
        self.steps_without_entry += 1;
        if let Some(breach) = self.engine.effects().out.breach() {
            self.violate(Wrong::Contract, format!("{}: {breach}", self.bank.title(process)));
        }
        for notice in self.engine.effects().notices.clone() {
            self.note(process, notice);
        }
        if let Some(mut narrator) = self.narrator.take() {
            self.tell(process, &mut narrator);
            self.narrator = Some(narrator);
        }
    }

    /// Whether all was told that is wanted, and there is more.
    fn is_told(&self) -> bool {
        self.narrator.as_ref().is_some_and(|narrator| narrator.is_full(self.engine.now()))
    }

    fn tell(&mut self, process: NodeId, narrator: &mut Narrator) {
        let now = self.engine.now();
        let Some(log) = self.engine.log() else { return };
        let step = log.step().unwrap_or_default();
        // The log is read from its beginning, so only for steps that are told.
        let events = match narrator.wants(now) {
            true => log.iter().filter(|event| event.id >= step).collect(),
            false => Vec::new(),
        };
        let notices = &self.engine.effects().notices;
        let scene = Scene { bank: self.bank, tellers: self.engine.machines(), asked_at: &self.asked_at };
        narrator.tell(&scene, now, process, &events, notices);
    }

    fn note(&mut self, process: NodeId, notice: BankNotice) {
        match notice {
            BankNotice::Asked(_) => self.asked_at[process.index()] = self.engine.now(),
            BankNotice::Entered(section, fence) => self.note_entry(process, section, fence),
            BankNotice::Left(section) => self.watches.entry(section).or_default().leave(process),
            BankNotice::Spoke { place, kind, copies } => self.tally.count_messages(place, kind, copies),
            BankNotice::Changed { account, by } => self.logged[account] += by,
            BankNotice::Ended(ended) => {
                let wrong = self.tally.count_end(ended, self.bank.total());
                wrong.into_iter().for_each(|(kind, what)| self.violate(kind, what));
            }
            BankNotice::Stale => self.tally.fenced += 1,
            BankNotice::Overdrawn(balance) => {
                let what = format!("{} is overdrawn: it has {balance}", self.bank.title(process));
                self.violate(Wrong::NegativeBalance, what);
            }
        }
    }

    fn note_entry(&mut self, process: NodeId, section: SectionName, fence: Fence) {
        self.steps_without_entry = 0;
        self.tally.entries += 1;
        self.tally.waiting_time.add((self.engine.now() - self.asked_at[process.index()]).0);
        let title = |process| self.bank.title(process);
        let wrong = match self.watches.entry(section.clone()).or_default().enter(process, fence) {
            None => return,
            Some(WrongEntry::Together { other, node }) => {
                let what = format!("{} and {} are inside {section} together", title(other), title(node));
                (Wrong::Exclusion, what)
            }
            Some(WrongEntry::Fence { node, fence, before }) => {
                let what = format!(
                    "{} entered {section} with fence {fence} after fence {before} was handed out",
                    title(node)
                );
                (Wrong::Fence, what)
            }
        };
        self.violate(wrong.0, wrong.1);
    }

    /// What must hold at the end, whatever the audits saw.
    fn close(&mut self) {
        if !self.is_all_done() {
            let what = self.stall();
            return self.violate(Wrong::Stall, what);
        }
        let (balances, total) = (self.balances(), self.bank.total());
        let sum: i64 = balances.iter().sum();
        if sum != total {
            self.violate(Wrong::FinalSum, format!("at the end there is {sum} in all accounts, not {total}"));
        }
        for (account, balance) in balances.into_iter().enumerate() {
            let logged = self.bank.balance as i64 + self.logged[account];
            if balance != logged {
                let title = self.bank.title(NodeId::new(account));
                let what =
                    format!("at the end {title} has {balance}, and its clients' logs come to {logged}");
                self.violate(Wrong::FinalLog, what);
            }
        }
    }

    fn balances(&self) -> Vec<i64> {
        let balance = |process: &BankProcess<A>| match process {
            BankProcess::Account(account) => Some(account.balance),
            BankProcess::Teller(_) => None,
        };
        self.engine.machines().iter().filter_map(balance).collect()
    }

    /// Which processes wait for ever, and for what.
    fn stall(&self) -> String {
        const SHOWN: usize = 8;
        let processes = NodeId::first(self.bank.processes()).zip(self.engine.machines());
        let waiting = processes.filter_map(|(process, machine)| match machine {
            BankProcess::Teller(teller) if !teller.is_done() => Some(self.describe(process, teller)),
            BankProcess::Teller(_) | BankProcess::Account(_) => None,
        });
        let told: Vec<String> = waiting.take(SHOWN).collect();
        let moves = if self.engine.next_time().is_some() { "messages move, but " } else { "" };
        format!("{moves}nobody can go on: {}", told.join("; "))
    }

    fn describe(&self, process: NodeId, teller: &Teller<A>) -> String {
        let title = self.bank.title(process);
        let Some(section) = teller.waits_for() else { return format!("{title} waits for an account") };
        let missing =
            teller.sections.node(section).zip(teller.sections.charter(section)).map(|(node, charter)| {
                let missing = node.node().algorithm().waits_for();
                let titles = missing.iter().map(|node| self.bank.title(charter.process_of(node)));
                titles.collect::<Vec<_>>().join(", ")
            });
        let inside: Vec<&str> = teller.inside().map(SectionName::as_str).collect();
        let inside = if inside.is_empty() { String::new() } else { format!(" inside {}", inside.join(", ")) };
        format!("{title}{inside} waits for {section} and lacks {}", missing.unwrap_or_default())
    }

    fn violate(&mut self, kind: Wrong, what: String) {
        if self.tally.count_wrong(kind) {
            self.violations.push(BankViolation { time: self.engine.now(), kind, what });
        }
    }

    fn outcome(mut self) -> BankOutcome {
        self.tally.time = self.engine.now().0;
        BankOutcome { balances: self.balances(), tally: self.tally, violations: self.violations }
    }
}
