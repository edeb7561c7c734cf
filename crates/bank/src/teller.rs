//! The processes that work on accounts: a client with its transfers, or the auditor with its audits.

use std::collections::VecDeque;

use doorway_core::{Algorithm, Effects, Fence, NodeId, SectionName, Sections, Ticks};
use serde::{Deserialize, Serialize};

use super::message::{Answer, Msg, Order, Pass};
use super::process::{BankNotice, BankProcess, Begin};
use super::settings::Update;

/// A client or the auditor, at its work.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Teller<A> {
    pub sections: Sections<A>,
    /// The section that guards each account.
    guards: Vec<SectionName>,
    update: Update,
    /// What is still to be done, drawn by lot before the run.
    errands: VecDeque<Errand>,
    /// The sections that the present errand still needs, the next one last.
    wanted: Vec<SectionName>,
    /// The sections that it is in.
    passes: Vec<Pass>,
    stage: Stage,
}

/// Something to do, after a time to think.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Errand {
    /// How long to think before.
    pub after: Ticks,
    /// What.
    pub work: Work,
}

/// What there is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Work {
    /// Money is to be moved.
    Transfer(Transfer),
    /// All accounts are to be added up.
    Audit,
}

/// Money to be moved from one account to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Transfer {
    /// The place of the account that it is taken from.
    pub from: usize,
    /// The place of the other.
    pub to: usize,
    /// How much.
    pub amount: i64,
}

/// How far the present errand is. Each stage but the first waits for something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
enum Stage {
    /// It thinks, or is done.
    Idle,
    /// Until it is in all sections that it needs.
    Taking(Work),
    /// The balance to take from.
    Reading(Transfer),
    /// The balance to add to, where balances are rewritten; the other one is known.
    ReadingTarget(Transfer, i64),
    /// The acknowledgement that the money has left, and the order that the other account gets then.
    Charging(Transfer, Order),
    /// The acknowledgement that it has arrived.
    Paying(Transfer),
    /// The balance of this account; the sum of those before it is known.
    Auditing(usize, i64),
}

/// How an errand ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Ended {
    /// The money was moved.
    Transferred,
    /// There was not enough of it.
    Refused,
    /// The accounts added up to this.
    Audited(i64),
    /// An account rejected an order because of its fence, so that the errand was given up where it was.
    Fenced(Work),
}

impl<A: Algorithm> Teller<A> {
    pub fn new(
        sections: Sections<A>,
        guards: Vec<SectionName>,
        update: Update,
        errands: VecDeque<Errand>,
    ) -> Self {
        Self { sections, guards, update, errands, wanted: Vec::new(), passes: Vec::new(), stage: Stage::Idle }
    }

    /// Whether nothing is left to do.
    pub fn is_done(&self) -> bool {
        self.stage == Stage::Idle && self.errands.is_empty()
    }

    /// The sections that it is in.
    pub fn inside(&self) -> impl Iterator<Item = &SectionName> {
        self.passes.iter().map(|pass| &pass.section)
    }

    /// What it is at.
    pub fn work(&self) -> Option<Work> {
        match self.stage {
            Stage::Idle => None,
            Stage::Taking(work) => Some(work),
            Stage::Auditing(..) => Some(Work::Audit),
            Stage::Reading(transfer)
            | Stage::ReadingTarget(transfer, _)
            | Stage::Charging(transfer, _)
            | Stage::Paying(transfer) => Some(Work::Transfer(transfer)),
        }
    }

    /// The section that it waits for.
    pub fn waits_for(&self) -> Option<&SectionName> {
        self.wanted.last().filter(|_| matches!(self.stage, Stage::Taking(_)))
    }

    pub fn on_start(&mut self, effects: &mut Effects<BankProcess<A>>) {
        if A::PERPETUAL {
            self.guards.iter().for_each(|section| self.sections.open(section, &mut effects.out));
        }
        self.think(effects);
    }

    fn think(&mut self, effects: &mut Effects<BankProcess<A>>) {
        effects.timers.extend(self.errands.front().map(|errand| (errand.after, Begin)));
    }

    /// The time to think is over.
    pub fn on_begin(&mut self, effects: &mut Effects<BankProcess<A>>) {
        let Some(Errand { work, .. }) = self.errands.pop_front() else { return };
        self.wanted = match work {
            Work::Audit => self.guards.clone(),
            Work::Transfer(Transfer { from, to, .. }) => {
                [from.min(to), from.max(to)].map(|account| self.guards[account].clone()).into()
            }
        };
        self.wanted.dedup();
        self.wanted.reverse();
        self.stage = Stage::Taking(work);
        self.take_next(work, effects);
    }

    fn take_next(&mut self, work: Work, effects: &mut Effects<BankProcess<A>>) {
        let Some(section) = self.wanted.last().cloned() else { return self.set_to_work(work, effects) };
        effects.notices.push(BankNotice::Asked(section.clone()));
        if let Some(fence) = self.sections.request(&section, &mut effects.out) {
            self.on_entered(fence, effects);
        }
    }

    /// It is in the section that it waited for.
    pub fn on_entered(&mut self, fence: Fence, effects: &mut Effects<BankProcess<A>>) {
        let (Stage::Taking(work), Some(section)) = (self.stage, self.wanted.pop()) else {
            return effects.out.broken("an entry that was not asked for");
        };
        effects.notices.push(BankNotice::Entered(section.clone(), fence));
        self.passes.push(Pass { section, fence });
        self.take_next(work, effects);
    }

    fn set_to_work(&mut self, work: Work, effects: &mut Effects<BankProcess<A>>) {
        match work {
            Work::Transfer(transfer) => {
                self.stage = Stage::Reading(transfer);
                self.order(transfer.from, Order::Read, effects);
            }
            Work::Audit => self.add_up(0, 0, effects),
        }
    }

    /// Accounts are the first processes, so that their places are their numbers.
    fn order(&mut self, account: usize, order: Order, effects: &mut Effects<BankProcess<A>>) {
        let guard = &self.guards[account];
        let Some(pass) = self.passes.iter().find(|pass| pass.section == *guard).cloned() else {
            return effects.out.broken("an order without the section that guards the account");
        };
        self.sections.tick();
        effects.out.send(NodeId::new(account), Msg::Order(pass, order));
    }

    /// An account has answered.
    pub fn on_answer(&mut self, answer: Answer, effects: &mut Effects<BankProcess<A>>) {
        match (self.stage, answer) {
            (Stage::Reading(transfer), Answer::Balance(balance)) => self.weigh(transfer, balance, effects),
            (Stage::ReadingTarget(transfer, source), Answer::Balance(target)) => {
                self.stage = Stage::Charging(transfer, Order::Write(target + transfer.amount));
                self.order(transfer.from, Order::Write(source - transfer.amount), effects);
            }
            (Stage::Charging(transfer, then), Answer::Done) => {
                effects.notices.push(BankNotice::Changed { account: transfer.from, by: -transfer.amount });
                self.stage = Stage::Paying(transfer);
                self.order(transfer.to, then, effects);
            }
            (Stage::Paying(transfer), Answer::Done) => {
                effects.notices.push(BankNotice::Changed { account: transfer.to, by: transfer.amount });
                self.finish(Ended::Transferred, effects);
            }
            (Stage::Auditing(account, sum), Answer::Balance(balance)) => {
                self.add_up(account + 1, sum + balance, effects);
            }
            (Stage::Auditing(..), Answer::Fenced) => self.finish(Ended::Fenced(Work::Audit), effects),
            (
                Stage::Reading(transfer)
                | Stage::ReadingTarget(transfer, _)
                | Stage::Charging(transfer, _)
                | Stage::Paying(transfer),
                Answer::Fenced,
            ) => self.finish(Ended::Fenced(Work::Transfer(transfer)), effects),
            (_, Answer::Balance(_) | Answer::Done | Answer::Fenced) => {
                effects.out.broken("an answer to an order that was not given");
            }
        }
    }

    /// Is there enough to take from?
    fn weigh(&mut self, transfer: Transfer, balance: i64, effects: &mut Effects<BankProcess<A>>) {
        let Transfer { from, to, amount } = transfer;
        match self.update {
            _ if balance < amount => self.finish(Ended::Refused, effects),
            Update::Transfer => {
                self.stage = Stage::Charging(transfer, Order::Credit(amount));
                self.order(from, Order::Debit(amount), effects);
            }
            Update::Rewrite => {
                self.stage = Stage::ReadingTarget(transfer, balance);
                self.order(to, Order::Read, effects);
            }
        }
    }

    /// One account after the other.
    fn add_up(&mut self, read: usize, sum: i64, effects: &mut Effects<BankProcess<A>>) {
        if read == self.guards.len() {
            return self.finish(Ended::Audited(sum), effects);
        }
        self.stage = Stage::Auditing(read, sum);
        self.order(read, Order::Read, effects);
    }

    fn finish(&mut self, ended: Ended, effects: &mut Effects<BankProcess<A>>) {
        effects.notices.push(BankNotice::Ended(ended));
        while let Some(Pass { section, .. }) = self.passes.pop() {
            effects.notices.push(BankNotice::Left(section.clone()));
            self.sections.release(&section, &mut effects.out);
        }
        self.stage = Stage::Idle;
        self.think(effects);
    }
}
