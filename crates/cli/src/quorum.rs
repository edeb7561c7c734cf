//! `doorway quorum`: a quorum system, built and verified.

use std::path::{Path, PathBuf};

use doorway_core::{NodeId, NodeSet, Refusal};
use doorway_lab::quorum_drawing;
use doorway_quorums::{Construction, Spread, System};
use doorway_trace::draw::Theme;
use serde_json::json;

use crate::picture::Picture;
use crate::usage::{node, whole};
use crate::{Answer, Exit, files, table, text};

/// Build and verify a quorum system
///
/// Builds the quorums of N nodes, checks that every two have a node in common, and prints the quorum that is assigned to
/// each node, how large they are, and in how many of them a node is.
#[derive(clap::Args)]
#[command(after_help = more_help())]
pub(crate) struct Arguments {
    /// How the quorums are made; the list is below
    kind: String,
    /// How many nodes there are; needless where KIND says it
    #[arg(long, value_name = "N", value_parser = whole::<usize>, allow_negative_numbers = true)]
    nodes: Option<usize>,
    /// The votes of each node, for `weighted`
    #[arg(long, value_name = "W,W,…", allow_hyphen_values = true)]
    weights: Option<String>,
    /// The widths of the rows from the top, for `wall`
    #[arg(long, value_name = "W,W,…", allow_hyphen_values = true)]
    widths: Option<String>,
    /// Draw it with the quorum of one node, to a file that ends in .svg or .png
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Whose quorum is drawn
    #[arg(long, value_name = "NODE", default_value = "1", value_parser = node, allow_negative_numbers = true, requires = "svg")]
    quorum_of: NodeId,
    /// The colours of the drawing; auto follows what the reader's screen prefers
    #[arg(long, value_name = "auto|light|dark", default_value = "auto", requires = "svg")]
    theme: Theme,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

fn more_help() -> String {
    let usage = |name, usage| if name == "file" { "file:PATH" } else { usage };
    let width = text::prose_width();
    let kinds = Construction::LIST.map(|kind| text::item(usage(kind.name, kind.usage), kind.help, 20, width));
    format!(
        "Kinds:\n{}\n\nExamples:\n  \
         doorway quorum plane --nodes 13\n  \
         doorway quorum weighted --weights 3,1,1\n  \
         doorway quorum wall:1,2,3 --json\n  \
         doorway quorum plane --nodes 7 --svg plane.svg --quorum-of 3\n  \
         doorway quorum file:mine.quorums",
        kinds.join("\n")
    )
}

pub(crate) fn answer(arguments: &Arguments) -> Result<Answer, Refusal> {
    let construction = construction(arguments)?;
    let missing = || Refusal::new(format!("how many nodes? {} needs --nodes N", construction.name()));
    let nodes = arguments.nodes.or_else(|| construction.implied_nodes()).ok_or_else(missing)?;
    let system = System::build(&construction, nodes).map_err(|refusal| match &construction {
        Construction::File(_) => Refusal::new(format!("{}: {refusal}", file_name(arguments))),
        _ => refusal,
    })?;
    if let Some(path) = &arguments.svg {
        let picture = Picture::new(path)?;
        picture.write(&quorum_drawing::quorum(&system, arguments.quorum_of, arguments.theme)?)?;
    }
    let intersecting = system.verify().is_ok();
    let text = match arguments.json {
        true => as_json(&system, intersecting),
        false => as_text(&system, &name(arguments, &construction), intersecting),
    };
    let exit = if intersecting { Exit::Holds } else { Exit::Fails };
    Ok(Answer { text, notes: Vec::new(), exit })
}

fn construction(arguments: &Arguments) -> Result<Construction, Refusal> {
    let kind = arguments.kind.as_str();
    for (flag, given, taker) in
        [("--weights", &arguments.weights, "weighted"), ("--widths", &arguments.widths, "wall")]
    {
        let Some(numbers) = given else { continue };
        return match kind.split_once(':') {
            None if kind == taker => Construction::parse(kind, Some(numbers)),
            Some((name, _)) if name == taker => {
                Err(Refusal::new(format!("{kind} says its numbers already: leave {flag} out")))
            }
            _ => Err(Refusal::new(format!("{flag} is only for {taker}, not for {kind:?}"))),
        };
    }
    if kind == "file" {
        return Err(Refusal::new("file needs the name of a file of quorums, as in file:mine.quorums"));
    }
    let choice = files::choice(kind, Path::new(""))?;
    Construction::parse(&choice.word, choice.file.as_deref())
}

/// As people type it.
fn name(arguments: &Arguments, construction: &Construction) -> String {
    match construction {
        Construction::File(_) => arguments.kind.clone(),
        _ => construction.to_string(),
    }
}

fn file_name(arguments: &Arguments) -> &str {
    arguments.kind.strip_prefix("file:").unwrap_or(&arguments.kind)
}

fn as_json(system: &System, intersecting: bool) -> String {
    let (size, responsibility) = (system.sizes(), system.responsibility());
    let answer = json!({
        "version": 1,
        "kind": system.construction().name(),
        "nodes": system.n(),
        "assignment": system.assignment().values(),
        "intersecting": intersecting,
        "size": {"min": size.least, "mean": size.mean, "max": size.most},
        "responsibility": {"min": responsibility.least, "max": responsibility.most},
    });
    format!("{answer}\n")
}

fn as_text(system: &System, name: &str, intersecting: bool) -> String {
    const SHOWN: usize = 32;
    let verdict = if intersecting { "every two quorums meet" } else { "NOT every two quorums meet" };
    let nodes = text::counted(system.n() as u64, "node");
    let row = |name: &str, spread: Spread| {
        vec![name.to_owned(), spread.least.to_string(), text::decimal(spread.mean), spread.most.to_string()]
    };
    let rows =
        [row("nodes in a quorum", system.sizes()), row("quorums that a node is in", system.responsibility())];
    let numbers = table::of_numbers(&["", "least", "mean", "most"], &rows);
    let digits = system.n().to_string().len();
    let line =
        |(node, quorum): (doorway_core::NodeId, &NodeSet)| format!("{node:>digits$}: {}\n", members(quorum));
    let quorums: String = system.assignment().iter().take(SHOWN).map(line).collect();
    let hidden = system.n().saturating_sub(SHOWN);
    let more = if hidden > 0 { format!("… {hidden} more (--json has them all)\n") } else { String::new() };
    format!("{name}, {nodes}: {verdict}\n\n{numbers}\nThe quorum of each node\n{quorums}{more}")
}

/// The members as far as they fit a line.
fn members(quorum: &NodeSet) -> String {
    let room = text::prose_width() - 30;
    let mut line = String::new();
    for (shown, node) in quorum.iter().enumerate() {
        if line.len() > room {
            return format!("{line} … {} more", quorum.len() - shown);
        }
        line.push_str(if shown > 0 { " " } else { "" });
        line.push_str(&node.to_string());
    }
    line
}
