//! The process of a client or of the auditor: it asks the daemon for the lock and the accounts for money.

use std::io::{self, BufRead, Write};
use std::path::Path;
use std::thread;
use std::time::Duration;

use doorway_bank::{Answer, Bank, Ended, Order, Pass, Transfer, Update, Work};
use doorway_client::{Client, Error, Guard, clock};
use doorway_core::{SectionName, Ticks};

use super::words::{AccountConnection, Assignment, ProcessMsg, say};

/// A client that waits for longer waits for ever: no client holds a lock for more than a moment.
pub(super) const PATIENCE: Duration = Duration::from_secs(15);

/// What ends a teller before its errands are done.
enum Stop {
    /// It has waited for too long, which was told.
    Stalled,
    /// Something is gone.
    Failed(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Stop::Failed(error)
    }
}

/// A client or the auditor.
struct Teller<'a, I, O> {
    bank: Bank,
    guards: Vec<SectionName>,
    client: Client,
    counters: Vec<AccountConnection>,
    /// After how many more transfers it waits to be killed.
    killed_after: Option<usize>,
    input: &'a mut I,
    out: &'a mut O,
}

/// Does all errands.
pub(super) fn work(assignment: Assignment, input: &mut impl BufRead, out: &mut impl Write) -> io::Result<()> {
    let bank = assignment.bank();
    let guards = bank.guards().map_err(io::Error::other)?;
    let client = Client::connect(&assignment.daemon).map_err(io::Error::other)?;
    client.introduce(&bank.title(assignment.me()));
    let open = |account| AccountConnection::open(Path::new(&assignment.folder), account);
    let counters = (0..bank.accounts).map(open).collect::<io::Result<_>>()?;
    let killed_after = assignment.killed_after;
    let mut teller = Teller { bank, guards, client, counters, killed_after, input, out };
    match teller.run(&assignment) {
        Ok(()) | Err(Stop::Stalled) => Ok(()),
        Err(Stop::Failed(error)) => Err(error),
    }
}

impl<I: BufRead, O: Write> Teller<'_, I, O> {
    fn run(&mut self, assignment: &Assignment) -> Result<(), Stop> {
        let errands = self.bank.errands(assignment.me());
        for errand in errands.take(assignment.errands.unwrap_or(usize::MAX)) {
            if clock::now() >= assignment.until {
                break;
            }
            thread::sleep(clock::span(errand.after));
            self.do_errand(errand.work)?;
        }
        if assignment.process + 1 == self.bank.processes() {
            // Once more when all others are done.
            self.input.read_line(&mut String::new())?;
            self.do_errand(Work::Audit)?;
        }
        Ok(())
    }

    fn do_errand(&mut self, work: Work) -> Result<(), Stop> {
        let (guard, passes) = self.enter(work)?;
        let mut changes = Vec::new();
        let ended = match work {
            Work::Transfer(transfer) => self.transfer(transfer, &passes, &mut changes)?,
            Work::Audit => self.audit(&passes)?,
        };
        let at = clock::now();
        let lost = guard.release().err().map(|lost| lost.to_string());
        say(self.out, &ProcessMsg::Left { at, ended, changes, lost })?;
        Ok(())
    }

    /// All sections that this takes, in one request: all of them or none.
    fn enter(&mut self, work: Work) -> Result<(Guard, Vec<Pass>), Stop> {
        let mut sections = match work {
            Work::Audit => self.guards.clone(),
            Work::Transfer(Transfer { from, to, .. }) => {
                [from.min(to), from.max(to)].map(|account| self.guards[account].clone()).into()
            }
        };
        sections.dedup();
        let asked = clock::now();
        let entered =
            self.client.lock(sections.iter().map(SectionName::as_str)).wait(PATIENCE).enter_blocking();
        let at = clock::now();
        let guard = match entered {
            Ok(guard) => guard,
            Err(error) if error.is_timeout() => {
                say(self.out, &ProcessMsg::Stalled { sections })?;
                return Err(Stop::Stalled);
            }
            Err(error) => return Err(failed(&error)),
        };
        let pass = |(section, fence): &(SectionName, _)| Pass { section: section.clone(), fence: *fence };
        let passes: Vec<Pass> = guard.fences().iter().map(pass).collect();
        say(self.out, &ProcessMsg::Entered { at, waited: Ticks(at.0 - asked.0), passes: passes.clone() })?;
        Ok((guard, passes))
    }

    fn transfer(
        &mut self,
        Transfer { from, to, amount }: Transfer,
        passes: &[Pass],
        changes: &mut Vec<(usize, i64)>,
    ) -> io::Result<Ended> {
        let fenced = Ended::Fenced(Work::Transfer(Transfer { from, to, amount }));
        let Some(source) = self.read(from, passes)? else { return Ok(fenced) };
        if source < amount {
            return Ok(Ended::Refused);
        }
        let (charge, pay) = match self.bank.update {
            Update::Transfer => (Order::Debit(amount), Order::Credit(amount)),
            Update::Rewrite => match self.read(to, passes)? {
                Some(target) => (Order::Write(source - amount), Order::Write(target + amount)),
                None => return Ok(fenced),
            },
        };
        self.be_killed_if_due(from, charge, passes)?;
        for (account, order, by) in [(from, charge, -amount), (to, pay, amount)] {
            if self.order(account, order, passes)? == Answer::Fenced {
                return Ok(fenced);
            }
            changes.push((account, by));
        }
        Ok(Ended::Transferred)
    }

    /// Gives the first order of a transfer to the slow post, and goes no further.
    fn be_killed_if_due(&mut self, account: usize, order: Order, passes: &[Pass]) -> io::Result<()> {
        match &mut self.killed_after {
            None => return Ok(()),
            Some(0) => {}
            Some(left) => {
                *left -= 1;
                return Ok(());
            }
        }
        let pass = self.pass(account, passes)?;
        say(self.out, &ProcessMsg::Posted { account, pass, order })?;
        self.input.read_line(&mut String::new())?;
        Err(io::Error::other("nobody killed this process"))
    }

    fn audit(&mut self, passes: &[Pass]) -> io::Result<Ended> {
        let mut sum = 0;
        for account in 0..self.bank.accounts {
            let Some(balance) = self.read(account, passes)? else { return Ok(Ended::Fenced(Work::Audit)) };
            sum += balance;
        }
        Ok(Ended::Audited(sum))
    }

    /// The balance of an account, unless it rejects the question.
    fn read(&mut self, account: usize, passes: &[Pass]) -> io::Result<Option<i64>> {
        match self.order(account, Order::Read, passes)? {
            Answer::Balance(balance) => Ok(Some(balance)),
            Answer::Done | Answer::Fenced => Ok(None),
        }
    }

    fn order(&mut self, account: usize, order: Order, passes: &[Pass]) -> io::Result<Answer> {
        let pass = self.pass(account, passes)?;
        self.counters[account].order(&pass, order)
    }

    fn pass(&self, account: usize, passes: &[Pass]) -> io::Result<Pass> {
        let pass = passes.iter().find(|pass| pass.section == self.guards[account]);
        pass.cloned().ok_or_else(|| io::Error::other("a section that was not asked for"))
    }
}

fn failed(error: &Error) -> Stop {
    Stop::Failed(io::Error::other(error.to_string()))
}
