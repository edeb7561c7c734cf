//! Hostile bytes: any bytes decode to a message or are refused.

use std::collections::BTreeMap;

use doorway_node::wire;

use crate::corpus;
use crate::mutate::Mutator;

const MUTATIONS: u64 = 3_000_000;

#[test]
fn three_million_hostile_byte_strings_are_messages_or_refused() {
    let corpus = corpus::bytes();
    let mut mutator = Mutator::new(1);
    let mut read: BTreeMap<u8, u64> = BTreeMap::new();
    for number in 0..MUTATIONS {
        let bytes = mutator.mutate(&corpus);
        let Ok(msg) = wire::decode(&bytes) else { continue };
        let written = wire::encode(&msg);
        assert_eq!(wire::decode(&written), Ok(msg), "seed 1, mutation {number}: {bytes:?}");
        *read.entry(written[1]).or_default() += 1;
    }
    // The mutations reach behind the door: thousands of each of the twelve kinds are read as messages.
    assert_eq!(read.len(), 12);
    assert!(read.values().all(|count| *count > 5_000), "{read:?}");
}

#[test]
fn a_truncated_or_extended_message_is_refused() {
    for bytes in corpus::bytes() {
        for length in 0..bytes.len() {
            assert!(wire::decode(&bytes[..length]).is_err(), "{:?}", &bytes[..length]);
        }
        let longer = [bytes.as_slice(), &[0]].concat();
        let refusal = wire::decode(&longer).expect_err("a byte too many").to_string();
        assert_eq!(refusal, "1 bytes follow the end of a message");
    }
}
