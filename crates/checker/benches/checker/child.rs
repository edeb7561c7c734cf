//! One run in a process of its own, with a limit on its time, and what it cost.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What a process took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// Seconds of processor time.
    pub seconds: f64,
    /// Seconds on the clock.
    pub wall: f64,
    /// The most memory that it had at once, in bytes.
    pub peak: u64,
}

/// Between two looks at a process.
const PAUSE: Duration = Duration::from_micros(200);
/// Looks at its cost are rarer.
const LOOKS: u64 = 50;
/// What Linux counts processor time in.
const TICKS_A_SECOND: f64 = 100.0;

/// Runs a command to its end; it gives what it printed. `None` if it did not come to its end in time, or not well.
pub fn run(command: &mut Command, limit: Duration) -> Option<(String, Cost)> {
    let begun = Instant::now();
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let mut cost = Cost::default();
    for look in 0_u64.. {
        if let Some(status) = child.try_wait().ok()? {
            cost.wall = begun.elapsed().as_secs_f64();
            let mut output = String::new();
            child.stdout.take()?.read_to_string(&mut output).ok()?;
            return status.success().then_some((output, cost));
        }
        if begun.elapsed() > limit {
            break;
        }
        if look % LOOKS == 0 {
            cost = seen(child.id()).unwrap_or(cost);
        }
        std::thread::sleep(PAUSE);
    }
    let _ = child.kill();
    let _ = child.wait();
    None
}

/// What a process has taken so far; `None` if it has just ended.
fn seen(process: u32) -> Option<Cost> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    Some(Cost { seconds: ticks as f64 / TICKS_A_SECOND, wall: 0.0, peak: kilobytes * 1_024 })
}
