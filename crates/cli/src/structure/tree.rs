//! A tree of Raymond's algorithm: its shape, its bounds and delays, and the election that built it.

use doorway_catalog::structures::{TREE, Tree, TreeKind};
use doorway_catalog::{Catalog, Trial};
use doorway_core::{Members, NodeId, PerNode, Refusal};
use doorway_experiments::structures::{Delays, delays, differing, tree_delay};
use doorway_picture::relations;
use doorway_simulator::{Election, Settings, elect};
use doorway_terminal::{Destination, Picture, table, text};
use doorway_trace::{Header, Recording};
use serde_json::{Value, json};

use super::{Arguments, MOST_MEASURED, MOST_ROWS, delay_table, lines, listed, measured};
use crate::{Answer, files};

/// What a trace of an election calls its algorithm.
const ELECTION: &str = "raymond's election";

/// All that is told about a tree.
struct Examined {
    name: String,
    tree: Tree,
    n: usize,
    election: Option<Election>,
    by_rule: Delays,
    measured: Option<Delays>,
}

pub(super) fn answer(catalog: &Catalog, arguments: &Arguments) -> Result<Answer, Refusal> {
    let picture = arguments.svg.as_deref().map(Picture::new).transpose()?;
    let trace = arguments.trace.as_deref().map(Destination::new).transpose()?;
    let (trial, tree, election) = built(arguments)?;
    let n = trial.settings.nodes;
    let by_rule = delays(n, |i, j| tree_delay(&tree, i, j));
    let (name, measured) = (arguments.tree.as_deref().unwrap_or(TREE.default), measured(catalog, &trial)?);
    let examined = Examined { name: name.to_owned(), tree, n, election, by_rule, measured };
    if let Some(picture) = picture {
        let parents = PerNode::from_fn(n, |node| examined.tree.parent(node));
        let graph = examined.election.as_ref().map(|election| election.graph.as_slice());
        picture.write(&relations::tree(name, &parents, graph, arguments.theme)?)?;
    }
    if let (Some(trace), Some(election)) = (trace, &examined.election) {
        let header = Header::new(ELECTION, n, arguments.seed);
        let recording = Recording { header, events: election.events.clone() };
        trace.write(|file| Ok(recording.write(file)?))?;
    }
    Ok(Answer::holds(if arguments.json { examined.json() } else { examined.text() }))
}

/// The trial that runs a tree, the tree, and its election if there is one.
fn built(arguments: &Arguments) -> Result<(Trial, Tree, Option<Election>), Refusal> {
    let word = arguments.tree.as_deref().unwrap_or(TREE.default);
    let choice = files::choice(word, std::path::Path::new(""))?;
    let implied = choice.file.as_deref().map(|text| lines(text) + 1);
    let mut trial = arguments.trial("raymond", &[("tree", word)], arguments.node_count(implied)?)?;
    let election = match word {
        "elected" => Some(elect(&Settings { trace: true, ..trial.settings.clone() })?),
        _ => None,
    };
    trial.options = trial.resolved()?;
    let members = Members::new(trial.settings.nodes)?;
    let blamed = |refusal: Refusal| match choice.file {
        Some(_) => Refusal::new(format!("{}: {refusal}", word.trim_start_matches("file:"))),
        None => refusal,
    };
    let tree = TreeKind::chosen(&trial.options).and_then(|kind| kind.build(&members)).map_err(blamed)?;
    Ok((trial, tree, election))
}

impl Examined {
    fn nodes(&self) -> impl Iterator<Item = NodeId> + use<> {
        NodeId::first(self.n)
    }

    fn root(&self) -> NodeId {
        self.nodes().find(|&node| self.tree.parent(node).is_none()).unwrap_or(NodeId::new(0))
    }

    fn text(&self) -> String {
        let (diameter, root) = (self.tree.diameter(), self.root());
        let nodes = text::counted(self.n as u64, "node");
        let mut parts = vec![format!(
            "{}, {nodes}: root {root}, which has the token at the start; diameter d = {diameter}\n",
            self.name
        )];
        parts.extend(
            self.election.as_ref().map(|election| election_text(election, &self.nodes().collect::<Vec<_>>())),
        );
        parts.extend([self.table(), self.drawn(), self.delays_text()]);
        parts.join("\n")
    }

    fn table(&self) -> String {
        let headings = ["node", "parent", "children", "depth", "farthest", "messages per entry"];
        let row = |node: NodeId| {
            let far = self.tree.eccentricity(node);
            vec![
                node.to_string(),
                listed(self.tree.parent(node)),
                listed(&self.tree.children(node)),
                self.tree.depth(node).to_string(),
                far.to_string(),
                format!("0 … {}", 2 * far),
            ]
        };
        let rows: Vec<Vec<String>> = self.nodes().take(MOST_ROWS).map(row).collect();
        let more = self.n.saturating_sub(MOST_ROWS);
        let more = if more > 0 { format!("… {more} more (--json has them all)\n") } else { String::new() };
        let most = 2 * self.tree.diameter();
        let note = format!(
            "messages: twice the distance to the token, so 0 … 2d = {most} for the whole tree; at light load, where the holder \
             of the token asks as often as any other node, {} on average",
            text::decimal(2.0 * self.mean_distance())
        );
        format!("{}{more}{}\n", table::of_words(&headings, &rows), text::wrap(&note, text::prose_width(), 2))
    }

    /// The mean distance between two nodes, which may be the same.
    fn mean_distance(&self) -> f64 {
        let sum: u64 = self.by_rule.iter().flatten().sum();
        sum as f64 / (self.n * self.n) as f64
    }

    /// The tree with its branches, as far as it fits.
    fn drawn(&self) -> String {
        let mut drawn = String::new();
        let mut open = vec![(self.root(), String::new(), String::new())];
        while let Some((node, before, below)) = open.pop() {
            if drawn.lines().count() == MOST_ROWS {
                drawn.push_str("…\n");
                break;
            }
            drawn.push_str(&format!("{before}{node}\n"));
            let children: Vec<NodeId> = self.tree.children(node).iter().collect();
            for (place, &child) in children.iter().enumerate().rev() {
                let (branch, rest) =
                    if place + 1 == children.len() { ("└─ ", "   ") } else { ("├─ ", "│  ") };
                open.push((child, format!("{below}{branch}"), format!("{below}{rest}")));
            }
        }
        drawn
    }

    fn delays_text(&self) -> String {
        let (shown, how) = match &self.measured {
            Some(measured) => (measured, "measured"),
            None => (&self.by_rule, "by the rule below"),
        };
        let agrees = match &self.measured {
            None => format!("(up to {MOST_MEASURED} nodes are measured)"),
            Some(measured) if differing(measured, &self.by_rule).is_empty() => {
                "and so it was measured".to_owned()
            }
            Some(_) => "but it was measured otherwise".to_owned(),
        };
        let table =
            if self.n <= MOST_ROWS { delay_table(shown) } else { "(--json has the table)\n".to_owned() };
        format!(
            "D_ij, the delay from node i (row) to node j (column) in T, {how}\n{table}rule: the distance in the tree; {agrees}\n"
        )
    }

    fn json(&self) -> String {
        let node = |node: NodeId| {
            let far = self.tree.eccentricity(node);
            json!({
                "node": node,
                "parent": self.tree.parent(node),
                "children": self.tree.children(node),
                "depth": self.tree.depth(node),
                "farthest": far,
                "messages": {"least": 0, "most": 2 * far},
            })
        };
        let answer = json!({
            "version": 1,
            "kind": "tree",
            "name": self.name,
            "root": self.root(),
            "diameter": self.tree.diameter(),
            "messages": {"least": 0, "most": 2 * self.tree.diameter(), "light_load": 2.0 * self.mean_distance()},
            "nodes": self.nodes().map(node).collect::<Vec<_>>(),
            "election": self.election.as_ref().map(election_json),
            "delays": self.by_rule,
            "measured_delays": self.measured,
        });
        format!("{answer}\n")
    }
}

/// How many edges the graph of an election has.
fn edges(election: &Election) -> usize {
    election.graph.iter().map(|neighbours| neighbours.len()).sum::<usize>() / 2
}

fn election_text(election: &Election, nodes: &[NodeId]) -> String {
    let Election { winner, messages, time, .. } = election;
    let first = format!(
        "election: echo with extinction on a ring with chords, {}; the wave of node {winner} wins with {messages} messages in {} ticks",
        text::counted(edges(election) as u64, "edge"),
        time.0
    );
    let neighbours = nodes.iter().zip(&election.graph).take(MOST_ROWS);
    let rows: Vec<Vec<String>> =
        neighbours.map(|(node, neighbours)| vec![node.to_string(), listed(neighbours)]).collect();
    format!(
        "{}\n\n{}",
        text::wrap(&first, text::prose_width(), 2),
        table::of_words(&["node", "neighbours in the graph"], &rows)
    )
}

fn election_json(election: &Election) -> Value {
    json!({
        "winner": election.winner,
        "messages": election.messages,
        "time": election.time,
        "graph": election.graph,
    })
}
