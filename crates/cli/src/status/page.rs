//! A status as people read it.

use doorway_client::protocol::{ClientStatus, NodeStatus, OwnStatus, SectionStatus, Status};
use doorway_core::{SectionName, Ticks};

use super::{answering, is_ready};
use crate::table;
use crate::text::counted;

/// All of it.
pub(super) fn page(status: &Status, section: Option<&SectionName>) -> String {
    let Status { cluster, algorithm, node, .. } = status;
    let mut text = format!("Cluster {cluster}, {algorithm}, as node {node} sees it\n\n");
    text.push_str(&table::of_words(&NODES, &status.nodes.iter().map(node_row).collect::<Vec<_>>()));
    text.push('\n');
    let rows: Vec<Vec<String>> = status.sections.iter().flat_map(section_rows).collect();
    match (rows.is_empty(), section) {
        (true, Some(name)) => text.push_str(&format!("Nobody is inside {name} or waits for it.\n")),
        (true, None) => text.push_str("Nobody is inside of anything or waits.\n"),
        (false, _) => text.push_str(&table::of_words(&SECTIONS, &rows)),
    }
    if status.is_cut {
        text.push_str("… and more sections than are shown here; `doorway status NAME` tells of one\n");
    }
    text
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

fn section_rows(section: &SectionStatus) -> Vec<Vec<String>> {
    let row = |what: &str, client: &ClientStatus| {
        let process = client.process.map(|process| format!(" ({process})")).unwrap_or_default();
        let fence = client.fence.map(|fence| fence.to_string()).unwrap_or_default();
        let who = format!("{}{process}", shortened(&client.label));
        vec![section.name.to_string(), what.to_owned(), who, client.node.clone(), spoken(client.since), fence]
    };
    let inside = section.inside.iter().map(|client| row("inside", client));
    inside.chain(section.waiting.iter().map(|client| row("waits", client))).collect()
}

/// The beginning of a label, where all of it would not leave room for the rest of its line.
fn shortened(label: &str) -> String {
    const LONGEST: usize = 28;
    match label.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", label[..end].trim_end()),
        None => label.to_owned(),
    }
}

/// Whether the node that answers can let somebody in, and if not, why.
pub(super) fn readiness(status: &Status) -> String {
    let node = &status.node;
    let own = answering(status).and_then(|node| node.own.as_ref());
    match own {
        _ if is_ready(status) => format!("Node {node} is ready."),
        Some(own) if own.standing == "active" => {
            format!("Node {node} is not ready: it has not heard from a majority of the voters lately.")
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
    use super::*;

    #[test]
    fn sections_with_long_labels_fit_a_terminal_of_80_columns() {
        let client = |process, fence| ClientStatus {
            node: "frankfurt".to_owned(),
            process: Some(process),
            label: "/usr/local/bin/rebuild-all-indices --of every --table".to_owned(),
            since: Ticks(3_725_000_000),
            fence,
        };
        let name = SectionName::new("nightly").expect("a good name");
        let inside = client(1_234_567, Some(doorway_core::Fence((4_000 << 36) + 77)));
        let section = SectionStatus { name, inside: Some(inside), waiting: vec![client(7, None)] };
        let text = table::of_words(&SECTIONS, &section_rows(&section));
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest.is_some_and(|widest| widest <= 80), "{widest:?}\n{text}");
        assert_eq!(shortened("make test"), "make test");
        assert_eq!(text.lines().count(), 4, "{text}");
    }

    #[test]
    fn times_are_told_in_the_unit_that_says_most() {
        let seconds = |count: u64| spoken(Ticks(count * 1_000_000));
        assert_eq!(spoken(Ticks(250_999)), "250 ms");
        assert_eq!(
            [59, 61, 3_700, 90_000, 180_000].map(seconds),
            ["59 s", "1 min 1 s", "1 h 1 min", "1 day 1 h", "2 days 2 h"]
        );
    }
}
