//! Runs a test of this program once more in a process of its own, which is to be aborted.

use std::process::Command;
use std::string::String;

/// Says that this is that process.
const VARIABLE: &str = "DOORWAY_LOCKS_CHILD";

/// Does the work in a process of its own, and returns what it said until it was aborted. `test` is the full name of the
/// test that calls this.
pub fn said_until_aborted(test: &str, work: fn()) -> String {
    if std::env::var_os(VARIABLE).is_some() {
        work();
        std::println!("the program went on");
        std::process::exit(0);
    }
    let program = std::env::current_exe().expect("a test knows its program");
    let output = Command::new(program).args([test, "--exact", "--nocapture"]).env(VARIABLE, "1").output();
    let output = output.expect("the program can be started");
    let said =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    assert!(!output.status.success() && !said.contains("the program went on"), "{said}");
    #[cfg(unix)]
    {
        let signal = std::os::unix::process::ExitStatusExt::signal(&output.status);
        assert_eq!(signal, Some(6), "it failed without being aborted: {said}");
    }
    said
}
