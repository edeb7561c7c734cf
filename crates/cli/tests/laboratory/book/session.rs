//! Runs the commands of a page as a reader types them: in one folder, which has `scripts/`, one after the other.
//!
//! A command that ends in `&` stays in the background, as in a shell. Its output is read until the printed lines are
//! there, and it is killed with the session.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Instant;

use super::block::Step;
use super::printed::compare;
use crate::fleet::{Folder, LONG, Process};

pub struct Session {
    // Before the folder, so that it is removed when nothing writes to it any more.
    background: Vec<Process>,
    folder: Folder,
}

/// What a command printed, stdout and stderr together, and how it ended.
pub struct Output {
    pub lines: Vec<String>,
    /// None if it runs on in the background, or was killed.
    pub code: Option<i32>,
}

impl Session {
    pub fn new(page: &str) -> Self {
        let folder = Folder::new(&format!("book-{}", page.replace(['/', '.'], "-")));
        let repository = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        copy(&repository.join("scripts"), &folder.0.join("scripts"));
        fs::create_dir(folder.0.join("runtime")).expect("a runtime folder");
        Self { background: Vec::new(), folder }
    }

    pub fn write(&self, name: &str, lines: &[String]) {
        fs::write(self.folder.0.join(name), lines.join("\n") + "\n").expect("a file of the page");
    }

    pub fn run(&mut self, step: &Step) -> Output {
        match step.command.strip_suffix('&') {
            Some(command) => self.run_in_background(command, &step.printed),
            None => self.run_to_end(&step.command),
        }
    }

    fn run_to_end(&self, command: &str) -> Output {
        let (mut process, printed) = self.start(command);
        let mut lines = Vec::new();
        let begin = Instant::now();
        loop {
            match printed.recv_timeout(LONG.saturating_sub(begin.elapsed())) {
                Ok(line) => lines.push(line),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    panic!("{command}: no end within {LONG:?}\n{}", lines.join("\n"))
                }
            }
        }
        Output { lines, code: process.0.wait().expect("it ends").code() }
    }

    fn run_in_background(&mut self, command: &str, expected: &[String]) -> Output {
        // The process itself and not a shell around it, so that killing it ends it.
        let (process, printed) = self.start(&format!("exec {command}"));
        self.background.push(process);
        let mut lines = Vec::new();
        let begin = Instant::now();
        while compare(expected, &lines).is_err() {
            match printed.recv_timeout(LONG.saturating_sub(begin.elapsed())) {
                Ok(line) => lines.push(line),
                Err(_) => break,
            }
        }
        Output { lines, code: None }
    }

    /// Starts a command; its lines arrive as it prints them.
    fn start(&self, command: &str) -> (Process, Receiver<String>) {
        let folder = &self.folder.0;
        let own = Path::new(env!("CARGO_BIN_EXE_doorway")).parent().expect("the binary is in a folder");
        let path = format!("{}:{}", own.display(), std::env::var("PATH").unwrap_or_default());
        let (reader, writer) = std::io::pipe().expect("a pipe");
        let mut shell = Command::new("sh");
        shell.args(["-c", command]).current_dir(folder).stdin(Stdio::null());
        shell.env("PATH", path).env("HOME", folder).env("TMPDIR", folder);
        shell.env("XDG_RUNTIME_DIR", folder.join("runtime"));
        shell.env_remove("DOORWAY_SOCKET").env_remove("COLUMNS");
        shell.stdout(writer.try_clone().expect("a pipe")).stderr(writer);
        let process = Process(shell.spawn().expect("a shell"));
        // Its ends of the pipe: otherwise the output would never end.
        drop(shell);
        let (sender, receiver) = channel();
        thread::spawn(move || {
            let lines = BufReader::new(reader).lines().map_while(Result::ok);
            lines.map(|line| sender.send(line)).find(Result::is_err)
        });
        (process, receiver)
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder").flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("a file");
        }
    }
}
