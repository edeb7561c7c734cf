//! What can be done without a pointer.

use serde_json::json;
use thirtyfour::prelude::*;

use crate::machine::browse;
use crate::run::at;

#[test]
fn a_run_is_stepped_with_the_arrow_keys_and_n() {
    browse(async |page| {
        page.open("#/run?algorithm=central&nodes=3&entries=2&seed=1&at=0").await;
        at(page, 0).await;
        page.value("document.querySelector('[data-diagram]').focus()").await;
        page.press(Key::Right).await;
        let first = page.until("one step", "Number(document.querySelector('#count b').textContent)").await;
        page.press(Key::Right).await;
        page.until(
            "another step",
            &format!("Number(document.querySelector('#count b').textContent) > {first}"),
        )
        .await;
        page.press(Key::Left).await;
        page.until(
            "a step back",
            &format!("Number(document.querySelector('#count b').textContent) === {first}"),
        )
        .await;
        page.press("n").await;
        page.until("an entry", "document.querySelector('#event').textContent.includes('enter')").await;
        page.press(Key::End).await;
        page.until("the end", "document.querySelector('[data-move=forward]').disabled").await;
        page.press(Key::Home).await;
        at(page, 0).await;
        page.press(" ").await;
        page.until("it plays", "document.querySelector('[data-move=play]').getAttribute('aria-pressed') === 'true' && Number(document.querySelector('#count b').textContent) > 0").await;
        page.press(" ").await;
        page.until(
            "it stops",
            "document.querySelector('[data-move=play]').getAttribute('aria-pressed') === 'false'",
        )
        .await;
    });
}

#[test]
fn a_message_is_lost_with_keys_alone() {
    browse(async |page| {
        page.open("#/run?algorithm=ricart-agrawala&nodes=3&entries=2&seed=1").await;
        page.until("there are arrows", "document.querySelectorAll('.message').length > 0").await;
        page.value("document.querySelector('.message[tabindex=\"0\"]').focus()").await;
        page.press(Key::Down).await;
        page.until("the second has the focus", "document.activeElement.dataset.message === '2'").await;
        page.press(Key::Enter).await;
        page.until("there is a menu", "!document.querySelector('.menu').hidden").await;
        page.value("document.querySelector('[data-action=lose]').focus()").await;
        page.press(Key::Enter).await;
        page.until("the message is lost", "location.hash.includes('message=2:lost')").await;
    });
}

#[test]
fn nodes_of_a_quorum_are_crashed_with_keys_alone() {
    browse(async |page| {
        page.open("#/quorums?nodes=9&left=grid&right=none").await;
        page.until("there is a grid", "document.querySelectorAll('.quorum-node').length === 9").await;
        page.value("document.querySelector('.quorum-node[tabindex=\"0\"]').focus()").await;
        page.press(Key::Right).await;
        page.press(Key::Down).await;
        page.until("node 5 has the focus", "document.activeElement.dataset.node === '5'").await;
        page.press(Key::Enter).await;
        page.until("it is crashed", "location.hash.includes('crashed=5')").await;
        page.until("the focus stays", "document.activeElement.dataset.node === '5'").await;
        page.press("q").await;
        page.until("its quorum is shown", "location.hash.includes('of=5')").await;
    });
}

#[test]
fn every_tab_stop_shows_that_it_has_the_focus() {
    browse(async |page| {
        for hash in ["#/run", "#/compare", "#/check", "#/quorums", "#/memory", "#/tours"] {
            page.open(hash).await;
            page.until("the page is there", "document.querySelectorAll('#page button, #page a').length > 0")
                .await;
            let mut seen = Vec::new();
            for _ in 0..12 {
                page.press(Key::Tab).await;
                let shown = "(() => { const style = getComputedStyle(document.activeElement); const mark = document.activeElement.querySelector?.('.node-shape');
                    return [document.activeElement.tagName, style.outlineStyle !== 'none' || style.boxShadow !== 'none' || Boolean(mark && getComputedStyle(mark).stroke !== 'none')]; })()";
                seen.push(page.value(shown).await);
            }
            let hidden: Vec<_> = seen.iter().filter(|stop| stop[1] == json!(false)).collect();
            assert!(hidden.is_empty(), "{hash}: {hidden:?}");
        }
    });
}
