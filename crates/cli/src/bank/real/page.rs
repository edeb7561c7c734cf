//! What the bank of real processes came to, for people and for programs.

use doorway_bank::{Answer, BankViolation, Fencing, Locks, Order, Update, Wrong};
use doorway_client::clock;
use doorway_core::{About, Ticks};
use doorway_simulator::Span;
use doorway_terminal::table;
use doorway_terminal::text::{channels, counted, decimal, prose_width, wrap};
use serde_json::{Value, json};

use super::Terms;
use super::books::{Casualty, ClosedBooks};
use super::cluster::BankCluster;
use crate::bank::page::{WorkSummary, first_of_each_kind, line};

/// All that is told.
pub(super) struct BankPage<'a> {
    pub(super) terms: &'a Terms,
    pub(super) kept: &'a ClosedBooks,
    /// The lock of the bank's own nodes.
    pub(super) lock: Option<&'a About>,
    pub(super) cluster: &'a BankCluster,
}

/// What should be said although it is no error.
pub(super) fn notes(kept: &ClosedBooks) -> Vec<String> {
    let times = counted(kept.lost.len() as u64, "time");
    let note = |why: &String| format!("{times} a holder lost the lock, so that fences decide: {why}");
    kept.lost.first().map(note).into_iter().collect()
}

pub(super) fn page(told: &BankPage<'_>) -> String {
    let BankPage { terms, kept, .. } = told;
    let business = WorkSummary { bank: &terms.bank, tally: &kept.tally, balances: Some(&kept.balances) };
    let mut lines = business.lines();
    lines.extend(kept.killed.iter().map(|casualty| line("killed", &fate(told, casualty))));
    let mut parts = vec![heading(told), lines.join("\n"), locking(kept)];
    if kept.tally.found.is_empty() {
        let sentence = "nothing was wrong: all money is there, and it is where the clients' logs say";
        parts.push(wrap(sentence, prose_width(), 2));
    } else {
        parts.extend([damage(kept), failure(kept)]);
    }
    parts.join("\n\n") + "\n"
}

/// What was run, so that the output can be read without the command.
fn heading(told: &BankPage<'_>) -> String {
    let BankPage { terms, lock, cluster, .. } = told;
    let bank = &terms.bank;
    let nodes = counted(cluster.sockets.len() as u64, "node");
    let each =
        |count: Option<usize>, noun| count.map(|count| format!(" with {}", counted(count as u64, noun)));
    let mut facts = vec![cluster.algorithm.clone()];
    facts.push(match lock {
        Some(_) => format!("{nodes} of its own"),
        None => format!("{nodes} of an existing cluster"),
    });
    facts.push(match bank.locks {
        Locks::One => "one section".to_owned(),
        Locks::PerAccount => format!("{} sections", bank.accounts),
    });
    let clients = each(terms.transfers, "transfer").map(|with| with + " each").unwrap_or_default();
    facts.extend([
        format!("{} accounts of {}", bank.accounts, bank.balance),
        format!("{}{clients}", counted(bank.clients as u64, "client")),
        format!("an auditor{}", each(terms.audits, "audit").unwrap_or_default()),
        format!("a process each, for at most {}", counted(terms.seconds.as_secs(), "second")),
    ]);
    facts.extend((bank.update == Update::Rewrite).then(|| "balances rewritten".to_owned()));
    facts.extend(lock.map(|lock| channels(super::cluster::channels(lock, bank))));
    facts.extend((bank.think != Span::Constant(0)).then(|| format!("think {} µs", bank.think)));
    facts.extend((bank.fencing == Fencing::Off).then(|| "fencing off".to_owned()));
    let mut lines = wrap(&facts.join(", "), prose_width(), 2);
    if let Some(specimen) = lock.and_then(|about| about.specimen) {
        let sentence = format!("specimen {}, wrong on purpose: {}", specimen.id, specimen.wrong);
        lines += &format!("\n{}", wrap(&sentence, prose_width(), 2));
    }
    lines
}

/// What became of a client that was killed, and of its last order.
fn fate(told: &BankPage<'_>, casualty: &Casualty) -> String {
    let Casualty { killed, next_after } = casualty;
    let bank = &told.terms.bank;
    let title = |process| bank.title(doorway_core::NodeId::new(process));
    let next = match next_after {
        Some(after) => format!("the next holder had the lock {} ms later", milliseconds(*after)),
        None => "no other client ever got the lock again".to_owned(),
    };
    let order = match killed.order {
        Order::Read => "READ".to_owned(),
        Order::Debit(amount) => format!("DEBIT {amount}"),
        Order::Credit(amount) => format!("CREDIT {amount}"),
        Order::Write(balance) => format!("WRITE {balance}"),
    };
    let came = match killed.answer {
        Some(Answer::Fenced) => "was rejected: its fence was too small",
        Some(Answer::Done | Answer::Balance(_)) => "was carried out",
        None => "never came",
    };
    format!(
        "{} inside {}, fence {}; {next}; its {order}, which came late to {}, {came}",
        title(killed.process),
        killed.pass.section,
        killed.pass.fence,
        title(killed.account)
    )
}

fn milliseconds(span: Ticks) -> String {
    decimal(span.0 as f64 / 1e3)
}

fn locking(kept: &ClosedBooks) -> String {
    let tally = &kept.tally;
    let waited = tally.waiting_time.mean().map_or_else(|| "–".to_owned(), |mean| decimal(mean / 1e3));
    let longest = tally.waiting_time.max().map_or_else(|| "–".to_owned(), |most| decimal(most as f64 / 1e3));
    let seconds = decimal(tally.time as f64 / 1e6);
    let told = format!(
        "{} in {seconds} seconds, after {waited} ms of waiting on average and {longest} at most",
        tally.entries
    );
    line("entries", &told)
}

/// How often what was wrong.
fn damage(kept: &ClosedBooks) -> String {
    let rows: Vec<Vec<String>> = kept
        .tally
        .found
        .iter()
        .map(|(wrong, times)| vec![wrong.title().to_owned(), times.to_string()])
        .collect();
    let table = table::of_numbers(&["what was wrong", "times"], &rows);
    table.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

fn failure(kept: &ClosedBooks) -> String {
    let shown = first_of_each_kind(&kept.violations);
    let hidden = kept.violations.len() - shown.len();
    let tell = |violation: &&BankViolation| {
        let at = format!("{:.3}", clock::span(violation.time).as_secs_f64());
        wrap(&format!("violation: after {at} s: {}", violation.what), prose_width(), 2)
    };
    let mut lines: Vec<String> = shown.iter().map(tell).collect();
    if hidden > 0 {
        lines.push(format!("… {} (--json has more of each kind)", counted(hidden as u64, "more violation")));
    }
    lines.join("\n")
}

/// The same for programs.
pub(super) fn json(told: &BankPage<'_>) -> String {
    let BankPage { terms, kept, cluster, .. } = told;
    let (bank, tally) = (&terms.bank, &kept.tally);
    let found: Vec<Value> =
        tally.found.iter().map(|(kind, times)| json!({ "kind": kind, "times": times })).collect();
    let violations: Vec<Value> = kept
        .violations
        .iter()
        .map(|found| json!({ "microseconds": found.time.0, "kind": found.kind, "what": found.what }))
        .collect();
    let report = json!({
        "version": 1,
        "algorithm": cluster.algorithm,
        "broken": bank.broken.to_string(),
        "nodes": cluster.sockets.len(),
        "locks": bank.locks,
        "update": bank.update,
        "fencing": bank.fencing,
        "accounts": bank.accounts,
        "clients": bank.clients,
        "total": bank.total(),
        "seed": bank.seed,
        "transfers": tally.transfers,
        "refused": tally.refused,
        "abandoned": tally.abandoned,
        "audits": tally.audits,
        "wrong_audits": tally.times(Wrong::Audit),
        "void_audits": tally.void_audits,
        "negative_balances": tally.times(Wrong::NegativeBalance),
        "fenced": tally.fenced,
        "entries": tally.entries,
        "mean_waiting_microseconds": tally.waiting_time.mean(),
        "microseconds": tally.time,
        "balances": kept.balances,
        "lost": kept.lost.len(),
        "killed": kept.killed.iter().map(|casualty| casualty_json(told, casualty)).collect::<Vec<_>>(),
        "found": found,
        "violations": violations,
    });
    report.to_string() + "\n"
}

fn casualty_json(told: &BankPage<'_>, Casualty { killed, next_after }: &Casualty) -> Value {
    json!({
        "client": killed.process + 1 - told.terms.bank.accounts,
        "section": killed.pass.section,
        "fence": killed.pass.fence,
        "account": killed.account + 1,
        "late_order": killed.order,
        "answer": killed.answer,
        "next_entry_microseconds": next_after.map(|after| after.0),
    })
}
