//! What is so on every page.

use serde_json::json;

use crate::machine::{browse, say};
use crate::page::Page;

/// Every page, how one sees that it is there, and its heading.
pub const PAGES: [(&str, &str); 6] = [
    ("#/run", "document.querySelectorAll('[data-diagram] .message').length > 0"),
    ("#/compare", "document.querySelectorAll('#compare-charts .chart .mark').length > 0"),
    ("#/check", "document.querySelectorAll('#check-tab [data-check]').length > 0"),
    ("#/quorums", "document.querySelectorAll('.quorum-picture, .failure-chart').length === 3"),
    ("#/memory", "document.querySelectorAll('[data-line]').length > 0"),
    ("#/tours", "document.querySelectorAll('[data-tour]').length > 0"),
];

#[test]
fn each_page_loads_without_console_errors_and_without_asking_anybody_else() {
    browse(async |page| {
        for (hash, is_there) in PAGES {
            page.open(hash).await;
            page.until(&format!("{hash} is there"), is_there).await;
            assert_eq!(page.errors().await, Vec::<String>::new(), "{hash}");
            assert_eq!(
                page.value("document.querySelectorAll('#page .note.error').length").await,
                json!(0),
                "{hash}"
            );
            assert_eq!(page.value(STRANGERS).await, json!([]), "{hash}");
            let bytes = page.value(BYTES).await.as_u64().expect("a number");
            say(&format!("{hash} loads {} kB", bytes / 1000));
            assert!((20_000..300_000).contains(&bytes), "{hash}: {bytes} bytes");
        }
    });
}

/// What was asked of other servers than the studio.
const STRANGERS: &str = "performance.getEntriesByType('resource').map((entry) => entry.name)
    .filter((name) => !name.startsWith(location.origin + '/'))";

/// How large the files of a page are together.
const BYTES: &str =
    "performance.getEntriesByType('resource').concat(performance.getEntriesByType('navigation'))
    .filter((entry) => !entry.name.includes('/api/')).reduce((sum, entry) => sum + entry.decodedBodySize, 0)";

#[test]
fn at_400_px_nothing_overflows() {
    browse(async |page| {
        page.widen(400).await;
        for (hash, is_there) in PAGES {
            page.open(hash).await;
            page.until(&format!("{hash} is there"), is_there).await;
            assert_eq!(overflowing(page).await, json!([]), "{hash}");
        }
    });
}

/// What reaches beyond the right edge of the window and cannot be scrolled within a box of its own.
async fn overflowing(page: &Page) -> serde_json::Value {
    let script = "(() => {
        const room = document.documentElement.clientWidth;
        const isBoxed = (element) => {
          for (let box = element.parentElement; box && box !== document.body; box = box.parentElement) {
            if (['auto', 'scroll', 'hidden', 'clip'].includes(getComputedStyle(box).overflowX)) return true;
          }
          return false;
        };
        const isOut = (element) => element.getBoundingClientRect().right > room + 1 && element.getBoundingClientRect().width > 1;
        const out = [...document.querySelectorAll('body *')].filter((element) => isOut(element) && !isBoxed(element));
        const names = out.map((element) => element.tagName + '.' + element.getAttribute('class'));
        if (document.documentElement.scrollWidth > room) names.push('the page is ' + document.documentElement.scrollWidth + ' wide');
        return names;
      })()";
    page.value(script).await
}

#[test]
fn every_page_is_there_in_light_and_in_dark_colours() {
    browse(async |page| {
        let mut papers = Vec::new();
        for scheme in ["light", "dark"] {
            page.prefer("prefers-color-scheme", scheme).await;
            for (hash, is_there) in PAGES {
                page.open(hash).await;
                page.until(&format!("{hash} is there"), is_there).await;
            }
            papers.push(page.value("getComputedStyle(document.body).backgroundColor").await);
        }
        assert_ne!(papers[0], papers[1]);
        page.open("#/quorums").await;
        page.click("#theme").await;
        assert_eq!(
            page.value("getComputedStyle(document.body).backgroundColor").await,
            papers[0],
            "light was chosen"
        );
    });
}

#[test]
fn prefers_reduced_motion_is_respected() {
    browse(async |page| {
        page.prefer("prefers-reduced-motion", "reduce").await;
        for (hash, is_there) in PAGES {
            page.open(hash).await;
            page.until(&format!("{hash} is there"), is_there).await;
            let moving = "[...document.querySelectorAll('*')].filter((element) => {
                const style = getComputedStyle(element);
                return style.animationName !== 'none' || style.transitionDuration.split(', ').some((time) => time !== '0s') || style.scrollBehavior === 'smooth';
              }).map((element) => element.tagName + '.' + element.getAttribute('class'))";
            assert_eq!(page.value(moving).await, json!([]), "{hash}");
        }
    });
}

#[test]
fn the_first_diagram_is_there_soon() {
    browse(async |page| {
        page.open("#/run").await;
        page.until("there is a diagram", PAGES[0].1).await;
        let time = page.value("Math.round(performance.now())").await;
        say(&format!("the first diagram was there within {time} ms of opening the page"));
    });
}
