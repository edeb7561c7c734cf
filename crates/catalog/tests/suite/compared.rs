//! Runs whose states are compared, also by the tests of `doorway-experiments`.

use doorway_catalog::Trial;
use doorway_core::{NodeId, Start};
use doorway_simulator::{Latency, Load, Settings};

/// Six runs of an algorithm: saturated and light load, with all nodes outside and with one inside at the start.
pub fn trials(name: &str) -> Vec<Trial> {
    let trial = |seed: u64| {
        let settings = Settings {
            nodes: 5,
            entries: 12,
            load: [Load::Saturated, Load::Light(100)][seed as usize % 2].clone(),
            latency: Latency::Span("uniform:1:30".parse().expect("a span")),
            start: [Start::Empty, Start::Inside(NodeId::new(2))][seed as usize / 2 % 2],
            trace: true,
            ..Settings::default()
        };
        Trial::new(name).under(settings).seeded(seed)
    };
    (1..=6).map(trial).collect()
}
