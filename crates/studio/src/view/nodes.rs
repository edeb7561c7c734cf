//! What every node knew, as a page needs it.

use doorway_catalog::states::{NodeState, States};
use doorway_core::{NodeId, Permission, Phase};
use doorway_trace::Header;
use serde::{Serialize, Serializer};
use serde_json::json;

/// What every node of a run knew: of each node its changes, each with the number of events after which it is so.
#[derive(Serialize)]
pub struct NodesView<'a> {
    /// The names of all fields, in the order in which they come up.
    fields: Vec<&'static str>,
    states: Vec<Vec<(usize, NodeView<'a>)>>,
    known: usize,
    registers: &'a [String],
    values: &'a [(usize, Vec<u64>)],
    rules: &'a [(&'static str, &'static str)],
    lines: &'static [&'static str],
}

impl<'a> NodesView<'a> {
    /// The states of a run with this header.
    #[must_use]
    pub fn new(header: &Header, states: &'a States) -> Self {
        let nodes: Vec<NodeId> = NodeId::first(header.nodes).collect();
        let fields = field_names(states, &nodes);
        let of_node = |node: &NodeId| {
            let changes = states.changes(*node).iter();
            changes.map(|(count, state)| (*count, NodeView::new(state, &fields))).collect::<Vec<_>>()
        };
        Self {
            states: nodes.iter().map(of_node).filter(|changes| !changes.is_empty()).collect(),
            known: states.known(),
            registers: states.registers(),
            values: states.values(),
            rules: states.rules(),
            lines: states.lines(),
            fields,
        }
    }
}

/// What one node knows.
#[derive(Serialize)]
struct NodeView<'a> {
    phase: &'static str,
    /// The value of each field, in the order of their names.
    fields: Vec<Option<&'a str>>,
    waits: &'a [NodeId],
    #[serde(serialize_with = "permission")]
    permission: Permission,
}

impl<'a> NodeView<'a> {
    fn new(state: &'a NodeState, names: &[&str]) -> Self {
        let value = |name: &&str| {
            let field = state.fields.iter().find(|field| field.name == *name);
            field.map(|field| field.value.as_str())
        };
        let phase = match state.phase {
            _ if state.is_crashed => "crashed",
            Phase::Outside => "outside",
            Phase::Waiting => "waiting",
            Phase::Inside => "inside",
        };
        Self {
            phase,
            fields: names.iter().map(value).collect(),
            waits: &state.waits_for,
            permission: state.permission,
        }
    }
}

/// `null`, `{"vote": "free"}`, `{"vote": 3}` or `{"token": true}`.
fn permission<S: Serializer>(permission: &Permission, serializer: S) -> Result<S::Ok, S::Error> {
    let told = match permission {
        Permission::None => None,
        Permission::Free => Some(json!({"vote": "free"})),
        Permission::GivenTo(node) => Some(json!({"vote": node})),
        Permission::Token => Some(json!({"token": true})),
    };
    told.serialize(serializer)
}

/// The names of all fields, in the order in which they come up.
fn field_names(states: &States, nodes: &[NodeId]) -> Vec<&'static str> {
    let mut names = Vec::new();
    let all = nodes.iter().flat_map(|node| states.changes(*node)).flat_map(|(_, state)| &state.fields);
    for field in all {
        if !names.contains(&field.name) {
            names.push(field.name);
        }
    }
    names
}
