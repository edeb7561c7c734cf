//! A process that may open few files: a daemon that can accept no connection for a while, one that has few descriptors from the start, and the
//! verbs that ask it.

use std::fs;
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::time::Instant;

use doorway_protocol::DaemonMsg;
use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};

use crate::addresses::from_elsewhere;
use crate::fleet::{Cluster, Dev, LONG, command, start, until};
use crate::rights::first_word;
use crate::terminal;

/// How many files a process may open from now on; those that are open stay so.
fn limit_files(process: Pid, most: Option<u64>) {
    let maximum = getrlimit(Resource::Nofile).maximum;
    let limit = Rlimit { current: most.or(maximum), maximum };
    prlimit(Some(process), Resource::Nofile, limit).expect("it is ours");
}

/// The address at which a node listens for others.
fn address(cluster: &Cluster, node: &str) -> String {
    let text = fs::read_to_string(cluster.config(node)).expect("it was written");
    let (_, own) = text.split_once(&format!("name = \"{node}\"")).expect("it is among the nodes");
    let address = own.lines().find_map(|line| line.trim().strip_prefix("address = "));
    address.expect("it has one").trim_matches('"').to_owned()
}

/// Connects to a socket, and waits for an answer no longer than for anything else.
fn client(cluster: &Cluster, socket: &str) -> UnixStream {
    let path = cluster.folder.0.join("doorway").join(socket);
    let client = UnixStream::connect(path).expect("it listens");
    client.set_read_timeout(Some(LONG)).expect("a socket");
    client
}

/// Waits until one node hears another one, as that is asked at the first.
fn await_heard(cluster: &Cluster, by: &str, node: &str) {
    until(&format!("{by} hears {node}"), || {
        let status = cluster.status(by);
        let nodes = status["nodes"].as_array().cloned().unwrap_or_default();
        nodes
            .iter()
            .any(|other| other["name"] == node && other["is_member"] == true && !other["own"].is_null())
    });
}

#[test]
fn a_daemon_without_descriptors_backs_off_until_it_has_some() {
    let mut cluster = Cluster::new("no-files", &["a", "b", "c"]);
    let hold = ["lock", "door", "--node", "a", "--", "sh", "-c", "echo in; read line"];
    let mut holder = start(command(&cluster.folder.0, &hold));
    assert_eq!(holder.line(), "in");
    let process = cluster.process("a").pid();
    let began = Instant::now();
    limit_files(process, Some(3));
    let waiting = client(&cluster, "a.sock");
    let _stranger = TcpStream::connect(address(&cluster, "a")).expect("the system lets it wait");
    let sentences = ["cannot accept client connections", "cannot accept node connections"];
    let told = |cluster: &Cluster, sentence: &str| -> Vec<u64> {
        let log = cluster.log("a");
        let lines = log.lines().filter(|line| line.contains(sentence));
        let unlogged = |line: &str| line.split_once("unlogged=")?.1.split_whitespace().next()?.parse().ok();
        lines.map(|line| unlogged(line).expect("it says how many it left out")).collect()
    };
    for sentence in sentences {
        until(sentence, || told(&cluster, sentence).len() >= 3);
        let (lines, span) = (told(&cluster, sentence), began.elapsed());
        let seconds = span.as_secs() as usize + 1;
        assert!(lines.len() <= seconds + 1, "{} lines in {span:?}", lines.len());
        // Pauses of 10, 20, 40, 80, 160, 320 ms and then of 500 ms.
        let tried = lines.len() + lines.iter().sum::<u64>() as usize;
        assert!(tried <= 7 + 2 * seconds, "{tried} attempts in {span:?}");
    }
    limit_files(process, None);
    assert!(matches!(first_word(&waiting), DaemonMsg::Welcome { .. }), "it has waited, and is served");
    cluster.kill("b");
    cluster.start("b");
    cluster.await_ready("b");
    await_heard(&cluster, "a", "b");
    holder.type_line("leave");
    assert_eq!(holder.end().0, 0, "whoever was inside has noticed nothing");
}

#[test]
fn a_daemon_with_few_descriptors_keeps_some_for_its_peers() {
    const FILES: usize = 64;
    let mut cluster = Cluster::found("few-files", &["a", "b", "c"]);
    ["b", "c"].iter().for_each(|name| cluster.start(name));
    let mut limited = Command::new("sh");
    let (binary, config) = (env!("CARGO_BIN_EXE_doorway"), cluster.config("a"));
    let script = format!("ulimit -n {FILES} && exec '{binary}' node --config '{config}'");
    limited.args(["-c", &script]).env("XDG_RUNTIME_DIR", &cluster.folder.0).env_remove("DOORWAY_SOCKET");
    cluster.start_by("a", limited);
    ["a", "b", "c"].iter().for_each(|name| cluster.await_ready(name));
    doorway_daemon::Daemon::raise_file_limit();
    // Each client is served or told why not, and strangers come from where no peer is.
    let mut idle = Vec::new();
    for socket in ["a.sock", "a.admin.sock"] {
        let clients: Vec<UnixStream> = (0..150).map(|_| client(&cluster, socket)).collect();
        let is_served = |client: &UnixStream| match first_word(client) {
            DaemonMsg::Welcome { .. } => true,
            DaemonMsg::Goodbye { .. } => false,
            told => panic!("neither served nor told why not but {told:?}"),
        };
        let served = clients.iter().filter(|client| is_served(client)).count();
        assert!((1..FILES / 4).contains(&served), "{served} of {socket}");
        idle.push(clients);
    }
    let to = address(&cluster, "a");
    let strangers: Vec<TcpStream> = (0..150).map_while(|_| from_elsewhere(&to, 2).ok()).collect();
    if strangers.is_empty() {
        eprintln!("this machine has no second address: no strangers come");
    }
    // A peer that comes now is heard.
    cluster.kill("b");
    cluster.start("b");
    cluster.await_ready("b");
    await_heard(&cluster, "b", "a");
    let log = cluster.log("a");
    let failed: Vec<&str> = log.lines().filter(|line| line.contains("cannot accept")).collect();
    assert_eq!(failed, Vec::<&str>::new(), "there was a descriptor for everybody who was accepted");
    drop((idle, strangers));
}

#[test]
fn verbs_report_a_low_limit_of_open_files() {
    let dev = Dev::new("few-for-verbs");
    let clean = "for path in /proc/$$/fd/*; do fd=${path##*/}; \
        if [ $fd -gt 2 ] && [ $fd -ne 255 ]; then eval \"exec $fd>&-\"; fi; done";
    let run = |most: u32, words: &[&str]| {
        let script = format!("{clean}; ulimit -n {most}; exec \"$@\"");
        let mut shell = Command::new("bash");
        shell.args(["-c", &script, "bash", env!("CARGO_BIN_EXE_doorway")]).args(words);
        shell.env("XDG_RUNTIME_DIR", &dev.runtime.0).env_remove("DOORWAY_SOCKET");
        let output = shell.output().expect("a shell");
        (output.status.code().unwrap_or(-1), terminal::text(&output.stderr))
    };
    for words in [&["status"][..], &["status", "--node", "a"], &["break", "x", "--yes"], &["node", "stop"]] {
        // With three the system does not even start a program.
        for most in 4..=6 {
            let (code, said) = run(most, words);
            assert_eq!((code, said.lines().count()), (1, 1), "{words:?} with {most}: {said}");
            assert!(
                said.contains("reached its limit of open files") && said.contains("`ulimit -n 64`"),
                "{words:?}: {said}"
            );
        }
    }
    assert_eq!(run(64, &["status"]), (0, String::new()), "what is advised helps");
}
