//! The processes of the bank, as the one that started them knows them.

use std::io::{self, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::Sender;
use std::thread;

use doorway_core::Refusal;
use nix::sys::signal::Signal;

use super::process;
use super::words::{Assignment, ProcessMsg, hear, say};
use crate::wakeups::Wakeups;

/// This program, also when its file was replaced meanwhile.
const OURSELVES: &str = "/proc/self/exe";

/// What happens in the bank.
pub(super) enum StaffEvent {
    /// A process has said something.
    Said(usize, ProcessMsg),
    /// A process says nothing any more.
    Silent(usize),
    /// The user wants all processes to end.
    Interrupted,
}

/// A process that is ended with its owner.
pub(super) struct Employee {
    child: Child,
    input: Option<ChildStdin>,
}

impl Employee {
    /// Starts a process, which tells this what it does. Only for a thread that lives as long as the process shall.
    ///
    /// # Errors
    /// If no process can be made.
    pub(super) fn start(assignment: &Assignment, events: &Sender<StaffEvent>) -> Result<Self, Refusal> {
        let refuse = |error: io::Error| Refusal::new(format!("cannot start a process: {error}"));
        let mut child = Command::new(OURSELVES)
            .args(process::words())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(refuse)?;
        let (input, out) = (child.stdin.take(), child.stdout.take());
        let mut employee = Self { child, input };
        let (number, events) = (assignment.process, events.clone());
        if let Some(out) = out {
            let mut out = BufReader::new(out);
            thread::spawn(move || {
                while let Ok(Some(word)) = hear(&mut out) {
                    let _ = events.send(StaffEvent::Said(number, word));
                }
                let _ = events.send(StaffEvent::Silent(number));
            });
        }
        employee.tell(assignment).map_err(refuse)?;
        Ok(employee)
    }

    fn tell(&mut self, assignment: &Assignment) -> io::Result<()> {
        self.input.as_mut().map_or(Ok(()), |input| say(input, assignment))
    }

    /// Tells it to go on with what it waits with.
    pub(super) fn nudge(&mut self) {
        if let Some(input) = &mut self.input {
            let _ = writeln!(input);
        }
    }

    /// Ends it at once, with SIGKILL.
    pub(super) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Employee {
    fn drop(&mut self) {
        self.kill();
    }
}

/// From now on Ctrl-C and SIGTERM are events, so that nothing is left behind. To be called before any thread is started.
///
/// # Errors
/// If the system refuses.
pub(super) fn watch_for_signals(events: Sender<StaffEvent>) -> Result<(), Refusal> {
    let wakeups = Wakeups::new(&[Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP])
        .map_err(|error| Refusal::new(format!("a system call failed: {error}")))?;
    thread::spawn(move || {
        while wakeups.sleep(None, None).is_ok() {
            if wakeups.signal().is_some() && events.send(StaffEvent::Interrupted).is_err() {
                return;
            }
        }
    });
    Ok(())
}
