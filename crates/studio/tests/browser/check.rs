//! The page Check: a check is made, and its counterexample opens in Run or in Shared memory.

use serde_json::json;

use crate::machine::browse;
use crate::page::Page;

/// Checks a row of the table and waits for the verdict about a property.
async fn checked(page: &Page, name: &str, property: &str, verdict: &str) {
    page.open("#/check").await;
    page.click(&format!("[data-check='{name}']")).await;
    let cell = format!("tr[data-row='{name}'] td[data-property='{property}']");
    page.until(
        &format!("{property} of {name} is {verdict}"),
        &format!("document.querySelector({cell:?})?.dataset.verdict === '{verdict}'"),
    )
    .await;
}

#[test]
fn a_counterexample_opens_from_check() {
    browse(async |page| {
        checked(page, "ricart-agrawala/equal-stamps", "mutual-exclusion", "violated").await;
        page.click("[data-counterexample=mutual-exclusion] [data-open]").await;
        page.until("it is in Run", "location.hash.startsWith('#/run?script=')").await;
        page.until(
            "the run violates exclusion",
            "document.querySelector('#ending')?.dataset.end === 'violated'",
        )
        .await;
        let inside = "[...document.querySelectorAll('.states tbody tr')].filter((row) => row.querySelector('.phase.inside')).length";
        assert_eq!(page.value(inside).await, json!(2), "two are inside at the end");
        assert_eq!(page.errors().await, Vec::<String>::new());
    });
}

#[test]
fn a_lasso_opens_from_check_with_its_loop_shaded() {
    browse(async |page| {
        checked(page, "maekawa/node-first", "starvation-freedom", "violated").await;
        page.click("[data-counterexample=starvation-freedom] [data-open]").await;
        page.until("it is in Run", "location.hash.startsWith('#/run?script=')").await;
        page.until("the loop is shaded", "!!document.querySelector('[data-diagram] rect.loop')").await;
        assert_eq!(page.errors().await, Vec::<String>::new());
    });
}

#[test]
fn a_check_that_takes_long_shows_progress_and_can_be_cancelled() {
    browse(async |page| {
        page.open("#/check").await;
        page.click("#check-all").await;
        page.until("there is progress", "!!document.querySelector('.progress progress')").await;
        page.click(".progress [data-cancel]").await;
        page.until("it is said", "document.querySelector('#say').textContent.includes('cancelled')").await;
        assert_eq!(page.errors().await, Vec::<String>::new());
    });
}
