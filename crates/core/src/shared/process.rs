//! A program inside its contract.

use serde::Serialize;

use super::{Memory, Program, Progress};
use crate::Phase;

/// Where a process is in its program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// It does not compete, and may stay here for ever.
    #[default]
    Remainder,
    /// It competes and is in the wait-free part of its entry code.
    Doorway,
    /// It is past its doorway.
    Waiting,
    /// It is in the critical section.
    Inside,
    /// It runs its exit code.
    Leaving,
}

impl Place {
    /// The phase at this place.
    #[must_use]
    pub fn phase(self) -> Phase {
        match self {
            Place::Remainder | Place::Leaving => Phase::Outside,
            Place::Doorway | Place::Waiting => Phase::Waiting,
            Place::Inside => Phase::Inside,
        }
    }
}

/// A program inside its contract. Drivers step processes, never programs: the process tracks its place
/// itself, so checking safety does not rely on the program's own account.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Process<P> {
    program: P,
    place: Place,
}

impl<P> Process<P> {
    /// A process in the remainder.
    #[must_use]
    pub fn new(program: P) -> Self {
        Self { program, place: Place::Remainder }
    }

    /// Its place.
    #[must_use]
    pub fn place(&self) -> Place {
        self.place
    }

    /// Its phase.
    #[must_use]
    pub fn phase(&self) -> Phase {
        self.place.phase()
    }

    /// The program's state.
    #[must_use]
    pub fn program(&self) -> &P {
        &self.program
    }

    /// Begins a step that takes time: the process has now left the remainder, or the critical section,
    /// although the access of [`Process::step`] is still to come.
    pub fn begin(&mut self) {
        self.place = match self.place {
            Place::Remainder => Place::Doorway,
            Place::Inside => Place::Leaving,
            Place::Doorway | Place::Waiting | Place::Leaving => self.place,
        };
    }
}

impl<P: Program> Process<P> {
    /// Runs the next step and returns its result.
    ///
    /// # Errors
    /// If the program broke its contract, for instance entered when it was not waiting.
    pub fn step(&mut self, memory: &mut impl Memory) -> Result<Progress, &'static str> {
        let progress = self.program.step(memory);
        self.place = after(self.place, progress)?;
        Ok(progress)
    }
}

fn after(place: Place, progress: Progress) -> Result<Place, &'static str> {
    use Place::{Doorway, Inside, Leaving, Remainder, Waiting};
    match (progress, place) {
        (Progress::Step | Progress::Wait, Remainder) => Ok(Doorway),
        (Progress::Step | Progress::Wait, Inside) => Ok(Leaving),
        (Progress::Step | Progress::Wait, _) => Ok(place),
        (Progress::Doorway, Remainder | Doorway | Waiting) => Ok(Waiting),
        (Progress::Doorway, Inside | Leaving) => Err("the program passed a doorway on its way out"),
        (Progress::Enter, Remainder | Doorway | Waiting) => Ok(Inside),
        (Progress::Enter, Inside | Leaving) => Err("the program entered when it was not waiting"),
        (Progress::Exit, Inside | Leaving) => Ok(Remainder),
        (Progress::Exit, _) => Err("the program left when it was not inside"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_passes_doorway_and_section_and_returns() {
        let run = [
            Progress::Step,
            Progress::Doorway,
            Progress::Wait,
            Progress::Enter,
            Progress::Step,
            Progress::Exit,
        ];
        let places = run.iter().scan(Place::Remainder, |place, progress| {
            *place = after(*place, *progress).ok()?;
            Some(*place)
        });
        let expected =
            [Place::Doorway, Place::Waiting, Place::Waiting, Place::Inside, Place::Leaving, Place::Remainder];
        assert!(places.eq(expected));
    }

    #[test]
    fn beginning_a_step_leaves_the_remainder_and_the_section() {
        let begin = |place| {
            let mut process = Process { program: (), place };
            process.begin();
            process.place()
        };
        let places = [Place::Remainder, Place::Doorway, Place::Waiting, Place::Inside, Place::Leaving];
        let after = [Place::Doorway, Place::Doorway, Place::Waiting, Place::Leaving, Place::Leaving];
        assert_eq!(places.map(begin), after);
    }

    #[test]
    fn a_wrong_entry_exit_or_doorway_breaks_the_contract() {
        assert!(after(Place::Inside, Progress::Enter).is_err());
        assert!(after(Place::Waiting, Progress::Exit).is_err());
        assert!(after(Place::Leaving, Progress::Doorway).is_err());
    }
}
