//! The claim that Maekawa's algorithm never needs more than 5(K−1) messages per entry, and a search that refutes it.
//!
//! The usual count forgets the new LOCKED after a RELINQUISH. To see it, requests must keep overtaking each other at every
//! arbiter: the youngest arrives first, and each older one takes the vote away again. The search does not know that. It
//! starts from an order of arrival drawn by lot and keeps what costs more messages.

use doorway_catalog::Trial;
use doorway_core::{NodeId, PerNode, Refusal};
use doorway_simulator::{Latency, Load};

use super::bench::{Bench, exact, longer, short};
use super::{Check, Claim, Evidence, Verdict, source};

pub(super) const CLAIMS: &[Claim] = &[Claim {
    id: "C27",
    source: source::MAEKAWA,
    claim: "Maekawa's algorithm costs at most 5(K−1) messages per entry.",
    formula: "≤ 5(K−1)",
    expected: Verdict::Refuted,
    test: search,
}];

/// The number of nodes; every node asks all others, so that K = N.
const NODES: usize = 30;
/// The number of nodes that ask at the same moment.
const ASKING: usize = 6;
/// So often two senders of the worst order so far change places.
const SWAPS: usize = 200;

/// Each of those that ask asks once. What it sends takes three times as long as what the one before it in the order sends,
/// so that all is settled between two of them before a third is heard of. The others answer in one tick.
fn trial(order: &[u32]) -> Trial {
    let asking = order.iter().map(|&place| 3_u64.pow(place + 1));
    let latencies: Vec<u64> = asking.chain(std::iter::repeat(1)).take(NODES).collect();
    let load = Load::Active(ASKING);
    let mut trial = longer(exact("maekawa", NODES, load), ASKING as u64).with("quorum", "all");
    trial.settings.latency = Latency::Senders(PerNode::from(latencies));
    trial.settings.invariants = false;
    trial
}

fn search(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let bound = (5 * (NODES - 1) * ASKING) as u64;
    let cost =
        |order: &[u32]| -> Result<u64, Refusal> { Ok(bench.run(&trial(order))?.measures.traffic.messages) };
    let mut best: Vec<u32> = (0..ASKING as u32).collect();
    let mut lots = Lots(1);
    best.sort_by_cached_key(|_| lots.draw());
    let mut most = cost(&best)?;
    for _ in 0..SWAPS {
        let mut order = best.clone();
        order.swap(lots.draw() as usize % ASKING, lots.draw() as usize % ASKING);
        let messages = cost(&order)?;
        if messages >= most {
            (best, most) = (order, messages);
        }
    }
    let measured = format!(
        "{} messages per entry against 5(K−1) = {}, the worst of {SWAPS} orders of arrival: {}",
        short(most as f64 / ASKING as f64),
        5 * (NODES - 1),
        arrival(&best)
    );
    let command = trial(&best).command(bench.program());
    Ok(Evidence::of(Check { holds: most <= bound, measured, command }))
}

/// Who is heard first, in words.
fn arrival(order: &[u32]) -> String {
    let mut nodes: Vec<NodeId> = NodeId::first(ASKING).collect();
    nodes.sort_by_key(|node| order[node.index()]);
    let numbers: Vec<String> = nodes.iter().map(NodeId::to_string).collect();
    format!("the requests of {}", numbers.join(", "))
}

/// Lots for the search: the same ones every time.
struct Lots(u64);

impl Lots {
    /// The next lot, by Marsaglia's xorshift.
    fn draw(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}
