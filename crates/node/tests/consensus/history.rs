//! What was decided and who has led, and the four properties of Raft (Ongaro and Ousterhout, 2014).

use std::collections::BTreeMap;

use super::engine::{Entry, Id, Image, Log, Position, Role};

/// What a run has decided so far, including what nodes have forgotten since.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct History {
    /// What was decided, from the first entry on, and in which term.
    decided: Vec<(Position, Entry, u64)>,
    /// Who led in a term, with the places in its log when it began.
    leaders: BTreeMap<u64, (Id, Vec<Position>)>,
}

/// Which property does not hold, in a sentence.
pub type Broken = Option<&'static str>;

pub const ELECTION_SAFETY: &str = "election safety: two nodes lead in one term";
pub const LOG_MATCHING: &str = "log matching: two logs agree at a place and differ before it";
pub const LEADER_COMPLETENESS: &str = "leader completeness: a later leader lacks what was decided";
pub const STATE_MACHINE_SAFETY: &str = "state-machine safety: two entries were decided for one place";
pub const CONTRADICTION: &str = "the library refused a message as one that contradicts what was decided";

impl History {
    /// Notes what can be seen of a node.
    pub fn note(&mut self, me: Id, image: &Image) -> Broken {
        self.note_leader(me, image).or_else(|| self.note_decided(image)).or_else(|| self.completeness())
    }

    fn note_leader(&mut self, me: Id, image: &Image) -> Broken {
        if image.role != Role::Leader {
            return None;
        }
        let places = || places(&image.log).filter(|place| place.term < image.term).collect();
        let (leader, _) = self.leaders.entry(image.term).or_insert_with(|| (me, places()));
        (*leader != me).then_some(ELECTION_SAFETY)
    }

    fn note_decided(&mut self, image: &Image) -> Broken {
        let decided = image.log.places().take_while(|(position, _)| position.index <= image.commit);
        for (position, entry) in decided {
            match self.decided.get(position.index as usize - 1) {
                Some((other, same, _)) if (other, same) != (&position, entry) => {
                    return Some(STATE_MACHINE_SAFETY);
                }
                Some(_) => {}
                None => self.decided.push((position, entry.clone(), image.term)),
            }
        }
        None
    }

    fn completeness(&self) -> Broken {
        let lacks = |(position, _, term): &(Position, Entry, u64)| {
            let mut later = self.leaders.range(term + 1..);
            later.any(|(_, (_, places))| !places.contains(position) && places[0].index < position.index)
        };
        self.decided.iter().any(lacks).then_some(LEADER_COMPLETENESS)
    }
}

/// The places that a log has, from its beginning on.
fn places(log: &Log) -> impl Iterator<Item = Position> {
    std::iter::once(log.base).chain(log.places().map(|(position, _)| position))
}

/// Whether two logs that have the same place agree on all before it.
pub fn do_logs_match(one: &Log, other: &Log) -> bool {
    let common = one.places().filter(|(place, _)| other.places().any(|(other, _)| other == *place));
    let Some(last) = common.map(|(place, _)| place.index).max() else { return true };
    let from = one.base.index.max(other.base.index);
    let part = |log: &Log| -> Vec<(Position, Entry)> {
        let within = log.places().filter(|(place, _)| from < place.index && place.index <= last);
        within.map(|(place, entry)| (place, entry.clone())).collect()
    };
    part(one) == part(other)
}
