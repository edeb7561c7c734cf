//! Absurd and malformed requests get an answer of 4xx with one sentence.

use doorway_simulator::Random;
use serde_json::{Value, json};

use crate::client::{Client, in_studio};

fn refused(client: &Client, path: &str, body: &Value) -> (u16, String) {
    let answer = client.post(path, body);
    (answer.status, answer.error())
}

#[test]
fn absurd_numbers_get_4xx_with_one_sentence() {
    in_studio(|client| {
        let run = |body: Value| refused(client, "/runs", &body);
        assert_eq!(
            run(json!({"algorithm": "maekawa", "nodes": 1_000_000_000_u64})),
            (422, "A run here has at most 128 nodes, not 1000000000.".to_owned())
        );
        let many = json!({"algorithm": "maekawa", "nodes": "99999999999999999999999999"});
        assert_eq!(run(many), (400, "Nodes: 99999999999999999999999999 is too large a number.".to_owned()));
        assert_eq!(run(json!({"algorithm": "central", "nodes": 0})).0, 400);
        assert_eq!(run(json!({"algorithm": "central", "nodes": -1})).0, 400);
        assert_eq!(
            run(json!({"algorithm": "central", "entries": 5_001})),
            (422, "A run here has at most 5000 entries, not 5001.".to_owned())
        );
        assert_eq!(run(json!({"algorithm": "central", "latency": "1e99"})).0, 400);
        assert_eq!(run(json!({"algorithm": "central", "crash": ["9@1"]})).0, 422);
        assert_eq!(
            refused(client, "/checks", &json!({"algorithm": "central", "nodes": 9})),
            (422, "A check here has at most 8 nodes, not 9.".to_owned())
        );
        let huge = json!({"algorithm": "bakery", "nodes": 2, "tickets": 4_000_000_000_u32});
        assert_eq!(refused(client, "/checks", &huge).0, 422);
        let sizes = json!({"nodes": [4, 129]});
        let sentence = "A run here has at most 128 nodes, not 129.".to_owned();
        assert_eq!(refused(client, "/comparisons", &sizes), (422, sentence));
        let sentence = "A quorum system here has at most 64 nodes, not 1000000.".to_owned();
        assert_eq!(
            refused(client, "/quorums", &json!({"kind": "grid", "nodes": 1_000_000})),
            (422, sentence)
        );
        let script = json!({"script": "algorithm central\nnodes 1000000\nrequest 1"});
        assert_eq!(run(script), (422, "A run here has at most 128 nodes, not 1000000.".to_owned()));
    });
}

#[test]
fn malformed_scripts_get_4xx_with_one_sentence_that_has_the_line() {
    in_studio(|client| {
        let run = |text: &str| refused(client, "/runs", &json!({"script": text}));
        let (status, sentence) = run("algorithm central\nnodes 3\nrequets 2");
        assert_eq!(status, 400);
        assert!(sentence.starts_with("Line 3 of the script: `requets 2` is no action"), "{sentence}");
        let (status, sentence) = run("algorithm bakery\nnodes 2\nstep 1\nleap 2");
        assert_eq!(status, 400);
        assert!(sentence.starts_with("Line 4 of the script: \"leap 2\" is no step"), "{sentence}");
        assert_eq!(run("request 1"), (422, "There is no algorithm \"\".".to_owned()));
        let (status, sentence) = run("example:nothing");
        assert_eq!(status, 422);
        assert!(sentence.starts_with("No script \"nothing\" ships with Doorway"), "{sentence}");
        assert_eq!(run(&"x".repeat(100_000)).0, 400);
        let sentence = "Line 4 of the script: there is no node 7: nodes are 1 to 3.".to_owned();
        assert_eq!(run("algorithm central\nnodes 3\nrequest 1\nrequest 7"), (422, sentence));
    });
}

#[test]
fn words_that_say_nothing_are_refused_by_their_name() {
    in_studio(|client| {
        let run = |body: Value| refused(client, "/runs", &body);
        assert_eq!(
            run(json!({"algorithm": "nothing"})),
            (422, "There is no algorithm \"nothing\".".to_owned())
        );
        assert_eq!(run(json!({})), (400, "A run is given by one of algorithm, script and trace.".to_owned()));
        assert!(run(json!({"algorithm": "central", "speed": 3})).1.contains("unknown field `speed`"));
        assert!(run(json!({"algorithm": "central", "load": "heavy"})).1.starts_with("Load: \"heavy\""));
        assert!(run(json!({"algorithm": "bakery"})).1.contains("it shares memory"));
        let quorum = json!({"algorithm": "maekawa", "nodes": 8, "options": {"quorum": "plane"}});
        assert_eq!(run(quorum).0, 422);
        let (status, sentence) =
            refused(client, "/checks", &json!({"algorithm": "central", "properties": ["x"]}));
        assert_eq!(status, 400);
        assert!(
            sentence.starts_with("Property: \"x\" cannot be decided: lock, all, mutual-exclusion"),
            "{sentence}"
        );
        assert_eq!(client.post("/exports?format=pdf", &json!({"algorithm": "central"})).status, 400);
        assert_eq!(client.post("/runs?wait=long", &json!({"algorithm": "central"})).status, 400);
        assert_eq!(client.post_bytes("/runs", b"{\"algorithm\"").status, 400);
        assert_eq!(client.post_bytes("/runs", b"\xff\xfe").status, 400);
        let sentence = "The body is a list: send an object with names, as in {\"kind\": \"grid\"}.";
        for path in ["/runs", "/checks", "/comparisons", "/quorums"] {
            assert_eq!(refused(client, path, &json!(["central"])), (400, sentence.to_owned()), "{path}");
        }
    });
}

#[test]
fn nothing_is_read_from_the_disk_of_the_machine() {
    in_studio(|client| {
        for word in ["file:/etc/hostname", "file:../../Cargo.toml", "example:../Cargo.toml"] {
            let body = json!({"algorithm": "maekawa", "nodes": 2, "options": {"quorum": word}});
            let (status, sentence) = refused(client, "/runs", &body);
            assert_eq!(status, 400);
            assert!(sentence.starts_with("No file") && sentence.contains("ships with Doorway"), "{sentence}");
        }
        for path in ["/../Cargo.toml", "/..%2fCargo.toml", "/%2e%2e/src/lib.rs", "//etc/hostname"] {
            assert_eq!(client.get(path).status, 404, "{path}");
        }
        let mine = json!({
            "algorithm": "maekawa", "nodes": 2, "entries": 2,
            "options": {"quorum": "file:mine"}, "files": {"mine": "1: 1 2\n2: 1 2\n"},
        });
        assert_eq!(client.result("/runs", &mine)["report"]["entries"], 2);
    });
}

#[test]
fn oversize_bodies_are_refused() {
    in_studio(|client| {
        let sentence = "What was sent is too large: at most 256 kB are read, or 16 MB with a recorded run.";
        let long = json!({"script": format!("algorithm central\n# {}", "x".repeat(300_000))});
        for path in ["/runs", "/exports?format=svg", "/checks", "/comparisons", "/quorums"] {
            let answer = client.post(path, &long);
            assert_eq!((answer.status, answer.error()), (413, sentence.to_owned()), "{path}");
        }
        assert_eq!(client.post_bytes("/runs", &vec![b' '; 17 << 20]).status, 413);
        let trace =
            client.post("/exports?format=jsonl", &json!({"algorithm": "lamport", "entries": 400})).text();
        assert!(trace.len() > 300_000, "{}", trace.len());
        assert_eq!(client.result("/runs", &json!({"trace": trace}))["trouble"], Value::Null);
    });
}

#[test]
fn unknown_jobs_paths_and_methods_are_refused() {
    in_studio(|client| {
        for path in ["/api/v1/jobs/99", "/api/v1/jobs/99/progress", "/api/v1/jobs/x", "/api/v1/jobs/-1"] {
            let answer = client.get(path);
            let sentence = "There is no such job: it never was, or was so long ago that it is forgotten.";
            assert_eq!((answer.status, answer.error()), (404, sentence.to_owned()), "{path}");
        }
        assert_eq!(client.delete("/api/v1/jobs/99").status, 404);
        for path in ["/api/v1/nothing", "/api/v1/", "/api/v1", "/api/v2/runs", "/api"] {
            let answer = client.get(path);
            assert_eq!(answer.status, 404, "{path}");
            answer.error();
        }
        let answer = client.get("/api/v1/runs");
        assert_eq!(
            (answer.status, answer.error()),
            (405, "This path of the API is not for this method.".to_owned())
        );
        assert_eq!(client.get("/no-such-page.js").status, 404);
    });
}

#[test]
fn hostile_bytes_on_the_socket_do_not_bring_it_down() {
    in_studio(|client| {
        for seed in 1..=60 {
            let mut random = Random::new(seed, 0);
            let length = (random.fraction() * 3_000.0) as usize;
            let mut noise: Vec<u8> = (0..length).map(|_| (random.fraction() * 256.0) as u8).collect();
            if seed % 3 == 0 {
                noise = [b"POST /api/v1/runs HTTP/1.1\r\nHost: ".as_slice(), &noise].concat();
            }
            noise.extend_from_slice(b"\r\n\r\n");
            let answer = client.raw(&noise);
            assert!(!answer.starts_with(b"HTTP/1.1 2") && !answer.starts_with(b"HTTP/1.1 5"), "seed {seed}");
        }
        let deep = format!("{{\"options\":{}", "[".repeat(200_000));
        assert_eq!(client.post_bytes("/runs", deep.as_bytes()).status, 400);
        assert_eq!(client.get("/api/v1/catalog").status, 200);
    });
}
