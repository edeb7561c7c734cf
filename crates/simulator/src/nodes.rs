//! The nodes of a system at the start.

use doorway_core::{Explain, Factory, Fenced, Members, NodeId, Refusal};

use crate::settings::Settings;
use crate::size::measure;

/// The memory limit of a simulation in bytes, checked by an estimate.
const MOST_MEMORY: u64 = 16 << 30;

/// All nodes at the start, unless they would not fit into memory: most algorithms keep data about every node
/// at every node.
pub(crate) fn make_nodes<A: Explain>(
    factory: &Factory<A>,
    settings: &Settings,
) -> Result<Vec<Fenced<A>>, Refusal> {
    /// Memory of a state per byte of its encoding, roughly.
    const MEMORY_PER_WIRE_BYTE: u64 = 8;
    let n = settings.nodes;
    let plan = factory.plan(&Members::new(n)?)?;
    let (_, bytes) = measure(&(), &plan.make(NodeId::new(0), settings.start));
    let needed = (bytes * MEMORY_PER_WIRE_BYTE).saturating_mul(n as u64);
    if needed > MOST_MEMORY {
        return Err(Refusal::new(format!(
            "{n} nodes of this algorithm would need about {} GiB of memory, more than the {} GiB that a simulation \
             may take: take fewer nodes, or an algorithm whose nodes know only their neighbours",
            needed >> 30,
            MOST_MEMORY >> 30
        )));
    }
    let mut nodes = Vec::with_capacity(n);
    nodes.extend(NodeId::first(n).map(|node| Fenced::from_plan(&plan, node, settings.start)));
    Ok(nodes)
}
