//! A program that forks without exec: the copy of a guard in the child is not the lock.
//!
//! No safe code can fork. So the test runs itself once more with a library loaded before the system's, in which asking for the
//! number of the parent is a fork.

use std::fs;
use std::os::unix::process::parent_id;
use std::path::PathBuf;
use std::pin::pin;
use std::process::Command;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use doorway_client::Error;
use doorway_protocol::ClientMsg;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process, waitpid};

use crate::daemon::pair;

/// No child here takes this long.
const LONG: Duration = Duration::from_secs(20);

/// Says that this process is the one with the library.
const MARK: &str = "DOORWAY_TEST_FORKS";

const LIBRARY: &str = "#include <unistd.h>\npid_t getppid(void) { return fork(); }\n";

/// The library, if there is a compiler for it.
fn library() -> Option<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("forked");
    fs::create_dir_all(&folder).expect("a folder for the test");
    let (source, library) = (folder.join("forks.c"), folder.join("libforks.so"));
    fs::write(&source, LIBRARY).expect("a file");
    let made = Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([&library, &source]).status();
    made.is_ok_and(|made| made.success()).then_some(library)
}

#[test]
fn a_forked_child_cannot_release_its_parents_lock() {
    if std::env::var_os(MARK).is_some() {
        return hold_and_fork();
    }
    let Some(library) = library() else {
        eprintln!("skipped: there is no compiler for C here");
        return;
    };
    let name = "forked::a_forked_child_cannot_release_its_parents_lock";
    let own = std::env::current_exe().expect("this program");
    let mut again = Command::new(own);
    again.args(["--exact", name, "--nocapture"]).env(MARK, "1").env("LD_PRELOAD", library);
    let output = again.output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn hold_and_fork() {
    let (client, daemon) = pair();
    let server = std::thread::spawn(move || {
        let (number, _) = daemon.grant(60_000);
        (daemon, number)
    });
    let guard = client.section("a").enter_blocking().expect("it is let in");
    let (daemon, number) = server.join().expect("the daemon");
    let me = std::process::id();
    let child = parent_id();
    if std::process::id() != me {
        let is_valid = guard.is_valid();
        let asked =
            pin!(client.section("b").enter()).poll(&mut Context::from_waker(Waker::noop())).map_ok(drop);
        client.introduce("the child");
        drop(guard);
        drop(client);
        let is_right = !is_valid && matches!(asked, Poll::Ready(Err(Error::Unreachable(_))));
        std::process::exit(if is_right { 7 } else { 8 });
    }
    let child = i32::try_from(child).ok().and_then(Pid::from_raw).expect("the number of a process");
    let Some(status) = end_of(child) else {
        eprintln!("skipped: the library was not loaded");
        return;
    };
    assert_eq!(
        status.exit_status(),
        Some(7),
        "the child is not inside, and cannot ask on its parent's connection"
    );
    assert!(guard.is_valid());
    client.introduce("the parent");
    let introduced = ClientMsg::Introduce { label: "the parent".to_owned() };
    assert_eq!(daemon.next(), introduced, "the child has said nothing");
    drop(guard);
    assert_eq!(daemon.next(), ClientMsg::Release { number });
}

/// How a child ended, unless there is none of this number.
fn end_of(child: Pid) -> Option<WaitStatus> {
    let begin = Instant::now();
    loop {
        match waitpid(Some(child), WaitOptions::NOHANG) {
            Ok(Some((_, status))) => return Some(status),
            Ok(None) if begin.elapsed() < LONG => std::thread::sleep(Duration::from_millis(5)),
            Ok(None) => {
                let _ = kill_process(child, Signal::KILL);
                panic!("the child hangs");
            }
            Err(_) => return None,
        }
    }
}
