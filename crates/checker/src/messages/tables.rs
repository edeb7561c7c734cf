//! What is known of each state of a single node and of each message, by their numbers: all that a step of the system needs.

use std::collections::HashMap;

use doorway_core::Phase;

use super::maps::{Map, Thing};
use super::outcomes::Outcomes;

/// What a step needs to know of a node's state.
#[derive(Clone, Copy)]
pub(super) struct Face {
    pub(super) phase: Phase,
    /// Whether it will still ask.
    pub(super) asks: bool,
    pub(super) is_crashed: bool,
    /// Whose open requests it knows of.
    pub(super) known: u32,
    /// Whose open requests it knew of when it asked.
    pub(super) before: u32,
}

/// What a step needs to know of a message.
#[derive(Clone, Copy)]
pub(super) struct Route {
    pub(super) from: u32,
    pub(super) to: u32,
    /// The channel.
    pub(super) lane: u32,
    /// Which kind of message it is, in the order in which kinds were met.
    pub(super) kind: u32,
    /// Whose open requests its sender knew of.
    pub(super) known: u32,
    /// Whether its sender asks by it, if that is watched.
    pub(super) asks: bool,
}

/// All that was met.
#[derive(Default)]
pub(super) struct Tables {
    pub(super) faces: Vec<Face>,
    pub(super) routes: Vec<Route>,
    pub(super) kinds: Vec<&'static str>,
    /// The least counter of each group in each node's state and each message, if they are translated.
    pub(super) local_floors: Vec<Box<[u64]>>,
    pub(super) letter_floors: Vec<Box<[u64]>>,
    pub(super) outcomes: Outcomes,
    pub(super) maps: HashMap<(Thing, Map), u32>,
    /// What the application of one node, in a state, tells that of another.
    pub(super) tells: HashMap<(u32, u32, u32), u32>,
}

impl Tables {
    #[inline]
    pub(super) fn face(&self, local: u32) -> &Face {
        &self.faces[local as usize]
    }

    #[inline]
    pub(super) fn route(&self, letter: u32) -> &Route {
        &self.routes[letter as usize]
    }

    /// The number of a kind of messages.
    pub(super) fn kind(&mut self, name: &'static str) -> u32 {
        let place = self.kinds.iter().position(|other| *other == name).unwrap_or_else(|| {
            self.kinds.push(name);
            self.kinds.len() - 1
        });
        place as u32
    }

    /// What a thing is mapped to, if it is known.
    pub(super) fn mapped(&self, thing: Thing, map: &Map) -> Option<u32> {
        if let Map::Served(node) = map {
            let (number, known) = match thing {
                Thing::Local(local) => (local, self.face(local).known | self.face(local).before),
                Thing::Letter(letter) => (letter, self.route(letter).known),
            };
            if known >> node & 1 == 0 {
                return Some(number);
            }
        }
        self.maps.get(&(thing, map.clone())).copied()
    }
}
