//! The signals that were ignored when this process was started, as `nohup` and scripts in the background have them.
//!
//! A blocked signal stays pending, and would be read, although it is ignored. So ignored signals are not listened for at all.

use std::fs;

use nix::sys::signal::Signal;

/// The signals that this process ignores. SIGCHLD and SIGCONT are never among them: it needs both.
pub(super) fn signals() -> Vec<Signal> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = mask(&status);
    let is_ignored = |signal: &Signal| mask >> (*signal as i32 - 1) & 1 == 1;
    let needed = [Signal::SIGCHLD, Signal::SIGCONT];
    Signal::iterator().filter(|signal| is_ignored(signal) && !needed.contains(signal)).collect()
}

/// The set of ignored signals, a bit for each number from 1 on.
fn mask(status: &str) -> u64 {
    let word = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    word.and_then(|word| u64::from_str_radix(word.trim(), 16).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mask_is_the_one_of_ignored_signals() {
        assert_eq!(mask("Name:\tx\nSigBlk:\t0000000000000002\nSigIgn:\t0000000000001001\n"), 0x1001);
        assert_eq!((mask(""), mask("SigIgn:\tmany\n")), (0, 0));
    }
}
