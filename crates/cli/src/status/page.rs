//! A status as people read it.

use doorway_core::{SectionName, Ticks};
use doorway_protocol::{ClientStatus, NodeStatus, OwnStatus, SectionStatus, Status};
use doorway_terminal::table;
use doorway_terminal::text::{self, counted};

use super::{answering, is_ready};

/// All of it.
pub(super) fn page(status: &Status, section: Option<&SectionName>) -> String {
    let Status { cluster, algorithm, node, .. } = status;
    let mut text = format!("Cluster {cluster}, {algorithm}, as node {node} sees it\n\n");
    text.push_str(&nodes_table(&status.nodes, text::width()));
    text.push('\n');
    match (status.sections.is_empty(), section) {
        (true, Some(name)) => text.push_str(&format!("{name} has no holder and no waiters.\n")),
        (true, None) => text.push_str("No lock is held or waited for.\n"),
        (false, _) => text.push_str(&sections_table(&status.sections, text::width())),
    }
    let silent: Vec<&str> = silent(status).collect();
    if !silent.is_empty() {
        text.push_str(&format!(
            "No answer from {}: the locks of its clients are not shown.\n",
            silent.join(", ")
        ));
    }
    for node in &status.nodes {
        for warning in node.own.iter().flat_map(|own| &own.warnings) {
            text.push_str(&text::wrap(&format!("! {}: {warning}", node.name), text::width(), 2));
            text.push('\n');
        }
    }
    if status.is_cut {
        text.push_str("… and more locks than are shown here; `doorway status NAME` shows one\n");
    }
    text
}

/// The members that have not answered.
pub(crate) fn silent(status: &Status) -> impl Iterator<Item = &str> {
    let is_silent = |node: &&NodeStatus| node.is_member && node.own.is_none();
    status.nodes.iter().filter(is_silent).map(|node| node.name.as_str())
}

/// The nodes, with fewer columns where there is no room for all of them.
fn nodes_table(nodes: &[NodeStatus], width: usize) -> String {
    const LESS: [&[&str]; 4] =
        [&[], &["Entries"], &["Entries", "Clients"], &["Entries", "Clients", "Address"]];
    let rows: Vec<Vec<String>> = nodes.iter().map(node_row).collect();
    let tables = LESS.map(|left_out| {
        let kept: Vec<usize> = (0..NODES.len()).filter(|place| !left_out.contains(&NODES[*place])).collect();
        let headings: Vec<&str> = kept.iter().map(|place| NODES[*place]).collect();
        let rows = rows.iter().map(|row| kept.iter().map(|place| row[*place].clone()).collect()).collect();
        (headings, rows)
    });
    fitting(tables, width)
}

/// The sections, with shorter names and labels where there is no room for long ones.
fn sections_table(sections: &[SectionStatus], width: usize) -> String {
    const LONGEST: [(usize, usize); 5] = [(255, 40), (40, 28), (28, 20), (20, 12), (11, 7)];
    let tables = LONGEST.map(|longest| {
        let rows = sections.iter().flat_map(|section| section_rows(section, longest)).collect();
        (SECTIONS.to_vec(), rows)
    });
    fitting(tables, width)
}

/// The first of several tables that fits, or the last.
fn fitting<'a>(tables: impl IntoIterator<Item = (Vec<&'a str>, Vec<Vec<String>>)>, width: usize) -> String {
    let mut last = String::new();
    for (headings, rows) in tables {
        last = table::of_words(&headings, &rows);
        if table::natural_width(&headings, &rows) <= width {
            break;
        }
    }
    last
}

const NODES: [&str; 8] = ["Node", "Address", "Part", "Standing", "View", "Lease", "Clients", "Entries"];

fn node_row(node: &NodeStatus) -> Vec<String> {
    let mut row = vec![node.name.clone(), node.address.clone(), part(node).to_owned()];
    row.extend(match &node.own {
        Some(own) => own_cells(own),
        None => ["does not answer", "", "", "", ""].map(str::to_owned),
    });
    row
}

fn own_cells(own: &OwnStatus) -> [String; 5] {
    let lease = match own.lease_left {
        Ticks(0) => "none".to_owned(),
        left => format!("{} ms", left.0 / 1_000),
    };
    let view = own.view.map(|view| view.to_string()).unwrap_or_default();
    [own.standing.clone(), view, lease, own.clients.to_string(), own.entries.to_string()]
}

fn part(node: &NodeStatus) -> &'static str {
    match (node.is_member, node.is_voter, node.is_leader) {
        (_, _, true) => "leader",
        (true, true, false) => "voter",
        (true, false, false) => "member",
        (false, true, false) => "left out, voter",
        (false, false, false) => "left out",
    }
}

const SECTIONS: [&str; 6] = ["Section", "", "Who", "Node", "For", "Fence"];

/// Who is inside of a section or waits, where its name and the labels are at most so long.
fn section_rows(section: &SectionStatus, (longest_name, longest_label): (usize, usize)) -> Vec<Vec<String>> {
    let name = shortened(section.name.as_str(), longest_name);
    let row = |what: &str, client: &ClientStatus| {
        let process = client.process.map(|process| format!(" ({process})")).unwrap_or_default();
        let fence = client.fence.map(|fence| fence.to_string()).unwrap_or_default();
        let who = format!("{}{process}", shortened(&client.label, longest_label));
        vec![name.clone(), what.to_owned(), who, client.node.clone(), spoken(client.since), fence]
    };
    let inside = section.inside.iter().map(|client| row("inside", client));
    inside.chain(section.waiting.iter().map(|client| row("waits", client))).collect()
}

/// At most `longest` characters of a text, with a sign that there are more.
fn shortened(text: &str, longest: usize) -> String {
    if text.chars().count() <= longest {
        return text.to_owned();
    }
    let beginning: String = text.chars().take(longest - 1).collect();
    format!("{}…", beginning.trim_end())
}

/// Whether the answering node can grant locks, and if not, why.
pub(super) fn readiness(status: &Status) -> String {
    let node = &status.node;
    let own = answering(status).and_then(|node| node.own.as_ref());
    match own {
        _ if is_ready(status) => format!("Node {node} is ready."),
        Some(own) if own.standing == "active" => {
            format!("Node {node} is not ready: it has not heard from a majority of the voters recently.")
        }
        Some(own) => format!("Node {node} is not ready: it is {}.", own.standing),
        None => format!("Node {node} is not ready."),
    }
}

/// A span of time in the unit that says most.
pub(crate) fn spoken(span: Ticks) -> String {
    let seconds = span.0 / 1_000_000;
    match seconds {
        0 => format!("{} ms", span.0 / 1_000),
        1..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min {} s", seconds / 60, seconds % 60),
        3_600..86_400 => format!("{} h {} min", seconds / 3_600, seconds / 60 % 60),
        _ => format!("{} {} h", counted(seconds / 86_400, "day"), seconds / 3_600 % 24),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn widest(text: &str) -> usize {
        text.lines().map(|line| line.chars().count()).max().unwrap_or_default()
    }

    #[test]
    fn sections_with_long_names_and_labels_fit_a_terminal_of_80_columns() {
        let client = |process, fence| ClientStatus {
            node: "frankfurt".to_owned(),
            process: Some(process),
            label: "/usr/local/bin/rebuild-all-indices --of every --table".to_owned(),
            since: Ticks(3_725_000_000),
            fence,
        };
        let name = SectionName::new("nightly/rebuild-of-all-indices/every-table").expect("a good name");
        let inside = client(1_234_567, Some(doorway_core::Fence((1_048_587 << 36) + 77)));
        let section = SectionStatus { name, inside: Some(inside), waiting: vec![client(7, None)] };
        let text = sections_table(std::slice::from_ref(&section), 80);
        assert!(widest(&text) <= 80 && text.lines().count() == 4, "{text}");
        assert!(text.contains("nightly/re…") && text.contains("/usr/l… (1234567)"), "{text}");
        let wide = sections_table(&[section], 200);
        assert!(wide.contains("nightly/rebuild-of-all-indices/every-table"), "{wide}");
    }

    #[test]
    fn nodes_fit_a_terminal_of_80_columns() {
        let own = OwnStatus {
            standing: "disk not writable".to_owned(),
            view: Some(1_048_587),
            lease_left: Ticks(887_000),
            quiet_left: Ticks(0),
            up: Ticks(0),
            clients: 10_000,
            open: 0,
            waiting: 0,
            entries: 1_234_567_890,
            sent: 0,
            memory: None,
            epoch: None,
            revoked: BTreeMap::new(),
            warnings: Vec::new(),
        };
        let node = NodeStatus {
            name: "frankfurt".to_owned(),
            address: "frankfurt.example.org:7700".to_owned(),
            is_member: false,
            is_voter: true,
            is_leader: false,
            own: Some(own),
        };
        let text = nodes_table(std::slice::from_ref(&node), 80);
        assert!(widest(&text) <= 80 && text.contains("left out, voter"), "{text}");
        assert!(!text.contains("1234567890"), "{text}");
        assert!(nodes_table(&[node], 140).contains("1234567890"));
    }

    #[test]
    fn times_are_shown_in_the_most_useful_unit() {
        let seconds = |count: u64| spoken(Ticks(count * 1_000_000));
        assert_eq!(spoken(Ticks(250_999)), "250 ms");
        assert_eq!(
            [59, 61, 3_700, 90_000, 180_000].map(seconds),
            ["59 s", "1 min 1 s", "1 h 1 min", "1 day 1 h", "2 days 2 h"]
        );
    }
}
