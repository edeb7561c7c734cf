//! Jobs: waiting, progress, cancelling, limits.

use std::io::Write;
use std::net::TcpStream;

use doorway_catalog::Catalog;
use doorway_core::{
    About, Algorithm, Channels, Cost, Entry, Explain, Factory, Family, Field, Hints, NodeId, NodeSet, Out,
    Rule,
};
use serde::Serialize;
use serde_json::{Value, json};

use crate::client::{Client, in_studio, in_studio_with};

/// A check that would take minutes.
fn long_check() -> Value {
    json!({"algorithm": "lamport", "nodes": 6, "requests": [3]})
}

fn begun(client: &Client, path: &str, body: &Value) -> String {
    let answer = client.post(&format!("{path}?wait=0"), body);
    assert_eq!(answer.status, 202, "{}", answer.text());
    let told = answer.json();
    assert_eq!((&told["version"], &told["state"]), (&json!(1), &json!("running")));
    told["job"].as_str().expect("a job").to_owned()
}

#[test]
fn a_cancelled_job_stops_within_a_second() {
    in_studio(|client| {
        // The answer waits for the end of the work, for a second and no longer.
        for (path, body) in [
            ("/checks", long_check()),
            ("/checks", json!({"algorithm": "bakery", "nodes": 4, "properties": ["all"]})),
            ("/checks/all", json!(null)),
            (
                "/comparisons",
                json!({"nodes": [100, 120], "entries": 5_000, "loads": ["saturated", "isolated"]}),
            ),
        ] {
            let id = begun(client, path, &body);
            let answer = client.delete(&format!("/api/v1/jobs/{id}"));
            assert_eq!((answer.status, &answer.json()["state"]), (200, &json!("cancelled")), "{path} {body}");
            let told = client.get(&format!("/api/v1/jobs/{id}")).json();
            assert_eq!((&told["state"], told.get("result")), (&json!("cancelled"), None));
        }
    });
}

#[test]
fn progress_is_told_until_the_job_is_over() {
    in_studio(|client| {
        let id = begun(client, "/checks", &json!({"algorithm": "lamport", "nodes": 3}));
        let stream = client.get(&format!("/api/v1/jobs/{id}/progress"));
        assert_eq!(stream.header("content-type"), Some("text/event-stream"));
        let text = stream.text();
        assert!(text.contains("event: progress\ndata: {\"done\":"), "{text}");
        let (_, end) = text.split_once("event: done\ndata: ").expect("it ends");
        let outline: Value = serde_json::from_str(end.lines().next().expect("its data")).expect("JSON");
        assert_eq!(
            (&outline["job"], &outline["state"], outline.get("result")),
            (&json!(id), &json!("done"), None)
        );
        let told = client.get(&format!("/api/v1/jobs/{id}")).json();
        assert_eq!(told["result"]["states"], 178_522);
        let late = client.get(&format!("/api/v1/jobs/{id}/progress")).text();
        assert!(late.contains("event: done") && !late.contains("event: progress"), "{late}");
    });
}

#[test]
fn a_cancelled_job_ends_its_stream() {
    in_studio(|client| {
        let id = begun(client, "/checks", &long_check());
        std::thread::scope(|scope| {
            let stream = scope.spawn(|| client.get(&format!("/api/v1/jobs/{id}/progress")).text());
            client.delete(&format!("/api/v1/jobs/{id}"));
            let text = stream.join().expect("it ends");
            assert!(text.contains("event: cancelled\ndata: {"), "{text}");
        });
    });
}

#[test]
fn two_jobs_work_sixteen_wait_and_the_next_is_refused() {
    in_studio(|client| {
        let first = begun(client, "/checks", &long_check());
        let second = begun(client, "/checks", &long_check());
        // Both are taken up before the others come.
        for id in [&first, &second] {
            let path = format!("/api/v1/jobs/{id}");
            while client.get(&path).json()["progress"]["text"] == "waiting" {}
        }
        let waiting: Vec<String> = (0..16).map(|_| begun(client, "/checks", &long_check())).collect();
        let answer = client.post("/checks?wait=0", &long_check());
        let sentence = "16 jobs wait already: cancel one, or try again when one is done.";
        assert_eq!((answer.status, answer.error()), (429, sentence.to_owned()));
        for id in waiting.iter().chain([&first, &second]) {
            assert_eq!(client.delete(&format!("/api/v1/jobs/{id}")).json()["state"], "cancelled");
        }
        assert_eq!(client.post("/runs", &json!({"algorithm": "central", "entries": 1})).status, 200);
    });
}

#[test]
fn a_job_whose_asker_goes_away_is_cancelled() {
    in_studio(|client| {
        let (body, host) = (long_check().to_string(), client.address);
        let head = format!(
            "POST /api/v1/checks?wait=10000 HTTP/1.1\r\nHost: {host}\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        let mut stream = TcpStream::connect(host).expect("the studio listens");
        stream.write_all(format!("{head}{body}").as_bytes()).expect("it listens");
        let job = || client.get("/api/v1/jobs/1").json();
        while job()["state"] != "running" {}
        drop(stream);
        while job()["state"] == "running" {}
        assert_eq!(job()["state"], "cancelled");
    });
}

#[test]
fn old_jobs_are_forgotten() {
    in_studio(|client| {
        for _ in 0..66 {
            client.result("/runs", &json!({"algorithm": "central", "entries": 1}));
        }
        assert_eq!(client.get("/api/v1/jobs/1").status, 404);
        assert_eq!(client.get("/api/v1/jobs/66").status, 200);
    });
}

/// An algorithm that breaks down.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
struct Broken;

impl Algorithm for Broken {
    type Msg = u8;

    fn on_request(&mut self, _: &mut Out<u8>) {
        panic!("this algorithm breaks down on purpose");
    }

    fn on_message(&mut self, _: NodeId, _: u8, _: &mut Out<u8>) {}

    fn on_release(&mut self, _: &mut Out<u8>) {}
}

impl Explain for Broken {
    fn fields(&self) -> Vec<Field> {
        Vec::new()
    }

    fn waits_for(&self) -> NodeSet {
        NodeSet::new()
    }

    const RULES: &'static [Rule] = &[];
}

impl Hints for Broken {}

fn broken() -> Entry<Broken> {
    Entry {
        about: About {
            name: "broken",
            title: "Broken",
            family: Family::Central,
            needs: Channels::Any,
            messages: Cost { formula: "0", bounds: |_| [0.0, 0.0] },
            delay: "0",
            parameters: &[],
            source: "",
            specimen: None,
        },
        bind: |_| Ok(Factory::simple(|_, _, _| Broken)),
    }
}

#[test]
fn a_job_that_panics_fails_alone() {
    let catalog = Catalog::textbook().with(broken());
    in_studio_with(&catalog, |client| {
        let answer = client.post("/runs?wait=10000", &json!({"algorithm": "broken"}));
        let sentence = "This job broke down, which is a fault of Doorway and not yours.";
        assert_eq!((answer.status, answer.error()), (500, sentence.to_owned()));
        assert_eq!(client.get("/api/v1/jobs/1").json()["state"], "failed");
        client.result("/runs", &json!({"algorithm": "central", "entries": 1}));
    });
}
