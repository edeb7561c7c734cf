//! What the bank came to, for people.

use std::collections::BTreeMap;

use doorway_bank::{Bank, BankRuns, BankTally, BankViolation, FailedRun, Fencing, Locks, Update, Wrong};
use doorway_core::{About, Channels};
use doorway_terminal::table;
use doorway_terminal::text::{channels, counted, decimal, item, prose_width, wrap};

use crate::typed::Typed;

/// Where the values of all lines begin.
const COLUMN: usize = 14;

pub(super) fn page(runs: &BankRuns, lock: Option<&About>, typed: &Typed) -> String {
    let business = WorkSummary { bank: &runs.bank, tally: &runs.tally, balances: runs.balances() };
    let mut parts = vec![heading(runs, lock), business.lines().join("\n"), locking(runs, lock).join("\n")];
    match &runs.example {
        None => parts.push(peace(runs)),
        Some(example) => parts.extend([damage(runs), failure(runs, example, typed)]),
    }
    parts.join("\n\n") + "\n"
}

/// What was run, so that the output can be read without the command.
pub(super) fn heading(runs: &BankRuns, lock: Option<&About>) -> String {
    let bank = &runs.bank;
    let needs = lock.map_or(Channels::Any, |about| about.needs);
    let mut facts = vec![lock.map_or("no lock", |about| about.name).to_owned()];
    facts.push(match bank.locks {
        Locks::One => "one section".to_owned(),
        Locks::PerAccount => format!("{} sections", bank.accounts),
    });
    facts.extend([
        format!("{} accounts of {}", bank.accounts, bank.balance),
        format!(
            "{} with {} each",
            counted(bank.clients as u64, "client"),
            counted(bank.transfers as u64, "transfer")
        ),
        format!("an auditor with {}", counted(bank.audits as u64, "audit")),
    ]);
    facts.extend((bank.update == Update::Rewrite).then(|| "balances rewritten".to_owned()));
    facts.extend((bank.fencing == Fencing::Off).then(|| "fencing off".to_owned()));
    facts.extend([
        format!("think {}", bank.think),
        format!("latency {}", bank.latency),
        channels(bank.channels.unwrap_or(needs)),
    ]);
    facts.extend(bank.options.iter().map(|(name, choice)| format!("{name} {}", choice.word)));
    facts.push(match runs.runs {
        1 => format!("seed {}", bank.seed),
        count => format!("{count} runs with seeds {} to {}", bank.seed, bank.seed + count - 1),
    });
    let mut lines = wrap(&facts.join(", "), prose_width(), 2);
    if let Some(specimen) = lock.and_then(|about| about.specimen) {
        let sentence = format!("specimen {}, wrong on purpose: {}", specimen.id, specimen.wrong);
        lines.push('\n');
        lines.push_str(&wrap(&sentence, prose_width(), 2));
    }
    lines
}

pub(super) fn line(name: &str, told: &str) -> String {
    item(name, told, COLUMN, prose_width())
}

/// What clients, auditor and accounts did.
pub(super) struct WorkSummary<'a> {
    pub(super) bank: &'a Bank,
    pub(super) tally: &'a BankTally,
    /// What each account has at the end, if there was one run.
    pub(super) balances: Option<&'a [i64]>,
}

impl WorkSummary<'_> {
    pub(super) fn lines(&self) -> Vec<String> {
        let Self { bank, tally, balances } = *self;
        let mut transfers = format!("{} done, {} refused for lack of money", tally.transfers, tally.refused);
        if tally.abandoned > 0 {
            transfers += &format!(", {} given up because an account rejected an order", tally.abandoned);
        }
        let wrong = tally.times(Wrong::Audit);
        let mut audits = match (tally.audits, wrong) {
            (0, _) => "0".to_owned(),
            (audits, 0) => format!("{audits}, each of which came to {}", bank.total()),
            (audits, wrong) => format!("{audits}, of which {wrong} did not come to {}", bank.total()),
        };
        if tally.void_audits > 0 {
            audits += &format!(", and {} given up because an account rejected an order", tally.void_audits);
        }
        let mut accounts = match balances {
            Some(balances) => {
                let balances: Vec<String> = balances.iter().map(i64::to_string).collect();
                format!("{} at the end, ", balances.join(" "))
            }
            None => String::new(),
        };
        accounts += &match tally.times(Wrong::NegativeBalance) {
            0 => "never overdrawn".to_owned(),
            1 => "overdrawn once".to_owned(),
            times => format!("overdrawn {times} times"),
        };
        let fenced = match bank.fencing {
            Fencing::On => {
                format!("{} rejected for a fence that was too small", counted(tally.fenced, "order"))
            }
            Fencing::Off => {
                format!("{} let through with a fence that was too small", counted(tally.fenced, "order"))
            }
        };
        vec![
            line("transfers", &transfers),
            line("audits", &audits),
            line("accounts", &accounts),
            line("fenced", &fenced),
        ]
    }
}

/// What the lock did.
fn locking(runs: &BankRuns, lock: Option<&About>) -> Vec<String> {
    let tally = &runs.tally;
    let waited = tally.waiting_time.mean().map_or_else(|| "–".to_owned(), decimal);
    let entries = format!(
        "{} in {}, after {waited} ticks of waiting on average",
        tally.entries,
        counted(tally.time, "tick")
    );
    let per_entry = tally.messages_per_entry().map_or_else(|| "–".to_owned(), decimal);
    let claim = lock.map(|about| {
        format!(" (textbook: {} with N = {})", about.messages.formula, runs.bank.participant_count())
    });
    let messages =
        format!("{} about sections, {per_entry} per entry{}", tally.messages(), claim.unwrap_or_default());
    let kinds: Vec<String> = tally.kinds().map(|(kind, count)| format!("{count} {kind}")).collect();
    let mut lines = vec![line("entries", &entries), line("messages", &messages)];
    if !kinds.is_empty() {
        lines.push(line("", &kinds.join(", ")));
    }
    lines
}

fn peace(runs: &BankRuns) -> String {
    let told = match runs.runs {
        1 => "nothing was wrong: all money is there, and it is where the clients' logs say".to_owned(),
        count => {
            format!(
                "nothing was wrong in {count} runs: all money is there, and it is where the clients' logs say"
            )
        }
    };
    wrap(&told, prose_width(), 2)
}

/// How often what was wrong.
fn damage(runs: &BankRuns) -> String {
    let found = runs.found();
    let rows: Vec<Vec<String>> = found
        .iter()
        .map(|found| {
            let numbers = [found.times, found.runs, found.first_seed].map(|number| number.to_string());
            [vec![found.kind.title().to_owned()], numbers.to_vec()].concat()
        })
        .collect();
    let table = table::of_numbers(&["what was wrong", "times", "runs", "first seed"], &rows);
    table.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

/// What went wrong in one of the runs that failed, and how to see it again.
fn failure(runs: &BankRuns, example: &FailedRun, typed: &Typed) -> String {
    let mut lines = Vec::new();
    if runs.runs > 1 {
        lines.push(format!(
            "{} of {} runs failed; in the one with seed {}:",
            runs.failed, runs.runs, example.seed
        ));
    }
    let shown = first_of_each_kind(&example.violations);
    let hidden = example.violations.len() - shown.len();
    lines.extend(shown.iter().map(|told| wrap(&format!("violation: {told}"), prose_width(), 2)));
    if hidden > 0 {
        lines.push(format!("… {} (--json has more of each kind)", counted(hidden as u64, "more violation")));
    }
    lines.extend(runs.replay(&typed.program).map(|command| format!("replay: {command}")));
    lines.join("\n")
}

/// Limits the faults to a readable number, so that none of a kind crowds out the others.
pub(super) fn first_of_each_kind(violations: &[BankViolation]) -> Vec<&BankViolation> {
    const SHOWN: usize = 3;
    let mut seen: BTreeMap<Wrong, usize> = BTreeMap::new();
    let mut is_early = |violation: &&BankViolation| {
        let count = seen.entry(violation.kind).or_default();
        *count += 1;
        *count <= SHOWN
    };
    violations.iter().filter(|violation| is_early(violation)).collect()
}
