//! What a step of the system needs to know of each node's state and each message, by their numbers.

use std::collections::HashMap;

use doorway_core::Phase;

use super::maps::{Map, StateOrMessage};
use super::outcomes::Outcomes;

/// The facts about a node's state.
#[derive(Clone, Copy)]
pub(super) struct NodeFacts {
    pub(super) phase: Phase,
    /// Whether it will request again.
    pub(super) asks: bool,
    pub(super) is_crashed: bool,
    /// A mask of the nodes that were reported to it as crashed.
    pub(super) reported: u32,
    /// A mask of the nodes whose open requests it knows.
    pub(super) known: u32,
    /// The same mask at the time of its request.
    pub(super) before: u32,
}

/// The facts about a message.
#[derive(Clone, Copy)]
pub(super) struct Route {
    pub(super) from: u32,
    pub(super) to: u32,
    /// The channel.
    pub(super) lane: u32,
    /// The number of its kind, in the order of first use.
    pub(super) kind: u32,
    /// A mask of the nodes whose open requests its sender knew.
    pub(super) known: u32,
    /// Whether a request step sent it, if doorways are watched.
    pub(super) asks: bool,
}

/// All facts computed so far.
#[derive(Default)]
pub(super) struct Tables {
    pub(super) facts: Vec<NodeFacts>,
    pub(super) routes: Vec<Route>,
    pub(super) kinds: Vec<&'static str>,
    /// The least counter of each group in each node's state and each message, if counters are shifted.
    pub(super) local_floors: Vec<Box<[u64]>>,
    pub(super) letter_floors: Vec<Box<[u64]>>,
    pub(super) outcomes: Outcomes,
    pub(super) maps: HashMap<(StateOrMessage, Map), u32>,
    /// The message by which the application of one node, in a state, tells that of another.
    pub(super) tells: HashMap<(u32, u32, u32), u32>,
}

impl Tables {
    #[inline]
    pub(super) fn facts(&self, local: u32) -> &NodeFacts {
        &self.facts[local as usize]
    }

    #[inline]
    pub(super) fn route(&self, letter: u32) -> &Route {
        &self.routes[letter as usize]
    }

    /// The number of a message kind.
    pub(super) fn kind(&mut self, name: &'static str) -> u32 {
        let place = self.kinds.iter().position(|other| *other == name).unwrap_or_else(|| {
            self.kinds.push(name);
            self.kinds.len() - 1
        });
        place as u32
    }

    /// The image of a state or a message under a map, if computed.
    pub(super) fn mapped(&self, thing: StateOrMessage, map: &Map) -> Option<u32> {
        if let Map::Served(node) = map {
            let (number, known) = match thing {
                StateOrMessage::Local(local) => (local, self.facts(local).known | self.facts(local).before),
                StateOrMessage::Letter(letter) => (letter, self.route(letter).known),
            };
            if known >> node & 1 == 0 {
                return Some(number);
            }
        }
        self.maps.get(&(thing, map.clone())).copied()
    }
}
