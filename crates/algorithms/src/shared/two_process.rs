//! The two-process programs over which a tournament can be played, as one type.

// tidy: not an algorithm, because it only chooses one.

use doorway_core::shared::{Cell, Memory, Program, Progress};
use doorway_core::{Field, NodeId, Options, Parameter, Refusal};
use serde::Serialize;

use super::lamport_fast::{self, LamportFast};
use super::peterson::{self, Peterson};
use super::peterson_unless_alone::UnlessAlone;

/// One process of two, of either program.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum TwoProcess {
    /// Peterson's algorithm.
    Peterson(Peterson),
    /// The same without the turn for a process that is alone.
    UnlessAlone(UnlessAlone),
    /// Lamport's fast algorithm, in which a process can starve.
    LamportFast(LamportFast),
}

/// What is played at each node of the tree: the registers there, and the two sides.
pub struct Game {
    /// The registers of the two processes.
    pub registers: Vec<Cell>,
    /// The program of each side.
    pub make: fn(NodeId) -> TwoProcess,
}

/// What can be chosen.
pub const LOCK: Parameter = Parameter {
    name: "lock",
    default: "peterson",
    help: "what two processes play at each node of the tree: peterson, unless-alone, or lamport-fast, which lets one starve",
};

impl Game {
    /// The game that was chosen.
    ///
    /// # Errors
    /// If there is none of this name.
    pub fn chosen(options: &Options) -> Result<Self, Refusal> {
        let word = options.choice(&LOCK).word;
        match word.as_str() {
            "peterson" => Ok(Self {
                registers: peterson::registers(),
                make: |side| TwoProcess::Peterson(Peterson::new(side)),
            }),
            "unless-alone" => Ok(Self {
                registers: peterson::registers(),
                make: |side| TwoProcess::UnlessAlone(UnlessAlone::new(side)),
            }),
            "lamport-fast" => Ok(Self {
                registers: lamport_fast::registers(2),
                make: |side| TwoProcess::LamportFast(LamportFast::new(side, 2)),
            }),
            _ => {
                let known = "peterson, unless-alone or lamport-fast";
                Err(Refusal::new(format!("{word:?} is not a lock for a tournament: {known}")))
            }
        }
    }
}

/// How many lines stand before those of the second and of the third program.
const SECOND: usize = Peterson::LINES.len();
const THIRD: usize = SECOND + UnlessAlone::LINES.len();

/// The lines of all three, one after the other.
const ALL: [&str; THIRD + LamportFast::LINES.len()] = {
    let mut all = [""; THIRD + LamportFast::LINES.len()];
    let mut at = 0;
    while at < all.len() {
        all[at] = match at {
            _ if at < SECOND => Peterson::LINES[at],
            _ if at < THIRD => UnlessAlone::LINES[at - SECOND],
            _ => LamportFast::LINES[at - THIRD],
        };
        at += 1;
    }
    all
};

impl Program for TwoProcess {
    const LINES: &'static [&'static str] = &ALL;

    fn line(&self) -> usize {
        match self {
            TwoProcess::Peterson(program) => program.line(),
            TwoProcess::UnlessAlone(program) => SECOND + program.line(),
            TwoProcess::LamportFast(program) => THIRD + program.line(),
        }
    }

    fn step(&mut self, memory: &mut impl Memory) -> Progress {
        match self {
            TwoProcess::Peterson(program) => program.step(memory),
            TwoProcess::UnlessAlone(program) => program.step(memory),
            TwoProcess::LamportFast(program) => program.step(memory),
        }
    }

    fn fields(&self) -> Vec<Field> {
        match self {
            TwoProcess::Peterson(program) => program.fields(),
            TwoProcess::UnlessAlone(program) => program.fields(),
            TwoProcess::LamportFast(program) => program.fields(),
        }
    }
}
