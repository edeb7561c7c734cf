//! SPIN: compiles a Promela model to a C program that searches.
//!
//! G. J. Holzmann, "The model checker SPIN", IEEE Transactions on Software Engineering 23(5), 1997.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::child::{self, Cost};

/// SPIN and a C compiler are installed.
pub struct Spin;

/// A search that can be run.
pub struct Pan {
    program: PathBuf,
    options: &'static [&'static str],
}

/// A table of 2^24 slots and a stack for a depth of a million.
const LARGE: &[&str] = &["-w24", "-m1000000"];
/// Acceptance cycles under weak fairness, with a sufficient depth.
const FAIR: &[&str] = &["-a", "-f", "-m20000"];
/// The same with a table that just holds the states: clearing the default one takes longer than the search.
const FAIR_SMALL: &[&str] = &["-a", "-f", "-m20000", "-w18"];

impl Spin {
    /// Finds both, and tries to install what is missing.
    pub fn find() -> Option<Self> {
        for name in ["spin", "gcc"] {
            if !is_there(name) && !is_installed_now(name) {
                println!("`{name}` is missing, and `apt-get install {name}` did not work: SPIN is left out.");
                return None;
            }
        }
        Some(Self)
    }

    /// Searches all states of a model.
    pub fn all_states(&self, model: &str, limit: Duration) -> Option<(u64, Cost)> {
        let flags = ["-DSAFETY", "-DNOREDUCE", "-DNOFAIR", "-DMEMLIM=16000"];
        build(model, &flags, LARGE)?.run(limit)
    }

    /// Searches for fair counterexamples to a model's claim, with the default and with a small table.
    pub fn fair_cycles(&self, model: &str) -> Option<[Pan; 2]> {
        let usual = build(model, &[], FAIR)?;
        let small = Pan { program: usual.program.clone(), options: FAIR_SMALL };
        Some([usual, small])
    }
}

fn is_there(name: &str) -> bool {
    let version = if name == "spin" { "-V" } else { "--version" };
    is_done(Command::new(name).arg(version))
}

fn is_installed_now(name: &str) -> bool {
    println!("`{name}` is missing: trying `apt-get install {name}` …");
    is_done(Command::new("apt-get").args(["install", "-y", name])) && is_there(name)
}

fn is_done(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// Builds the search program of a model in a temporary folder.
fn build(model: &str, flags: &[&str], options: &'static [&'static str]) -> Option<Pan> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("spin").join(model);
    std::fs::create_dir_all(&folder).ok()?;
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/peers");
    let model = models.join(model).with_extension("pml");
    let is_made = is_done(Command::new("spin").arg("-a").arg(model).current_dir(&folder))
        && is_done(
            Command::new("gcc")
                .args(["-O3", "-w"])
                .args(flags)
                .args(["-o", "pan", "pan.c"])
                .current_dir(&folder),
        );
    if !is_made {
        println!("SPIN or the compiler refused the model in {}.", folder.display());
        return None;
    }
    Some(Pan { program: folder.join("pan"), options })
}

impl Pan {
    /// Runs the search and returns the number of stored states; panics if it found an error.
    pub fn run(&self, limit: Duration) -> Option<(u64, Cost)> {
        let (output, cost) = child::run(Command::new(&self.program).args(self.options), limit)?;
        let states = output.lines().find(|line| line.contains("states, stored"))?;
        let is_clean = output.contains("errors: 0") && !output.contains("max search depth too small");
        assert!(is_clean, "SPIN found a fault or did not finish:\n{output}");
        Some((states.split_whitespace().next()?.parse().ok()?, cost))
    }

    /// Only starts and prints its build options, to measure the cost of a process.
    pub fn nothing(&self, limit: Duration) -> Option<(u64, Cost)> {
        let (_, cost) = child::run(Command::new(&self.program).arg("-V"), limit)?;
        Some((0, cost))
    }
}
