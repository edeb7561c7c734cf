//! The memory that processes share, as JSON.

use doorway_checker::{Barriers, MemorySetting};
use serde_json::{Value, json};

/// What memory it is.
#[must_use]
pub fn described(setting: &MemorySetting) -> Value {
    let barriers = match &setting.barriers {
        Barriers::All => json!("on"),
        Barriers::None => json!("off"),
        Barriers::Only(numbers) => json!(numbers),
    };
    json!({
        "registers": setting.registers.name(),
        "memory": setting.memory.name(),
        "barriers": barriers,
        "buffer": setting.capacity,
        "tickets": setting.tickets,
    })
}
