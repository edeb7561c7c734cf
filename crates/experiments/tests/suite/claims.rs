//! Every claim comes out as it is known to, and the verdicts can come out otherwise.

use doorway_catalog::{Catalog, Listed, ListedProgram};
use doorway_core::Options;
use doorway_experiments::claims::{Bench, Row, list, test_all};
use doorway_simulator::parallel::{JobEvent, processors};

pub fn rows(catalog: &Catalog, only: &[&str], sizes: &[usize]) -> Vec<Row> {
    let claims: Vec<_> =
        list().into_iter().filter(|claim| only.is_empty() || only.contains(&claim.id)).collect();
    let mut rows = Vec::new();
    let take = |step| {
        if let JobEvent::Done(_, row) = step {
            rows.push(row);
        }
        Ok(())
    };
    test_all(&claims, catalog, sizes, "doorway", processors(), take).expect("every claim can be tested");
    rows
}

#[test]
fn all_verdicts_are_as_expected() {
    let rows = rows(&Catalog::textbook(), &[], &Bench::USUAL_SIZES);
    for row in &rows {
        assert!(
            row.is_as_expected(),
            "{}: {} instead of {}: {}",
            row.id,
            row.verdict,
            row.expected,
            row.measured
        );
        assert!(row.command.starts_with("doorway "), "{}: {}", row.id, row.command);
        assert_eq!(row.outside.is_some(), row.verdict.starts_with("holds if"), "{}", row.id);
    }
    let ids: Vec<&str> = rows.iter().map(|row| row.id).collect();
    let decided = [
        "C1", "C6", "C7", "C9", "C13", "C29", "C30", "C31", "C32", "C33", "C41", "C42", "C44", "C45", "C62",
        "S4.1", "L4.1.1", "S4.2", "S4.3", "C2", "C3", "C4", "C5", "C8", "C10", "C11", "C12", "C14", "C15",
        "C16", "C17", "C19", "C20a", "C20b", "C21", "C22", "C23", "C24", "C25", "C26", "C27", "C28", "C34",
        "C35", "C36", "C37", "C38", "C39", "C40", "C43", "C46", "C47", "C48", "C49", "C50", "C51", "C52",
        "C53", "C54", "C55", "C56", "C57", "C58", "C60", "C61", "C63", "C64", "C65", "C66", "C67", "L4.1.2",
        "L4.1.3", "L4.1.4", "L4.1.5",
    ];
    for id in decided {
        assert!(ids.contains(&id), "{id} is missing");
    }
    assert_eq!(ids.len(), decided.len());
}

/// The textbook with one algorithm, or one program, that behaves as another.
pub fn swapped(name: &'static str, instead: &'static str) -> Catalog {
    let behave = |listed: Listed| match listed.about.name == name {
        true => behaving_as(listed, instead),
        false => listed,
    };
    let behave_program = |listed: ListedProgram| match listed.about.name == name {
        true => program_behaving_as(listed, instead),
        false => listed,
    };
    Catalog::textbook().map(behave).map_programs(behave_program)
}

fn behaving_as(listed: Listed, instead: &'static str) -> Listed {
    Listed::new(listed.about, move |options| Catalog::textbook().subject(instead, options))
}

fn program_behaving_as(listed: ListedProgram, instead: &'static str) -> ListedProgram {
    ListedProgram::new(listed.about, move |options, members| {
        Catalog::textbook().program_subject(instead, options, members.n())
    })
}

#[test]
fn a_claim_about_an_algorithm_that_is_not_what_it_says_is_found_out() {
    let catalog = swapped("lamport", "ricart-agrawala");
    let rows = rows(&catalog, &["C1", "C2", "C8"], &[2, 3]);
    let verdicts: Vec<(&str, &str)> = rows.iter().map(|row| (row.id, row.verdict.as_str())).collect();
    assert_eq!(verdicts, [("C1", "refuted"), ("C2", "refuted"), ("C8", "holds")]);
    assert!(rows[1].measured.starts_with("2 ≠ 3 at every load"), "{}", rows[1].measured);
}

/// What a claim comes to if one algorithm of the catalog is another.
pub fn verdict_with(id: &str, name: &'static str, instead: &'static str) -> String {
    let row = rows(&swapped(name, instead), &[id], &[2, 3]).remove(0);
    assert!(!row.is_as_expected(), "{id} with {instead} for {name}: {}", row.measured);
    row.verdict
}

#[test]
fn what_a_checker_decides_comes_out_otherwise_if_an_algorithm_is_wrong_or_better() {
    let wrong = [
        ("C1", "lamport", "lamport/equal-stamps"),
        ("C7", "ricart-agrawala", "ricart-agrawala/equal-stamps"),
        ("C9", "ricart-agrawala", "carvalho-roucairol"),
        ("C32", "sanders", "sanders/clocks-not-merged"),
        ("C58", "lamport", "ricart-agrawala"),
        ("C58", "suzuki-kasami", "ricart-agrawala"),
        ("C58", "central", "maekawa/basic"),
        ("C62", "ricart-agrawala", "ricart-agrawala/stamped-early"),
    ];
    let what_should_happen_does_not = [
        ("C13", "central", "ricart-agrawala"),
        ("C29", "maekawa/basic", "maekawa"),
        ("C33", "sanders/no-remedy", "sanders"),
    ];
    for (id, name, instead) in wrong.into_iter().chain(what_should_happen_does_not) {
        assert_eq!(verdict_with(id, name, instead), "refuted", "{id}");
    }
    assert_eq!(verdict_with("C6", "lamport", "ricart-agrawala"), "refuted", "it has no such invariant");
    let better =
        [("C30", "maekawa/inquire-before-locked", "maekawa"), ("C42", "singhal/no-chase", "singhal")];
    for (id, name, instead) in better {
        assert_eq!(verdict_with(id, name, instead), "holds", "{id}");
    }
}

#[test]
fn what_a_checker_decides_of_programs_comes_out_otherwise_if_a_program_is_wrong_or_better() {
    let wrong = [
        ("C48", "tournament", "tournament/leaf-first"),
        ("C50", "lamport-fast", "bakery"),
        ("C51", "simple-bakery", "simple-bakery/two-steps"),
        ("C52", "bakery", "bakery/maximum-by-position"),
        ("C54", "bakery", "black-white"),
        ("C55", "black-white", "black-white/two-registers"),
        ("C56", "peterson/no-turn", "peterson"),
    ];
    for (id, name, instead) in wrong {
        assert_eq!(verdict_with(id, name, instead), "refuted", "{id}");
    }
    let better = [
        ("C48", "tournament/leaf-first", "tournament"),
        ("C49", "tournament", "bakery"),
        ("C55", "black-white/number-first", "black-white"),
    ];
    for (id, name, instead) in better {
        assert_eq!(verdict_with(id, name, instead), "holds", "{id}");
    }
}

#[test]
fn sanders_theorem_comes_out_otherwise_if_a_variant_is_wrong_or_better() {
    let unsafe_code = verdict_with("S4.1", "sanders/no-remedy", "sanders/clocks-not-merged");
    let needless_condition = verdict_with("S4.1", "sanders/own-request-travels", "sanders");
    assert_eq!((unsafe_code.as_str(), needless_condition.as_str()), ("refuted", "holds"));
}

#[test]
fn the_lemmas_on_singhal_overlook_a_holder_that_stays_idle_inside() {
    // E10 violates exclusion, but what is printed of the vectors is as true, and as wrong, as before.
    let catalog = swapped("singhal", "singhal/idle-while-inside");
    for row in rows(&catalog, &["L4.1.1", "S4.2", "S4.3"], &[2]) {
        assert!(row.is_as_expected(), "{}: {}", row.id, row.measured);
    }
}

/// The textbook in which Sanders' algorithm runs on this structure, whichever is asked for.
pub fn on_structure(structure: &'static str) -> Catalog {
    Catalog::textbook().map(move |listed| match listed.about.name {
        "sanders" => Listed::new(listed.about, move |_| {
            Catalog::textbook().subject("sanders", &Options::none().with("structure", structure))
        }),
        _ => listed,
    })
}

#[test]
fn the_printed_delays_of_four_nodes_are_wrong_in_four_entries() {
    let row = rows(&Catalog::textbook(), &["C37"], &[2]).remove(0);
    assert_eq!(row.verdict, "refuted");
    assert_eq!(
        row.measured,
        "printed 0 1 2 2 / 1 0 2 2 / 2 2 0 2 / 2 2 2 0, by the printed rule the same; measured 0 1 1 1 / 1 0 1 1 / \
         2 2 0 2 / 2 2 2 0, as the correct rule says; D13 = 1, not 2, D14 = 1, not 2, D23 = 1, not 2, D24 = 1, not 2"
    );
    for structure in ["lamport", "ricart-agrawala"] {
        assert_eq!(rows(&on_structure(structure), &["C37"], &[2]).remove(0).verdict, "holds", "{structure}");
    }
}

#[test]
fn both_claims_on_ideal_systems_are_refuted_by_the_systems_that_they_overlook() {
    let rows = rows(&Catalog::textbook(), &["C20a", "C20b"], &[2]);
    let told = [
        "{1, 2}, {1, 3}, {1, 4} (N = 4: quorums of 2, overlaps of 1, each node in 1 to 4 quorums, i ∈ S_i always); a \
         projective plane of order 6 or 10 is proved not to exist",
        "N = 6: quorums of 3, overlaps of 1 to 2, each node in 3 quorums, i ∈ S_i always: equal, but not ideal, so it says \
         nothing against C20a",
    ];
    for (row, told) in rows.iter().zip(told) {
        assert_eq!((row.verdict.as_str(), row.measured.as_str()), ("refuted", told), "{}", row.id);
    }
    assert!(rows[0].formula.contains("open in general, settled for 6 and 10"), "{}", rows[0].formula);
}

/// The textbook in which nothing can be chosen.
pub fn without_choice() -> Catalog {
    Catalog::textbook()
        .map(|listed| Listed::new(listed.about.clone(), move |_| listed.choose(&Options::none())))
}

#[test]
fn nobody_starves_if_the_arbitration_is_not_the_nearest() {
    let row = rows(&without_choice(), &["C44"], &[2]).remove(0);
    assert_eq!(row.verdict, "holds");
    let told = "nobody starves where all want in: holds in all 43 states (singhal, nearest";
    assert!(row.measured.starts_with(told), "{}", row.measured);
}

#[test]
fn statements_about_vectors_are_asked_only_of_algorithms_that_have_them() {
    for (id, name) in
        [("C41", "suzuki-kasami"), ("C45", "singhal"), ("L4.1.1", "singhal"), ("S4.3", "singhal")]
    {
        let catalog = swapped(name, "raymond");
        let claim = list().into_iter().find(|claim| claim.id == id).expect("it is listed");
        let refusal =
            claim.test(&Bench::new(&catalog, &[2], "doorway")).expect_err("there is nothing to ask");
        assert!(
            refusal.to_string().starts_with(&format!("{id} cannot be tested: raymond has no")),
            "{refusal}"
        );
    }
}

#[test]
fn what_is_known_of_singhals_lemmas_is_told_with_numbers() {
    let rows = rows(&Catalog::textbook(), &["C42", "C44", "L4.1.1", "S4.2", "S4.3"], &[2]);
    let told = [
        "violated after 15 steps: node 3 waits for ever (singhal/no-chase, requests 2,2,2, fifo)",
        "node 3 waits for ever while the others go on in a loop of 10 steps after 7 (singhal, nearest",
        "L4.1.1 as printed: fails after 3 steps (singhal/no-chase, requests 1,1,1, fifo)",
        "S4.2 as printed: fails after 13 steps (singhal/no-chase, requests 1,1,1, fifo)",
        "S4.3 as printed: holds in all 16839 states (singhal, requests 2,2,2, causal)",
    ];
    for (row, told) in rows.iter().zip(told) {
        assert!(row.measured.contains(told), "{}: {}", row.id, row.measured);
    }
    for (row, number) in rows[3..].iter().zip(["S4.2", "S4.3"]) {
        let fails =
            format!("{number} as printed: fails after 13 steps (singhal/no-chase, requests 1,1,1, fifo)");
        let holds = format!(
            "{number} as printed: holds in all 11051 states (singhal/no-chase, requests 2,2,2, causal)"
        );
        assert!(row.measured.contains(&fails) && row.measured.contains(&holds), "{}", row.measured);
    }
}

/// The textbook in which every algorithm is another one, and nothing can be chosen.
fn jumbled() -> Catalog {
    let jumble = |listed: Listed| {
        let instead = if listed.about.name == "token-ring" { "raymond" } else { "token-ring" };
        Listed::new(listed.about, move |_| Catalog::textbook().subject(instead, &Options::none()))
    };
    let jumble_program = |listed: ListedProgram| {
        let instead = if listed.about.name == "tournament" { "bakery" } else { "simple-bakery/two-steps" };
        ListedProgram::new(listed.about, move |_, members| {
            Catalog::textbook().program_subject(instead, &Options::none(), members.n())
        })
    };
    Catalog::textbook().map(jumble).map_programs(jumble_program)
}

/// The claims that are decided without a run, C19 to C24, and those that are as true of a ring: its delay is T when all want in,
/// a crash stops it, it needs no fifo, and there is one token. C64 is true of all programs, and the
/// bakery in two steps keeps C65.
const TRUE_OF_A_RING: &[&str] =
    &["C4", "C5", "C7", "C16", "C19", "C20a", "C20b", "C21", "C22", "C23", "C24", "C38", "C64", "C65"];

#[test]
fn every_claim_comes_out_otherwise_if_the_algorithms_are_others() {
    let catalog = jumbled();
    let bench = Bench::new(&catalog, &[2, 5], "doorway");
    let still_expected =
        list().into_iter().filter(|claim| claim.test(&bench).is_ok_and(|row| row.is_as_expected()));
    let ids: Vec<&str> = still_expected.map(|claim| claim.id).collect();
    assert_eq!(ids, TRUE_OF_A_RING);
}

#[test]
fn claims_about_every_n_are_tried_for_the_n_that_are_asked_for() {
    let rows = rows(&Catalog::textbook(), &["C2", "C8"], &[50, 40]);
    assert!(
        rows[0].measured.contains("117 = 117") && rows[0].measured.contains("N = 40"),
        "{}",
        rows[0].measured
    );
    assert!(rows[1].command.contains("--nodes 40"), "{}", rows[1].command);
}
