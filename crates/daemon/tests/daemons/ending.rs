//! How daemons of this process end.

use std::collections::BTreeMap;
use std::sync::mpsc;
use std::thread;

use doorway_daemon::{Config, founding};

use crate::client::PATIENCE;
use crate::cluster::{start, wait_for};
use crate::ports::free_address;
use crate::record::Record;

#[test]
fn dropping_a_daemon_in_a_task_does_not_block_it() {
    let record = Record::kept();
    let folder = std::env::temp_dir().join(format!("doorway-ending-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    let nodes = [("slowpoke".to_owned(), free_address())];
    founding::found(&folder, "lab", &nodes, Config::ALGORITHM, &BTreeMap::new()).expect("a good cluster");
    let mut config = Config::load(&folder.join("slowpoke").join("node.toml")).expect("a good configuration");
    config.socket = Some(folder.join("node.sock"));
    let daemon = start(config.clone()).expect("it starts");
    wait_for("it lets clients in", || daemon.is_ready());
    // It cannot end before it has logged that, and the reader of the log still holds it up.
    let held = record.hold("stopped node=\"slowpoke\"");
    let (sender, dropped) = mpsc::channel();
    let task = thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(async move { drop(daemon) });
        sender.send(()).expect("somebody waits for it");
    });
    let is_dropped = dropped.recv_timeout(PATIENCE).is_ok();
    // A second start waits until it has ended.
    let again = thread::spawn(move || start(config).map_err(|refusal| refusal.to_string()));
    drop(held);
    task.join().expect("the task");
    assert!(is_dropped, "the drop has waited for the daemon's end");
    let again = again.join().expect("it does not panic").expect("it starts");
    wait_for("it lets clients in again", || again.is_ready());
    again.end();
    let _ = std::fs::remove_dir_all(&folder);
}
