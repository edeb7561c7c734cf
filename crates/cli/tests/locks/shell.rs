//! A terminal with a shell, and a test that types.

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::fleet::{self, Process};

/// An interactive shell at a terminal of its own, for daemons whose sockets are in this runtime folder.
pub struct Shell {
    terminal: File,
    /// What is on the screen since something was typed.
    pub shown: String,
    _shell: Process,
}

impl Shell {
    /// None where there is no shell for it.
    pub fn new(runtime: &Path) -> Option<Self> {
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&terminal).and_then(|()| unlockpt(&terminal)).expect("it is ours");
        let name = ptsname(&terminal, Vec::new()).expect("it has a name").into_string().expect("of letters");
        // It is the shell's terminal and not ours: tests may be run by a process that has none, and would get this one.
        let not_ours = OFlags::NOCTTY.bits().cast_signed();
        let open = || {
            let mut options = File::options();
            options.read(true).write(true).custom_flags(not_ours).open(&name).expect("it can be opened")
        };
        let own = Path::new(env!("CARGO_BIN_EXE_doorway")).parent().expect("a folder");
        let path = format!("{}:{}", own.display(), std::env::var("PATH").unwrap_or_default());
        // Tests that run in the background inherit an ignored SIGINT, and so would everything that this shell starts.
        let mut command = Command::new("env");
        command.args(["--default-signal", "setsid", "--ctty", "bash", "--norc", "--noprofile", "-i"]);
        command.env("PATH", path).env("XDG_RUNTIME_DIR", runtime).env("PS1", "> ").env("TERM", "dumb");
        command.env_remove("DOORWAY_SOCKET").env("HISTFILE", "");
        command.stdin(open()).stdout(Stdio::from(open())).stderr(Stdio::from(open()));
        let shell = Process(command.spawn().ok()?);
        let mut shell = Self { terminal: terminal.into(), shown: String::new(), _shell: shell };
        shell.shows("> ");
        Some(shell)
    }

    pub fn types(&mut self, keys: &str) {
        self.shown.clear();
        self.terminal.write_all(keys.as_bytes()).expect("somebody reads");
    }

    /// Waits until this is to be read on the screen after what was typed last.
    pub fn shows(&mut self, part: &str) {
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
    pub fn tells_status(&mut self, status: &str) {
        self.shows("> ");
        self.types("echo \"s\"=$?.\n");
        self.shows(&format!("s={status}."));
        self.shows("\n> ");
    }
}
