//! The tournament in which a process gives its nodes back leaf first (E26).
//!
//! A process that has given back its leaf and not yet the root lets its neighbour come up to the root on the same side.
//! The neighbour raises the flag of that side, which is still up, and then the process that leaves takes it down.
//!
//! Three processes and 20 steps suffice: 1 enters and gives back its leaf; 2 comes up and raises the flag at the root;
//! 1 takes it down. 2 enters, as the other side is empty, and so does 3 from there, as it sees no flag.

use doorway_core::shared::{AboutProgram, Memory, Program, ProgramEntry, Progress};
use doorway_core::{Field, Specimen};
use serde::Serialize;

use crate::shared::tournament::{ABOUT, Tournament, team};
use crate::shared::two_process::TwoProcess;

/// One process of the tournament, which leaves in its own way.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct LeafFirst(Tournament<TwoProcess>);

impl Program for LeafFirst {
    const LINES: &'static [&'static str] = Tournament::<TwoProcess>::LINES;

    fn line(&self) -> usize {
        self.0.line()
    }

    fn step(&mut self, memory: &mut impl Memory) -> Progress {
        let Self(of) = self;
        let (progress, is_leaving) =
            if of.has_won { (of.play(of.level, memory), true) } else { (of.step(memory), false) };
        match progress {
            Progress::Exit if of.level + 1 < of.levels() => {
                of.level += 1;
                Progress::Step
            }
            Progress::Exit | Progress::Enter => {
                of.level = 0;
                of.has_won = !is_leaving;
                progress
            }
            Progress::Step | Progress::Wait | Progress::Doorway => progress,
        }
    }

    fn fields(&self) -> Vec<Field> {
        self.0.fields()
    }
}

/// Its place in the catalog.
pub fn entry() -> ProgramEntry<LeafFirst> {
    ProgramEntry {
        about: AboutProgram {
            name: "tournament/leaf-first",
            title: "Tournament, leaf first",
            source: include_str!("tournament_leaf_first.rs"),
            specimen: Some(Specimen {
                id: "E26",
                of: "tournament",
                wrong: "a process gives back the nodes of the tree from its leaf to the root",
                verdict: "exclusion violated",
            }),
            ..ABOUT
        },
        bind: |options, members| team(options, members, LeafFirst),
    }
}
