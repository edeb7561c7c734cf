//! How much of the margin is left, on a busy machine, between the last write of a holder whose deadline has passed and the next grant.
//!
//! Three processes take all the time that they get. A holder of low priority (nice 10) writes the time as fast as it can for as long as it
//! believes to be inside; it never says that it has stopped, so that its lock is taken from it. The next holder has normal priority
//! and notes when it is let in. All read one clock. The gap is from the last write to that grant; below zero, both were inside.
//!
//! There are three kinds of holders: a program that asks its guard before each write; a command under `doorway lock`, which does
//! not know of its deadline and is killed at it; and the same with the usual `--margin`, so that it is asked to stop before. Other work
//! on the machine counts as more hogs, so the load is printed, too.
//!
//!     cargo xtask bench slack
//!     cargo bench --profile dev -p doorway-cli --bench slack -- 200

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use doorway_client::{Client, Error, clock};

/// The hand-overs of each kind, unless a number is given.
const HAND_OVERS: usize = 200;
/// The processes that take all the time that they get.
const HOGS: usize = 3;
/// How long a program may stay, and how long a command, which needs a while to start at all.
const PROGRAM: Duration = Duration::from_millis(150);
const COMMAND: Duration = Duration::from_millis(500);
/// How many hand-overs in a row may come to nothing: a command is stopped before it writes, or the next one loses its lock at once.
const IDLE: usize = 50;
/// Nothing takes this long, and no process that was left behind lives longer.
const LONG: Duration = Duration::from_secs(600);

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["hog"] => hog(),
        ["write", file] => write_for_ever(file.as_ref()),
        ["hold", socket, file] => hold(socket.as_ref(), file.as_ref()),
        [] => measure(HAND_OVERS),
        [count] => measure(count.parse()?),
        _ => Err("it takes the number of hand-overs".into()),
    }
}

/// Does nothing, and takes all the time for it that it gets.
fn hog() -> Outcome<()> {
    let begin = Instant::now();
    while begin.elapsed() < LONG {
        std::hint::spin_loop();
    }
    Ok(())
}

/// Writes the time to the beginning of a file.
fn write_time(file: &File) -> std::io::Result<()> {
    file.write_all_at(&clock::now().0.to_le_bytes(), 0)
}

/// A command that knows nothing of its lock.
fn write_for_ever(path: &Path) -> Outcome<()> {
    let (file, begin) = (File::options().write(true).open(path)?, Instant::now());
    while begin.elapsed() < LONG {
        write_time(&file)?;
    }
    Ok(())
}

/// A program that asks its guard before each write. It holds the lock once for each line that it reads, says when it is in and when it
/// writes no more, and keeps its guard after that.
fn hold(socket: &Path, path: &Path) -> Outcome<()> {
    let file = File::options().write(true).open(path)?;
    let mut lost = None;
    for _ in std::io::stdin().lock().lines() {
        let client = Client::connect(socket)?;
        let enter = || client.section("slack").max_hold(PROGRAM).wait(LONG).enter_blocking();
        let guard = loop {
            match enter() {
                // It was not given the processor before its deadline had passed.
                Err(Error::Lost(_)) => {}
                entered => break entered?,
            }
        };
        println!("in");
        while guard.is_valid() {
            write_time(&file)?;
        }
        println!("out");
        // The one before was taken long ago.
        drop(lost.replace((client, guard)));
    }
    Ok(())
}

/// A process that ends with its owner.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(command: &mut Command) -> std::io::Result<Process> {
    command.spawn().map(Process)
}

/// This program in another role.
fn own(words: &[&str]) -> std::io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(words);
    Ok(command)
}

/// A command at low priority.
fn nice(command: &Command) -> Command {
    let mut nice = Command::new("nice");
    nice.args(["-n", "10"]).arg(command.get_program()).args(command.get_args());
    nice
}

fn measure(hand_overs: usize) -> Outcome<()> {
    let folder = std::env::temp_dir().join(format!("doorway-slack-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let outcome = Field::new(&folder).and_then(|field| {
        let _hogs: Vec<Process> =
            (0..HOGS).map(|_| start(&mut own(&["hog"])?)).collect::<std::io::Result<_>>()?;
        println!("load of this machine before: {}", std::fs::read_to_string("/proc/loadavg")?.trim());
        println!("{hand_overs} hand-overs by expiry, {HOGS} hogs, holder at nice 10; gaps in ms");
        println!(
            "{:<28} {:>8} {:>8} {:>8} {:>8} {:>8}",
            "holder", "overlaps", "least", "1 in 20", "median", "most"
        );
        summary("program with a guard", field.program(hand_overs)?);
        summary("command, --margin 0ms", field.command(hand_overs, "0ms")?);
        summary("command, --margin 200ms", field.command(hand_overs, "200ms")?);
        println!("load of this machine at the end: {}", std::fs::read_to_string("/proc/loadavg")?.trim());
        Ok(())
    });
    std::fs::remove_dir_all(&folder)?;
    outcome
}

/// Prints a line. That a starved holder overlaps with the next one is no failure of the lock, which cannot stop it.
fn summary(kind: &str, mut gaps: Vec<i64>) {
    gaps.sort_unstable();
    let overlaps = gaps.iter().filter(|gap| **gap < 0).count();
    let at = |part: f64| gaps[((gaps.len() - 1) as f64 * part) as usize] as f64 / 1e3;
    let [least, few, median, most] = [0.0, 0.05, 0.5, 1.0].map(at);
    println!("{kind:<28} {overlaps:>8} {least:>8.2} {few:>8.2} {median:>8.2} {most:>8.2}");
}

/// The gaps of so many hand-overs, without those that came to nothing.
fn collect(hand_overs: usize, once: &mut dyn FnMut() -> Outcome<Option<i64>>) -> Outcome<Vec<i64>> {
    let (mut gaps, mut idle) = (Vec::new(), 0);
    while gaps.len() < hand_overs {
        match once()? {
            Some(gap) => {
                gaps.push(gap);
                idle = 0;
            }
            None if idle == IDLE => return Err("this machine has no time for any of it".into()),
            None => idle += 1,
        }
    }
    Ok(gaps)
}

/// Where it is measured: a cluster, and a file with the time of the last write.
struct Field {
    _cluster: Process,
    socket: PathBuf,
    path: PathBuf,
    file: File,
}

impl Field {
    fn new(folder: &Path) -> Outcome<Self> {
        let mut cluster = Command::new(env!("CARGO_BIN_EXE_doorway"));
        cluster.args(["node", "--dev"]).env("XDG_RUNTIME_DIR", folder).env("TMPDIR", folder);
        let mut cluster = start(cluster.stdout(Stdio::piped()))?;
        let greeting = BufReader::new(cluster.0.stdout.take().ok_or("no pipe")?);
        if greeting.lines().take(5).count() < 5 {
            return Err("the cluster does not start".into());
        }
        let (socket, path) = (folder.join("doorway/a.sock"), folder.join("last-write"));
        let file = File::options().create(true).truncate(true).read(true).write(true).open(&path)?;
        Ok(Self { _cluster: cluster, socket, path, file })
    }

    fn last_write(&self) -> std::io::Result<u64> {
        let mut bytes = [0; 8];
        self.file.read_exact_at(&mut bytes, 0)?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// Waits for the lock; tells when it was there, unless it was lost again before anything could be done.
    fn next(&self) -> Outcome<Option<u64>> {
        let client = Client::connect(&self.socket)?;
        match client.section("slack").wait(LONG).enter_blocking() {
            Ok(_guard) => Ok(Some(clock::now().0)),
            Err(Error::Lost(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The time from the last write to an entry, when nothing is written any more.
    fn gap(&self, entered: Option<u64>) -> Outcome<Option<i64>> {
        let Some(entered) = entered else { return Ok(None) };
        Ok(Some(i64::try_from(entered)? - i64::try_from(self.last_write()?)?))
    }

    fn program(&self, hand_overs: usize) -> Outcome<Vec<i64>> {
        let words = ["hold", &self.socket.to_string_lossy(), &self.path.to_string_lossy()];
        let mut command = nice(&own(&words)?);
        let mut holder = start(command.stdin(Stdio::piped()).stdout(Stdio::piped()))?;
        let mut tell: ChildStdin = holder.0.stdin.take().ok_or("no pipe")?;
        let mut told: BufReader<ChildStdout> = BufReader::new(holder.0.stdout.take().ok_or("no pipe")?);
        let mut hear = move || {
            let mut line = String::new();
            told.read_line(&mut line).map(|_| line)
        };
        let mut round = || {
            writeln!(tell, "again")?;
            hear()?;
            let entered = self.next()?;
            hear()?;
            self.gap(entered)
        };
        collect(hand_overs, &mut round)
    }

    fn command(&self, hand_overs: usize, margin: &str) -> Outcome<Vec<i64>> {
        collect(hand_overs, &mut || self.command_once(margin))
    }

    /// One command; nothing if it was stopped before it wrote.
    fn command_once(&self, margin: &str) -> Outcome<Option<i64>> {
        let (max_hold, socket) = (format!("{}ms", COMMAND.as_millis()), self.socket.to_string_lossy());
        let mut lock = Command::new(env!("CARGO_BIN_EXE_doorway"));
        lock.args(["lock", "slack", "--socket", &socket, "--max-hold", &max_hold, "--margin", margin, "--"]);
        lock.arg(std::env::current_exe()?).arg("write").arg(&self.path);
        self.file.write_all_at(&[0; 8], 0)?;
        let mut lock = start(nice(&lock).stderr(Stdio::null()))?;
        let begin = Instant::now();
        while self.last_write()? == 0 {
            if begin.elapsed() > LONG {
                return Err("the command does not end".into());
            }
            if lock.0.try_wait()?.is_some() {
                return Ok(None);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        let entered = self.next()?;
        lock.0.wait()?;
        self.gap(entered)
    }
}
