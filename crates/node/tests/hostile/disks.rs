//! Hostile disks: a node starts from what is there, or says in a sentence why it cannot.

use std::collections::BTreeSet;

use doorway_node::disk::frames::{HEADER, MARK};
use doorway_node::disk::{DiskContents, blank};
use doorway_node::timing::milliseconds;

use crate::cluster::Cluster;
use crate::corpus::{disk, nonce};
use crate::mutate::Mutator;

/// The disks of two clusters at several times of their lives, and a new one. The only voter of a cluster elects itself, so that
/// what its disk says about terms matters at once.
fn disks() -> Vec<Vec<u8>> {
    let mut disks = vec![blank(disk(0), nonce(9))];
    for n in [1, 3] {
        let mut cluster = Cluster::new(n, "carvalho-roucairol");
        for step in 0..8 {
            cluster.run_until(milliseconds(500 * step));
            // A node starts from its own disk only, and here that is the first one.
            disks.extend(cluster.disks.first().map(|disk| disk.bytes().to_vec()));
        }
    }
    disks
}

/// The bodies of the records of a good file.
fn bodies(file: &[u8]) -> Vec<Vec<u8>> {
    let (mut bodies, mut rest) = (Vec::new(), &file[MARK.len()..]);
    while let Some((head, tail)) = rest.split_first_chunk::<HEADER>() {
        let length = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize;
        bodies.push(tail[..length].to_vec());
        rest = &tail[length..];
    }
    bodies
}

/// A file of these records, with checksums that are right.
fn file(bodies: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = MARK.to_vec();
    for (number, body) in (0_u64..).zip(bodies) {
        let mut header = (body.len() as u32).to_le_bytes().to_vec();
        header.extend(number.to_le_bytes());
        header.extend(crc32fast::hash(&header).to_le_bytes());
        bytes.extend(header);
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
    // A node that starts at the end of all numbers exceeds it, and is refused the next time.
    let written = cluster.disks[0].bytes();
    let refusal = DiskContents::read(written).err().map(|why| why.to_string());
    assert!(
        refusal.is_none_or(|why| why.contains("inconsistent")),
        "it cannot read what it wrote: {written:?}"
    );
    Ok(())
}

#[test]
fn a_damaged_file_is_refused_unless_only_its_end_is_torn() {
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
    assert!(started > 1_000, "only {started} nodes found a torn end");
    assert!(refusals.iter().any(|why| why.contains("is damaged at byte")), "{refusals:#?}");
}

/// The kinds of damage, each at a place and of a length.
fn damaged(file: &[u8], kind: usize, at: usize, length: usize) -> Vec<u8> {
    let mut bytes = file.to_vec();
    let end = (at + length).min(bytes.len());
    match kind {
        0 => bytes[at] ^= 1 << (length % 8),
        1 => bytes[at..end].fill(0),
        2 => bytes.truncate(at),
        _ => drop(bytes.splice(at..at, file[at..end].to_vec())),
    }
    bytes
}

/// Whether damage to a file of which peers know that so much is synced is refused, shows to them, or has lost nothing.
fn is_borne(damaged: &[u8], whole: &DiskContents) -> bool {
    match DiskContents::read(damaged) {
        Err(_) => true,
        Ok(left) if left.synced < whole.synced => {
            !left.identity.remembers(&whole.identity.state(whole.synced), left.synced)
        }
        Ok(mut left) => {
            left.whole = whole.whole;
            left == *whole
        }
    }
}

#[test]
fn no_single_damage_loses_synced_writes_unnoticed() {
    let disks = disks();
    let mut mutator = Mutator::new(5);
    let mut outcomes = [[0_u32; 2]; 4];
    for file in disks.iter().skip(1).step_by(3) {
        let whole = DiskContents::read(file).expect("it is whole");
        for at in 0..file.len() {
            for (kind, count) in outcomes.iter_mut().enumerate() {
                let length = [1, 8, 20, 64, 512, file.len()][mutator.below(6)];
                let bytes = damaged(file, kind, at, length);
                assert!(is_borne(&bytes, &whole), "seed 5, damage {kind} at {at} of {length} in {file:?}");
                count[usize::from(DiskContents::read(&bytes).is_err())] += 1;
            }
        }
    }
    println!("read and refused, by kind of damage: {outcomes:?}");
    for (kind, [read, refused]) in outcomes.into_iter().enumerate() {
        assert!(read > 100 && refused > 100, "damage {kind}: {read} read, {refused} refused");
    }
}

#[test]
fn a_flipped_length_and_a_hole_are_refused_with_their_byte() {
    let mut cluster = Cluster::new(3, "carvalho-roucairol");
    cluster.run_until(milliseconds(3_000));
    let file = cluster.disks[0].bytes().to_vec();
    let second = MARK.len() + HEADER + bodies(&file)[0].len();
    let refusal = |bytes: Vec<u8>| DiskContents::read(&bytes).expect_err("it is damaged").to_string();
    let flipped = damaged(&file, 0, second + 2, 1);
    let hole = damaged(&file, 1, second + HEADER, 40);
    for bytes in [flipped, hole] {
        let why = refusal(bytes);
        assert!(
            why.contains(&format!("is damaged at byte {second}:")) && why.contains("empty the data folder"),
            "{why}"
        );
    }
}

#[test]
fn nonsense_records_start_a_node_or_are_refused() {
    let disks: Vec<Vec<Vec<u8>>> = disks().iter().map(|file| bodies(file)).collect();
    let material: Vec<Vec<u8>> = disks.iter().flatten().cloned().collect();
    let mut mutator = Mutator::new(4);
    let (mut started, mut refusals) = (0, BTreeSet::new());
    for _ in 0..40_000 {
        let mut bodies = mutator.pick(&disks).clone();
        let at = mutator.below(bodies.len());
        mutator.change(&mut bodies[at], &material);
        match start(file(&bodies)) {
            Ok(()) => started += 1,
            Err(why) => drop(refusals.insert(why)),
        }
    }
    println!("{started} of 40000 started; the others:\n{refusals:#?}");
    assert!(started > 5_000, "only {started} nodes started");
    for word in [
        "two disks",
        "gap",
        "log in the file of a Doorway node is inconsistent",
        "the file of this node is inconsistent",
        "does not name its disk",
        "damaged",
    ] {
        assert!(
            refusals.iter().any(|why| why.contains(word)),
            "nothing was said about {word}: {refusals:#?}"
        );
    }
}
