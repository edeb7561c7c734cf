//! What happened in the bank, and whether it may have: written down as it is heard, judged at the end.
//!
//! Every process tells when it came in and when it left by the clock that all processes of a machine share: it came in after
//! that was granted, and left before it said so. So if two of these times overlap, two were inside together.

use std::collections::BTreeMap;

use doorway_bank::{Answer, Bank, BankTally, BankViolation, Ended, Order, Pass, Wrong};
use doorway_client::clock;
use doorway_core::{Fence, NodeId, SectionName, Ticks};

use super::words::Extract;

/// A client that was killed inside, and its last order, which was under way.
#[derive(Clone, Debug)]
pub(super) struct Killed {
    pub(super) process: usize,
    /// When; it was alive just before.
    pub(super) at: Ticks,
    pub(super) account: usize,
    pub(super) pass: Pass,
    pub(super) order: Order,
    /// What the account said to it, when it came at last.
    pub(super) answer: Option<Answer>,
}

/// A holder of a section.
struct Visit {
    process: usize,
    pass: Pass,
    entered: Ticks,
    /// None as long as it is unknown.
    left: Option<Ticks>,
}

/// The books while the bank is open.
pub(super) struct Books {
    bank: Bank,
    pub(super) began: Ticks,
    visits: Vec<Visit>,
    /// The last visits of each process.
    inside: BTreeMap<usize, Vec<usize>>,
    pub(super) killed: Vec<Killed>,
    lost: Vec<String>,
    logged: Vec<i64>,
    tally: BankTally,
    violations: Vec<BankViolation>,
}

/// The books when it is closed.
pub(super) struct ClosedBooks {
    pub(super) tally: BankTally,
    pub(super) violations: Vec<BankViolation>,
    pub(super) balances: Vec<i64>,
    pub(super) killed: Vec<Casualty>,
    /// Why holders lost the lock, one entry per loss.
    pub(super) lost: Vec<String>,
}

/// What became of a client that was killed.
pub(super) struct Casualty {
    pub(super) killed: Killed,
    /// How long it took until another client held all of its sections; none if no client ever did.
    pub(super) next_after: Option<Ticks>,
}

impl Books {
    pub(super) fn new(bank: &Bank, began: Ticks) -> Self {
        Self {
            bank: bank.clone(),
            began,
            visits: Vec::new(),
            inside: BTreeMap::new(),
            killed: Vec::new(),
            lost: Vec::new(),
            logged: vec![0; bank.accounts],
            tally: BankTally::default(),
            violations: Vec::new(),
        }
    }

    /// How many transfers and audits have ended.
    pub(super) fn errands(&self) -> u64 {
        self.tally.errands()
    }

    pub(super) fn enter(&mut self, process: usize, at: Ticks, waited: Ticks, passes: Vec<Pass>) {
        self.tally.entries += passes.len() as u64;
        self.tally.waiting_time.add(waited.0);
        let first = self.visits.len();
        let visit = |pass| Visit { process, pass, entered: at, left: None };
        self.visits.extend(passes.into_iter().map(visit));
        self.inside.insert(process, (first..self.visits.len()).collect());
    }

    /// Notes that a process has left, and tells what it was inside with.
    pub(super) fn leave(
        &mut self,
        process: usize,
        at: Ticks,
        ended: Ended,
        changes: &[(usize, i64)],
        lost: Option<String>,
    ) -> Vec<Pass> {
        self.lost.extend(lost);
        changes.iter().for_each(|(account, by)| self.logged[*account] += by);
        let wrong = self.tally.count_end(ended, self.bank.total());
        wrong.into_iter().for_each(|(kind, what)| self.violate(at, kind, what));
        self.end_visits(process, at)
    }

    fn end_visits(&mut self, process: usize, at: Ticks) -> Vec<Pass> {
        let visits = self.inside.remove(&process).unwrap_or_default();
        visits
            .into_iter()
            .map(|visit| {
                self.visits[visit].left = Some(at);
                self.visits[visit].pass.clone()
            })
            .collect()
    }

    pub(super) fn kill(&mut self, killed: Killed) {
        self.end_visits(killed.process, killed.at);
        self.killed.push(killed);
    }

    pub(super) fn note_stall(&mut self, process: usize, sections: &[SectionName]) {
        let sections: Vec<&str> = sections.iter().map(SectionName::as_str).collect();
        let what = format!("{} waits for {} for ever", self.title(process), sections.join(", "));
        self.violate(clock::now(), Wrong::Stall, what);
    }

    pub(super) fn note_hang(&mut self) {
        self.violate(clock::now(), Wrong::Stall, "not every client finishes".to_owned());
    }

    fn title(&self, process: usize) -> String {
        self.bank.title(NodeId::new(process))
    }

    fn violate(&mut self, at: Ticks, kind: Wrong, what: String) {
        if self.tally.count_wrong(kind) {
            let time = Ticks(at.0.saturating_sub(self.began.0));
            self.violations.push(BankViolation { time, kind, what });
        }
    }

    /// Judges what was written down, with what the accounts have at the end.
    pub(super) fn close(mut self, extracts: &[Extract]) -> ClosedBooks {
        let end = clock::now();
        self.judge_visits();
        self.judge_accounts(end, extracts);
        self.violations.sort_by_key(|violation| violation.time);
        self.tally.time = end.0 - self.began.0;
        let killed = std::mem::take(&mut self.killed).into_iter();
        let killed = killed.map(|killed| Casualty { next_after: self.next_after(&killed), killed }).collect();
        ClosedBooks {
            killed,
            tally: self.tally,
            violations: self.violations,
            balances: extracts.iter().map(|extract| extract.balance).collect(),
            lost: self.lost,
        }
    }

    /// Whether two were inside together, and whether fences rise.
    fn judge_visits(&mut self) {
        let mut visits = std::mem::take(&mut self.visits);
        visits.sort_by_key(|visit| visit.entered);
        let mut last: BTreeMap<&SectionName, Last> = BTreeMap::new();
        for visit in &visits {
            let (section, fence) = (&visit.pass.section, visit.pass.fence);
            let before = last.entry(section).or_default();
            let title = self.title(visit.process);
            if visit.entered < before.left {
                let what =
                    format!("{} and {title} are inside {section} together", self.title(before.process));
                self.violate(visit.entered, Wrong::Exclusion, what);
            } else if fence <= before.fence {
                let what = format!(
                    "{title} entered {section} with fence {fence} after fence {} was handed out",
                    before.fence
                );
                self.violate(visit.entered, Wrong::Fence, what);
            }
            before.fence = fence.max(before.fence);
            let left = visit.left.unwrap_or(Ticks(u64::MAX));
            if left > before.left {
                (before.process, before.left) = (visit.process, left);
            }
        }
        self.visits = visits;
    }

    /// What must hold at the end, whatever the audits saw.
    fn judge_accounts(&mut self, end: Ticks, extracts: &[Extract]) {
        for (account, extract) in extracts.iter().enumerate() {
            let title = self.title(account);
            self.tally.fenced += extract.fenced;
            for (at, balance) in &extract.first_overdrawn {
                let what = format!("{title} is overdrawn: it has {balance}");
                self.violate(*at, Wrong::NegativeBalance, what);
            }
            if extract.overdrawn > 0 {
                let more = extract.overdrawn - extract.first_overdrawn.len() as u64;
                *self.tally.found.entry(Wrong::NegativeBalance).or_default() += more;
            }
            let (balance, logged) = (extract.balance, self.bank.balance as i64 + self.logged[account]);
            if balance != logged {
                let what =
                    format!("at the end {title} has {balance}, and its clients' logs come to {logged}");
                self.violate(end, Wrong::FinalLog, what);
            }
        }
        let (sum, total) = (extracts.iter().map(|extract| extract.balance).sum::<i64>(), self.bank.total());
        if sum != total {
            self.violate(
                end,
                Wrong::FinalSum,
                format!("at the end there is {sum} in all accounts, not {total}"),
            );
        }
    }

    /// How long it took until others were inside all sections of one that was killed.
    fn next_after(&self, killed: &Killed) -> Option<Ticks> {
        let is_its = |visit: &&Visit| visit.process == killed.process && visit.left == Some(killed.at);
        let next = |mine: &Visit| {
            let is_next =
                |visit: &&Visit| visit.pass.section == mine.pass.section && visit.entered > killed.at;
            self.visits.iter().find(is_next).map(|visit| Ticks(visit.entered.0 - killed.at.0))
        };
        let all: Option<Vec<Ticks>> = self.visits.iter().filter(is_its).map(next).collect();
        all?.into_iter().max()
    }
}

/// Who was inside a section up to what time, and the largest fence so far.
#[derive(Default)]
struct Last {
    process: usize,
    left: Ticks,
    fence: Fence,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn books() -> Books {
        Books::new(&Bank::default(), Ticks(0))
    }

    fn pass(fence: u64) -> Pass {
        Pass { section: SectionName::new("bank").expect("a good name"), fence: Fence(fence) }
    }

    fn visit(books: &mut Books, process: usize, fence: u64, from: u64, to: u64) {
        books.enter(process, Ticks(from), Ticks(1), vec![pass(fence)]);
        books.leave(process, Ticks(to), Ended::Transferred, &[], None);
    }

    fn found(books: Books, balances: [i64; 3]) -> Vec<(Wrong, u64)> {
        let extract = |balance| Extract { balance, ..Extract::default() };
        books.close(&balances.map(extract)).tally.found.into_iter().collect()
    }

    #[test]
    fn times_that_touch_are_right_and_times_that_overlap_are_not() {
        let mut right = books();
        visit(&mut right, 3, 1, 10, 20);
        visit(&mut right, 4, 2, 20, 30);
        assert_eq!(found(right, [100; 3]), []);
        let mut wrong = books();
        // The first stays for long, so that the second and the third are with it.
        visit(&mut wrong, 3, 1, 10, 50);
        visit(&mut wrong, 4, 2, 19, 30);
        visit(&mut wrong, 5, 3, 40, 45);
        assert_eq!(found(wrong, [100; 3]), [(Wrong::Exclusion, 2)]);
    }

    #[test]
    fn a_fence_that_does_not_rise_is_found() {
        let mut books = books();
        visit(&mut books, 3, 7, 10, 20);
        visit(&mut books, 4, 7, 21, 30);
        assert_eq!(found(books, [100; 3]), [(Wrong::Fence, 1)]);
    }

    #[test]
    fn lost_and_invented_money_is_found_at_the_end() {
        assert_eq!(found(books(), [100, 90, 100]), [(Wrong::FinalSum, 1), (Wrong::FinalLog, 1)]);
        assert_eq!(found(books(), [110, 90, 100]), [(Wrong::FinalLog, 2)]);
        let mut moved = books();
        moved.leave(3, Ticks(5), Ended::Transferred, &[(1, -10), (0, 10)], None);
        assert_eq!(found(moved, [110, 90, 100]), []);
    }

    #[test]
    fn a_successor_of_a_killed_client_is_no_second_holder() {
        let mut books = books();
        books.enter(3, Ticks(10), Ticks(0), vec![pass(1)]);
        let killed = Killed {
            process: 3,
            at: Ticks(15),
            account: 0,
            pass: pass(1),
            order: Order::Debit(5),
            answer: Some(Answer::Fenced),
        };
        books.kill(killed);
        visit(&mut books, 4, 2, 18, 30);
        let extract = Extract { balance: 100, ..Extract::default() };
        let kept = books.close(&[extract.clone(), extract.clone(), extract]);
        assert!(kept.tally.found.is_empty());
        assert_eq!(kept.killed[0].next_after, Some(Ticks(3)));
    }
}
