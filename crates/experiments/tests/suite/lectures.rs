//! Claims to the letter of the lectures: their numbers, and that they can come out otherwise.

use doorway_catalog::{Catalog, Listed};
use doorway_core::Options;
use doorway_experiments::claims::{Bench, list};

use crate::claims::{on_structure, rows, swapped, verdict_with, without_choice};

/// What was measured for a claim.
fn measured(id: &str) -> String {
    rows(&Catalog::textbook(), &[id], &[2, 3]).remove(0).measured
}

fn tells(id: &str, parts: &[&str]) {
    let told = measured(id);
    for part in parts {
        assert!(told.contains(part), "{id} does not tell {part:?}: {told}");
    }
}

#[test]
fn the_lemmas_that_we_read_come_out_as_the_printed_ones_are_known_to() {
    for id in ["L4.1.2", "L4.1.5"] {
        let holds = |instance: &str| format!("{id} as we read it: holds in all {instance}");
        tells(
            id,
            &[
                &holds("28191 states (singhal/no-chase, requests 1,1,1,1, fifo)"),
                &holds("10401 states (singhal/no-chase, requests 2,2,2, fifo)"),
                &holds("11051 states (singhal/no-chase, requests 2,2,2, causal)"),
            ],
        );
    }
    tells(
        "L4.1.3",
        &[
            "outside: L4.1.3 as we read it: fails after 14 steps (singhal/no-chase, requests 2,2,2, fifo)",
            "holds in all 415 states (singhal/no-chase, requests 1,1,1, fifo)",
        ],
    );
    tells(
        "L4.1.4",
        &[
            "L4.1.4 as we read it: fails after 13 steps (singhal/no-chase, requests 1,1,1, fifo)",
            "holds in all 11051 states (singhal/no-chase, requests 2,2,2, causal)",
        ],
    );
}

#[test]
fn the_lemmas_that_we_read_come_out_otherwise() {
    let spoiled = verdict_with("L4.1.2", "singhal", "singhal/idle-while-inside");
    let chased = verdict_with("L4.1.3", "singhal/no-chase", "singhal");
    assert_eq!((spoiled.as_str(), chased.as_str()), ("refuted", "holds"));
}

#[test]
fn the_bounds_on_messages_are_those_of_every_run() {
    let bounds =
        "16 to 27 for all together (bounds 16 and 50) messages (sanders, four-node, requests 1,1,1,1, any)";
    tells("C36", &[bounds]);
    for per_node in ["2 to 5 for node 1 (bounds 2 and 10)", "6 to 13 for node 3 (bounds 6 and 15)"] {
        tells("C36", &[per_node, "outside: 6 to 16 messages name the request of node 4 (bounds 6 and 15)"]);
    }
    for structure in ["lamport", "ricart-agrawala"] {
        assert_eq!(
            rows(&on_structure(structure), &["C36"], &[2]).remove(0).verdict,
            "refuted",
            "{structure}"
        );
    }
    assert_eq!(verdict_with("C34", "sanders", "sanders/no-remedy"), "refuted");
}

#[test]
fn stronger_evidence_is_told_with_numbers() {
    tells("C26", &["outside: two active nodes: 3.333·(K−1)"]);
    tells(
        "C46",
        &[
            "binary, N = 31: 9.91 per entry, 2 · mean distance 9.91, exact for 930 of 930 pairs",
            "star, N = 7: 3.429 per entry",
        ],
    );
    tells("C38", &["one-token holds in every run, 215593 states (singhal, requests 2,2,2, any)"]);
    tells("C40", &["at 40 of 40 moments"]);
    tells(
        "C48",
        &[
            "peterson: mutual-exclusion holds for two and holds for 4",
            "starvation-freedom violated for two and violated for 3",
        ],
    );
    tells("C57", &["overtaken messages detected in 15 runs, 0 on causal channels"]);
}

#[test]
fn stronger_evidence_comes_out_otherwise() {
    let wrong = [
        ("C17", "ricart-agrawala", "central"),
        ("C26", "maekawa", "cao-singhal"),
        ("C40", "suzuki-kasami", "ricart-agrawala"),
        ("C48", "peterson", "peterson/no-turn"),
        ("C63", "tournament", "bakery"),
        ("C65", "bakery", "bakery/maximum-by-position"),
        ("C66", "bakery", "simple-bakery/two-steps"),
    ];
    for (id, name, instead) in wrong {
        assert_eq!(verdict_with(id, name, instead), "refuted", "{id}");
    }
    assert_eq!(verdict_with("C17", "maekawa/basic", "maekawa"), "holds");
    assert_eq!(
        rows(&without_choice(), &["C46"], &[2, 3]).remove(0).verdict,
        "refuted",
        "a star is not binary"
    );
}

#[test]
fn where_there_is_no_token_nothing_is_said_of_it() {
    let catalog = swapped("suzuki-kasami", "ricart-agrawala");
    let claim = list().into_iter().find(|claim| claim.id == "C38").expect("it is listed");
    let refusal = claim.test(&Bench::new(&catalog, &[2], "doorway")).expect_err("there is no token");
    assert!(refusal.to_string().contains("has no token"), "{refusal}");
}

#[test]
fn an_arbitration_that_is_not_by_the_smallest_number_is_not_found_fair() {
    let nearest = Catalog::textbook().map(|listed| match listed.about.name {
        "singhal" => Listed::new(listed.about, |_| {
            Catalog::textbook().subject("singhal", &Options::none().with("arbitration", "nearest"))
        }),
        _ => listed,
    });
    let row = rows(&nearest, &["C67"], &[2]).remove(0);
    assert_eq!(row.verdict, "refuted", "{}", row.measured);
}

#[test]
fn each_claim_under_a_condition_has_two_different_commands() {
    for row in
        rows(&Catalog::textbook(), &["C12", "C17", "C24", "C26", "C39", "L4.1.3", "L4.1.4", "S4.3"], &[2, 3])
    {
        assert_ne!(Some(&row.command), row.outside.as_ref(), "{}", row.id);
    }
}

#[test]
fn every_claim_has_its_command_on_the_page_about_lectures() {
    let page = include_str!("../../../../docs/lectures.md");
    let named: Vec<&str> = page.split(|letter: char| !(letter.is_alphanumeric() || letter == '.')).collect();
    for claim in list() {
        let whole = claim.id.trim_end_matches(|letter: char| letter.is_ascii_lowercase());
        assert!(named.contains(&whole), "{} is missing", claim.id);
    }
}
