//! Who is answered, and what each answer carries.

use serde_json::json;

use crate::client::{Answer, in_studio};

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; \
                      font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

#[test]
fn every_answer_has_the_strict_policy() {
    in_studio(|client| {
        let run = json!({"algorithm": "central", "entries": 1});
        let answers: Vec<(&str, Answer)> = vec![
            ("the page", client.get("/")),
            ("a script", client.get("/app.js")),
            ("nothing", client.get("/nothing")),
            ("the catalog", client.get("/api/v1/catalog")),
            ("a run", client.post("/runs", &run)),
            ("a refusal", client.post("/runs", &json!({}))),
            ("a file", client.post("/exports?format=svg", &run)),
            ("too much", client.post_bytes("/checks", &vec![b' '; 300_000])),
            ("a stranger", client.ask("GET", "/", "Host: elsewhere.example\r\n", b"")),
            ("progress", client.get("/api/v1/jobs/1/progress")),
        ];
        for (what, answer) in answers {
            assert_eq!(answer.header("content-security-policy"), Some(POLICY), "{what}");
            assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{what}");
            assert_eq!(answer.header("referrer-policy"), Some("no-referrer"), "{what}");
            assert_eq!(answer.header("cross-origin-resource-policy"), Some("same-origin"), "{what}");
        }
    });
}

#[test]
fn foreign_hosts_and_origins_are_refused() {
    in_studio(|client| {
        let port = client.address.port();
        let status = |lines: &str| client.ask("GET", "/api/v1/catalog", lines, b"").status;
        assert_eq!(status(&format!("Host: localhost:{port}\r\n")), 200);
        assert_eq!(status(&format!("Host: 127.0.0.1:{port}\r\n")), 200);
        for host in
            ["elsewhere.example", "localhost", "localhost:1", "127.0.0.1.elsewhere.example", "", "0.0.0.0"]
        {
            assert_eq!(status(&format!("Host: {host}\r\n")), 403, "{host}");
        }
        assert_eq!(status(&format!("Host: elsewhere.example:{port}\r\n")), 403);
        let from = |origin: &str| {
            let lines = format!("Origin: {origin}\r\n");
            client.ask("POST", "/api/v1/runs", &lines, b"{\"algorithm\":\"central\",\"entries\":1}").status
        };
        assert_eq!(from(&format!("http:\u{2f}/127.0.0.1:{port}")), 200);
        assert_eq!(from(&format!("http:\u{2f}/localhost:{port}")), 200);
        for origin in ["null", "file:\u{2f}/", "http:\u{2f}/elsewhere.example", "http:\u{2f}/localhost:1"] {
            assert_eq!(from(origin), 403, "{origin}");
        }
    });
}
