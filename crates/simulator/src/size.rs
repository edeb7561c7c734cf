//! The encoded size of a message, computed without encoding it.
//!
//! Doorway encodes messages with `postcard`: integers of variable length (7 bits per byte), the variant's
//! number before the content of an enum, the length before the content of a list. Encoding every message just
//! to count its bytes would be too slow, so this listener only adds up; a test compares it with `postcard`.

use doorway_core::parts::{Listener, walk};
use doorway_core::{Kind, kind};
use serde::ser::{Error, Serialize};

/// The kind of a message, and its size in bytes with its header.
#[inline]
pub fn measure<H: Serialize, M: Serialize>(header: &H, msg: &M) -> (Kind, u64) {
    let mut size = Size(0);
    // Counting cannot fail; a type that cannot be serialised counts up to its error.
    let _ = walk(header, &mut size);
    let _ = walk(msg, &mut size);
    (kind(msg), size.0)
}

/// Bytes so far.
struct Size(u64);

impl Size {
    #[inline]
    fn add(&mut self, bytes: u64) -> Result<(), Refused> {
        self.0 += bytes;
        Ok(())
    }
}

impl Listener for Size {
    type Error = Refused;

    #[inline]
    fn variant(&mut self, index: u32, _: &'static str) -> Result<(), Refused> {
        self.whole(u64::from(index))
    }

    #[inline]
    fn list(&mut self, length: usize) -> Result<(), Refused> {
        self.whole(length as u64)
    }

    /// A number of variable length: 7 bits a byte.
    #[inline]
    fn whole(&mut self, value: u64) -> Result<(), Refused> {
        let bits = 64 - u64::from((value | 1).leading_zeros());
        // The bits divided by 7, rounded up: exact for 1 to 64, and without a division.
        self.add((bits * 9 + 64) >> 6)
    }

    /// Zigzag encoding: small numbers of either sign are short.
    #[inline]
    fn signed(&mut self, value: i64) -> Result<(), Refused> {
        self.whole(((value << 1) ^ (value >> 63)) as u64)
    }

    #[inline]
    fn fixed(&mut self, bytes: u64) -> Result<(), Refused> {
        self.add(bytes)
    }

    #[inline]
    fn text(&mut self, bytes: usize) -> Result<(), Refused> {
        self.whole(bytes as u64)?;
        self.add(bytes as u64)
    }
}

/// The error of a type that cannot be serialised.
#[derive(Debug)]
struct Refused;

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a message cannot be serialised")
    }
}

impl std::error::Error for Refused {}

impl Error for Refused {
    fn custom<T: std::fmt::Display>(_: T) -> Self {
        Refused
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use doorway_core::{Fence, NodeId, NodeQueue, NodeSet, PerNode, Stamp};
    use proptest::prelude::*;
    use serde::Serialize;

    use super::*;

    #[derive(Clone, Debug, Serialize)]
    enum Everything {
        Unit,
        Newtype(u64),
        Tuple(i64, Option<u32>, bool),
        Struct { text: String, list: Vec<u16>, map: BTreeMap<u8, i32>, letter: char, float: f64 },
        Core { stamp: Stamp, nodes: NodeSet, queue: NodeQueue, table: PerNode<Option<Stamp>> },
    }

    fn everything() -> impl Strategy<Value = Everything> {
        let stamp =
            (any::<u64>(), 0..5_000_usize).prop_map(|(counter, i)| Stamp { counter, node: NodeId::new(i) });
        let nodes = || prop::collection::vec((0..300_usize).prop_map(NodeId::new), 0..20);
        prop_oneof![
            Just(Everything::Unit),
            any::<u64>().prop_map(Everything::Newtype),
            any::<(i64, Option<u32>, bool)>().prop_map(|(a, b, c)| Everything::Tuple(a, b, c)),
            any::<(String, Vec<u16>, BTreeMap<u8, i32>, char, f64)>().prop_map(
                |(text, list, map, letter, float)| Everything::Struct { text, list, map, letter, float }
            ),
            (stamp.clone(), nodes(), nodes(), prop::collection::vec(prop::option::of(stamp), 0..9)).prop_map(
                |(stamp, nodes, queue, table)| Everything::Core {
                    stamp,
                    nodes: nodes.into_iter().collect(),
                    queue: queue.into_iter().collect(),
                    table: table.into(),
                }
            ),
        ]
    }

    proptest! {
        #[test]
        fn it_counts_what_postcard_writes(fence in any::<u64>(), msg in everything()) {
            let written = |bytes: Result<Vec<u8>, _>| bytes.expect("postcard writes all of this").len() as u64;
            let expected = written(postcard::to_stdvec(&Fence(fence))) + written(postcard::to_stdvec(&msg));
            prop_assert_eq!(measure(&Fence(fence), &msg).1, expected);
        }
    }
}
