//! `doorway trace`: look at a recorded run, or take it elsewhere.

mod convert;
mod html;
mod show;
mod source;
mod svg;

use clap::Subcommand;
use doorway_catalog::Catalog;
use doorway_core::Refusal;

use crate::Answer;

/// List, draw, convert or step through a recorded run
///
/// A trace is a file of JSON lines, as `doorway simulate --trace FILE` writes it: a header, then one event per line with its
/// time, its node, what happened, the rule of the algorithm, and the event that caused it. If the file was truncated or
/// changed, the error names the line. Use - as FILE for standard input.
#[derive(clap::Args)]
#[command(
    disable_help_subcommand = true,
    after_help = "Examples:
  doorway simulate ricart-agrawala --nodes 3 --entries 4 --trace run.jsonl
  doorway trace show run.jsonl               what happened, a line each
  doorway trace show run.jsonl --clocks both and their logical times
  doorway trace html run.jsonl -o run.html   a page to step through
  doorway trace svg run.jsonl -o run.svg     the space-time diagram
  doorway trace convert run.jsonl --to perfetto -o run.json"
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    Show(show::Arguments),
    Convert(convert::Arguments),
    Svg(svg::Arguments),
    Html(html::Arguments),
}

pub(crate) fn answer(catalog: &Catalog, arguments: &Arguments) -> Result<Answer, Refusal> {
    match &arguments.verb {
        Verb::Show(arguments) => show::answer(arguments),
        Verb::Convert(arguments) => convert::answer(arguments),
        Verb::Svg(arguments) => svg::answer(arguments),
        Verb::Html(arguments) => html::answer(catalog, arguments),
    }
}
