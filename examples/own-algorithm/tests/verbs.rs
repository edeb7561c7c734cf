//! The program with Martin's algorithm in it is the whole command: every verb knows the algorithm.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A folder for one test, in which its commands run.
struct Place(PathBuf);

impl Place {
    fn new(test: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("a folder for the test");
        Self(folder)
    }

    fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_own-algorithm"));
        command.args(line.split(' ')).current_dir(&self.0);
        command.env("XDG_RUNTIME_DIR", &self.0).env_remove("DOORWAY_SOCKET");
        command
    }

    /// What a command prints that must succeed.
    fn prints(&self, line: &str) -> String {
        let output = self.command(line).output().expect("it starts");
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(0), "{line}\n{out}{err}");
        out.into_owned()
    }

    fn file(&self, name: &str) -> String {
        fs::read_to_string(self.0.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }
}

/// A process that ends with the test.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_laboratory_knows_it() {
    let place = Place::new("laboratory");
    for (line, part) in [
        ("algorithms", "martin"),
        ("explain martin", "Martin's algorithm"),
        ("simulate martin --nodes 5 --invariants --trace run.jsonl", "martin, 5 nodes"),
        ("trace show run.jsonl", "TOKEN"),
        ("trace html run.jsonl --out run.html", ""),
        ("trace svg run.jsonl --out run.svg", ""),
        ("check martin --nodes 3", "mutual-exclusion"),
        ("compare martin raymond --nodes 4", "martin"),
        ("sweep --algorithms martin --nodes 2,3 --seeds 1..2 --entries 10 --out rows", "4 runs made"),
        ("bank --simulated --algorithm martin --runs 3", "martin"),
        ("chaos --algorithm martin --nodes 3 --virtual 20s --seeds 2", "martin"),
        ("completions bash", "martin"),
    ] {
        let page = place.prints(line);
        assert!(page.contains(part), "{line}\n{page}");
    }
    let page = place.file("run.html");
    assert!(page.contains("\"known\":") && !page.contains("\"known\":0,"), "it has the states of the nodes");
    assert!(place.file("rows/runs.csv").lines().nth(1).is_some_and(|row| row.contains("martin")));
}

#[test]
fn a_script_of_it_is_played() {
    let place = Place::new("script");
    let script = "algorithm martin\nnodes 2\nrequest 1\nexpect inside 1\n";
    fs::write(place.0.join("own.script"), script).expect("a file");
    place.prints("simulate --script own.script");
}

#[test]
fn a_real_node_locks_with_it() {
    let place = Place::new("node");
    let address = TcpListener::bind(("127.0.0.1", 0)).and_then(|free| free.local_addr()).expect("a port");
    place.prints(&format!("cluster init lab --nodes a={address} --algorithm martin"));
    place.prints("node --config lab/a/node.toml --check");
    let mut node = place.command("node --config lab/a/node.toml");
    let _node = Ended(node.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts"));
    let began = std::time::Instant::now();
    // The lock's own patience begins when the daemon is there.
    while !place.command("status").output().expect("it starts").status.success() {
        assert!(began.elapsed().as_secs() < 60, "the node does not answer");
    }
    assert_eq!(place.prints("lock demo --wait 60s -- echo inside"), "inside\n");
    assert!(place.prints("status --json").contains("\"martin\""));
}

#[test]
fn the_studio_runs_it() {
    let place = Place::new("studio");
    let mut studio = place.command("studio --port 0");
    let mut studio = Ended(studio.stdout(Stdio::piped()).spawn().expect("it starts"));
    let mut line = String::new();
    BufReader::new(studio.0.stdout.take().expect("a pipe")).read_line(&mut line).expect("it says where");
    let address = line.split("//").nth(1).and_then(|rest| rest.split('/').next()).expect(&line).to_owned();
    let body = "{\"algorithm\":\"martin\",\"nodes\":3,\"entries\":3}";
    let request = format!(
        "POST /api/v1/runs?wait=30000 HTTP/1.1\r\nHost: {address}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(&address).expect("it listens");
    stream.write_all(request.as_bytes()).expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("\"TOKEN\""), "{answer}");
}
