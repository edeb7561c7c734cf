//! A process of the bank, as a machine for the simulator.

use doorway_core::{
    Algorithm, Effects, Fence, LamportClock, Machine, Never, NodeId, SectionName, Sent, Ticks, kind,
};
use serde::Serialize;

use super::account::Account;
use super::message::{Msg, Order, Pass};
use super::teller::{Ended, Teller};

/// A process: an account, or a client or auditor that works on accounts.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum BankProcess<A> {
    Account(Account),
    Teller(Box<Teller<A>>),
}

/// The time to think is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Begin;

/// What a process reports to the hall.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum BankNotice {
    /// It wants into a section.
    Asked(SectionName),
    /// It is inside.
    Entered(SectionName, Fence),
    /// It leaves.
    Left(SectionName),
    /// It has sent a message about a section to this many others: the kind of message, by its place and its name.
    Spoke { place: u32, kind: &'static str, copies: u64 },
    /// An account has acknowledged this change.
    Changed { account: usize, by: i64 },
    /// An errand has ended.
    Ended(Ended),
    /// An account was given an order whose fence is smaller than one that it has seen.
    Stale,
    /// An account has less than nothing.
    Overdrawn(i64),
}

impl<A: Algorithm> BankProcess<A> {
    /// Whether it has nothing left to do.
    pub fn is_done(&self) -> bool {
        match self {
            BankProcess::Account(_) => true,
            BankProcess::Teller(teller) => teller.is_done(),
        }
    }

    /// Every message carries its sender's clock; messages about sections are counted.
    fn end_step(&self, effects: &mut Effects<Self>) {
        effects.header = match self {
            BankProcess::Account(account) => account.clock,
            BankProcess::Teller(teller) => teller.sections.clock(),
        };
        for Sent { to, msg, .. } in effects.out.sends() {
            if let Msg::Section(named) = msg {
                let said = kind(&named.msg);
                let copies = to.count() as u64;
                effects.notices.push(BankNotice::Spoke { place: said.index, kind: said.name, copies });
            }
        }
    }
}

fn serve<A: Algorithm>(
    account: &mut Account,
    from: NodeId,
    (pass, order): (Pass, Order),
    effects: &mut Effects<BankProcess<A>>,
) {
    let served = account.serve(pass, order);
    effects.notices.extend(served.is_stale.then_some(BankNotice::Stale));
    effects.notices.extend(served.overdrawn.map(BankNotice::Overdrawn));
    effects.out.send(from, Msg::Answer(served.answer));
}

impl<A: Algorithm> Machine for BankProcess<A> {
    type Header = LamportClock;
    type Msg = Msg<A::Msg>;
    type Command = Never;
    type Notice = BankNotice;
    type Timer = Begin;
    type Write = Never;

    fn on_start(&mut self, _: Ticks, effects: &mut Effects<Self>) {
        if let BankProcess::Teller(teller) = self {
            teller.on_start(effects);
        }
        self.end_step(effects);
    }

    fn on_message(
        &mut self,
        _: Ticks,
        from: NodeId,
        clock: LamportClock,
        msg: Self::Msg,
        effects: &mut Effects<Self>,
    ) {
        match (&mut *self, msg) {
            (BankProcess::Account(account), Msg::Order(pass, order)) => {
                account.clock.merge(clock.count());
                account.clock.tick();
                serve(account, from, (pass, order), effects);
            }
            (BankProcess::Teller(teller), Msg::Section(named)) => {
                teller.sections.hear(clock);
                if let Some(fence) = teller.sections.message(from, named, &mut effects.out) {
                    teller.on_entered(fence, effects);
                }
            }
            (BankProcess::Teller(teller), Msg::Answer(answer)) => {
                teller.sections.hear(clock);
                teller.on_answer(answer, effects);
            }
            (BankProcess::Account(_), Msg::Section(_) | Msg::Answer(_))
            | (BankProcess::Teller(_), Msg::Order(..)) => {
                effects.out.broken("a message for another process");
            }
        }
        self.end_step(effects);
    }

    fn on_timer(&mut self, _: Ticks, Begin: Begin, effects: &mut Effects<Self>) {
        if let BankProcess::Teller(teller) = self {
            teller.on_begin(effects);
        }
        self.end_step(effects);
    }

    fn on_command(&mut self, _: Ticks, never: Never, _: &mut Effects<Self>) {
        match never {}
    }

    fn on_written(&mut self, _: Ticks, never: Never, _: &mut Effects<Self>) {
        match never {}
    }
}
