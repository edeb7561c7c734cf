//! Any bytes are a message or refused, and a message is written and read as itself.
#![no_main]

use doorway_node::wire;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(msg) = wire::decode(bytes) {
        assert_eq!(wire::decode(&wire::encode(&msg)), Ok(msg));
    }
});
