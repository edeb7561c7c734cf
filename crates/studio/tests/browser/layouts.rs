//! Pages show exactly the elements that the server has laid out: every shape, every text and every attribute.

use serde_json::{Value, json};
use thirtyfour::prelude::*;

use crate::machine::{browse, say};
use crate::page::Page;

/// Keeps the answers of the server about layouts, by their last word: `comparison`, `failures`, `waits`.
const LISTEN: &str = "(() => {
    const ask = window.fetch;
    window.answers = {};
    window.fetch = async (address, ...more) => {
      const response = await ask(address, ...more);
      const [, name] = String(address).match(/layouts\\/(\\w+)$/) ?? [];
      if (name) {
        response.clone().json().then((answer) => { window.answers[name] = answer; });
        window.asked = { ...window.asked, [name]: JSON.parse(more[0].body) };
      }
      return response;
    };
    return true;
})()";

/// What is different between the elements of LAYOUT and what is painted in PICTURE; nothing if all is as the server says.
const DIFFERENCES: &str = "(() => {
    const differences = [];
    let count = 0;
    const compare = (element, node, path) => {
      count += 1;
      const { shape, title, text, children = [], textLength, lengthAdjust, class: classes = '', ...attributes } = element;
      const here = `${path}/${shape}.${classes}`;
      if (node?.tagName !== shape) return differences.push(`${here} is ${node?.tagName}`);
      for (const word of classes.split(' ').filter(Boolean)) if (!node.classList.contains(word)) differences.push(`${here} has no class ${word}`);
      for (const [name, value] of Object.entries(attributes)) {
        if (node.getAttribute(name) !== String(value)) differences.push(`${here} ${name}: ${node.getAttribute(name)} is not ${value}`);
      }
      if (text !== undefined && node.textContent !== text) differences.push(`${here} says ${node.textContent}`);
      compareAll(children, node, here);
    };
    const compareAll = (elements, node, path) => {
      const nodes = [...node.children].filter((child) => child.tagName !== 'title');
      if (nodes.length !== elements.length) differences.push(`${path} has ${nodes.length} children, not ${elements.length}`);
      elements.forEach((element, place) => compare(element, nodes[place], path));
    };
    compareAll(LAYOUT.elements, PICTURE, '');
    return { differences, count };
})()";

/// Expects that a page shows a layout, of at least so many elements. A page that is about to paint a newer answer gets the time to do it.
async fn shows(page: &Page, layout: &str, picture: &str, least: u64) {
    let script = DIFFERENCES.replace("LAYOUT", layout).replace("PICTURE", picture);
    let told = page.value(&script).await;
    if told["differences"] != json!([]) {
        say(&format!("differs from the server's layout: {}", told["differences"]));
        page.until("the page shows the layout", &format!("{script}.differences.length === 0")).await;
    }
    assert!(told["count"].as_u64().is_some_and(|count| count >= least), "{} elements", told["count"]);
}

/// Waits until the page has painted the answer to its last question: numbers on the axis tell which one it is.
async fn until_painted(page: &Page, name: &str, condition: &str) {
    page.until(&format!("{name} is painted"), &format!("window.answers.{name} && {condition}")).await;
}

#[test]
fn the_charts_of_a_comparison_are_those_of_the_server() {
    browse(async |page| {
        page.open(
            "#/compare?algorithms=lamport,maekawa,raymond&nodes=4,9,16&loads=isolated,saturated&entries=50",
        )
        .await;
        page.until("there are charts", "document.querySelectorAll('.chart').length === 2").await;
        page.value(LISTEN).await;
        page.choose("#compare-y", "linear").await;
        let is_linear = "[...document.querySelectorAll('.chart text')].every((text) => text.textContent !== 'messages per entry, logarithmic')";
        until_painted(page, "comparison", is_linear).await;
        for place in [0, 1] {
            let layout = format!("window.answers.comparison.charts[{place}].layout");
            let picture = format!("document.querySelectorAll('#compare-charts .chart')[{place}]");
            shows(page, &layout, &picture, 40).await;
        }
        let asked = page.value("[window.asked.comparison.y, window.asked.comparison.width]").await;
        assert_eq!(asked[0], "linear");
        page.widen(400).await;
        page.until("the charts are narrow", "document.querySelector('.chart').clientWidth < 400").await;
        let narrow = "window.answers.comparison.charts[0].layout.named === false && document.querySelectorAll('#compare-charts .label').length === 0";
        until_painted(page, "comparison", narrow).await;
        shows(
            page,
            "window.answers.comparison.charts[0].layout",
            "document.querySelector('#compare-charts .chart')",
            40,
        )
        .await;
        assert_eq!(page.errors().await, Vec::<String>::new());
    });
}

#[test]
fn the_failure_curves_are_those_of_the_server() {
    browse(async |page| {
        page.open("#/quorums?nodes=7&left=plane&right=majority&p=0.3").await;
        page.until("there is a chart", "document.querySelector('.failure-chart')").await;
        page.value(LISTEN).await;
        page.choose("#quorum-y", "log").await;
        let is_logarithmic = "[...document.querySelectorAll('.failure-chart text')].some((text) => text.textContent.endsWith('logarithmic'))";
        until_painted(page, "failures", is_logarithmic).await;
        shows(page, "window.answers.failures.layout", "document.querySelector('.failure-chart')", 20).await;
        let marks = "[...document.querySelectorAll('.failure-chart .series')].map((series) => [series.dataset.name, series.querySelector('.mark').dataset.at])";
        assert_eq!(page.value(marks).await, json!([["plane", "0.3"], ["majority", "0.3"]]));
        assert_eq!(page.errors().await, Vec::<String>::new());
    });
}

#[test]
fn the_wait_for_graph_is_that_of_the_server() {
    browse(async |page| {
        page.open("#/run?script=example:thirteen-nodes-deadlock").await;
        page.until("there is a graph", "document.querySelectorAll('.graph .vertex').length === 3").await;
        page.value(LISTEN).await;
        page.value("document.querySelector('[data-diagram]').focus() ?? true").await;
        page.press(Key::Home).await;
        page.until("nobody waits", "document.querySelectorAll('.graph .vertex').length === 0").await;
        page.press(Key::End).await;
        until_painted(page, "waits", "document.querySelectorAll('.graph .vertex').length === 3").await;
        shows(page, "window.answers.waits.layout", "document.querySelector('.graph svg')", 15).await;
        let edges = "[...document.querySelectorAll('.graph .edge.in-cycle')].map(({ dataset }) => [dataset.from, dataset.to])";
        assert_eq!(page.value(edges).await, json!([["7", "8"], ["8", "11"], ["11", "7"]]));
        assert_eq!(page.errors().await, Vec::<String>::new());
    });
}

#[test]
fn the_ribbons_are_those_of_the_servers_plan() {
    browse(async |page| {
        page.open("#/run?algorithm=maekawa&nodes=4&entries=4&quorum=grid").await;
        page.until("there are ribbons", "document.querySelectorAll('.lane .ribbon').length > 0").await;
        let painted = "[...document.querySelectorAll('.lane')].map((lane) => [...lane.querySelectorAll('.ribbon')].map(({ dataset }) => dataset.holder))";
        let spec = json!({"algorithm": "maekawa", "nodes": 4, "entries": 4, "options": {"quorum": "grid"}});
        let script = format!(
            "fetch('api/v1/runs?wait=10000', {{ method: 'POST', body: {:?} }}).then((answer) => answer.json())
             .then(({{ result }}) => arguments[0](result.diagram.lanes.map(({{ ribbon }}) => ribbon.map(({{ holder }}) => String(holder)))))",
            spec.to_string()
        );
        let planned = page.browser.execute_async(script, Vec::new()).await.expect("an answer").json().clone();
        let count: usize =
            planned.as_array().into_iter().flatten().map(|lane| lane.as_array().map_or(0, Vec::len)).sum();
        assert!(count >= 8, "{planned}");
        assert_eq!(page.value(painted).await, planned);
        assert!(
            planned.as_array().is_some_and(|lanes| lanes.len() == 4 && lanes.iter().all(Value::is_array))
        );
    });
}
