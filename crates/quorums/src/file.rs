//! Quorums from a text file.
//!
//! One line for each node: its number, a colon, and the numbers of the nodes in its quorum between spaces or
//! commas. Nodes count from 1. `#` starts a comment; empty lines are skipped; lines may come in any order.
//!
//! ```text
//! # three nodes, any two of which are a quorum
//! 1: 1 2
//! 2: 2, 3
//! 3: 1 3
//! ```
//!
//! A node need not be in its own quorum, but every two quorums must meet.

use doorway_core::{NodeId, NodeSet, PerNode, Refusal};

/// The quorums that the text assigns to `n` nodes. [`crate::QuorumSystem::build`] checks that they meet.
pub(crate) fn assignment(text: &str, n: usize) -> Result<PerNode<NodeSet>, Refusal> {
    let mut found: PerNode<Option<(usize, NodeSet)>> = PerNode::same(n, None);
    for (number, content) in lines(text) {
        let line = Line { number, n };
        let (node, quorum) = line.read(content)?;
        if let Some((earlier, _)) = &found[node] {
            return Err(line.refuse(&format!("node {node} has a quorum already, in line {earlier}")));
        }
        found[node] = Some((number, quorum));
    }
    if let Some((node, _)) = found.iter().find(|(_, entry)| entry.is_none()) {
        return Err(Refusal::new(format!(
            "node {node} has no quorum: each of the nodes 1 to {n} needs a line"
        )));
    }
    Ok(PerNode::from_fn(n, |node| found[node].take().map(|(_, quorum)| quorum).unwrap_or_default()))
}

/// The largest node number at the start of a line.
pub(crate) fn implied_nodes(text: &str) -> Option<usize> {
    lines(text).filter_map(|(_, content)| content.split_once(':')?.0.trim().parse().ok()).max()
}

/// The lines that are not empty, with their numbers.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let contents = text.lines().map(|line| line.split_once('#').map_or(line, |(before, _)| before).trim());
    (1..).zip(contents).filter(|(_, content)| !content.is_empty())
}

/// One line of a file about `n` nodes.
struct Line {
    number: usize,
    n: usize,
}

impl Line {
    fn read(&self, content: &str) -> Result<(NodeId, NodeSet), Refusal> {
        let Some((node, members)) = content.split_once(':') else {
            return Err(self.refuse("a node and a colon are missing, as in `2: 1 2 5`"));
        };
        let node = self.node(node.trim())?;
        let quorum = self.quorum(node, members)?;
        Ok((node, quorum))
    }

    fn quorum(&self, owner: NodeId, members: &str) -> Result<NodeSet, Refusal> {
        let mut quorum = NodeSet::new();
        for word in members.split([',', ' ', '\t']).filter(|word| !word.is_empty()) {
            let member = self.node(word)?;
            if !quorum.insert(member) {
                return Err(self.refuse(&format!("node {member} is twice in the quorum of node {owner}")));
            }
        }
        if quorum.is_empty() {
            return Err(self.refuse(&format!("the quorum of node {owner} is empty")));
        }
        Ok(quorum)
    }

    fn node(&self, word: &str) -> Result<NodeId, Refusal> {
        let Ok(number) = word.parse::<u32>() else {
            return Err(self.refuse(&format!("{word:?} is not the number of a node")));
        };
        let node = NodeId::from_number(number).filter(|node| node.index() < self.n);
        node.ok_or_else(|| {
            self.refuse(&format!("there is no node {number}: the nodes have the numbers 1 to {}", self.n))
        })
    }

    fn refuse(&self, reason: &str) -> Refusal {
        Refusal::new(format!("line {}: {reason}", self.number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str, n: usize) -> String {
        assignment(text, n).unwrap_err().to_string()
    }

    #[test]
    fn commas_spaces_comments_and_blank_lines_are_accepted() {
        let text = "# any two of three\r\n\r\n3: 1,3\n 1 :\t1 2 # the first\n\n2: 2, 3\n";
        let assignment = assignment(text, 3).expect("well formed");
        let written: Vec<String> = assignment.values().iter().map(NodeSet::to_string).collect();
        assert_eq!(written, ["{1, 2}", "{2, 3}", "{1, 3}"]);
        assert_eq!(implied_nodes(text), Some(3));
        assert_eq!(implied_nodes("# nothing"), None);
    }

    #[test]
    fn errors_name_their_line() {
        assert_eq!(refusal("1: 1\n\n2: 1 x", 2), "line 3: \"x\" is not the number of a node");
        assert_eq!(refusal("one: 1", 2), "line 1: \"one\" is not the number of a node");
        assert_eq!(refusal("1: 1 -2", 2), "line 1: \"-2\" is not the number of a node");
        assert_eq!(refusal("1: 1 99999999999", 2), "line 1: \"99999999999\" is not the number of a node");
        assert_eq!(refusal("1: 0", 2), "line 1: there is no node 0: the nodes have the numbers 1 to 2");
        assert_eq!(refusal("1: 1\n2: 3", 2), "line 2: there is no node 3: the nodes have the numbers 1 to 2");
        assert_eq!(refusal("3: 1", 2), "line 1: there is no node 3: the nodes have the numbers 1 to 2");
        assert_eq!(refusal("1: 1 2 1", 2), "line 1: node 1 is twice in the quorum of node 1");
        assert_eq!(refusal("1: 1\n2: 1\n1: 1", 2), "line 3: node 1 has a quorum already, in line 1");
        assert_eq!(refusal("1: 1\n2: # 1", 2), "line 2: the quorum of node 2 is empty");
        assert_eq!(refusal("1 2 3", 3), "line 1: a node and a colon are missing, as in `2: 1 2 5`");
    }

    #[test]
    fn a_missing_node_is_named() {
        assert_eq!(refusal("1: 1\n3: 1", 3), "node 2 has no quorum: each of the nodes 1 to 3 needs a line");
        assert_eq!(refusal("", 1), "node 1 has no quorum: each of the nodes 1 to 1 needs a line");
    }
}
