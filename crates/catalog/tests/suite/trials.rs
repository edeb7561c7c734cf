//! A run as a person would type it.

use doorway_catalog::Trial;
use doorway_core::Channels;
use doorway_simulator::{Latency, Load, Settings, Span};

use crate::laboratory::textbook;

#[test]
fn a_command_tells_what_differs_from_the_defaults() {
    assert_eq!(Trial::new("central").command("doorway"), "doorway simulate central --nodes 5 --seed 1");
    let mut settings = Settings {
        nodes: 3,
        load: Load::Light(50),
        latency: Latency::Span(Span::Uniform(1, 40)),
        channels: Channels::Any,
        order: true,
        ..Settings::default()
    };
    settings.faults.partitions.push("1,2|3@5..9".parse().expect("a partition"));
    settings.messages = ["12@40", "13:lost"].map(|word| word.parse().expect(word)).to_vec();
    let trial = Trial::new("maekawa").with("quorum", "wall:1,2").under(settings).seeded(7);
    assert_eq!(
        trial.command("doorway"),
        "doorway simulate maekawa --nodes 3 --load light:50 --latency uniform:1:40 --channels any \
         --partition '1,2|3@5..9' --message 12@40 --message 13:lost --quorum wall:1,2 --seed 7 --order"
    );
}

#[test]
fn a_trial_is_the_run_of_its_seed() {
    let trial = Trial::new("raymond").with("tree", "elected");
    let messages =
        |seed| trial.clone().seeded(seed).run(textbook()).expect("it can be run").measures.traffic.messages;
    assert_eq!(messages(4), messages(4));
    let refusal = Trial::new("nothing").run(textbook()).expect_err("it is not there");
    assert_eq!(refusal.to_string(), "there is no algorithm \"nothing\"");
}
