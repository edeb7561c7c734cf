//! The identity in a certificate: the names of the node and its cluster, written like a host name.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

use doorway_core::Refusal;
use doorway_node::{DiskId, Nonce};

/// The name in the certificate of a node.
///
/// # Errors
/// If the node or the cluster has a name that no certificate can tell from all others.
pub fn certified_name(node: &str, cluster: &str) -> Result<String, Refusal> {
    check_name("node", node)?;
    check_name("cluster", cluster)?;
    Ok(format!("{node}.{cluster}.doorway"))
}

/// Refuses names that a node or cluster may not have. Certificates do not distinguish upper and lower case, and have no
/// names that begin or end with a dash.
///
/// # Errors
/// What a name must be.
pub fn check_name(what: &str, name: &str) -> Result<(), Refusal> {
    if is_name(name) {
        return Ok(());
    }
    Err(Refusal::new(format!(
        "{name:?} is not a name for a {what}: write 1 to 63 lowercase letters, digits, _ and, not at the ends, -"
    )))
}

/// Whether a node or a cluster may be called this.
#[must_use]
pub fn is_name(name: &str) -> bool {
    let is_small =
        |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "-_".contains(letter);
    (1..=63).contains(&name.len())
        && name.chars().all(is_small)
        && !name.starts_with('-')
        && !name.ends_with('-')
}

/// The number of a new data folder, which no other has: drawn from the chance of the operating system.
#[must_use]
pub fn new_disk() -> DiskId {
    DiskId(draw())
}

/// A random number that no two nodes may draw alike, such as the one of each start.
#[must_use]
pub fn new_nonce() -> Nonce {
    Nonce(u128::from(draw()) << 64 | u128::from(draw()))
}

/// A random number: the standard library seeds its hashers from the operating system's random source.
pub fn draw() -> u64 {
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_certificates_tell_apart_are_certified() {
        assert_eq!(certified_name("a_1", "my-lab").expect("good names"), "a_1.my-lab.doorway");
        for (node, cluster) in
            [("A", "lab"), ("-a", "lab"), ("a-", "lab"), ("", "lab"), ("a", "l.b"), ("a", "")]
        {
            assert!(certified_name(node, cluster).is_err(), "{node:?} of {cluster:?}");
        }
        assert_ne!(new_disk(), new_disk());
        assert_ne!(new_nonce(), new_nonce());
    }
}
