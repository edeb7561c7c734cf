//! A disk that is full.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use doorway_node::disk::DiskContents;

use crate::cluster::{Cluster, wait_for};

/// A small file system in memory, gone when this is.
struct Small(PathBuf);

impl Small {
    /// Mounts one, if this process may.
    fn mount(folder: &Path) -> Option<Self> {
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"])
            .arg(folder)
            .output()
            .is_ok_and(|output| output.status.success());
        mounted.then(|| Self(folder.to_owned()))
    }

    /// Leaves no room for anything.
    fn fill(&self) -> PathBuf {
        let junk = self.0.join("junk");
        let mut bytes = vec![0; 64 << 10];
        while fs::write(&junk, &bytes).is_err() {
            bytes.truncate(bytes.len() - 4_096);
        }
        junk
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).output();
    }
}

#[test]
fn a_full_disk_blocks_no_other_node() {
    let mut cluster = Cluster::running(3);
    ["a", "b", "c"].iter().for_each(|name| cluster.kill(name));
    let data = cluster.config("a").data;
    let log = data.join("node.log");
    let mut bytes = fs::read(&log).expect("it was founded");
    let Some(small) = Small::mount(&data) else {
        eprintln!("skipped: only the superuser can mount a small file system");
        return;
    };
    // So many starts are on record that the file ends shortly before the end of a page, behind which there is no room.
    let page = 4_096;
    let DiskContents { synced, identity, .. } = DiskContents::read(&bytes).expect("it is whole");
    let mut starts = (synced..).zip(identity.boot() + 1..).map(|(number, boot)| start_frame(number, boot));
    while bytes.len() % page < page - 60 {
        bytes.extend(starts.next().unwrap_or_default());
    }
    fs::write(&log, &bytes).expect("there is room for that");
    let junk = small.fill();
    ["a", "b", "c"].iter().for_each(|name| cluster.start(name));
    wait_for("the disk of a is not writable", || {
        let own = cluster.client("a").status(false).nodes.into_iter().find_map(|node| node.own);
        own.is_some_and(|own| own.standing == "disk not writable")
    });
    wait_for("b and c let clients in", || ["b", "c"].iter().all(|name| cluster.daemons[*name].is_ready()));
    let before = cluster.client("b").pass("door");
    assert!(!cluster.daemons["a"].is_ready());
    fs::remove_file(junk).expect("it is ours");
    cluster.wait_until_ready();
    let fence = cluster.client("a").pass("door");
    assert!(before < fence);
    cluster.kill("a");
    cluster.start("a");
    cluster.wait_until_ready();
    assert!(fence < cluster.client("a").pass("door"), "what it wrote is whole");
    ["a", "b", "c"].iter().for_each(|name| cluster.kill(name));
}

/// The write of a node's disk that tells of its so-manieth start, with its number, length and checksums.
fn start_frame(number: u64, boot: u64) -> Vec<u8> {
    // One record, of the second kind, with a varint and a nonce of two zeros.
    let mut body = vec![1, 1];
    if boot >= 128 {
        body.push(boot as u8 | 128);
        body.push((boot >> 7) as u8);
    } else {
        body.push(boot as u8);
    }
    body.extend([0, 0]);
    let mut frame = (body.len() as u32).to_le_bytes().to_vec();
    frame.extend(number.to_le_bytes());
    frame.extend(checksum(&frame).to_le_bytes());
    frame.extend(checksum(&body).to_le_bytes());
    frame.extend(body);
    frame
}

/// The usual checksum of 32 bits.
fn checksum(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| (sum >> 1) ^ if sum & 1 == 1 { 0xEDB8_8320 } else { 0 })
    })
}
