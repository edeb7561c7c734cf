//! The switch for logical clocks: in the page Run, in its address, and in a page that was mailed.

use doorway_catalog::Catalog;
use doorway_catalog::examples::{play, script};
use doorway_picture::DiagramOptions;
use doorway_studio::page::Page as Mailed;
use doorway_trace::{Header, Recording};
use serde_json::{Value, json};

use crate::machine::browse;
use crate::page::Page;

/// The labels of times in the diagram, with the number of the event that each begins with.
const TIMES: &str = "[...document.querySelectorAll('.times .time')].map((label) => [Number(label.dataset.first), label.textContent])";

async fn choose(page: &Page, selector: &str, clock: &str) {
    let script = format!(
        "(() => {{ const box = document.querySelector('{selector}'); box.value = '{clock}'; \
         box.dispatchEvent(new Event('change', {{ bubbles: true }})); return true; }})()"
    );
    page.value(&script).await;
}

/// The address of an example.
fn address(name: &str) -> String {
    let text = script(name).expect("it ships");
    let escaped: String = text.bytes().map(|byte| format!("%{byte:02X}")).collect();
    format!("#/run?script={escaped}")
}

#[test]
fn the_switch_shows_lamport_and_vector_time() {
    browse(async |page| {
        page.open(&address("clocks/jump")).await;
        page.until(
            "there is a switch",
            "!!document.querySelector('#clocks') && document.querySelectorAll('.message').length > 0",
        )
        .await;
        assert_eq!(page.value(TIMES).await, json!([]), "no clocks unless they are chosen");
        choose(page, "#clocks", "lamport").await;
        page.until("there are times", "document.querySelectorAll('.times .time').length > 0").await;
        let expected = json!([
            [1, "1"],
            [2, "1"],
            [3, "41"],
            [4, "42–43"],
            [6, "42"],
            [7, "44–45"],
            [9, "46–47"],
            [11, "48"]
        ]);
        assert_eq!(page.value(TIMES).await, expected);
        page.until("the address says so", "location.hash.includes('clocks=lamport')").await;
        choose(page, "#clocks", "vector").await;
        page.until("it is a vector", "document.querySelector('.times').textContent.includes('[4 3–4]')")
            .await;
        choose(page, "#clocks", "both").await;
        page.click("[data-move=last]").await;
        page.until("the event has its time", "document.querySelector('#event [data-time]')?.textContent === 'Lamport time 48 · vector time [7 4]'").await;
        choose(page, "#clocks", "").await;
        page.until(
            "they are gone",
            "document.querySelectorAll('.times .time, #event [data-time]').length === 0",
        )
        .await;
        assert_eq!(page.errors().await, Vec::<String>::new());
    });
}

#[test]
fn an_address_opens_with_its_clock() {
    browse(async |page| {
        page.open(&format!("{}&clocks=vector&at=8", address("clocks/jump"))).await;
        page.until("there are times", "document.querySelectorAll('.times .time').length > 0").await;
        assert_eq!(page.value("document.querySelector('#clocks').value").await, json!("vector"));
        page.until(
            "the event has its time",
            "document.querySelector('#event [data-time]')?.textContent === 'vector time [4 4]'",
        )
        .await;
    });
}

#[test]
fn a_mailed_page_has_the_same_switch() {
    let catalog = Catalog::textbook();
    let events = play("clocks/jump", &catalog).expect("it comes out as it says").events();
    let recording = Recording { header: Header::new("ricart-agrawala", 2, 1), events };
    let mailed = Mailed::new(&recording, &catalog, &DiagramOptions::default()).expect("it is short");
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("clocks.html");
    std::fs::write(&path, mailed.html).expect("a file for the test");
    browse(async |page| {
        page.browser.goto(format!("file://{}", path.display())).await.expect("the mailed page");
        let labels = "[...document.querySelectorAll('#times text')].map((label) => label.textContent)";
        assert_eq!(page.value(labels).await, json!([]));
        choose(page, "#clock", "lamport").await;
        let expected: Value = json!(["1", "1", "41", "42–43", "42", "44–45", "46–47", "48"]);
        assert_eq!(page.value(labels).await, expected);
        page.value("(() => { location.hash = '#7'; return true; })()").await;
        page.until(
            "the event has its time",
            "document.querySelector('#time').textContent === 'Lamport time 44'",
        )
        .await;
        choose(page, "#clock", "both").await;
        assert_eq!(page.text("#time").await, "Lamport time 44 · vector time [4 3]");
        assert_eq!(page.errors().await, Vec::<String>::new());
    });
}
