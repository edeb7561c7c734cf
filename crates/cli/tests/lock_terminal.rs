//! `doorway lock` at a terminal: Ctrl-C, Ctrl-Z, and programs that read what is typed.

mod fleet;
mod terminal;

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Command, Stdio};

use fleet::{Dev, Process};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// An interactive shell at a terminal of its own.
struct Shell {
    terminal: File,
    shown: String,
    _shell: Process,
}

impl Shell {
    /// None where there is no shell for it.
    fn new(dev: &Dev) -> Option<Self> {
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&terminal).and_then(|()| unlockpt(&terminal)).expect("it is ours");
        let name = ptsname(&terminal, Vec::new()).expect("it has a name").into_string().expect("of letters");
        let open = || File::options().read(true).write(true).open(&name).expect("it can be opened");
        let own = std::path::Path::new(env!("CARGO_BIN_EXE_doorway")).parent().expect("a folder");
        let path = format!("{}:{}", own.display(), std::env::var("PATH").unwrap_or_default());
        let mut command = Command::new("setsid");
        command.args(["--ctty", "bash", "--norc", "--noprofile", "-i"]);
        command.env("PATH", path).env("XDG_RUNTIME_DIR", &dev.runtime.0).env("PS1", "> ").env("TERM", "dumb");
        command.env_remove("DOORWAY_SOCKET").env("HISTFILE", "");
        command.stdin(open()).stdout(Stdio::from(open())).stderr(Stdio::from(open()));
        let shell = Process(command.spawn().ok()?);
        let mut shell = Self { terminal: terminal.into(), shown: String::new(), _shell: shell };
        shell.shows("> ");
        Some(shell)
    }

    fn types(&mut self, keys: &str) {
        self.shown.clear();
        self.terminal.write_all(keys.as_bytes()).expect("somebody reads");
    }

    /// Waits until this is to be read on the screen after what was typed last.
    fn shows(&mut self, part: &str) {
        let long = Timespec::try_from(fleet::LONG).unwrap_or(Timespec { tv_sec: 60, tv_nsec: 0 });
        while !self.shown.contains(part) {
            let ready =
                poll(&mut [PollFd::new(&self.terminal, PollFlags::IN)], Some(&long)).expect("it waits");
            assert!(ready > 0, "{part:?} is not to be seen: {:?}", self.shown);
            let mut bytes = [0; 1024];
            let count = self.terminal.read(&mut bytes).expect("it shows something");
            self.shown.push_str(&String::from_utf8_lossy(&bytes[..count]));
        }
    }

    /// Waits until the shell has the terminal again, then asks it for a status; the mark is not in what is typed.
    fn tells_status(&mut self, status: &str) {
        self.shows("> ");
        self.types("echo \"s\"=$?.\n");
        self.shows(&format!("s={status}."));
        self.shows("\n> ");
    }
}

const CTRL_C: &str = "\x03";
const CTRL_Z: &str = "\x1a";

#[test]
fn a_command_at_a_terminal_is_stopped_continued_and_ended_as_any_other() {
    let dev = Dev::new("terminal");
    let Some(mut shell) = Shell::new(&dev) else {
        eprintln!("skipped: setsid cannot be had here");
        return;
    };
    // One that does not read: Ctrl-C and Ctrl-Z reach the watcher, which passes them on.
    // It starts nothing: a shell that is about to start a process when it is told to stop does neither.
    let script = "trap \"echo a\"\"gain\" CONT; echo i\"\"n; while :; do :; done";
    shell.types(&format!("doorway lock x -- sh -c '{script}'\n"));
    shell.shows("in\r\n");
    shell.types(CTRL_Z);
    shell.shows("Stopped");
    shell.shows("\n> ");
    shell.types("doorway lock x --try --node b -- true\n");
    shell.shows("x is not free");
    shell.shows("\n> ");
    shell.types("fg\n");
    shell.shows("again\r\n");
    shell.types(CTRL_C);
    shell.tells_status("130");
    // One that reads gets the terminal, and the shell has it back afterwards.
    shell.types(
        "doorway lock x -- sh -c 'echo \"b\"egin; read line; echo \"g\"ot $line; read line; exit 3'\n",
    );
    shell.shows("begin\r\n");
    shell.types("hello\n");
    shell.shows("got hello");
    shell.types(CTRL_Z);
    shell.shows("Stopped");
    shell.shows("\n> ");
    shell.types("fg\n");
    shell.shows("doorway lock x");
    shell.types("bye\n");
    shell.tells_status("3");
    // Whoever runs it in a script hears of a Ctrl-C that only the command heard.
    shell.types("sh -c 'doorway lock x -- sh -c \"echo b''egin; exec cat\"; echo a\"\"fter'\n");
    shell.shows("begin\r\n");
    shell.types("echoed\n");
    shell.shows("echoed\r\nechoed\r\n");
    shell.types(CTRL_C);
    shell.tells_status("130");
    assert!(!shell.shown.contains("after"), "{}", shell.shown);
}
