//! A memory that records a program's calls.

use std::ops::Range;

use doorway_core::shared::{Memory, Process, Program, Progress, Register};

/// A call to memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Call {
    Load(usize),
    Store(usize, u64),
    Barrier,
    Next { among: Range<usize>, into: usize },
}

/// One step of a program.
pub(super) struct Attempt {
    /// The line that it executed.
    pub(super) line: usize,
    /// Its first call, if any.
    pub(super) call: Option<Call>,
    /// Its result, or how it broke its contract.
    pub(super) progress: Result<Progress, &'static str>,
}

/// Runs one step of a process in which it loads this value: that of one register, or the maximum of several.
pub(super) fn attempt<P: Program>(process: &mut Process<P>, value: u64) -> Attempt {
    let line = process.program().line();
    let mut probe = Probe { value, call: None, calls: 0 };
    let progress = process.step(&mut probe);
    let progress = match probe.calls {
        0 => Err("a step made no access to memory"),
        1 => progress,
        _ => Err("a step made more than one access to memory"),
    };
    Attempt { line, call: probe.call, progress }
}

struct Probe {
    /// The value of all loads.
    value: u64,
    call: Option<Call>,
    calls: usize,
}

impl Probe {
    fn note(&mut self, call: Call) {
        self.calls += 1;
        self.call.get_or_insert(call);
    }
}

impl Memory for Probe {
    fn load(&mut self, register: Register) -> u64 {
        self.note(Call::Load(register.index()));
        self.value
    }

    fn store(&mut self, register: Register, value: u64) {
        self.note(Call::Store(register.index(), value));
    }

    fn barrier(&mut self) {
        self.note(Call::Barrier);
    }

    fn store_next(&mut self, among: Range<usize>, into: Register) -> u64 {
        let among = among.start.min(among.end)..among.end;
        self.note(Call::Next { among, into: into.index() });
        self.value + 1
    }
}
