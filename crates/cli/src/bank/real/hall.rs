//! The hall of the bank: it starts all processes, hears them, kills some of them, and is the slow post.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use doorway_bank::{Bank, Ended, Pass};
use doorway_client::clock;
use doorway_core::{Refusal, Ticks};
use doorway_terminal::ProgressLine;

use super::books::{Books, ClosedBooks, Killed};
use super::cluster::BankCluster;
use super::staff::{Employee, StaffEvent};
use super::words::{AccountConnection, Assignment, ProcessMsg};
use super::{Terms, teller};

/// How often progress is shown.
const LOOK: Duration = Duration::from_millis(100);

/// The transfer of which those to be killed do not get back.
const FATAL: usize = 5;

/// A bank at work.
pub(super) struct Hall<'a> {
    terms: &'a Terms,
    bank: &'a Bank,
    cluster: &'a BankCluster,
    events: Receiver<StaffEvent>,
    staff: BTreeMap<usize, Employee>,
    /// Lines of the slow post to the accounts.
    counters: Vec<AccountConnection>,
    books: Books,
    progress: ProgressLine,
    /// How many clients are at work.
    clients: usize,
    is_open: bool,
    /// When a client that still waits has waited for too long.
    limit: Ticks,
}

impl<'a> Hall<'a> {
    /// Starts all processes.
    ///
    /// # Errors
    /// If one cannot be started.
    pub(super) fn open(
        terms: &'a Terms,
        cluster: &'a BankCluster,
        (sender, events): (&Sender<StaffEvent>, Receiver<StaffEvent>),
    ) -> Result<Self, Refusal> {
        let bank = &terms.bank;
        let mut hall = Self {
            terms,
            bank,
            cluster,
            events,
            staff: BTreeMap::new(),
            counters: Vec::new(),
            books: Books::new(bank, clock::now()),
            progress: ProgressLine::without_end("transfers and audits"),
            clients: bank.clients,
            is_open: true,
            limit: Ticks(u64::MAX),
        };
        hall.start(0..bank.accounts, Ticks(0), sender)?;
        hall.await_accounts()?;
        let until = clock::now() + clock::ticks(terms.seconds);
        hall.limit = until + clock::ticks(teller::PATIENCE * 2);
        hall.books.began = clock::now();
        hall.start(bank.accounts..bank.processes(), until, sender)?;
        Ok(hall)
    }

    fn start(
        &mut self,
        processes: std::ops::Range<usize>,
        until: Ticks,
        sender: &Sender<StaffEvent>,
    ) -> Result<(), Refusal> {
        for process in processes {
            let employee = Employee::start(&self.assignment(process, until), sender)?;
            self.staff.insert(process, employee);
        }
        Ok(())
    }

    fn assignment(&self, process: usize, until: Ticks) -> Assignment {
        let (terms, bank) = (self.terms, self.bank);
        let is_auditor = process + 1 == bank.processes();
        let client = process.saturating_sub(bank.accounts);
        let sockets = &self.cluster.sockets;
        Assignment {
            process,
            accounts: bank.accounts,
            clients: bank.clients,
            balance: bank.balance,
            locks: bank.locks,
            update: bank.update,
            fencing: bank.fencing,
            think: bank.think.to_string(),
            seed: bank.seed,
            folder: self.cluster.folder.path.clone(),
            daemon: sockets.get(client % sockets.len().max(1)).cloned().unwrap_or_default(),
            errands: if is_auditor { terms.audits } else { terms.transfers },
            until,
            killed_after: (!is_auditor && client < terms.kill)
                .then(|| terms.transfers.map_or(FATAL, |transfers| FATAL.min(transfers / 2))),
        }
    }

    fn await_accounts(&mut self) -> Result<(), Refusal> {
        let mut missing = self.bank.accounts;
        while missing > 0 {
            match self.events.recv_timeout(teller::PATIENCE) {
                Ok(StaffEvent::Said(_, ProcessMsg::Ready)) => missing -= 1,
                Ok(StaffEvent::Said(process, ProcessMsg::Failed(why))) => {
                    return Err(self.failed(process, &why));
                }
                Ok(StaffEvent::Interrupted) => return Err(interrupted()),
                Ok(_) => {}
                Err(_) => return Err(Refusal::new("the process of an account did not start")),
            }
        }
        let open = |account| AccountConnection::open(&self.cluster.folder.path, account);
        let counters = (0..self.bank.accounts).map(open).collect::<std::io::Result<_>>();
        self.counters =
            counters.map_err(|error| Refusal::new(format!("the connection to an account broke: {error}")))?;
        Ok(())
    }

    /// Hears all of them until the last audit.
    ///
    /// # Errors
    /// If a process fails, or the user interrupts the bank.
    pub(super) fn run(mut self) -> Result<ClosedBooks, Refusal> {
        while self.is_open && clock::now() < self.limit {
            match self.events.recv_timeout(LOOK) {
                Ok(StaffEvent::Said(process, word)) => self.note(process, word)?,
                Ok(StaffEvent::Silent(process)) => self.note_end(process),
                Ok(StaffEvent::Interrupted) => return Err(interrupted()),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.progress.show(self.books.errands());
        }
        if self.is_open {
            self.books.note_hang();
        }
        self.deliver(|_| true)?;
        let extracts =
            self.counters.iter_mut().map(AccountConnection::close).collect::<std::io::Result<Vec<_>>>();
        let extracts =
            extracts.map_err(|error| Refusal::new(format!("the connection to an account broke: {error}")))?;
        Ok(self.books.close(&extracts))
    }

    fn note(&mut self, process: usize, word: ProcessMsg) -> Result<(), Refusal> {
        match word {
            ProcessMsg::Ready => {}
            ProcessMsg::Entered { at, waited, passes } => self.books.enter(process, at, waited, passes),
            ProcessMsg::Posted { account, pass, order } => {
                // Before it is killed no other client can hold the lock, if the lock is correct.
                let at = clock::now();
                self.staff.remove(&process);
                self.books.kill(Killed { process, at, account, pass, order, answer: None });
            }
            ProcessMsg::Left { at, ended, changes, lost } => {
                let passes = self.books.leave(process, at, ended, &changes, lost);
                if matches!(ended, Ended::Audited(_)) {
                    // All accounts have seen these fences.
                    self.deliver(|late| is_newer(&passes, late))?;
                }
            }
            ProcessMsg::Stalled { sections } => self.books.note_stall(process, &sections),
            ProcessMsg::Failed(why) => return Err(self.failed(process, &why)),
        }
        Ok(())
    }

    /// A process is done, or was killed. When the clients are, there is one more audit.
    fn note_end(&mut self, process: usize) {
        let auditor = self.bank.processes() - 1;
        match process {
            _ if process < self.bank.accounts => {}
            _ if process == auditor => self.is_open = false,
            _ => self.clients -= 1,
        }
        if self.clients == 0
            && let Some(auditor) = self.staff.get_mut(&auditor)
        {
            auditor.nudge();
        }
    }

    /// Delivers the delayed orders of killed clients.
    fn deliver(&mut self, is_due: impl Fn(&Pass) -> bool) -> Result<(), Refusal> {
        for late in self.books.killed.iter_mut().filter(|late| late.answer.is_none() && is_due(&late.pass)) {
            let answer = self.counters[late.account].order(&late.pass, late.order);
            late.answer = Some(
                answer
                    .map_err(|error| Refusal::new(format!("the connection to an account broke: {error}")))?,
            );
        }
        Ok(())
    }

    fn failed(&self, process: usize, why: &str) -> Refusal {
        let title = self.bank.title(doorway_core::NodeId::new(process));
        Refusal::new(format!("{title} cannot go on: {why}"))
    }
}

/// Whether another client acquired these sections after this one.
fn is_newer(passes: &[Pass], late: &Pass) -> bool {
    passes.iter().any(|pass| pass.section == late.section && pass.fence > late.fence)
}

fn interrupted() -> Refusal {
    Refusal::new("interrupted: all processes of the bank are ended")
}
