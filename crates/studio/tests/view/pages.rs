//! Pages of runs: whole, alone, and with nothing of the trace as markup.

use doorway_catalog::{Catalog, examples};
use doorway_core::{NodeId, Options, Ticks};
use doorway_experiments::record_script;
use doorway_picture as picture;
use doorway_studio::page::Page;
use doorway_trace::{Event, Header, Recording, What};
use serde_json::{Value, json};

fn page(recording: &Recording) -> Page {
    Page::new(recording, &Catalog::textbook(), &picture::DiagramOptions::default())
        .expect("it is short enough")
}

fn example(name: &str) -> Recording {
    let text = examples::script(name).expect("it ships");
    record_script(text, &Options::none(), &Catalog::textbook()).expect("it can be played")
}

/// What stands between the tags of an element that holds no markup.
fn inner<'a>(html: &'a str, open: &str, close: &str) -> &'a str {
    let (_, rest) = html.split_once(open).expect(open);
    rest.split_once(close).expect(close).0
}

fn data(html: &str) -> Value {
    let text = inner(html, "<script type=\"application/json\" id=\"data\">", "</script>");
    serde_json::from_str(text).expect("the data are JSON")
}

/// The page without its script, its styles and its data, which is also XML and can be read as such.
fn markup(html: &str) -> String {
    let mut left = String::new();
    let mut rest = html.strip_prefix("<!DOCTYPE html>").expect("a page says what it is");
    while let Some((before, after)) = rest.split_once("<script") {
        left.push_str(before);
        rest = after.split_once("</script>").expect("a script ends").1;
    }
    left + rest
}

#[test]
fn a_page_has_a_step_for_each_event_and_the_states_of_each_node() {
    let recording = example("thirteen-nodes-deadlock");
    let page = page(&recording);
    assert_eq!(page.trouble, None);
    let data = data(&page.html);
    assert_eq!(data["events"].as_array().map(Vec::len), Some(recording.events.len()));
    assert_eq!(
        (data["nodes"].as_u64(), data["known"].as_u64()),
        (Some(13), Some(recording.events.len() as u64))
    );
    let seventh = data["states"][6].as_array().and_then(|changes| changes.last()).expect("it has states");
    assert_eq!((&seventh[1]["phase"], &seventh[1]["waits"]), (&json!("waiting"), &json!([10])));
    let rules = data["rules"].as_array().expect("rules");
    let is_explained = |event: &Value| rules.iter().any(|rule| rule[0] == event["rule"]);
    let events = data["events"].as_array().expect("events");
    assert!(events.iter().filter(|event| !event["rule"].is_null()).all(is_explained));
}

#[test]
fn a_page_asks_the_network_for_nothing_and_is_small_without_its_run() {
    for name in ["thirteen-nodes-deadlock", "memory/lamport-fast-slow-path"] {
        let html = page(&example(name)).html;
        for scheme in ["http:", "https:", "//", "url("] {
            let outside = html.split("<script>").next().expect("all before the script");
            let found =
                outside.match_indices(scheme).find(|(at, _)| !outside[*at..].starts_with("url(#doorway"));
            assert_eq!(found, None, "{scheme}");
        }
        let script = inner(&html, "<script>", "</script>");
        for word in [
            "fetch",
            "XMLHttp",
            "import",
            "http",
            "innerHTML",
            "outerHTML",
            "insertAdjacent",
            "eval",
            "document.write",
        ] {
            assert!(!script.contains(word), "{word}");
        }
        for word in [" src=", " href=", "<link", "@import", "<iframe", "<img"] {
            assert!(!html.contains(word), "{word}");
        }
    }
    let empty = Recording { header: Header::new("central", 1, 1), events: Vec::new() };
    let bytes = page(&empty).html.len();
    assert!(bytes < 40_000, "{bytes} bytes");
}

#[test]
fn a_page_is_well_formed() {
    let markup = markup(&page(&example("thirteen-nodes-resolved")).html);
    let document = roxmltree::Document::parse(&markup).unwrap_or_else(|error| panic!("{error}\n{markup}"));
    let ids: Vec<&str> = document.descendants().filter_map(|node| node.attribute("id")).collect();
    for id in ["first", "back", "play", "forward", "last", "entry", "scrubber", "states", "cursor", "veil"] {
        assert_eq!(ids.iter().filter(|found| **found == id).count(), 1, "{id}");
    }
}

#[test]
fn hostile_names_stay_text() {
    let evil = "</script><script>alert(1)</script>{{DATA}}<img src=x onerror=alert(2)>\u{2028}\"'&";
    let node = NodeId::new(0);
    let send = What::Send { to: node, kind: evil.into(), message: json!({evil: evil}) };
    let whats = [send, What::Violation { what: evil.to_owned() }];
    let event = |(id, what)| Event { id, time: Ticks(id), node, what, rule: Some(evil.into()), cause: None };
    let mut header = Header::new(evil, 1, 1);
    header.options.insert(evil.to_owned(), evil.to_owned());
    let recording = Recording { header, events: (1..).zip(whats).map(event).collect() };
    let page = page(&recording);
    assert!(page.trouble.is_some_and(|trouble| trouble.ends_with("is no algorithm that is known here")));
    assert_eq!(page.html.matches("<script").count(), 2, "the data and the script");
    assert_eq!(page.html.matches("</script").count(), 2);
    let data = data(&page.html);
    assert_eq!((&data["events"][0]["rule"], &data["states"]), (&json!(evil), &json!([])));
    let markup = markup(&page.html);
    let document = roxmltree::Document::parse(&markup).expect("it is still well formed");
    assert!(document.descendants().all(|node| !matches!(node.tag_name().name(), "img" | "script")));
    let title = document.descendants().find(|node| node.has_tag_name("h1")).and_then(|node| node.text());
    assert!(title.is_some_and(|title| title.starts_with("</script><script>alert(1)")));
}
