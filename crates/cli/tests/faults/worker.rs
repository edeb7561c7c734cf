//! A client as a process of its own: it locks, writes to a resource that checks fences, and keeps a book of what it saw.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use doorway::FencedFile;
use doorway_client::{Client, Guard, clock};
use serde::{Deserialize, Serialize};

use super::history::{Book, Event, Line};

/// The variable that tells the test program that it is a client.
pub const VARIABLE: &str = "DOORWAY_FAULTS_CLIENT";

/// What a client is to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Task {
    /// Its name.
    pub name: String,
    /// The socket of its daemon.
    pub socket: PathBuf,
    /// Where it keeps its book, and where resources are.
    pub folder: PathBuf,
    /// The sections, used in turn.
    pub sections: Vec<String>,
    /// How long it stays inside, in milliseconds.
    pub hold: u64,
    /// Whether it writes once more after it has slept or lost, without looking.
    pub writes_late: bool,
}

impl Task {
    /// Where its book is.
    pub fn book(&self) -> PathBuf {
        self.folder.join(format!("{}.jsonl", self.name))
    }

    /// The file whose presence ends all clients.
    pub fn stop(&self) -> PathBuf {
        self.folder.join("stop")
    }

    /// Starts it: this test program again, as a client.
    pub fn start(&self) -> Child {
        let program = std::env::current_exe().expect("this program");
        let task = serde_json::to_string(self).expect("a task is data");
        Command::new(program)
            .args(["--exact", "a_client_as_a_process_of_its_own", "--nocapture", "--test-threads=1"])
            .env(VARIABLE, task)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("this program can be started again")
    }

    /// Works until it is stopped.
    pub fn run(&self) {
        let mut book = Book::open(&self.book());
        let open = |section| FencedFile::open(self.folder.join(format!("{section}.resource")));
        let resources: Vec<FencedFile> =
            self.sections.iter().map(|section| open(section).expect("a resource")).collect();
        for (section, resource) in self.sections.iter().zip(&resources).cycle() {
            if self.stop().exists() {
                return;
            }
            self.enter_once(section, resource, &mut book);
        }
    }

    fn enter_once(&self, section: &str, resource: &FencedFile, book: &mut Book) {
        let mut note = |at: u64, event: Event| {
            let (client, section) = (self.name.clone(), section.to_owned());
            book.write(&Line { at, client, section, event });
        };
        note(clock::now().0, Event::Asked);
        let entered = Client::connect(&self.socket)
            .and_then(|client| client.section(section).wait(Duration::from_secs(5)).enter_blocking());
        let Ok(guard) = entered else {
            note(clock::now().0, Event::Refused);
            // A daemon that is not there refuses at once: there is nothing to wait for but time.
            std::thread::sleep(Duration::from_millis(50));
            return;
        };
        note(clock::now().0, Event::Entered { fence: guard.fence().0 });
        self.write(resource, &guard, &mut note);
        let lost = guard.wait_lost(Duration::from_millis(self.hold));
        if self.writes_late {
            self.write(resource, &guard, &mut note);
        }
        let (fence, until) = (guard.fence().0, guard.valid_until().0);
        let is_valid = lost.is_none() && guard.is_valid();
        let event = if is_valid { Event::Left { fence, until } } else { Event::Lost { fence, until } };
        note(clock::now().0, event);
    }

    fn write(&self, resource: &FencedFile, guard: &Guard, note: &mut impl FnMut(u64, Event)) {
        let began = clock::now().0;
        let taken = resource.write(guard.fence(), self.name.as_bytes()).is_ok();
        note(clock::now().0, Event::Wrote { fence: guard.fence().0, began, taken });
    }
}
