//! README and book: every command in them runs and prints what the page prints, and no link is dead.
//!
//! A block ```` ```console ```` holds commands, as `$ doorway …`, with their output below. `…` on a line of its own stands for
//! any lines. A block ```` ```toml grid.toml ```` is a file that the commands after it find. `INSTA_UPDATE=always` writes the
//! real output into the pages, where it is clear which lines to replace.

mod block;
mod inline;
mod links;
mod printed;
mod session;
mod table;

use std::fs;
use std::path::{Path, PathBuf};

use block::{Block, Kind, Step, blocks};
pub use printed::compare;
use printed::renewed;
use session::Session;

/// One test for each page, so that a failure names its page.
macro_rules! pages {
    ($($test:ident: $path:literal,)*) => {
        /// The pages with commands.
        const PAGES: &[&str] = &[$($path),*];

        $(
            #[test]
            fn $test() {
                check($path);
            }
        )*
    };
}

pages! {
    commands_of_the_readme_print_what_it_says: "README.md",
    commands_of_contributing_print_what_it_says: "CONTRIBUTING.md",
    commands_of_the_scripts_print_what_their_list_says: "scripts/README.md",
    commands_on_the_book_print_what_it_says: "docs/README.md",
    commands_on_the_bank_print_what_it_says: "docs/bank.md",
    commands_on_chaos_print_what_it_says: "docs/chaos.md",
    commands_on_checking_print_what_it_says: "docs/checking.md",
    commands_on_claims_print_what_it_says: "docs/claims.md",
    commands_on_the_command_line_print_what_it_says: "docs/command.md",
    commands_on_comparing_print_what_it_says: "docs/comparing.md",
    commands_on_contributing_print_what_it_says: "docs/contributing.md",
    commands_on_embedding_print_what_it_says: "docs/embedding.md",
    commands_on_guarantees_print_what_it_says: "docs/guarantees.md",
    commands_on_lectures_print_what_it_says: "docs/lectures.md",
    commands_on_the_lock_print_what_it_says: "docs/lock.md",
    commands_on_nodes_print_what_it_says: "docs/node.md",
    commands_on_quorums_print_what_it_says: "docs/quorums.md",
    commands_on_recording_print_what_it_says: "docs/recording.md",
    commands_on_running_print_what_it_says: "docs/running.md",
    commands_on_scripts_print_what_it_says: "docs/scripts.md",
    commands_on_shared_memory_print_what_it_says: "docs/shared-memory.md",
    commands_on_structures_print_what_it_says: "docs/structures.md",
    commands_on_the_api_print_what_it_says: "docs/studio-api.md",
    commands_on_the_studio_print_what_it_says: "docs/studio.md",
    commands_on_sweeps_print_what_it_says: "docs/sweeps.md",
    commands_on_views_print_what_it_says: "docs/views.md",
}

/// A path of the repository.
fn place(path: &str) -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(path)
}

fn read(path: &str) -> String {
    fs::read_to_string(place(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The output that a page prints below a command, for a test that runs the command itself.
pub fn printed_below(path: &str, command: &str) -> Vec<String> {
    let blocks =
        blocks(&read(path)).into_iter().filter(|block| matches!(block.kind(), Kind::Run | Kind::Skip { .. }));
    let mut steps = blocks.flat_map(|block| block.steps());
    steps.find(|step| step.command == command).unwrap_or_else(|| panic!("{path}: no {command}")).printed
}

/// Whether pages are written and not only compared.
fn is_updating() -> bool {
    std::env::var("INSTA_UPDATE").is_ok_and(|how| how == "always")
}

/// Runs the commands of a page and compares their output with the page.
fn check(path: &str) {
    let page = read(path);
    let mut session = Session::new(path);
    let (mut wrong, mut changes) = (Vec::new(), Vec::new());
    for block in blocks(&page) {
        match block.kind() {
            Kind::Run => {
                for step in block.steps() {
                    if let Err((sentence, output)) = run(&mut session, &step) {
                        let Step { line, command, printed } = &step;
                        let all = output.join("\n");
                        wrong.push(format!("{path}:{line}: {command}\n{sentence}\n\nIts output:\n{all}"));
                        changes.extend(renewed(printed, &output).map(|lines| (step, lines)));
                    }
                }
            }
            Kind::File { name } => session.write(&name, &block.lines),
            Kind::Skip { .. } | Kind::Other => {}
        }
    }
    if is_updating() && changes.len() == wrong.len() {
        fs::write(place(path), updated(&page, &changes)).expect("the page can be written");
    } else {
        assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    }
}

/// Runs one command. A failure is a sentence and the output.
fn run(session: &mut Session, step: &Step) -> Result<(), (String, Vec<String>)> {
    const BAD_USAGE: i32 = 2;
    const PANIC: i32 = 101;
    let output = session.run(step);
    // Where nothing is compared, at least the command must have succeeded.
    let is_compared = step.printed.iter().any(|line| line != printed::ANY);
    match output.code {
        Some(code @ (BAD_USAGE | PANIC)) => Err((format!("it exits with {code}"), output.lines)),
        Some(code) if code != 0 && !is_compared => Err((format!("it exits with {code}"), output.lines)),
        _ => compare(&step.printed, &output.lines).map_err(|sentence| (sentence, output.lines)),
    }
}

/// The page with other lines below some of its commands.
fn updated(page: &str, changes: &[(Step, Vec<String>)]) -> String {
    let mut lines: Vec<&str> = page.lines().collect();
    // From the end, so that the numbers of the lines before stay right.
    for (step, output) in changes.iter().rev() {
        lines.splice(step.line..step.line + step.printed.len(), output.iter().map(String::as_str));
    }
    lines.join("\n") + "\n"
}

/// The Markdown files in docs.
fn book() -> Vec<String> {
    let files = fs::read_dir(place("docs")).expect("docs").flatten();
    let mut names: Vec<String> = files.map(|file| file.file_name().to_string_lossy().into_owned()).collect();
    names.retain(|name| name.ends_with(".md") && name != "SUMMARY.md");
    names.sort();
    names
}

#[test]
fn every_page_of_the_book_is_run_and_is_in_its_summary() {
    let summary = read("docs/SUMMARY.md");
    for name in book() {
        assert!(PAGES.contains(&format!("docs/{name}").as_str()), "add docs/{name} to `pages!`");
        assert!(summary.contains(&format!("({name})")), "add {name} to docs/SUMMARY.md");
    }
}

#[test]
fn a_command_stands_only_where_it_is_run() {
    for path in PAGES {
        let hidden = |block: &Block| block.kind() == Kind::Other && block.has_command();
        let hidden: Vec<usize> =
            blocks(&read(path)).into_iter().filter(hidden).map(|block| block.line).collect();
        assert!(hidden.is_empty(), "{path}, lines {hidden:?}: write ```console and `$ doorway …`");
    }
}
