//! The bank: right under every correct lock, and visibly wrong under every broken one.

use doorway_bank::{Bank, BankRuns, Broken, FailedRun, Fencing, Locks, Update, Wrong};

use crate::laboratory::{correct, textbook};

const SEEDS: u64 = 100;

fn runs(bank: &Bank) -> BankRuns {
    let mut runs = BankRuns::new(bank.clone());
    for seed in bank.seed..bank.seed + SEEDS {
        runs.add(textbook().run_bank(&Bank { seed, ..bank.clone() }).expect("it can be run"));
    }
    runs
}

fn broken(id: &str) -> Bank {
    Bank { broken: id.into(), ..Bank::default() }
}

fn times(runs: &BankRuns, kinds: &[Wrong]) -> Vec<u64> {
    kinds.iter().map(|&kind| runs.tally.times(kind)).collect()
}

#[test]
fn with_every_correct_algorithm_both_kinds_of_locks_and_a_hundred_seeds_nothing_is_ever_wrong() {
    let right = correct();
    assert!(right.len() >= 12, "{right:?}");
    for (algorithm, locks) in right.iter().flat_map(|&name| [(name, Locks::One), (name, Locks::PerAccount)]) {
        let bank = Bank { algorithm: algorithm.to_owned(), locks, ..Bank::default() };
        let runs = runs(&bank);
        assert_eq!(
            (runs.failed, runs.tally.fenced, runs.tally.audits, runs.tally.transfers + runs.tally.refused),
            (0, 0, SEEDS * 50, SEEDS * 150),
            "{algorithm} with {locks}: {:?}",
            runs.example
        );
        let entries = runs.tally.entries;
        assert_eq!(entries, if locks == Locks::One { SEEDS * 200 } else { SEEDS * (2 * 150 + 3 * 50) });
    }
}

#[test]
fn rewriting_balances_is_right_too_under_a_right_lock() {
    for locks in [Locks::One, Locks::PerAccount] {
        let runs = runs(&Bank { locks, update: Update::Rewrite, ..Bank::default() });
        assert_eq!((runs.failed, runs.tally.fenced), (0, 0), "{:?}", runs.example);
    }
}

#[test]
fn ricart_and_agrawala_s_algorithm_takes_twice_p_minus_one_messages_for_each_entry() {
    for (clients, locks) in [(1, Locks::One), (3, Locks::One), (3, Locks::PerAccount), (6, Locks::PerAccount)]
    {
        let runs = runs(&Bank { clients, locks, transfers: 10, audits: 10, ..Bank::default() });
        let each = runs.tally.entries * clients as u64;
        let kinds: Vec<(&str, u64)> = runs.tally.kinds().collect();
        assert_eq!(kinds, [("REQUEST", each), ("REPLY", each)], "{clients} clients and the auditor");
        assert_eq!(runs.tally.messages_per_entry(), Some(2.0 * clients as f64));
    }
}

#[test]
fn a_bank_without_a_lock_shows_every_kind_of_damage() {
    let lawless = Bank { fencing: Fencing::Off, ..broken("no-lock") };
    let moved = runs(&lawless);
    let rewritten = runs(&Bank { update: Update::Rewrite, ..lawless });
    assert_eq!((moved.failed, rewritten.failed), (SEEDS, SEEDS));
    let audits = [&moved, &rewritten].map(|runs| runs.tally.times(Wrong::Audit));
    assert!(audits[0] > 1_000 && audits[1] > 1_000, "{audits:?}");
    assert!(moved.tally.times(Wrong::NegativeBalance) > 100);
    // No DEBIT or CREDIT gets lost, so that all money is there again when everybody is done.
    assert_eq!(times(&moved, &[Wrong::FinalSum, Wrong::FinalLog]), [0, 0]);
    // A balance that was read before somebody else's WRITE and written after it loses an update, for good.
    let lost = rewritten.found().into_iter().filter(|found| found.runs == SEEDS).map(|found| found.kind);
    let lost: Vec<Wrong> = lost.collect();
    assert!(lost.contains(&Wrong::FinalSum) && lost.contains(&Wrong::FinalLog), "{lost:?}");
}

#[test]
fn deferred_peers_never_forgotten_and_requests_stamped_early_show_in_the_audits_and_below_zero() {
    for id in ["E1", "E14"] {
        let found = runs(&broken(id));
        let seen = times(&found, &[Wrong::Exclusion, Wrong::Audit, Wrong::NegativeBalance]);
        assert!(seen.iter().all(|&times| times > 0), "{id}: {:?}", found.found());
        let rewritten = runs(&Bank { update: Update::Rewrite, ..broken(id) });
        let lost = times(&rewritten, &[Wrong::FinalSum, Wrong::FinalLog]);
        assert!(lost.iter().all(|&times| times > 0), "{id}: {:?}", rewritten.found());
        let fine = runs(&Bank { locks: Locks::PerAccount, ..broken(id) });
        assert!(fine.tally.times(Wrong::Exclusion) > 0, "{id}: {:?}", fine.found());
    }
}

#[test]
fn equal_stamps_show_in_the_audits_and_below_zero() {
    let found = runs(&broken("E15"));
    let seen = times(&found, &[Wrong::Exclusion, Wrong::Audit, Wrong::NegativeBalance]);
    assert!(seen.iter().all(|&times| times > 0), "{:?}", found.found());
}

/// Who is wrongly in the section of one account must still get that of the other one, so that with a section for each account
/// most overlaps harm nobody. Where nobody thinks and many wait, some do.
#[test]
fn deferred_peers_never_forgotten_lose_money_with_one_section_per_account_too() {
    let crowded =
        Bank { locks: Locks::PerAccount, clients: 8, think: "0".parse().expect("a span"), ..broken("E1") };
    let moved = runs(&crowded);
    assert_eq!(times(&moved, &[Wrong::Audit, Wrong::NegativeBalance]), [0, 5], "{:?}", moved.found());
    let rewritten = runs(&Bank { update: Update::Rewrite, ..crowded });
    let lost = [Wrong::Audit, Wrong::NegativeBalance, Wrong::FinalSum, Wrong::FinalLog];
    assert_eq!(times(&rewritten, &lost), [2_721, 0, 76, 82], "{:?}", rewritten.found());
}

#[test]
fn accounts_reject_stale_orders_and_count_them_or_only_count_them() {
    let fenced = runs(&broken("no-lock"));
    assert!(fenced.tally.fenced > 0);
    // Whoever is rejected gives up, so each errand meets at most one rejection.
    assert_eq!(fenced.tally.fenced, fenced.tally.abandoned + fenced.tally.void_audits);
    let open = runs(&Bank { fencing: Fencing::Off, ..broken("no-lock") });
    assert_eq!((open.tally.abandoned, open.tally.void_audits), (0, 0));
    assert!(open.tally.fenced > fenced.tally.fenced);
}

#[test]
fn a_run_is_its_seed_and_a_replay_finds_the_same_violations() {
    let found = runs(&broken("E14"));
    let FailedRun { seed, violations } = found.example.clone().expect("it is broken");
    let again = textbook().run_bank(&Bank { seed, ..broken("E14") }).expect("it can be run");
    assert_eq!(again.violations, violations);
    let command = format!("doorway bank --simulated --broken E14 --seed {seed} --runs 1");
    assert_eq!(found.replay("doorway"), Some(command));
}

#[test]
fn a_deadlock_of_the_lock_is_told_as_a_stall() {
    let bank = Bank { algorithm: "maekawa".to_owned(), broken: "B0".into(), ..Bank::default() };
    let bank = Bank { options: bank.options.with("quorum", "majority"), ..bank };
    let found = runs(&bank);
    assert!(found.tally.times(Wrong::Stall) > 0, "{:?}", found.found());
    let told = found.example.map(|example| example.violations[0].what.clone()).unwrap_or_default();
    assert!(told.starts_with("nobody can go on: client 1 waits for bank and lacks"), "{told}");
}

#[test]
fn the_smallest_bank_works() {
    let bank = Bank { accounts: 2, clients: 1, balance: 1, audits: 0, ..Bank::default() };
    let runs = runs(&bank);
    assert_eq!((runs.failed, runs.tally.audits, runs.tally.entries), (0, 0, SEEDS * 50));
    let idle = Bank { transfers: 0, audits: 0, broken: Broken::None, ..bank };
    let outcome = textbook().run_bank(&idle).expect("it can be run");
    assert_eq!((outcome.tally.entries, outcome.balances), (0, vec![1, 1]));
}

#[test]
fn a_broken_lock_is_the_specimen_of_that_number() {
    let lock = |algorithm: &str, broken: &str| {
        let bank = Bank { algorithm: algorithm.to_owned(), broken: broken.into(), ..Bank::default() };
        bank.lock(&textbook().list())
            .map(|about| about.map(|about| about.name))
            .map_err(|refusal| refusal.to_string())
    };
    assert_eq!(lock("raymond", "none"), Ok(Some("raymond")));
    assert_eq!(lock("raymond", "no-lock"), Ok(None));
    assert_eq!(lock("ricart-agrawala", "E1"), Ok(Some("ricart-agrawala/deferred-not-cleared")));
    assert_eq!(lock("ricart-agrawala", "e14"), Ok(Some("ricart-agrawala/stamped-early")));
    assert_eq!(lock("paxos", "none"), Err("there is no algorithm \"paxos\"".to_owned()));
    let nothing = "central is not kept broken as \"E1\", only as no-lock or none";
    assert_eq!(lock("central", "E1"), Err(nothing.to_owned()));
    let refusal = lock("ricart-agrawala", "E99").expect_err("there is no such specimen");
    assert!(
        refusal.starts_with("ricart-agrawala is not kept broken as \"E99\", only as E1, E14,"),
        "{refusal}"
    );
}
