//! A studio on a port of its own for one test, and the plainest of clients: a request is text, and its answer is read to its end.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::thread;

use doorway_catalog::Catalog;
use doorway_studio::{Closing, Studio};
use serde_json::Value;

/// Opens a studio for a test and closes it after it, also after one that fails.
pub fn in_studio(test: impl FnOnce(&Client)) {
    in_studio_with(&Catalog::textbook(), test);
}

/// The same with another catalog.
pub fn in_studio_with(catalog: &Catalog, test: impl FnOnce(&Client)) {
    let studio = Studio::at(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).expect("there is a free port");
    let (client, closing) = (Client { address: studio.address() }, Closing::default());
    thread::scope(|scope| {
        let _closed = ClosedAtTheEnd(&closing);
        scope.spawn(|| studio.open(catalog, &closing).expect("it serves"));
        test(&client);
    });
}

struct ClosedAtTheEnd<'a>(&'a Closing);

impl Drop for ClosedAtTheEnd<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Whoever asks the studio.
pub struct Client {
    pub address: SocketAddr,
}

/// What it answers.
pub struct Answer {
    pub status: u16,
    head: String,
    pub body: Vec<u8>,
}

impl Client {
    pub fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, "", b"")
    }

    pub fn delete(&self, path: &str) -> Answer {
        self.ask("DELETE", path, "", b"")
    }

    /// Sends words of JSON to a resource of the API.
    pub fn post(&self, path: &str, body: &Value) -> Answer {
        self.post_bytes(path, body.to_string().as_bytes())
    }

    pub fn post_bytes(&self, path: &str, body: &[u8]) -> Answer {
        self.ask("POST", &format!("/api/v1{path}"), "", body)
    }

    /// A request with more lines in its head.
    pub fn ask(&self, method: &str, path: &str, lines: &str, body: &[u8]) -> Answer {
        let host =
            if lines.contains("Host:") { String::new() } else { format!("Host: {}\r\n", self.address) };
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\n{host}{lines}Content-Length: {length}\r\nConnection: close\r\n\r\n"
        );
        Answer::read(&self.raw(&[head.as_bytes(), body].concat()))
    }

    /// Bytes as they are, and all that comes back.
    pub fn raw(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = TcpStream::connect(self.address).expect("the studio listens");
        // A server that has heard enough may close before it has heard all.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        answer
    }

    /// What a job of a resource comes to, waited for.
    pub fn result(&self, path: &str, body: &Value) -> Value {
        let answer = self.post(&format!("{path}?wait=10000"), body);
        assert_eq!(answer.status, 200, "{path} {body}: {}", answer.text());
        answer.json()["result"].take()
    }
}

impl Answer {
    fn read(bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("a head ends");
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let status = head.split(' ').nth(1).and_then(|word| word.parse().ok()).expect("a status");
        Self { status, head, body: bytes[end + 4..].to_vec() }
    }

    /// A line of its head.
    pub fn header(&self, name: &str) -> Option<&str> {
        let named = |line: &&str| line.split(':').next().is_some_and(|word| word.eq_ignore_ascii_case(name));
        self.head
            .lines()
            .skip(1)
            .find(named)
            .and_then(|line| line.split_once(':'))
            .map(|(_, told)| told.trim())
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    /// The one sentence of an error.
    pub fn error(&self) -> String {
        let told = self.json();
        assert_eq!(told["version"], 1);
        let sentence = told["error"].as_str().unwrap_or_default().to_owned();
        let is_sentence =
            sentence.ends_with('.') && sentence.chars().next().is_some_and(|c| !c.is_lowercase());
        assert!(is_sentence && !sentence.contains('\n'), "{sentence:?} is no sentence");
        sentence
    }
}
