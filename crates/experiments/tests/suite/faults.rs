//! What one fault does to each algorithm, decided by the checker: the table of claim C58.

use doorway_catalog::Catalog;
use doorway_experiments::compare::{Comparison, Effect, FaultKind, FaultRow};

use Effect::{LosesExclusion, Stalls, Unaffected, WrongAnyway};

fn rows(names: &[String]) -> Vec<FaultRow> {
    FaultRow::of_all(names, &Catalog::textbook(), "doorway", 2).expect("all can be explored")
}

/// Each algorithm with what a loss, a duplicate and a crash do, and the steps of a shortest run.
const KNOWN: [(&str, [(Effect, usize); 3]); 13] = [
    ("central", [(Stalls, 2), (Stalls, 8), (Stalls, 2)]),
    ("replicated", [(Stalls, 2), (Unaffected, 0), (Unaffected, 0)]),
    ("token-ring", [(Stalls, 2), (LosesExclusion, 5), (Stalls, 2)]),
    ("lamport", [(LosesExclusion, 5), (Unaffected, 0), (Stalls, 2)]),
    ("ricart-agrawala", [(Stalls, 2), (Unaffected, 0), (Stalls, 2)]),
    ("carvalho-roucairol", [(Stalls, 2), (Unaffected, 0), (Stalls, 2)]),
    ("maekawa", [(Stalls, 2), (Stalls, 10), (Stalls, 2)]),
    ("sanders", [(Stalls, 2), (Stalls, 10), (Stalls, 2)]),
    ("suzuki-kasami", [(Stalls, 2), (LosesExclusion, 9), (Stalls, 2)]),
    ("singhal", [(Stalls, 2), (LosesExclusion, 9), (Stalls, 2)]),
    ("raymond", [(Stalls, 2), (LosesExclusion, 9), (Stalls, 2)]),
    ("naimi-trehel", [(Stalls, 2), (LosesExclusion, 9), (Stalls, 2)]),
    ("cao-singhal", [(Stalls, 2), (Stalls, 11), (Stalls, 2)]),
];

#[test]
fn one_fault_has_the_known_effect_on_every_algorithm() {
    let catalog = Catalog::textbook();
    let rows = rows(&Comparison::everybody(&catalog));
    let found: Vec<(&str, [(Effect, usize); 3])> = rows
        .iter()
        .map(|row| {
            let of = |fault| (row.of_fault(fault).effect, row.of_fault(fault).steps.unwrap_or(0));
            (row.algorithm, FaultKind::ALL.map(of))
        })
        .collect();
    assert_eq!(found, KNOWN);
    for row in &rows {
        let expected: &[&[u32]] = match row.algorithm {
            "lamport" | "replicated" => &[&[2, 2]],
            "cao-singhal" => &[&[1, 1, 1]],
            _ => &[&[2, 2], &[1, 1, 1]],
        };
        assert_eq!(row.systems(), expected, "{}: explored completely", row.algorithm);
    }
}

#[test]
fn the_command_of_an_effect_asks_for_its_fault_and_its_property() {
    let rows = rows(&["lamport".to_owned()]);
    let command = |fault| rows[0].of_fault(fault).command.clone();
    let begin = "doorway check lamport --requests 2,2 --channels fifo";
    assert_eq!(command(FaultKind::Loss), format!("{begin} --lose 1 --property mutual-exclusion"));
    assert_eq!(
        command(FaultKind::Duplicate),
        format!("{begin} --duplicate 1 --property mutual-exclusion,starvation-freedom")
    );
    assert_eq!(command(FaultKind::Crash), format!("{begin} --crash 1 --property starvation-freedom"));
}

#[test]
fn what_is_wrong_without_a_fault_is_not_blamed_on_one() {
    let names = ["maekawa/basic", "lamport/equal-stamps"].map(str::to_owned);
    for row in rows(&names) {
        assert!(row.suffered.iter().all(|suffered| suffered.effect == WrongAnyway), "{}", row.algorithm);
        assert!(!row.suffered[0].command.contains("--lose"), "{}", row.suffered[0].command);
    }
}
