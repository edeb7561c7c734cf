//! The guided tours.

use serde_json::json;

use crate::machine::browse;
use crate::page::Page;
use crate::run::entries;

#[test]
fn the_13_node_tour_ends_in_the_deadlock_and_then_in_the_entries_8_7_11() {
    browse(async |page| {
        page.open("#/tours").await;
        page.click("[data-tour='thirteen-nodes'] a").await;
        step(page, 1).await;
        for number in 2..=4 {
            page.click("#tour-next").await;
            step(page, number).await;
        }
        page.until("there is a cycle", "document.querySelector('[data-cycle]').dataset.cycle === '7 8 11'")
            .await;
        page.until("the run stalls", "document.querySelector('#ending').dataset.end === 'stalled'").await;
        assert_eq!(entries(page).await, "none");
        for number in 5..=9 {
            page.click("#tour-next").await;
            step(page, number).await;
        }
        page.until("the run is done", "document.querySelector('#ending').dataset.end === 'done'").await;
        page.until("there is no cycle", "document.querySelector('[data-cycle]').dataset.cycle === ''").await;
        assert_eq!(entries(page).await, "8, 7, 11");
        assert_eq!(page.errors().await, Vec::<String>::new());
    });
}

#[test]
fn every_step_of_every_tour_shows_something() {
    browse(async |page| {
        page.open("#/tours").await;
        page.until("there are six tours", "document.querySelectorAll('[data-tour]').length === 6").await;
        let names = page
            .value("[...document.querySelectorAll('[data-tour]')].map((card) => card.dataset.tour)")
            .await;
        for name in names.as_array().into_iter().flatten().filter_map(serde_json::Value::as_str) {
            walk(page, name).await;
        }
    });
}

#[test]
fn the_next_step_is_not_lost_to_a_page_that_says_where_it_was() {
    browse(async |page| {
        page.open("#/tours").await;
        page.click("[data-tour='singhal-as-printed'] a").await;
        step(page, 1).await;
        // The page writes its cut into the address a while after it has moved. Here it does so between the click on the next step
        // and the event by which the page hears of that.
        let late = "(() => {
            const [set, due] = [window.setTimeout, []];
            window.setTimeout = (action, span) => due.push(action) && set(action, span);
            document.querySelector('[data-move=forward]').click();
            window.setTimeout = set;
            document.querySelector('#tour-next').click();
            due.forEach((action) => action());
        })()";
        page.value(late).await;
        step(page, 2).await;
    });
}

/// Goes through all steps of a tour.
async fn walk(page: &Page, name: &str) {
    page.open("#/tours").await;
    page.click(&format!("[data-tour='{name}'] a")).await;
    for number in 1.. {
        step(page, number).await;
        assert_eq!(
            page.value("document.querySelectorAll('#page .note.error:not(.ending, [data-found])').length")
                .await,
            json!(0),
            "{name}, step {number}"
        );
        assert_eq!(page.errors().await, Vec::<String>::new(), "{name}, step {number}");
        if page.value("document.querySelector('#tour-next').tagName").await == json!("A") {
            return;
        }
        page.click("#tour-next").await;
    }
}

/// Waits until a step of a tour is shown, with its run.
async fn step(page: &Page, number: u32) {
    page.until(
        &format!("step {number}"),
        &format!("document.querySelector('.tour-text')?.dataset.step === '{number}'"),
    )
    .await;
    let shown = "location.hash.startsWith('#/memory')
        ? document.querySelectorAll('[data-line]').length > 0 && /\\d/.test(document.querySelector('#step-count')?.textContent ?? '')
        : document.querySelector('#count b')?.textContent === new URLSearchParams(location.hash.split('?')[1]).get('at')";
    page.until(&format!("the run of step {number}"), shown).await;
}
