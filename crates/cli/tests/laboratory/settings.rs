//! Every setting of the tables is a flag of its verbs, with the help of its doc comment.

use doorway_catalog::settings::{CHOICES, CheckSpec, Definition, RunSpec, Spec, SweepRole};

use crate::terminal::{json, prints, refused};

/// The words of a text without line breaks, so that wrapped help can be searched.
fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn assert_has(verb: &str, flag: &str, definition: &Definition) {
    let help = unwrapped(&prints(&format!("{verb} --help")));
    assert!(help.contains(&format!("--{flag}")), "{verb} has no --{flag}");
    assert!(help.contains(&definition.summary()), "{verb} says something else about --{flag}");
}

#[test]
fn every_setting_is_a_flag_with_its_own_help() {
    for definition in RunSpec::SETTINGS {
        assert_has("simulate", &definition.flag(), definition);
        match definition.sweep {
            SweepRole::Axis { name, .. } => assert_has("sweep", name, definition),
            SweepRole::Common { .. } => assert_has("sweep", definition.name, definition),
            SweepRole::Fixed => {}
        }
    }
    for definition in CheckSpec::SETTINGS {
        assert_has("check", &definition.flag(), definition);
    }
}

#[test]
fn choices_are_flags_in_every_verb_that_runs_an_algorithm() {
    for choice in CHOICES {
        for verb in ["simulate", "check", "compare", "sweep", "bank", "chaos"] {
            assert_has(verb, choice.name, &choice);
        }
    }
}

#[test]
fn a_choice_means_the_same_as_a_flag_and_with_set() {
    for (one, other) in [
        ("simulate raymond --tree star --json", "simulate raymond --set tree=star --json"),
        ("compare raymond --nodes 4 --tree star --json", "compare raymond --nodes 4 --set tree=star --json"),
    ] {
        assert_eq!(prints(one), prints(other));
    }
    let states = |line: &str| json(line)["states"].clone();
    assert_eq!(states("check raymond --tree chain --json"), states("check raymond --set tree=chain --json"));
    assert!(states("check sanders --structure maekawa --nodes 4 --json").as_u64() > Some(0));
    assert!(refused("check raymond --tree circle").contains("no tree"));
}
