//! Programs that some tests run: installed where that may be done, and where not, it is said which tests are skipped.

use std::path::Path;
use std::process::{Command, Stdio};

/// A program, the package of Debian that has it, and what is skipped without it.
pub struct Package {
    program: &'static str,
    name: &'static str,
    tests: &'static str,
}

/// GNU Parallel, whose documented line is run in a test.
pub const PARALLEL: Package =
    Package { program: "parallel", name: "parallel", tests: "the test of the line for GNU Parallel" };

/// The browser in which the studio's pages are tested, and the program that steers it.
pub const BROWSER: [Package; 2] = [
    Package { program: "chromium", name: "chromium", tests: PAGES },
    Package { program: "chromedriver", name: "chromium-driver", tests: PAGES },
];

/// Python, in which an independent judge of histories is written, and what makes hosts within one machine.
pub const FAULTS: [Package; 2] = [
    Package {
        program: "python3",
        name: "python3",
        tests: "the judge of histories that is written in Python",
    },
    Package { program: "ip", name: "iproute2", tests: "the tests of the lock under real faults" },
];

/// What commands become another user by under `doorway lock`.
pub const SUDO: Package =
    Package { program: "sudo", name: "sudo", tests: "the tests of commands under sudo" };

/// The database in which the SQL that refuses old fences is tested.
pub const POSTGRESQL: Package =
    Package { program: "psql", name: "postgresql", tests: "the test of the SQL for PostgreSQL" };

const PAGES: &str = "the tests of the studio's pages in a browser";

/// Sees to it that the program is there, or says what is skipped because it is not.
pub fn ensure(package: &Package) {
    if is_there(package) {
        return;
    }
    let (program, name, tests) = (package.program, package.name, package.tests);
    if let Some(reason) = obstacle() {
        println!(
            "\nSkipped: {tests}, for there is no {program}, and it cannot be installed because {reason}."
        );
        return;
    }
    println!("\n> apt-get install --yes {name}");
    let quiet = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive").stdin(Stdio::null());
        command.stdout(Stdio::null()).status().is_ok_and(|status| status.success())
    };
    let install = ["install", "--yes", "--no-install-recommends", name];
    let is_installed = quiet(&install) || (quiet(&["update"]) && quiet(&install));
    if !is_installed || !is_there(package) {
        println!("Skipped: {tests}, for apt-get could not install {name}.");
    }
}

fn is_there(package: &Package) -> bool {
    let mut command = Command::new(package.program);
    // The one that does not know the usual word.
    command
        .arg(if package.program == "ip" { "-V" } else { "--version" })
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Why nothing can be installed here, if nothing can.
fn obstacle() -> Option<&'static str> {
    let user = Command::new("id").arg("-u").output().map(|output| output.stdout).unwrap_or_default();
    if user.trim_ascii() != b"0" {
        return Some("that takes root");
    }
    (!Path::new("/usr/bin/apt-get").is_file()).then_some("there is no apt-get")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_seen_and_what_is_not_is_not() {
        let package = |program| Package { program, name: program, tests: "a test" };
        assert!(is_there(&package("cargo")));
        assert!(!is_there(&package("no-such-program")));
    }
}
