//! Sets of nodes: one machine word for up to 64 nodes, a boxed slice of words beyond.

use std::fmt;
use std::hash::{Hash, Hasher};

use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::{Serialize, SerializeSeq, Serializer};

use crate::NodeId;

/// A set of nodes. It grows on demand and iterates in ascending order.
///
/// Sets with the same members are equal, whatever their capacity. That is why equality and hash are written
/// by hand here and derived everywhere else.
#[derive(Clone)]
pub struct NodeSet(Words);

#[derive(Clone)]
enum Words {
    One(u64),
    Many(Box<[u64]>),
}

impl NodeSet {
    /// The largest index that a decoded set may hold, so that one number cannot allocate gigabytes.
    const LARGEST_INDEX_FROM_OUTSIDE: usize = 1 << 20;

    /// The empty set.
    #[must_use]
    pub const fn new() -> Self {
        Self(Words::One(0))
    }

    /// The nodes with index 0 to `n` − 1.
    #[must_use]
    pub fn first(n: usize) -> Self {
        if n <= 64 {
            return Self(Words::One(low_bits(n)));
        }
        let words = (0..n.div_ceil(64)).map(|word| low_bits((n - word * 64).min(64)));
        Self(Words::Many(words.collect()))
    }

    /// Adds a node; returns whether it was missing.
    #[inline]
    pub fn insert(&mut self, node: NodeId) -> bool {
        let (word, bit) = place(node);
        if word >= self.words().len() {
            self.grow(word + 1);
        }
        let slot = &mut self.words_mut()[word];
        let missing = *slot & bit == 0;
        *slot |= bit;
        missing
    }

    #[cold]
    fn grow(&mut self, words: usize) {
        let mut grown = vec![0; words];
        grown[..self.words().len()].copy_from_slice(self.words());
        self.0 = Words::Many(grown.into_boxed_slice());
    }

    /// Removes a node; returns whether it was present.
    #[inline]
    pub fn remove(&mut self, node: NodeId) -> bool {
        let (word, bit) = place(node);
        let Some(slot) = self.words_mut().get_mut(word) else { return false };
        let there = *slot & bit != 0;
        *slot &= !bit;
        there
    }

    /// The same set without `node`.
    #[must_use]
    pub fn without(mut self, node: NodeId) -> Self {
        self.remove(node);
        self
    }

    /// Removes all members and keeps the capacity.
    pub fn clear(&mut self) {
        self.words_mut().fill(0);
    }

    /// Whether `node` is a member.
    #[inline]
    #[must_use]
    pub fn contains(&self, node: NodeId) -> bool {
        let (word, bit) = place(node);
        self.words().get(word).is_some_and(|&slot| slot & bit != 0)
    }

    /// Whether the set has no members.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match &self.0 {
            Words::One(word) => *word == 0,
            Words::Many(words) => words.iter().all(|&word| word == 0),
        }
    }

    /// The number of members.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.0 {
            Words::One(word) => word.count_ones() as usize,
            Words::Many(words) => words.iter().map(|word| word.count_ones() as usize).sum(),
        }
    }

    /// Whether the sets have a member in common.
    #[must_use]
    pub fn intersects(&self, other: &Self) -> bool {
        self.words().iter().zip(other.words()).any(|(a, b)| a & b != 0)
    }

    /// The number of members in common.
    #[must_use]
    pub fn common(&self, other: &Self) -> usize {
        self.words().iter().zip(other.words()).map(|(a, b)| (a & b).count_ones() as usize).sum()
    }

    /// Whether every node of this set is in `other`.
    #[must_use]
    pub fn is_subset(&self, other: &Self) -> bool {
        let theirs = other.words();
        self.words().iter().enumerate().all(|(i, &word)| word & !theirs.get(i).copied().unwrap_or(0) == 0)
    }

    /// The member with the smallest number.
    #[must_use]
    pub fn least(&self) -> Option<NodeId> {
        self.iter().next()
    }

    /// Removes and returns the member with the smallest number.
    #[inline]
    pub fn pop_least(&mut self) -> Option<NodeId> {
        let (word, slot) = match &mut self.0 {
            Words::One(slot) => (0, slot),
            Words::Many(words) => words.iter_mut().enumerate().find(|(_, slot)| **slot != 0)?,
        };
        let bit = slot.trailing_zeros() as usize;
        if bit == 64 {
            return None;
        }
        *slot &= *slot - 1;
        Some(NodeId::new(word * 64 + bit))
    }

    /// The members in order.
    #[must_use]
    pub fn iter(&self) -> Iter<'_> {
        let words = self.words();
        Iter { words, word: 0, rest: words[0] }
    }

    #[inline]
    fn words(&self) -> &[u64] {
        match &self.0 {
            Words::One(word) => std::slice::from_ref(word),
            Words::Many(words) => words,
        }
    }

    #[inline]
    fn words_mut(&mut self) -> &mut [u64] {
        match &mut self.0 {
            Words::One(word) => std::slice::from_mut(word),
            Words::Many(words) => words,
        }
    }

    fn trimmed(&self) -> &[u64] {
        let words = self.words();
        let used = words.iter().rposition(|&word| word != 0).map_or(0, |last| last + 1);
        &words[..used]
    }
}

fn low_bits(n: usize) -> u64 {
    if n == 64 { u64::MAX } else { (1 << n) - 1 }
}

#[inline]
fn place(node: NodeId) -> (usize, u64) {
    (node.index() / 64, 1 << (node.index() % 64))
}

/// The members of a [`NodeSet`] in order.
#[derive(Clone, Debug)]
pub struct Iter<'a> {
    words: &'a [u64],
    word: usize,
    rest: u64,
}

impl Iterator for Iter<'_> {
    type Item = NodeId;

    fn next(&mut self) -> Option<NodeId> {
        while self.rest == 0 {
            self.word += 1;
            self.rest = *self.words.get(self.word)?;
        }
        let bit = self.rest.trailing_zeros() as usize;
        self.rest &= self.rest - 1;
        Some(NodeId::new(self.word * 64 + bit))
    }
}

impl<'a> IntoIterator for &'a NodeSet {
    type Item = NodeId;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

impl FromIterator<NodeId> for NodeSet {
    fn from_iter<I: IntoIterator<Item = NodeId>>(nodes: I) -> Self {
        let mut set = Self::new();
        set.extend(nodes);
        set
    }
}

impl Extend<NodeId> for NodeSet {
    fn extend<I: IntoIterator<Item = NodeId>>(&mut self, nodes: I) {
        for node in nodes {
            self.insert(node);
        }
    }
}

impl Default for NodeSet {
    fn default() -> Self {
        Self::new()
    }
}

impl PartialEq for NodeSet {
    fn eq(&self, other: &Self) -> bool {
        self.trimmed() == other.trimmed()
    }
}

impl Eq for NodeSet {}

impl Hash for NodeSet {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.trimmed().hash(state);
    }
}

impl PartialOrd for NodeSet {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for NodeSet {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.iter().cmp(other.iter())
    }
}

impl fmt::Debug for NodeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self).finish()
    }
}

/// `{1, 3, 4}`, as the literature writes it.
impl fmt::Display for NodeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.iter().map(|node| node.to_string()).collect();
        write!(f, "{{{}}}", numbers.join(", "))
    }
}

impl Serialize for NodeSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_nodes(self.len(), self.iter(), serializer)
    }
}

/// Writes nodes as a list with its length first, as formats that are not self-describing require.
pub(crate) fn serialize_nodes<S: Serializer>(
    length: usize,
    nodes: impl Iterator<Item = NodeId>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut list = serializer.serialize_seq(Some(length))?;
    for node in nodes {
        list.serialize_element(&node)?;
    }
    list.end()
}

impl<'de> Deserialize<'de> for NodeSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let nodes = Vec::<NodeId>::deserialize(deserializer)?;
        match nodes.iter().find(|node| node.index() > Self::LARGEST_INDEX_FROM_OUTSIDE) {
            Some(node) => Err(D::Error::custom(format!("node {node} is too large for a set"))),
            None => Ok(nodes.into_iter().collect()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(indices: &[usize]) -> NodeSet {
        indices.iter().copied().map(NodeId::new).collect()
    }

    #[test]
    fn a_set_takes_two_words() {
        assert_eq!(size_of::<NodeSet>(), 16);
    }

    #[test]
    fn it_holds_members_on_both_sides_of_every_word_border() {
        for index in [0, 1, 63, 64, 65, 127, 128, 4095] {
            let node = NodeId::new(index);
            let mut nodes = NodeSet::new();
            assert!(nodes.insert(node) && !nodes.insert(node));
            assert!(nodes.contains(node) && nodes.len() == 1);
            assert_eq!(nodes.iter().collect::<Vec<_>>(), [node]);
            assert_eq!((nodes.clone().pop_least(), NodeSet::new().pop_least()), (Some(node), None));
            assert!(nodes.remove(node) && !nodes.remove(node));
            assert!(nodes.is_empty());
        }
    }

    #[test]
    fn first_has_exactly_the_first_n() {
        for n in [0, 1, 3, 63, 64, 65, 128, 200, 4096] {
            let all = NodeSet::first(n);
            assert_eq!(all.len(), n);
            assert!(all.iter().map(NodeId::index).eq(0..n));
            assert_eq!(all, NodeId::first(n).collect());
        }
    }

    #[test]
    fn equality_and_hash_ignore_capacity() {
        let mut grown = set(&[1, 4000]);
        grown.remove(NodeId::new(4000));
        assert_eq!(grown, set(&[1]));
        let hash = |set: &NodeSet| {
            let mut hasher = std::hash::DefaultHasher::new();
            set.hash(&mut hasher);
            hasher.finish()
        };
        assert_eq!(hash(&grown), hash(&set(&[1])));
    }

    #[test]
    fn relations_agree_with_their_definitions_across_sizes() {
        let (small, large) = (set(&[1, 5]), set(&[5, 700]));
        assert!(small.intersects(&large) && large.intersects(&small));
        assert_eq!(small.common(&large), 1);
        assert!(set(&[5]).is_subset(&large) && set(&[700]).is_subset(&large));
        assert!(!large.is_subset(&small) && !small.is_subset(&large));
        assert_eq!(large.to_string(), "{6, 701}");
    }
}
