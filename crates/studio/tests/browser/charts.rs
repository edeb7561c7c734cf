//! The pages Compare and Quorums.

use serde_json::{Value, json};
use thirtyfour::prelude::*;

use crate::machine::browse;
use crate::page::Page;

#[test]
fn the_charts_have_a_mark_for_each_run_and_the_table_its_number() {
    browse(async |page| {
        page.open("#/compare?algorithms=lamport,maekawa&nodes=4,9&loads=saturated&entries=50&quorum=grid")
            .await;
        page.until("there is a table", "document.querySelectorAll('#compare-table tbody tr').length === 2")
            .await;
        let numbers = "[...document.querySelectorAll('#compare-table tr[data-algorithm=lamport] td.number')].map((cell) => cell.textContent)";
        assert_eq!(page.value(numbers).await, json!(["9", "24"]), "3(N−1)");
        page.until("there is a chart", "document.querySelector('.chart')").await;
        let marks = "[...document.querySelectorAll('.series')].map((series) => [series.dataset.name, series.querySelectorAll('.mark').length])";
        assert_eq!(page.value(marks).await, json!([["lamport", 2], ["maekawa", 2]]));
        page.click(".series[data-name=maekawa] .mark[data-at='9']").await;
        let told = page.text("#compare-point").await;
        assert!(
            told.contains("maekawa, N = 9, saturated: ") && told.contains("3(K−1) … 7(K−1) = 12 … 28"),
            "{told}"
        );
        assert!(told.contains("12 … 28, K = 5; measured within it."), "{told}");
        assert!(
            told.contains("doorway simulate maekawa --nodes 9 --entries 50 --quorum grid --seed 1"),
            "{told}"
        );
        assert_eq!(page.errors().await, Vec::<String>::new());
    });
}

#[test]
fn series_that_coincide_share_one_tooltip() {
    browse(async |page| {
        page.open("#/compare?algorithms=lamport,ricart-agrawala,carvalho-roucairol&nodes=4,9&loads=saturated&entries=50")
            .await;
        let mark = ".series[data-name=ricart-agrawala] .mark[data-at='9']";
        page.until("there is a chart", &format!("document.querySelector(\"{mark}\")")).await;
        let element = page.browser.find(By::Css(mark)).await.expect("a mark");
        page.browser.action_chain().move_to_element_center(&element).perform().await.expect("a pointer");
        page.until("there is a tooltip", "!document.querySelector('.chart-tip').hidden").await;
        let names =
            "[...document.querySelectorAll('.chart-tip strong')].map((name) => name.textContent).sort()";
        assert_eq!(page.value(names).await, json!(["carvalho-roucairol", "ricart-agrawala"]));
        let told = page.text(".chart-tip").await;
        assert!(told.contains("N = 9, messages per entry:"), "{told}");
        assert!(
            told.contains("ricart-agrawala 16 · 2(N−1) = 16")
                && told.contains("carvalho-roucairol 16 · 0 … 2(N−1) = 0 … 16"),
            "{told}"
        );
        assert_eq!(page.errors().await, Vec::<String>::new());
    });
}

#[test]
fn another_number_is_drawn_without_new_runs_and_the_address_holds_it() {
    browse(async |page| {
        page.open("#/compare?algorithms=lamport,raymond&nodes=4,9&loads=saturated&entries=50").await;
        page.until("there is a table", "document.querySelectorAll('#compare-table tbody tr').length === 2")
            .await;
        page.choose("#compare-metric", "delay").await;
        page.until("the address says so", "location.hash.includes('metric=delay')").await;
        let cell =
            "document.querySelector('#compare-table tr[data-algorithm=lamport] td.number').textContent";
        page.until("the delay of Lamport's is 10 ticks", &format!("{cell} === '10*'")).await;
        let asked = "performance.getEntriesByType('resource').filter((entry) => entry.name.includes('/comparisons')).length";
        assert_eq!(page.value(asked).await, json!(1));
        page.browser.back().await.expect("a step back");
        page.until("messages are back", &format!("{cell} === '9'")).await;
    });
}

#[test]
fn the_table_can_be_copied() {
    browse(async |page| {
        page.devtools(
            "Browser.grantPermissions",
            json!({"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}),
        )
        .await;
        page.open("#/compare?algorithms=lamport,ricart-agrawala&nodes=4,9&loads=saturated&entries=50").await;
        for (button, expected) in [
            (
                "#copy-table",
                "algorithm\ttextbook\tsaturated N=4\tsaturated N=9\nlamport\t3(N−1)\t9\t24\nricart-agrawala\t2(N−1)\t6\t16\n",
            ),
            (
                "#copy-csv",
                "algorithm,textbook,saturated N=4,saturated N=9\nlamport,3(N−1),9,24\nricart-agrawala,2(N−1),6,16\n",
            ),
        ] {
            page.click(button).await;
            page.until("it is said", "document.querySelector('#say').textContent.includes('clipboard')")
                .await;
            let text = page
                .browser
                .execute_async("navigator.clipboard.readText().then(arguments[0], arguments[0])", Vec::new())
                .await;
            assert_eq!(text.expect("a clipboard").json(), &json!(expected));
        }
    });
}

#[test]
fn a_comparison_can_be_cancelled_and_what_is_wrong_is_said() {
    browse(async |page| {
        page.open("#/compare?algorithms=lamport&nodes=4&loads=sometimes").await;
        page.until(
            "there is an error",
            "document.querySelector('#compare-state .note.error')?.textContent.includes('sometimes')",
        )
        .await;
        page.open("#/compare?nodes=40,80,120&loads=saturated&entries=5000").await;
        page.click("#compare-state [data-cancel]").await;
        page.until(
            "it is cancelled",
            "document.querySelector('#compare-state').textContent.includes('Cancelled')",
        )
        .await;
    });
}

#[test]
fn crashed_nodes_leave_the_quorums_that_they_are_not_in() {
    browse(async |page| {
        page.open("#/quorums?nodes=7&left=plane&right=majority").await;
        page.until("there are two systems", "document.querySelectorAll('.quorum-picture').length === 2")
            .await;
        assert_eq!(survivors(page).await, json!(["7", "35"]), "seven lines, and every four of seven");
        page.click("[data-side=left] [data-node='3']").await;
        page.until(
            "node 3 is crashed on both sides",
            "document.querySelectorAll('.quorum-node.crashed[data-node=\"3\"]').length === 2",
        )
        .await;
        assert_eq!(
            survivors(page).await,
            json!(["4", "15"]),
            "three lines go through a point; every four of six"
        );
        page.click("[data-side=right] [data-node='5']").await;
        page.until("node 5 is crashed, too", "location.hash.includes('crashed=3,5')").await;
        assert_eq!(
            survivors(page).await,
            json!(["2", "5"]),
            "two points have one line in common; every four of five"
        );
        for node in [1, 2] {
            page.click(&format!("[data-side=left] [data-node='{node}']")).await;
        }
        page.until("four are crashed", "location.hash.includes('crashed=1,2,3,5')").await;
        assert_eq!(survivors(page).await.get(1), Some(&json!("0")));
        assert!(
            page.text("[data-side=right] [data-survivors]")
                .await
                .ends_with("no quorum survives, so nobody can enter.")
        );
        page.click("#quorum-repair").await;
        page.until("all are repaired", "!location.hash.includes('crashed')").await;
        assert_eq!(survivors(page).await, json!(["7", "35"]));
        assert_eq!(page.errors().await, Vec::<String>::new());
    });
}

#[test]
fn a_link_to_two_systems_shows_them_with_their_ratings() {
    browse(async |page| {
        page.open("#/quorums?nodes=9&left=grid&right=wall:2,3,4&of=5&p=0.2").await;
        page.until("there are ratings", "document.querySelectorAll('#quorum-ratings thead th').length === 2")
            .await;
        let row = |name: &str| {
            format!(
                "[...document.querySelectorAll('#quorum-ratings tbody tr')].find((row) => row.textContent.startsWith('{name}')).lastElementChild.previousElementSibling.textContent"
            )
        };
        assert_eq!(page.value(&row("load")).await, json!("5/9 ≈ 0.5556"));
        assert_eq!(page.value(&row("resilience")).await, json!("2"));
        assert_eq!(page.value(&row("failure at 0.2")).await, json!("0.1816"));
        assert_eq!(
            page.text("[data-side=left] [data-shown]").await,
            "The quorum of node 5 is { 2 4 5 6 8 }, 5 of 9 nodes; it survives."
        );
        page.open("#/quorums?nodes=9&left=plane&right=none").await;
        page.until(
            "it is said that there is no such plane",
            "document.querySelector('[data-side=left] .note.error')?.textContent.includes('plane')",
        )
        .await;
    });
}

async fn survivors(page: &Page) -> Value {
    page.value("[...document.querySelectorAll('[data-survivors]')].map((note) => note.dataset.survivors)")
        .await
}
