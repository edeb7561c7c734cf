//! The page Run: a run is made, stepped through, changed, and found again by its link.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::machine::browse;
use crate::page::Page;

/// How many events are shown, once the page has settled on it.
pub async fn at(page: &Page, count: u64) {
    page.until(
        &format!("event {count} is shown"),
        &format!("document.querySelector('#count b')?.textContent === '{count}'"),
    )
    .await;
}

/// All that is told about the cut: states, event, graph, and the picture.
async fn told(page: &Page) -> Value {
    let script = "['.states tbody', '#event', '[data-cycle]', '#rules', '.layers, .cut', '#count'].map((part) => document.querySelector(part)?.textContent ?? null)
        .concat([document.querySelector('path[data-cut]').dataset.cut, document.querySelector('path[data-cut]').getAttribute('d')])";
    page.value(script).await
}

/// The order in which nodes entered.
pub async fn entries(page: &Page) -> String {
    page.text("tr[data-metric='order of entries'] td").await
}

#[test]
fn a_run_is_made_stepped_forward_and_back_to_the_same_state() {
    browse(async |page| {
        page.open("#/run?algorithm=ricart-agrawala&nodes=3&entries=3&seed=5&at=0").await;
        at(page, 0).await;
        let mut seen = vec![(0, told(page).await)];
        while page.value("!document.querySelector('[data-move=forward]').disabled").await == json!(true) {
            page.click("[data-move=forward]").await;
            let count = page
                .value("Number(document.querySelector('#count b').textContent)")
                .await
                .as_u64()
                .unwrap_or(0);
            assert!(count > seen[seen.len() - 1].0, "forward goes on from {}", seen[seen.len() - 1].0);
            seen.push((count, told(page).await));
        }
        let events = page.value("Number(document.querySelector('#scrubber').max)").await;
        assert_eq!(json!(seen[seen.len() - 1].0), events, "the last step shows all events");
        let states: BTreeSet<String> = seen.iter().map(|(_, told)| told[0].to_string()).collect();
        assert!(states.len() > 10, "the states change while one steps: {} of them", states.len());
        for (count, before) in seen.iter().rev().skip(1) {
            page.click("[data-move=back]").await;
            at(page, *count).await;
            assert_eq!(told(page).await, *before, "back at event {count}");
        }
        assert_eq!(page.errors().await, Vec::<String>::new());
    });
}

#[test]
fn a_run_is_made_with_the_form() {
    browse(async |page| {
        page.open("#/run").await;
        page.until("there is a form", "!!document.querySelector('#algorithm')").await;
        let choose = "(() => { const box = document.querySelector('#algorithm'); box.value = 'raymond'; box.dispatchEvent(new Event('change', { bubbles: true })); return true; })()";
        page.value(choose).await;
        page.until(
            "the run is one of Raymond's",
            "document.querySelector('#title').textContent.includes('Raymond')",
        )
        .await;
        page.until("the address says so", "location.hash.includes('algorithm=raymond')").await;
        assert!(page.text("#command").await.starts_with("doorway simulate raymond "));
        page.until("it is done", "document.querySelector('#ending').dataset.end === 'done'").await;
    });
}

#[test]
fn dragging_a_delivery_forks_the_run_and_changes_the_outcome() {
    browse(async |page| {
        // Two requests reach the coordinator at the same tick, that of 2 first; dragged behind the other it is served last.
        page.open("#/run?algorithm=central&nodes=3&entries=3&load=saturated&latency=10&seed=1").await;
        page.until("there are arrows", "document.querySelectorAll('.message').length > 0").await;
        let before = (entries(page).await, drawn(page).await);
        assert_eq!(before.0, "1, 2, 3");
        drag(page, 1, 60.0).await;
        page.until("the address has the change", "/message=1@\\d+/.test(location.hash)").await;
        page.until("it is listed", "document.querySelectorAll('#changes li').length === 1").await;
        let after = (entries(page).await, drawn(page).await);
        assert_eq!(after.0, "1, 3, 2", "the order of entries");
        assert_ne!(before.1, after.1, "the picture");
        page.click("#undo").await;
        page.until("the change is gone", "!location.hash.includes('message=')").await;
        assert_eq!((entries(page).await, drawn(page).await), before);
        assert_eq!(page.errors().await, Vec::<String>::new());
    });
}

/// Drags the head of the arrow of a message so many pixels to the right.
async fn drag(page: &Page, message: u32, right: f64) {
    let head = format!(
        "(() => {{ const box = document.querySelector('.message[data-message=\"{message}\"] .head').getBoundingClientRect(); return [box.left + box.width / 2, box.top + box.height / 2]; }})()"
    );
    page.value("document.querySelector('[data-diagram]').scrollIntoView({ block: 'center' })").await;
    let place = page.value(&head).await;
    let [x, y] = [0, 1].map(|side| place[side].as_f64().expect("a place on the screen"));
    let whole = |place: f64| place.round() as i64;
    let chain = page.browser.action_chain().move_to(whole(x), whole(y)).click_and_hold();
    let chain = chain.move_to(whole(x + right / 2.0), whole(y)).move_to(whole(x + right), whole(y)).release();
    chain.perform().await.expect("a pointer");
}

/// The arrows and lanes of the picture.
async fn drawn(page: &Page) -> Value {
    page.value(
        "['.arrows', '.bands'].map((layer) => document.querySelector('[data-diagram] ' + layer).outerHTML)",
    )
    .await
}

#[test]
fn a_crash_is_injected() {
    browse(async |page| {
        page.open("#/run?algorithm=ricart-agrawala&nodes=3&entries=6&seed=1&at=12").await;
        at(page, 12).await;
        assert_eq!(page.text("#ending").await.chars().next(), Some('✓'));
        page.click("[data-label='2']").await;
        page.click("[data-action=crash]").await;
        page.until("the address has the crash", "/crash=2@\\d+/.test(location.hash)").await;
        page.until("the lane ends", "!!document.querySelector('.lane[data-node=\"2\"] .crashed-lane')").await;
        page.until("the run stalls", "document.querySelector('#ending').dataset.end === 'stalled'").await;
        page.click("[data-move=last]").await;
        page.until(
            "the state says so",
            "document.querySelector('.states tr[data-node=\"2\"]').textContent.includes('crashed')",
        )
        .await;
        assert_eq!(page.errors().await, Vec::<String>::new());
    });
}

#[test]
fn a_copied_link_reproduces_the_same_diagram() {
    browse(async |page| {
        let grant = json!({"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]});
        page.devtools("Browser.grantPermissions", grant).await;
        page.open(
            "#/run?algorithm=maekawa&nodes=7&quorum=plane&entries=4&latency=uniform:5:15&seed=3&crash=6@40",
        )
        .await;
        page.until("there are arrows", "document.querySelectorAll('.message').length > 0").await;
        for _ in 0..9 {
            page.click("[data-move=back]").await;
        }
        page.until("the address follows", "/at=\\d+/.test(location.hash) && location.hash.includes('at=' + document.querySelector('#count b').textContent)").await;
        let before = (told(page).await, drawn(page).await);
        page.click("#copy-link").await;
        page.until("it is said", "document.querySelector('#say').textContent.includes('copied')").await;
        let link = page
            .browser
            .execute_async("navigator.clipboard.readText().then(arguments[0], arguments[0])", Vec::new())
            .await;
        let link = link.expect("a clipboard").json().as_str().unwrap_or_default().to_owned();
        let hash = link.split_once('#').map_or("", |(_, hash)| hash);
        assert!(hash.starts_with("/run?algorithm=maekawa&"), "{link}");
        page.open(&format!("#{hash}")).await;
        page.until("there are arrows", "document.querySelectorAll('.message').length > 0").await;
        page.until(
            "the cut is there",
            "location.hash.includes('at=' + document.querySelector('#count b').textContent)",
        )
        .await;
        assert_eq!((told(page).await, drawn(page).await), before);
    });
}
