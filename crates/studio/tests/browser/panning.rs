//! How quickly a large diagram pans. The time is printed and not judged: it depends on the machine.

use crate::machine::{browse, say};

#[test]
fn a_diagram_of_64_lanes_and_5000_messages_can_be_panned() {
    browse(async |page| {
        page.open("#/run?algorithm=ricart-agrawala&nodes=64&entries=40&latency=uniform:5:15&seed=1&at=0")
            .await;
        page.until("there is a picture", "!!document.querySelector('svg.picture[data-lanes]')").await;
        let count = async |name: &str| {
            page.value(&format!("Number(document.querySelector('svg.picture').dataset.{name})")).await
        };
        assert_eq!(count("lanes").await, 64);
        assert_eq!(count("messages").await, 40 * 2 * 63);
        let script = "const done = arguments[0];
            import('/run/diagram.js').then(({ measurePanning }) => measurePanning(document.querySelector('[data-diagram]'), 120)).then(done, (error) => done(String(error)));";
        let times = page.browser.execute_async(script, Vec::new()).await.expect("frames");
        let mut times: Vec<f64> =
            times.json().as_array().into_iter().flatten().filter_map(serde_json::Value::as_f64).collect();
        assert_eq!(times.len(), 120, "every frame was measured");
        times.sort_by(f64::total_cmp);
        say(&format!(
            "panning 64 lanes and {} messages: half of the frames within {:.1} ms, 95 % within {:.1} ms, all within {:.1} ms",
            40 * 2 * 63,
            times[59],
            times[113],
            times[119]
        ));
        assert_eq!(page.errors().await, Vec::<String>::new());
    });
}
