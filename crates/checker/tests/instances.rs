//! Instances whose number of states is known, and specimens whose shortest runs are.

use doorway_checker::{Exploration, Limits, Messages, Property, Watches, explore};
use doorway_core::{About, Catalog, Channels, Explain, Factory, Hints, Options, Start, Visitor};

struct Explore {
    requests: Vec<u32>,
    channels: Channels,
}

impl Visitor for Explore {
    type Output = Exploration;

    fn visit<A: Explain + Hints>(self, _: &About, factory: Factory<A>) -> Exploration {
        let system = Messages::new(
            &factory,
            self.requests,
            self.channels,
            Start::Empty,
            Watches { invariants: true, fences: false },
        )
        .expect("it fits");
        explore(&system, Limits::default(), &mut |_| ())
    }
}

fn explored(name: &str, options: &Options, requests: &[u32], channels: Channels) -> Exploration {
    let explore = Explore { requests: requests.to_vec(), channels };
    let explored = doorway_algorithms::catalog().visit(name, options, explore);
    explored.expect("it is in the catalog").expect("its options are right")
}

#[test]
fn look() {
    for (name, options, requests, channels) in [
        ("central", Options::none(), &[2, 2, 2][..], Channels::Any),
        ("lamport", Options::none(), &[1, 1, 1], Channels::Fifo),
        ("ricart-agrawala", Options::none(), &[2, 2, 1], Channels::Any),
        ("ricart-agrawala", Options::none(), &[1, 1, 1, 1], Channels::Any),
        ("maekawa", Options::none().with("quorum", "grid"), &[1, 1, 1, 1], Channels::Fifo),
        ("maekawa/basic", Options::none(), &[1, 1, 1], Channels::Fifo),
        ("lamport", Options::none(), &[1, 1], Channels::Any),
    ] {
        let began = std::time::Instant::now();
        let found = explored(name, &options, requests, channels);
        println!(
            "{name} {requests:?} {channels:?}: {} states {} transitions depth {} {} bytes/state {:.2} s {:?}",
            found.states,
            found.transitions,
            found.depth,
            found.bytes / found.states,
            began.elapsed().as_secs_f64(),
            found.violations.iter().map(|v| (v.property, v.steps.len(), v.what.clone())).collect::<Vec<_>>()
        );
        let _ = Property::Fence;
    }
}
