//! Runs a command with a time limit and measures its cost.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The cost of a process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// Seconds of processor time.
    pub seconds: f64,
    /// Seconds of wall time.
    pub wall: f64,
    /// Its peak memory in bytes.
    pub peak: u64,
}

/// The interval of polling for the end of a process.
const POLL_INTERVAL: Duration = Duration::from_micros(200);
/// The number of polls between two measurements of its cost.
const POLLS_PER_SAMPLE: u64 = 50;
/// The unit of processor time on Linux.
const TICKS_A_SECOND: f64 = 100.0;

/// Runs a command and returns its output and cost; `None` on timeout or failure.
pub fn run(command: &mut Command, limit: Duration) -> Option<(String, Cost)> {
    let begun = Instant::now();
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let mut cost = Cost::default();
    for poll in 0_u64.. {
        if let Some(status) = child.try_wait().ok()? {
            cost.wall = begun.elapsed().as_secs_f64();
            let mut output = String::new();
            child.stdout.take()?.read_to_string(&mut output).ok()?;
            return status.success().then_some((output, cost));
        }
        if begun.elapsed() > limit {
            break;
        }
        if poll % POLLS_PER_SAMPLE == 0 {
            cost = seen(child.id()).unwrap_or(cost);
        }
        std::thread::sleep(POLL_INTERVAL);
    }
    let _ = child.kill();
    let _ = child.wait();
    None
}

/// The cost of a process so far; `None` if it has just ended.
fn seen(process: u32) -> Option<Cost> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    Some(Cost { seconds: ticks as f64 / TICKS_A_SECOND, wall: 0.0, peak: kilobytes * 1_024 })
}
