//! `doorway quorum`: a quorum system, built, verified and rated.

mod ratings;

use std::path::{Path, PathBuf};

use doorway_core::{NodeId, NodeSet, Refusal};
use doorway_picture::{Theme, quorums};
use doorway_quorums::{Construction, QuorumSystem, Spread};
use ratings::{Crashes, Of, Overlap, RatedSystem};
use serde_json::{Map, Value, json};

use doorway_terminal::{Picture, table, text, whole};

use crate::usage::node;
use crate::{Answer, Exit, files};

/// Build, verify and rate a quorum system
///
/// Builds the quorums of N nodes, checks that every two have a node in common, and prints the quorum of each node, the sizes of
/// the quorums, how many of them each node belongs to, and the ratings of the system.
#[derive(clap::Args)]
#[command(after_help = more_help())]
pub(crate) struct Arguments {
    /// The construction; the list is below
    kind: String,
    /// Number of nodes; not needed where KIND implies it
    #[arg(long, value_name = "N", value_parser = whole::<usize>, allow_negative_numbers = true)]
    nodes: Option<usize>,
    /// The votes of each node, for `weighted`
    #[arg(long, value_name = "W,W,…", allow_hyphen_values = true)]
    weights: Option<String>,
    /// The widths of the rows from the top, for `wall`
    #[arg(long, value_name = "W,W,…", allow_hyphen_values = true)]
    widths: Option<String>,
    /// Crash probabilities of a node for which to compute how likely it is that no quorum is left
    #[arg(
        long,
        value_name = "P,P,…",
        default_value = "0.1,0.2",
        value_parser = str::parse::<Crashes>,
        allow_hyphen_values = true
    )]
    fail: Crashes,
    /// Seed of the sampled crashes, where there are too many sets of nodes to look at all
    #[arg(long, default_value = "1", value_parser = whole::<u64>, allow_negative_numbers = true)]
    seed: u64,
    /// Draw the system with the quorum of one node, to a file that ends in .svg or .png
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// The node whose quorum is drawn
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
    let ratings = RATINGS.map(|(term, meaning)| text::item(term, meaning, 20, width));
    format!(
        "Kinds:\n{}\n\nRatings:\n{}\n\nExamples:\n  \
         doorway quorum plane --nodes 13\n  \
         doorway quorum majority --nodes 9 --fail 0.01,0.5\n  \
         doorway quorum weighted --weights 3,1,1\n  \
         doorway quorum wall:1,2,3 --json\n  \
         doorway quorum plane --nodes 7 --svg plane.svg --quorum-of 3\n  \
         doorway quorum file:mine.quorums",
        kinds.join("\n"),
        ratings.join("\n")
    )
}

/// What the ratings mean, and what JSON has instead of a number.
const RATINGS: [(&str, &str); 6] = [
    (
        "listed, family",
        "The listed quorums are those assigned to nodes; the family is every quorum of the kind. Both are rated where they \
         differ. JSON has the family's ratings, and those of the listed quorums in \"listed\", or null.",
    ),
    (
        "load",
        "How often the busiest node is asked, if the quorums are asked so that this is least. JSON has a number where it \
         is exact, else {\"least\",\"most\"}; a certificate proves it: the shares with which to ask the quorums, and \
         weights of the nodes by which no quorum weighs less than the load.",
    ),
    ("capacity", "1/load: the requests that can be served in the time that a node needs for one."),
    (
        "resilience",
        "How many crashes, of whatever nodes, always leave a quorum; {\"least\",\"most\"} if unknown.",
    ),
    (
        "failure",
        "The probability that no quorum is alive. Exact for up to 20 nodes, and for grids, trees, walls and all but huge \
         votes of any number; else drawn, with an interval of 95 % confidence (\"failure_interval\").",
    ),
    (
        "non-dominated",
        "Whether no quorum contains another, and no other system has a quorum alive whenever this one has, and more often. \
         Looked at for up to 20 nodes, beyond only where the shape tells, else null. \"minimal_nondominated\" is about the \
         minimal quorums alone.",
    ),
];

/// The ratings of a system. A node can ask its own quorum alone, or any quorum of the construction that is alive.
struct Both<'a> {
    /// Of all quorums of the construction.
    family: RatedSystem<'a>,
    /// Of the listed quorums alone, unless they are the whole family.
    listed: Option<RatedSystem<'a>>,
}

pub(crate) fn answer(arguments: &Arguments) -> Result<Answer, Refusal> {
    let construction = construction(arguments)?;
    let missing = || Refusal::new(format!("how many nodes? {} needs --nodes N", construction.name()));
    let nodes = arguments.nodes.or_else(|| construction.implied_nodes()).ok_or_else(missing)?;
    let system = QuorumSystem::build(&construction, nodes).map_err(|refusal| match &construction {
        Construction::File(_) => Refusal::new(format!("{}: {refusal}", file_name(arguments))),
        _ => refusal,
    })?;
    if let Some(path) = &arguments.svg {
        let picture = Picture::new(path)?;
        picture.write(&quorums::quorum(&system, arguments.quorum_of, arguments.theme)?)?;
    }
    let intersecting = system.verify().is_ok();
    let rate = |system, of| RatedSystem::new(system, of, &arguments.fail, arguments.seed);
    let alone = system.listed();
    let rated = Both {
        family: rate(&system, Of::Family),
        listed: (!system.lists_every_quorum()).then(|| rate(&alone, Of::Listed)),
    };
    let text = match arguments.json {
        true => as_json(&system, &rated, intersecting),
        false => as_text(&system, &rated, &name(arguments, &construction), intersecting),
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

fn as_json(system: &QuorumSystem, rated: &Both<'_>, intersecting: bool) -> String {
    let (size, responsibility) = (system.sizes(), system.responsibility());
    let mut answer = Map::new();
    let mut add = |key: &str, value: Value| answer.insert(key.to_owned(), value);
    add("version", 1.into());
    add("kind", system.construction().name().into());
    add("nodes", system.n().into());
    add("assignment", json!(system.assignment().values()));
    add("intersecting", intersecting.into());
    add("size", json!({"min": size.least, "mean": size.mean, "max": size.most}));
    add("responsibility", json!({"min": responsibility.least, "max": responsibility.most}));
    add("in_own_quorum", system.contains_every_owner().into());
    add("coterie", system.is_coterie().into());
    answer.extend(rated.family.json());
    answer.insert("listed".to_owned(), rated.listed.as_ref().map(RatedSystem::json).into());
    format!("{}\n", Value::from(answer))
}

fn as_text(system: &QuorumSystem, rated: &Both<'_>, name: &str, intersecting: bool) -> String {
    let verdict = if intersecting { "every two quorums meet" } else { "NOT every two quorums meet" };
    let nodes = text::counted(system.n() as u64, "node");
    let (numbers, ratings, quorums) = (numbers(system, rated), ratings_text(rated), listed(system));
    let owners = owners(system);
    format!(
        "{name}, {nodes}: {verdict}\n{owners}\n\n{numbers}\n{ratings}\nThe quorum of each node\n{quorums}"
    )
}

/// Whether i ∈ S_i.
fn owners(system: &QuorumSystem) -> String {
    match system.assignment().iter().find(|(node, quorum)| !quorum.contains(*node)) {
        None => "i ∈ S_i holds: every node is in its own quorum".to_owned(),
        Some((node, _)) => format!("i ∈ S_i does not hold: node {node} is not in its own quorum"),
    }
}

fn ratings_text(rated: &Both<'_>) -> String {
    let Some(listed) = &rated.listed else {
        let family = rated.family.as_text(Overlap::InTheTable);
        return format!("Ratings of the listed quorums, which are the whole family\n{family}");
    };
    format!(
        "Ratings of the listed quorums alone, one for each node\n{}\n\
         Ratings of the whole family: every quorum of this kind, listed or not\n{}",
        listed.as_text(Overlap::InTheTable),
        rated.family.as_text(Overlap::Told)
    )
}

fn numbers(system: &QuorumSystem, rated: &Both<'_>) -> String {
    let row = |name: &str, least: usize, mean: f64, most: usize| {
        vec![name.to_owned(), least.to_string(), text::decimal(mean), most.to_string()]
    };
    let spread = |name, spread: Spread| row(name, spread.least, spread.mean, spread.most);
    let mut rows = vec![
        spread("nodes in a quorum", system.sizes()),
        spread("quorums that a node is in", system.responsibility()),
    ];
    let overlap = rated.listed.as_ref().unwrap_or(&rated.family).overlap();
    rows.extend(overlap.map(|(least, mean, most)| row("nodes that two quorums share", least, mean, most)));
    table::of_numbers(&["", "least", "mean", "most"], &rows)
}

fn listed(system: &QuorumSystem) -> String {
    const SHOWN: usize = 32;
    let digits = system.n().to_string().len();
    let line =
        |(node, quorum): (doorway_core::NodeId, &NodeSet)| format!("{node:>digits$}: {}\n", members(quorum));
    let quorums: String = system.assignment().iter().take(SHOWN).map(line).collect();
    let hidden = system.n().saturating_sub(SHOWN);
    let more = if hidden > 0 { format!("… {hidden} more (--json has them all)\n") } else { String::new() };
    quorums + &more
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
