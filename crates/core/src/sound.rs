//! Validates a decoded message before an algorithm sees it.
//!
//! Bytes from another process are untrusted: they may decode to nodes that do not exist, tables of the wrong
//! length, or counts so high that the next step overflows. Algorithms assume that none of this happens, so
//! the decoder checks each message here, once. A sound message can still be impossible in the current state:
//! then the algorithm calls [`crate::Out::broken`].

use std::fmt;

use serde::ser::{Error, Serialize};

use crate::parts::{Listener, walk};
use crate::{Members, Refusal};

/// The largest count that is accepted. No honest run reaches it (at one event per nanosecond it takes 146
/// years), and counting on from it for as long again does not overflow.
pub const LARGEST_COUNT: u64 = 1 << 62;

/// Checks a decoded message or header: every node in it is a member, every table has one value per member, no
/// other list has more elements than there are members, and no count exceeds [`LARGEST_COUNT`].
///
/// It finds nodes and tables at any depth by their types [`crate::NodeId`] and [`crate::PerNode`]; every
/// other unsigned integer of 16 bits or more is a count. The sender is not part of the message: the caller
/// must check separately that it is a member.
///
/// ```
/// use doorway_core::{Members, NodeId, Stamp, check_sound};
///
/// let three = Members::new(3)?;
/// let stamp = |counter, index| Stamp { counter, node: NodeId::new(index) };
/// assert!(check_sound(&stamp(41, 2), &three).is_ok());
/// let refusal = check_sound(&stamp(41, 3), &three).unwrap_err();
/// assert_eq!(refusal.to_string(), "it names node 4, and there are nodes 1 to 3");
/// assert!(check_sound(&stamp(u64::MAX, 2), &three).is_err());
/// # Ok::<(), doorway_core::Refusal>(())
/// ```
///
/// # Errors
/// Says what is wrong and what would be right.
pub fn check_sound<M: Serialize + ?Sized>(msg: &M, members: &Members) -> Result<(), Refusal> {
    walk(msg, &mut Check { n: members.n(), next: Next::Anything })
}

/// Checks each part against the number of members.
struct Check {
    n: usize,
    /// The meaning of the next part, from the type name before it.
    next: Next,
}

#[derive(Clone, Copy)]
enum Next {
    Node,
    Table,
    Anything,
}

impl Listener for Check {
    type Error = Refusal;

    fn name(&mut self, name: &'static str) -> Result<(), Refusal> {
        self.next = match name {
            "NodeId" => Next::Node,
            "PerNode" => Next::Table,
            _ => Next::Anything,
        };
        Ok(())
    }

    fn list(&mut self, length: usize) -> Result<(), Refusal> {
        let n = self.n;
        match std::mem::replace(&mut self.next, Next::Anything) {
            Next::Table if length != n => {
                Err(Refusal::new(format!("it has a table of {length} values, and each of {n} nodes has one")))
            }
            _ if length > n => {
                Err(Refusal::new(format!("it has a list of {length}, and {n} nodes need no more than {n}")))
            }
            _ => Ok(()),
        }
    }

    fn whole(&mut self, value: u64) -> Result<(), Refusal> {
        match std::mem::replace(&mut self.next, Next::Anything) {
            Next::Node if value > self.n as u64 => {
                Err(Refusal::new(format!("it names node {value}, and there are nodes 1 to {}", self.n)))
            }
            _ if value > LARGEST_COUNT => {
                Err(Refusal::new(format!("it counts to {value}, and no run comes beyond {LARGEST_COUNT}")))
            }
            _ => Ok(()),
        }
    }
}

/// Passes on the error of a value that cannot be serialised.
impl Error for Refusal {
    fn custom<T: fmt::Display>(sentence: T) -> Self {
        Self::new(sentence.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Fence, LamportClock, NodeId, NodeQueue, NodeSet, PerNode, Stamp};

    /// Every checked type inside every kind of nesting.
    #[derive(serde::Serialize)]
    enum Msg {
        Unit,
        Nested { deep: Option<Vec<(u8, PerNode<Option<Stamp>>)>>, nodes: NodeSet },
        Queue(NodeQueue),
        Map(std::collections::BTreeMap<NodeId, i64>),
    }

    fn refusal(msg: &impl Serialize, n: usize) -> Option<String> {
        let members = Members::new(n).expect("a few");
        check_sound(msg, &members).err().map(|refusal| refusal.to_string())
    }

    fn table(n: usize, counter: u64, node: usize) -> Msg {
        let request = Some(Stamp { counter, node: NodeId::new(node) });
        Msg::Nested { deep: Some(vec![(200, PerNode::same(n, request))]), nodes: NodeSet::first(3) }
    }

    #[test]
    fn messages_between_members_are_sound() {
        let queue = Msg::Queue(NodeId::first(3).collect());
        let map = Msg::Map(NodeId::first(3).map(|node| (node, i64::MIN)).collect());
        for msg in [Msg::Unit, table(3, LARGEST_COUNT, 2), queue, map] {
            assert_eq!(refusal(&msg, 3), None);
        }
    }

    #[test]
    fn unknown_nodes_are_found_at_any_depth() {
        let sentence = Some("it names node 4, and there are nodes 1 to 3".to_owned());
        let strangers = || NodeId::first(4).skip(2);
        assert_eq!(refusal(&table(3, 0, 3), 3), sentence);
        assert_eq!(refusal(&strangers().collect::<NodeSet>(), 3), sentence);
        assert_eq!(refusal(&Msg::Queue(strangers().collect()), 3), sentence);
        assert_eq!(refusal(&Msg::Map(strangers().map(|node| (node, 0)).collect()), 3), sentence);
    }

    #[test]
    fn a_table_has_a_value_for_each_node_and_no_other_list_is_longer() {
        for n in [2, 4] {
            let sentence = format!("it has a table of {n} values, and each of 3 nodes has one");
            assert_eq!(refusal(&table(n, 0, 0), 3), Some(sentence));
        }
        let queue = Msg::Queue([0; 4].into_iter().map(NodeId::new).collect());
        assert_eq!(
            refusal(&queue, 3),
            Some("it has a list of 4, and 3 nodes need no more than 3".to_owned())
        );
    }

    #[test]
    fn huge_counts_are_found_in_clocks_fences_and_stamps() {
        let beyond = LARGEST_COUNT + 1;
        let sentence = Some(format!("it counts to {beyond}, and no run comes beyond {LARGEST_COUNT}"));
        assert_eq!(refusal(&table(3, beyond, 0), 3), sentence);
        assert_eq!(refusal(&(Fence(7), LamportClock::at(beyond)), 3), sentence);
        assert_eq!(refusal(&Fence(beyond), 3), sentence);
        assert_eq!(refusal(&(NodeId::new(2), 4_u64), 3), None);
    }

    #[test]
    fn type_names_do_not_change_the_encoding() {
        let stamp = Stamp { counter: 41, node: NodeId::new(299) };
        let table = PerNode::from(vec![stamp; 2]);
        assert_eq!(postcard::to_stdvec(&table), Ok(vec![2, 41, 172, 2, 41, 172, 2]));
        assert_eq!(postcard::from_bytes(&[2, 41, 172, 2, 41, 172, 2]), Ok(table.clone()));
        let text = r#"[{"counter":41,"node":300},{"counter":41,"node":300}]"#;
        assert_eq!(serde_json::to_string(&table).ok().as_deref(), Some(text));
        assert_eq!(serde_json::from_str(text).ok(), Some(table));
        let map = std::collections::BTreeMap::from([(stamp.node, 1)]);
        assert_eq!(serde_json::to_string(&map).ok().as_deref(), Some(r#"{"300":1}"#));
        assert_eq!(serde_json::from_str(r#"{"300":1}"#).ok(), Some(map));
    }
}
