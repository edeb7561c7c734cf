//! `doorway lock` at a terminal: Ctrl-C, Ctrl-Z, and programs that read what is typed.

use std::process::{Command, Stdio};

use crate::fleet::Dev;
use crate::shell::Shell;

const CTRL_C: &str = "\x03";
const CTRL_Z: &str = "\x1a";

#[test]
fn job_control_works_at_a_terminal() {
    let dev = Dev::new("terminal");
    let Some(mut shell) = Shell::new(&dev.runtime.0) else {
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
    // A script that runs it learns of a Ctrl-C that only the command received.
    shell.types("sh -c 'doorway lock x -- sh -c \"echo b''egin; exec cat\"; echo a\"\"fter'\n");
    shell.shows("begin\r\n");
    shell.types("echoed\n");
    shell.shows("echoed\r\nechoed\r\n");
    shell.types(CTRL_C);
    shell.tells_status("130");
    assert!(!shell.shown.contains("after"), "{}", shell.shown);
}

/// As `nohup cargo xtask test &` in a script has them run: without a terminal, and with the signals of terminals ignored.
#[test]
fn the_tests_with_terminals_and_signals_pass_in_the_background() {
    let own = std::env::current_exe().expect("this program");
    let script = "trap '' INT QUIT HUP; exec setsid --wait \"$@\"";
    let tests = [
        "lock_terminal::job_control_works_at_a_terminal",
        "lock_alone::a_signal_while_waiting_withdraws_the_wish",
        "lock_alone::signals_are_passed_on_to_the_whole_group",
    ];
    let mut shell = Command::new("bash");
    shell.args(["-c", script, "bash"]).arg(own).arg("--exact").args(tests).stdin(Stdio::null());
    let output = shell.output().expect("a shell");
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && told.contains("3 passed"), "{told}");
}
