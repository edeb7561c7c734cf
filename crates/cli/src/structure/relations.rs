//! A structure of Sanders' algorithm: its sets, the theorem, its bounds and delays.

use doorway_catalog::structures::{Structure, StructureFlaw, broken_structure, unchecked_structures};
use doorway_catalog::{Catalog, Trial};
use doorway_core::{Members, NodeId, Refusal};
use doorway_experiments::structures::{
    Delays, MessageBounds, correct_delay, delays, differing, printed_delay,
};
use doorway_picture::relations::{self, Relations};
use doorway_terminal::{Picture, table, text};
use serde_json::{Value, json};

use super::{Arguments, MOST_MEASURED, MOST_ROWS, delay_table, lines, listed, measured};
use crate::{Answer, Exit, files};

/// The structures of a specimen, which break a condition.
const BROKEN: [&str; 2] = ["one-sided", "unasked"];
/// With more pairs only their number is printed.
const MOST_PAIRS: usize = 15;

/// All that is told about a structure.
struct Examined {
    name: String,
    structure: Structure,
    flaws: Vec<StructureFlaw>,
    /// The delays by the rule, unless the nodes do not exclude each other, and as they were measured.
    delays: Option<(Delays, Option<Delays>)>,
}

pub(super) fn answer(catalog: &Catalog, arguments: &Arguments) -> Result<Answer, Refusal> {
    let picture = arguments.svg.as_deref().map(Picture::new).transpose()?;
    let examined = Examined::new(catalog, arguments)?;
    if let Some(picture) = picture {
        let Structure { asks, informs } = &examined.structure;
        let drawn = Relations { name: &examined.name, asks, informs, of: arguments.of };
        picture.write(&relations::structure(&drawn, arguments.theme)?)?;
    }
    let text = if arguments.json { examined.json() } else { examined.text() };
    let exit = if examined.flaws.is_empty() { Exit::Holds } else { Exit::Fails };
    Ok(Answer { text, notes: Vec::new(), exit })
}

impl Examined {
    fn new(catalog: &Catalog, arguments: &Arguments) -> Result<Self, Refusal> {
        let name = match arguments.name.as_str() {
            "sanders" => arguments.structure.as_deref().unwrap_or("maekawa"),
            name => name,
        };
        let (trial, structure) = built(arguments, name)?;
        let flaws: Vec<StructureFlaw> = structure.flaws().collect();
        let delays = match flaws.is_empty() {
            true => {
                let n = structure.asks.len();
                let by_rule = delays(n, |i, j| correct_delay(&structure, i, j));
                Some((by_rule, measured(catalog, &trial)?))
            }
            false => None,
        };
        let quorum =
            arguments.quorum.as_ref().map_or(String::new(), |quorum| format!(" with quorum {quorum}"));
        Ok(Self { name: format!("{name}{quorum}"), structure, flaws, delays })
    }

    fn nodes(&self) -> impl Iterator<Item = NodeId> + Clone + use<> {
        NodeId::first(self.structure.asks.len())
    }

    fn text(&self) -> String {
        let n = self.structure.asks.len();
        let verdict = if self.flaws.is_empty() { "hold" } else { "do NOT hold" };
        let nodes = text::counted(n as u64, "node");
        let mut parts = vec![
            format!("{}, {nodes}: the conditions of Sanders' theorem {verdict}\n", self.name),
            self.sets(),
            self.matrix(),
            self.reasons(),
        ];
        if let Some((by_rule, measured)) = &self.delays {
            parts.push(self.delays_text(by_rule, measured.as_ref()));
        }
        parts.join("\n")
    }

    fn sets(&self) -> String {
        let headings = ["node", "asks R", "informs I", "informed by St", "messages per entry", "tight bound"];
        let row = |i: NodeId| {
            let bounds = MessageBounds::of(&self.structure, i);
            vec![
                i.to_string(),
                listed(&self.structure.asks[i]),
                listed(&self.structure.informs[i]),
                listed(&self.structure.informed_by(i)),
                format!("{} … {}", bounds.least, bounds.of_lecture),
                bounds.tight.to_string(),
            ]
        };
        let rows: Vec<Vec<String>> = self.nodes().take(MOST_ROWS).map(row).collect();
        let table = table::of_words(&headings, &rows);
        let note = "messages: |I−{i}| + 2|R−{i}| … the same plus Σ r_j over R; the tight bound leaves out the FAILED to oneself";
        format!("{table}{}{}\n", hidden(self.structure.asks.len()), text::wrap(note, text::prose_width(), 2))
    }

    /// The picture for a terminal: a row for each node, a letter for each relation.
    fn matrix(&self) -> String {
        let nodes: Vec<NodeId> = self.nodes().take(MOST_ROWS).collect();
        let digits = nodes.len().to_string().len().max(2);
        let cell = |i: NodeId, j: NodeId| {
            let (asks, informs) = (self.structure.asks[i].contains(j), self.structure.informs[i].contains(j));
            match (asks, informs) {
                (true, true) => "RI",
                (true, false) => "R",
                (false, true) => "I",
                (false, false) => "·",
            }
        };
        let line = |first: String, cells: Vec<String>| {
            let cells: Vec<String> = cells.iter().map(|cell| format!("{cell:<digits$}")).collect();
            format!("{first:>digits$}  {}", cells.join(" ")).trim_end().to_owned() + "\n"
        };
        let heading = line(String::new(), nodes.iter().map(ToString::to_string).collect());
        let rows = nodes
            .iter()
            .map(|&i| line(i.to_string(), nodes.iter().map(|&j| cell(i, j).to_owned()).collect()));
        format!(
            "R: the node of the row asks the one of the column; I: it informs it\n{heading}{}",
            rows.collect::<String>()
        )
    }

    fn reasons(&self) -> String {
        let mut reasons: Vec<String> = Vec::new();
        for flaw in self.flaws.iter().take(MOST_PAIRS) {
            reasons.push(flaw.to_string());
            if let StructureFlaw::CanMeet(i, j) = *flaw {
                reasons.push(missing(&self.structure, i, j).join("; "));
            }
        }
        let more = self.flaws.len().saturating_sub(MOST_PAIRS);
        if more > 0 {
            reasons.push(format!("{more} more (--json has them all)"));
        }
        if self.flaws.is_empty() {
            reasons
                .push("I_i lies in R_i for every node, and every two nodes exclude each other:".to_owned());
        }
        let mut text: String =
            reasons.iter().map(|reason| text::wrap(reason, text::prose_width(), 2) + "\n").collect();
        if self.flaws.is_empty() {
            text.extend(self.pairs_text().iter().map(|pair| format!("  {pair}\n")));
        }
        text
    }

    /// Why every two nodes exclude each other, pair by pair or, if these are many, counted.
    fn pairs_text(&self) -> Vec<String> {
        let pairs: Vec<Pair> = self.pairs();
        if pairs.len() <= MOST_PAIRS {
            return pairs
                .iter()
                .map(|pair| format!("{} and {}: {}", pair.i, pair.j, pair.reason()))
                .collect();
        }
        let meet = pairs.iter().filter(|pair| !pair.common.is_empty()).count();
        let asking = pairs.len() - meet;
        vec![
            format!("{} have a node in common that both inform", text::counted(meet as u64, "pair")),
            format!("{} ask each other and keep their own votes", text::counted(asking as u64, "pair")),
        ]
    }

    fn pairs(&self) -> Vec<Pair> {
        let pairs = self.nodes().flat_map(|j| NodeId::first(j.index()).map(move |i| (i, j)));
        let mut pairs: Vec<Pair> = pairs.map(|(i, j)| Pair::new(&self.structure, i, j)).collect();
        pairs.sort_by_key(|pair| (pair.i, pair.j));
        pairs
    }

    fn delays_text(&self, by_rule: &Delays, measured: Option<&Delays>) -> String {
        let (shown, how) = match measured {
            Some(measured) => (measured, "measured"),
            None => (by_rule, "by the rule below"),
        };
        let n = shown.len();
        let mut text = format!(
            "D_ij, the delay from node i (row) to node j (column) in T, {how}\n{}",
            delay_table(shown)
        );
        let agrees = match measured.map(|measured| differing(measured, by_rule)) {
            None => format!("(up to {MOST_MEASURED} nodes are measured)"),
            Some(wrong) if wrong.is_empty() => "and so it was measured".to_owned(),
            Some(wrong) => format!("but measured otherwise: {}", named(&wrong)),
        };
        text += &format!("rule: 2 if some third node is in I_i ∩ R_j, else 1; {agrees}\n");
        let printed = differing(shown, &delays(n, |i, j| printed_delay(&self.structure, i, j)));
        if !printed.is_empty() {
            let rule = "the printed rule, 2 if I_i ∩ I_j ≠ ∅, else 1, differs in";
            text +=
                &format!("{}\n", text::wrap(&format!("{rule} {}", named(&printed)), text::prose_width(), 2));
        }
        text
    }

    fn json(&self) -> String {
        let node = |i: NodeId| {
            let MessageBounds { least, of_lecture, tight } = MessageBounds::of(&self.structure, i);
            json!({
                "node": i,
                "asks": self.structure.asks[i],
                "informs": self.structure.informs[i],
                "informed_by": self.structure.informed_by(i),
                "messages": {"least": least, "most": of_lecture, "tight": tight},
            })
        };
        let (by_rule, measured) = match &self.delays {
            Some((by_rule, measured)) => (Some(by_rule), measured.as_ref()),
            None => (None, None),
        };
        let answer = json!({
            "version": 1,
            "kind": "structure",
            "name": self.name,
            "nodes": self.nodes().map(node).collect::<Vec<_>>(),
            "theorem": self.flaws.is_empty(),
            "flaws": self.flaws.iter().map(|flaw| flaw_json(&self.structure, flaw)).collect::<Vec<_>>(),
            "pairs": self.pairs().iter().map(Pair::json).collect::<Vec<_>>(),
            "delays": by_rule,
            "measured_delays": measured,
        });
        format!("{answer}\n")
    }
}

/// Two nodes, and why they exclude each other.
struct Pair {
    i: NodeId,
    j: NodeId,
    /// The nodes that both inform.
    common: Vec<NodeId>,
    ask_each_other: bool,
    /// Whether both ask every node that they inform: without that no vote keeps the other out.
    informs_only_asked: bool,
}

impl Pair {
    fn new(structure: &Structure, i: NodeId, j: NodeId) -> Self {
        let common = structure.informs[i].iter().filter(|&k| structure.informs[j].contains(k)).collect();
        let informs_only_asked = [i, j].iter().all(|&k| structure.informs[k].is_subset(&structure.asks[k]));
        Self { i, j, common, ask_each_other: structure.ask_each_other(i, j), informs_only_asked }
    }

    fn reason(&self) -> String {
        match self.common.is_empty() {
            false => format!("both inform {}", listed(self.common.iter().copied())),
            true => "they ask each other, and each keeps its own vote".to_owned(),
        }
    }

    fn json(&self) -> Value {
        json!({
            "nodes": [self.i, self.j],
            "both_inform": self.common,
            "ask_each_other": self.ask_each_other,
            "exclude": self.informs_only_asked && (!self.common.is_empty() || self.ask_each_other),
        })
    }
}

/// The trial that runs a structure, and the structure itself, which may break the theorem's conditions.
fn built(arguments: &Arguments, name: &str) -> Result<(Trial, Structure), Refusal> {
    let mut choices = vec![("structure", name)];
    choices.extend(arguments.quorum.as_deref().map(|quorum| ("quorum", quorum)));
    let choice = files::choice(name, std::path::Path::new(""))?;
    let implied = match (&choice.file, name) {
        (Some(text), _) => Some(lines(text)),
        (None, "four-node") => Some(4),
        (None, _) => None,
    };
    let trial = arguments.trial("sanders", &choices, arguments.node_count(implied)?)?;
    let members = Members::new(trial.settings.nodes)?;
    let structure = match BROKEN.contains(&name) {
        true => broken_structure(&choice, &members),
        false => unchecked_structures(&trial.options).and_then(|build| build(&members)),
    };
    let blamed = |refusal: Refusal| match choice.file {
        Some(_) => Refusal::new(format!("{}: {refusal}", name.trim_start_matches("file:"))),
        None => refusal,
    };
    Ok((trial, structure.map_err(blamed)?))
}

/// What two nodes lack that would exclude them.
fn missing(structure: &Structure, i: NodeId, j: NodeId) -> Vec<String> {
    let mut missing = vec![format!(
        "I_{i} = {} and I_{j} = {} have no node in common",
        structure.informs[i], structure.informs[j]
    )];
    for (one, other) in [(i, j), (j, i)] {
        if !structure.asks[one].contains(other) {
            missing.push(format!("node {one} does not ask node {other}"));
        }
        if !structure.informs[one].contains(one) {
            missing.push(format!("node {one} does not keep its own vote: it is not in I_{one}"));
        }
    }
    missing
}

fn flaw_json(structure: &Structure, flaw: &StructureFlaw) -> Value {
    let (nodes, missing) = match *flaw {
        StructureFlaw::AsksNoNode(i) | StructureFlaw::InformsUnasked(i) => (vec![i], Vec::new()),
        StructureFlaw::CanMeet(i, j) => (vec![i, j], missing(structure, i, j)),
    };
    json!({"nodes": nodes, "says": flaw.to_string(), "missing": missing})
}

fn named(pairs: &[(NodeId, NodeId)]) -> String {
    let name = |(i, j): &(NodeId, NodeId)| match i.number().max(j.number()) {
        0..=9 => format!("D{i}{j}"),
        _ => format!("D{i},{j}"),
    };
    pairs.iter().map(name).collect::<Vec<_>>().join(" ")
}

fn hidden(nodes: usize) -> String {
    match nodes.saturating_sub(MOST_ROWS) {
        0 => String::new(),
        more => format!("… {more} more (--json has them all)\n"),
    }
}
