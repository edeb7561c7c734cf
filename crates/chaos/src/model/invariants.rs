//! What holds in every state, besides that never two clients are inside.

use doorway_checker::Property;

use super::roster::{Roster, Seat};
use super::state::{NODES, Node, Standing, State};

/// The properties that a state violates.
pub(super) fn broken(state: &State, views: u8) -> Vec<(Property, String)> {
    let mut broken = Vec::new();
    let inside_twice = |node: &usize| state.nodes[*node].is_inside && state.has_orphan(*node);
    if let Some(node) = (0..NODES).find(inside_twice) {
        let node = node + 1;
        let what = format!("two clients of node {node} are inside together, one left behind by its crash");
        broken.push((Property::MutualExclusion, what));
    }
    for view in 2..=views {
        let Some(roster) = state.decided(view) else { break };
        let faults = [
            (!is_decided_once(state, view), "two contents are decided as view"),
            (
                state.holders(view, roster).count() > 1,
                "two nodes report to be inside at the beginning of view",
            ),
            (
                is_held_from_outside(state, view, roster),
                "somebody is inside who was left out by the reported view",
            ),
            (
                !is_frozen(state, view, roster),
                "a member has not frozen older views though somebody is active in view",
            ),
            (brings_back(state, view, roster), "an incarnation left out before is in view"),
        ];
        let told = faults.into_iter().filter(|(is_broken, _)| *is_broken);
        broken.extend(told.map(|(_, what)| (Property::Invariants, format!("{what} {view}"))));
    }
    broken
}

/// Invariant 8: all nodes that learned a view have the same one, and so had a disk that was set back since.
fn is_decided_once(state: &State, view: u8) -> bool {
    let decided = state.decided(view);
    let config = state.config_before(view);
    let mut learned = state.nodes.iter().filter(|node| node.learned >= view);
    let is_same = |node: &Node| node.view(view) == decided && node.config_before(view) == config;
    learned.all(is_same) && state.lost(view).is_none_or(|roster| decided == Some(roster))
}

/// Invariant 4, denied: the section is reported, all reports are in, and yet an incarnation is inside that an earlier view had
/// and this one has not.
fn is_held_from_outside(state: &State, view: u8, roster: Roster) -> bool {
    let is_in = |member: usize| state.reported(view, roster, member).is_some();
    if state.holders(view, roster).next().is_none() || !roster.members().all(is_in) {
        return false;
    }
    state.inside().any(|(node, life, _)| !roster.has(node, life) && state.was_in(1..view, node, life))
}

/// Invariant 6: if one node is active in a view, every member of it has frozen all earlier ones, or does not live any more.
fn is_frozen(state: &State, view: u8, roster: Roster) -> bool {
    let is_active = |node: &Node| node.standing == Standing::Active && node.learned == view;
    let is_past = |member: usize| {
        let node = &state.nodes[member];
        node.learned >= view || !node.is_running() || !roster.has(member, node.life)
    };
    !state.nodes.iter().any(is_active) || roster.members().all(is_past)
}

/// Invariant 7, denied: a view has an incarnation that an earlier one had and the one before this has not.
fn brings_back(state: &State, view: u8, roster: Roster) -> bool {
    let Some(before) = state.decided(view - 1) else { return false };
    let was_there = |seat: (usize, Seat)| {
        (1..view).filter_map(|earlier| state.decided(earlier)).any(|earlier| earlier.seats[seat.0] == seat.1)
    };
    let came = |(node, seat): &(usize, Seat)| matches!(seat, Seat::In(_)) && before.seats[*node] != *seat;
    roster.seats.into_iter().enumerate().filter(came).any(was_there)
}
