//! `cargo xtask bench locks`: our locks beside those that people use.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use doorway_core::Refusal;
use doorway_lock_bench::{Alone, Bound, Control, Crowd, LockBench, LockReport, Must, PairResult, panels};
use doorway_picture::Theme;
use doorway_terminal::text::{prose_width, wrap};
use doorway_terminal::{Picture, ProgressLine, sentence, table, whole};
use serde_json::json;

/// Measure our locks beside std, parking_lot, spin and mcslock
///
/// One thread locks and unlocks a lock that is free; two threads always want in, with nothing and with about 100 ns to do
/// inside; eight threads on two processors always want in. The floor is what no lock of reads and writes can do without:
/// a store, a barrier, a load, and a store to leave.
///
/// In every round, before the locks, two threads hand one word over to and fro. This control does not change, so where it
/// does, the machine has. Beside what was seen stands what must be reached; nothing fails if it is not.
///
/// Every thread is kept on a processor of its own where the system allows that. Of the rounds only the quieter half counts:
/// those in which others took least of the processors.
#[derive(Parser)]
#[command(
    name = "lock-bench",
    after_help = "Examples:
  cargo xtask bench locks                     about a minute
  cargo xtask bench locks --quick             about ten seconds
  cargo xtask bench locks --quick --svg locks.svg
  cargo xtask bench locks --json > locks.json"
)]
struct Arguments {
    /// Be done in about ten seconds
    #[arg(long, conflicts_with = "seconds")]
    quick: bool,
    /// About how many seconds to measure, 1 to 600
    #[arg(long, value_name = "S", default_value = "45", value_parser = seconds, allow_negative_numbers = true)]
    seconds: u64,
    /// Draw three charts, to a file that ends in .svg or .png
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    svg: Option<PathBuf>,
    /// The colours of the charts; auto follows what the reader's screen prefers
    #[arg(long, value_name = "auto|light|dark", default_value = "auto", requires = "svg", help_heading = OUTPUT)]
    theme: Theme,
    /// Print JSON
    #[arg(long, help_heading = OUTPUT)]
    json: bool,
}

const OUTPUT: &str = "Output";
const QUICK_SECONDS: u64 = 7;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) if !error.use_stderr() => {
            print!("{error}");
            return ExitCode::SUCCESS;
        }
        Err(error) => return refused(&sentence(&error)),
    };
    match answer(&arguments) {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(refusal) => refused(&refusal.to_string()),
    }
}

/// Bad usage, as Doorway's own command reports it: one sentence and status 2.
fn refused(sentence: &str) -> ExitCode {
    eprintln!("lock-bench: {sentence}");
    ExitCode::from(2)
}

fn seconds(word: &str) -> Result<u64, Refusal> {
    match whole(word)? {
        seconds @ 1..=600 => Ok(seconds),
        seconds => Err(Refusal::new(format!("{seconds} seconds cannot be measured: give 1 to 600"))),
    }
}

/// What to print.
fn answer(arguments: &Arguments) -> Result<String, Refusal> {
    let picture = arguments.svg.as_deref().map(Picture::new).transpose()?;
    let seconds = if arguments.quick { QUICK_SECONDS } else { arguments.seconds };
    let bench = LockBench { time: Duration::from_secs(seconds) };
    let mut progress = ProgressLine::new(bench.turns(), "turns");
    let report = bench.run(|done| progress.show(done));
    drop(progress);
    if let Some(picture) = picture {
        picture.write(&panels(&report).draw(arguments.theme))?;
    }
    if arguments.json { as_json(seconds, &report) } else { Ok(page(&report)) }
}

fn as_json(seconds: u64, report: &LockReport) -> Result<String, Refusal> {
    let mut answer = json!({"version": 1, "seconds": seconds});
    let report = serde_json::to_value(report)
        .map_err(|error| Refusal::new(format!("the measurements cannot be written: {error}")))?;
    if let (Some(answer), serde_json::Value::Object(report)) = (answer.as_object_mut(), report) {
        answer.extend(report);
    }
    Ok(format!("{answer}\n"))
}

fn page(report: &LockReport) -> String {
    let crowd = &report.crowd;
    let mut parts = vec![
        format!("One thread alone\n{}{}", alone(&report.alone), control("", &report.alone.control)),
        format!("Two threads that always want in\n{}", pairs(&report.pairs)),
        format!(
            "{} threads on {} of {} processors that always want in, about {} ns inside\n{}{}",
            crowd.threads,
            crowd.processors,
            report.processors,
            crowd.inside_ns,
            crowd_table(crowd),
            control("", &crowd.control)
        ),
        format!("What must be reached\n{}", musts(&report.musts)),
    ];
    if report.has_assertions {
        let warning = "This program was built with its assertions, so no number here means much: \
                       build it with --release.";
        parts.insert(0, wrap(warning, prose_width(), 0) + "\n");
    }
    parts.join("\n")
}

fn alone(alone: &Alone) -> String {
    let rows = alone.rows.iter().map(|row| {
        let n = row.n.map_or_else(|| "any".to_owned(), |n| n.to_string());
        vec![row.lock.to_owned(), n, two(row.ns), two(row.to_floor), two(row.to_std)]
    });
    table::of_numbers(&["lock", "n", "ns", "of floor", "of std"], &rows.collect::<Vec<_>>())
}

fn pairs(pairs: &[PairResult]) -> String {
    let columns =
        pairs.iter().flat_map(|pair| [format!("{}, million/s", inside(pair)), "of mcslock".to_owned()]);
    let headings: Vec<String> = std::iter::once("lock".to_owned()).chain(columns).collect();
    let locks = pairs.first().map_or(&[][..], |pair| &pair.rows).iter().map(|row| row.lock);
    let rows = locks.map(|lock| {
        let mine = pairs.iter().filter_map(|pair| pair.rows.iter().find(|row| row.lock == lock));
        let numbers = mine.flat_map(|row| [two(row.entries_per_second / 1e6), two(row.to_mcslock)]);
        std::iter::once(lock.to_owned()).chain(numbers).collect()
    });
    let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
    let table = table::of_numbers(&headings, &rows.collect::<Vec<Vec<String>>>());
    let controls = pairs.iter().map(|pair| control(&format!(", {}", inside(pair)), &pair.control));
    table + &controls.collect::<String>()
}

fn inside(pair: &PairResult) -> String {
    match pair.inside_ns {
        0 => "empty".to_owned(),
        nanoseconds => format!("{nanoseconds} ns"),
    }
}

fn crowd_table(crowd: &Crowd) -> String {
    let rows = crowd.rows.iter().map(|row| {
        let (rate, wait) = (two(row.entries_per_second / 1e3), two(row.longest_wait_us / 1e3));
        vec![row.lock.to_owned(), row.wait.to_owned(), rate, wait, two(row.fairness)]
    });
    let headings = ["lock", "waits by", "thousand/s", "longest wait, ms", "fairness"];
    table::of_words_and_numbers(&headings, &rows.collect::<Vec<_>>(), 2)
}

fn musts(musts: &[Must]) -> String {
    let rows = musts.iter().map(|must| {
        let sign = match must.bound {
            Bound::Most => "≤",
            Bound::Least => "≥",
        };
        let aim = must.aim.map_or_else(|| "–".to_owned(), two);
        let mark = if must.is_reached { " " } else { "!" };
        vec![must.what.clone(), format!("{sign} {}", two(must.must)), aim, two(must.seen) + mark]
    });
    let table = table::of_numbers(&["ratio", "must", "aim", "seen "], &rows.collect::<Vec<_>>());
    table + "! not reached\n"
}

/// What the control says of the machine in one part.
fn control(part: &str, control: &Control) -> String {
    let told = format!(
        "control{part}: {} million hand-overs a second, mostly {} to {}; {} of {} rounds disturbed",
        two(control.median / 1e6),
        two(control.slow / 1e6),
        two(control.fast / 1e6),
        control.disturbed,
        control.rounds
    );
    wrap(&told, prose_width(), 2) + "\n"
}

fn two(number: f64) -> String {
    format!("{number:.2}")
}
