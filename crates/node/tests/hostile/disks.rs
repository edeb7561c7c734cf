//! Hostile disks: a node starts from what is there, or says in a sentence why it cannot.

use std::collections::BTreeSet;

use doorway_node::disk::{Memory, blank};
use doorway_node::timing::milliseconds;

use crate::cluster::Cluster;
use crate::corpus::disk;
use crate::mutate::Mutator;

/// The mark at the beginning of a file.
const MARK: usize = 8;

/// The disks of two clusters at several times of their lives, and a new one. The only voter of a cluster elects itself, so that
/// what its disk says about terms matters at once.
fn disks() -> Vec<Vec<u8>> {
    let mut disks = vec![blank(disk(0))];
    for n in [1, 3] {
        let mut cluster = Cluster::new(n, "carvalho-roucairol");
        for step in 0..8 {
            cluster.run_until(milliseconds(500 * step));
            disks.extend(cluster.disks.iter().map(|disk| disk.bytes().to_vec()));
        }
    }
    disks
}

/// The bodies of the records of a good file.
fn bodies(file: &[u8]) -> Vec<Vec<u8>> {
    let (mut bodies, mut rest) = (Vec::new(), &file[MARK..]);
    while let Some((head, tail)) = rest.split_first_chunk::<8>() {
        let length = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize;
        bodies.push(tail[..length].to_vec());
        rest = &tail[length..];
    }
    bodies
}

/// A file of these records, with checksums that are right.
fn file(mark: &[u8], bodies: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = mark.to_vec();
    for body in bodies {
        bytes.extend((body.len() as u32).to_le_bytes());
        bytes.extend(crc32fast::hash(body).to_le_bytes());
        bytes.extend(body);
    }
    bytes
}

/// Starts a node from a disk and lets it live for a moment; answers with its refusal.
fn start(disk: Vec<u8>) -> Result<(), String> {
    let mut cluster =
        Cluster::on_disks(3, "carvalho-roucairol", vec![disk]).map_err(|why| why.to_string())?;
    cluster.run_until(milliseconds(1_500));
    // Whoever starts at the end of all numbers goes beyond it, and is refused the next time.
    let written = cluster.disks[0].bytes();
    let refusal = Memory::read(written).err().map(|why| why.to_string());
    assert!(refusal.is_none_or(|why| why.contains("cannot be")), "it cannot read what it wrote: {written:?}");
    Ok(())
}

#[test]
fn a_file_with_damage_anywhere_is_read_up_to_a_torn_end_or_refused() {
    let disks = disks();
    let mut mutator = Mutator::new(3);
    let (mut started, mut refusals) = (0, BTreeSet::new());
    for _ in 0..20_000 {
        match start(mutator.mutate(&disks)) {
            Ok(()) => started += 1,
            Err(why) => drop(refusals.insert(why)),
        }
    }
    println!("{started} of 20000 started; the others:\n{refusals:#?}");
    assert!(started > 5_000, "only {started} nodes found a torn end");
    assert!(refusals.iter().any(|why| why.contains("damaged in the middle")), "{refusals:#?}");
}

#[test]
fn records_that_say_nonsense_with_the_right_checksum_start_a_node_or_are_refused() {
    let disks: Vec<Vec<Vec<u8>>> = disks().iter().map(|file| bodies(file)).collect();
    let material: Vec<Vec<u8>> = disks.iter().flatten().cloned().collect();
    let mark = &blank(disk(0))[..MARK];
    let mut mutator = Mutator::new(4);
    let (mut started, mut refusals) = (0, BTreeSet::new());
    for _ in 0..40_000 {
        let mut bodies = mutator.pick(&disks).clone();
        let at = mutator.below(bodies.len());
        mutator.change(&mut bodies[at], &material);
        match start(file(mark, &bodies)) {
            Ok(()) => started += 1,
            Err(why) => drop(refusals.insert(why)),
        }
    }
    println!("{started} of 40000 started; the others:\n{refusals:#?}");
    assert!(started > 5_000, "only {started} nodes started");
    for word in [
        "two disks",
        "gap",
        "log in the file of a Doorway node cannot be",
        "says what cannot be",
        "which disk",
        "damaged",
    ] {
        assert!(
            refusals.iter().any(|why| why.contains(word)),
            "nothing was said about {word}: {refusals:#?}"
        );
    }
}
