//! A counter in a file that several processes raise, each under the lock of the daemon on this machine.
//!
//! Start a daemon with `doorway node --dev`, then this in several windows at once:
//!
//! ```text
//! cargo run -p doorway --example counter -- /tmp/counter
//! ```

use std::error::Error;
use std::process::ExitCode;

use doorway::{Doorway, FencedFile};

const TIMES: u64 = 100;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("name the file of the counter")?;
    let doorway = Doorway::connect_blocking()?;
    doorway.introduce("the example counter");
    let file = FencedFile::open(path)?;
    for _ in 0..TIMES {
        let guard = doorway.lock("counter").enter_blocking()?;
        let count = raise(&file, guard.fence())?;
        guard.release()?;
        println!("{count}");
    }
    Ok(())
}

fn raise(file: &FencedFile, fence: doorway::Fence) -> Result<u64, Box<dyn Error>> {
    let text = String::from_utf8(file.read()?)?;
    let count = if text.is_empty() { 1 } else { text.trim().parse::<u64>()? + 1 };
    file.write(fence, format!("{count}\n").as_bytes())?;
    Ok(count)
}
