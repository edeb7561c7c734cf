//! What each resource answers, with exact numbers.

use doorway_catalog::settings::{CheckSpec, Definition, RunSpec, Spec};
use doorway_picture::Look;
use serde_json::{Value, json};

use crate::client::in_studio;

fn count(value: &Value) -> usize {
    value.as_array().map_or(0, Vec::len)
}

#[test]
fn the_catalog_lists_algorithms_programs_scripts_and_quorums() {
    in_studio(|client| {
        let catalog = client.get("/api/v1/catalog").json();
        let counts = ["algorithms", "programs", "scripts", "quorums"].map(|name| count(&catalog[name]));
        assert_eq!((&catalog["version"], counts), (&json!(1), [44, 18, 55, 12]));
        let maekawa =
            catalog["algorithms"].as_array().and_then(|all| all.iter().find(|one| one["name"] == "maekawa"));
        let maekawa = maekawa.expect("it is there");
        assert_eq!(
            maekawa["kinds"],
            json!(["REQUEST", "LOCKED", "FAILED", "INQUIRE", "RELINQUISH", "RELEASE"])
        );
        assert_eq!((&maekawa["has"], count(&maekawa["rules"])), (&json!("votes"), 7));
        let scripts = catalog["scripts"].as_array();
        let script = scripts.and_then(|all| all.iter().find(|one| one["name"] == "thirteen-nodes-deadlock"));
        assert_eq!(script.expect("it ships")["algorithm"], "maekawa/basic");
        assert_eq!(catalog["programs"][0]["most_nodes"], 2);
    });
}

#[test]
fn the_schema_has_every_setting_of_a_run_and_a_check() {
    in_studio(|client| {
        let schema = client.get("/api/v1/schema").json();
        let names = |part: &str| -> Vec<String> {
            let all = schema[part].as_array().into_iter().flatten();
            all.filter_map(|setting| setting["name"].as_str().map(str::to_owned)).collect()
        };
        let defined = |settings: &[Definition]| -> Vec<String> {
            settings.iter().map(|definition| definition.name.to_owned()).collect()
        };
        assert_eq!(names("run"), defined(RunSpec::SETTINGS));
        assert_eq!(names("check"), defined(CheckSpec::SETTINGS));
        assert_eq!(names("choices"), ["quorum", "structure", "tree", "arbitration"]);
        let entries = &schema["run"][1];
        assert_eq!((&entries["usual"], &entries["most"]), (&json!("12"), &json!(5_000)));
        let spec = &client.result("/runs", &json!({"algorithm": "central"}))["spec"];
        assert!(RunSpec::SETTINGS.iter().all(|definition| spec.get(definition.name).is_some()), "{spec}");
        assert_eq!(client.result("/runs", spec)["spec"], *spec, "a spec that is sent again is the same");
    });
}

#[test]
fn the_page_of_an_algorithm_comes_by_itself() {
    in_studio(|client| {
        let catalog = client.get("/api/v1/catalog").json();
        assert_eq!((catalog["algorithms"][0].get("page"), catalog["programs"][0].get("page")), (None, None));
        for name in ["maekawa", "maekawa/basic", "bakery"] {
            let told = client.get(&format!("/api/v1/catalog/{name}")).json();
            assert_eq!((&told["version"], &told["name"]), (&json!(1), &json!(name)));
            assert!(told["page"].as_str().is_some_and(|page| page.contains("\n\n")), "{told}");
        }
        let answer = client.get("/api/v1/catalog/nothing");
        let sentence = "There is no such algorithm or program: the catalog lists them.";
        assert_eq!((answer.status, answer.error()), (404, sentence.to_owned()));
    });
}

#[test]
fn answers_are_packed_for_those_who_can_unpack_them() {
    in_studio(|client| {
        let plain = client.get("/api/v1/catalog");
        assert_eq!(plain.header("content-encoding"), None);
        let ask =
            |word: &str| client.ask("GET", "/api/v1/catalog", &format!("Accept-Encoding: {word}\r\n"), b"");
        let packed = ask("br, gzip;q=0.5");
        assert_eq!(packed.header("content-encoding"), Some("gzip"));
        assert!(packed.body.starts_with(&[0x1f, 0x8b]) && packed.body.len() * 3 < plain.body.len());
        assert_eq!(ask("gzip;q=0").body, plain.body);
        client.result("/runs", &json!({"algorithm": "central", "entries": 1}));
        let stream = client.ask("GET", "/api/v1/jobs/1/progress", "Accept-Encoding: gzip\r\n", b"");
        assert_eq!(stream.header("content-encoding"), None);
    });
}

#[test]
fn kinds_look_the_same_on_pages_and_in_pictures() {
    let mut compared = 0;
    for line in include_str!("../../assets/kinds.js").lines() {
        let Some((name, look)) = line.trim().split_once(": { hue: ") else { continue };
        let (hue, look) = look.split_once(", dash: \"").expect("a dash");
        let (dash, look) = look.split_once("\", head: \"").expect("a head");
        let head = look.split('"').next().expect("its name").replace('-', "");
        let drawn = Look::of_kind(name, 0);
        let colour = if hue == "8" { "soft".to_owned() } else { format!("hue{hue}") };
        assert_eq!((drawn.colour, drawn.dash), (colour.as_str(), dash), "{name}");
        assert_eq!(format!("{:?}", drawn.head).to_lowercase(), head, "{name}");
        compared += 1;
    }
    assert_eq!(compared, 12);
}

#[test]
fn a_run_has_its_events_states_numbers_and_formula() {
    in_studio(|client| {
        let spec = json!({"algorithm": "ricart-agrawala", "nodes": 3, "entries": 4});
        let run = client.result("/runs", &spec);
        assert_eq!(run["command"], "doorway simulate ricart-agrawala --nodes 3 --entries 4 --seed 1");
        assert_eq!(
            (&run["title"], &run["kinds"]),
            (&json!("Ricart–Agrawala 1981"), &json!(["REQUEST", "REPLY"]))
        );
        assert_eq!((&run["report"]["messages"], &run["report"]["entries"]), (&json!(16), &json!(4)));
        assert_eq!(run["formula"], json!({"messages": "2(N−1)", "least": 4.0, "most": 4.0, "delay": "T"}));
        assert_eq!(run["end"]["state"], "done");
        assert_eq!((&run["known"], &run["trouble"]), (&json!(count(&run["events"])), &Value::Null));
        assert_eq!(run["spec"]["latency"], "10");
        let again = client.result("/runs", &run["spec"]);
        assert_eq!(again["events"], run["events"], "what was understood gives the same run");
        let asks = &run["events"][3];
        assert_eq!(
            (&asks["event"], &asks["node"], &asks["says"]),
            (&json!("request"), &json!(1), &json!("node 1 asks to enter"))
        );
        let state = &run["states"][0][1];
        assert_eq!(
            state,
            &json!([4, {"phase": "waiting", "fields": ["1", "WANTED (1, 1)", "2 3", "–"], "waits": [2, 3], "permission": null}])
        );
    });
}

#[test]
fn an_intervention_forks_a_run() {
    in_studio(|client| {
        let run = |more: Value| {
            let mut spec = json!({"algorithm": "central", "nodes": 3, "entries": 2, "load": "only:2+3"});
            spec.as_object_mut().expect("words").extend(more.as_object().expect("words").clone());
            client.result("/runs", &spec)
        };
        assert_eq!(run(json!({}))["end"]["state"], "done");
        let lost = run(json!({"message": ["1:lost"]}));
        assert_eq!(
            (&lost["end"]["state"], &lost["spec"]["message"]),
            (&json!("stalled"), &json!(["1:lost"]))
        );
        assert_eq!(
            lost["command"],
            "doorway simulate central --nodes 3 --entries 2 --load only:2+3 --message 1:lost --seed 1"
        );
        let crashed = run(json!({"crash": ["1@5"]}));
        assert_eq!(crashed["end"]["state"], "stalled");
        let late = run(json!({"message": ["1@40"]}));
        let first = late["events"].as_array().and_then(|all| all.iter().find(|one| one["event"] == "enter"));
        assert_eq!(first.map(|event| &event["node"]), Some(&json!(3)), "3 overtakes 2");
    });
}

#[test]
fn a_run_that_is_too_long_is_cut_with_a_sentence() {
    in_studio(|client| {
        let run = client.result("/runs", &json!({"algorithm": "lamport", "nodes": 64, "entries": 5_000}));
        assert_eq!((&run["cut"], &run["end"]["state"]), (&json!(true), &json!("cut")));
        assert_eq!(count(&run["events"]), 60_000);
        assert_eq!(run["trouble"], Value::Null);
    });
}

#[test]
fn a_script_tells_what_could_be_done_next() {
    in_studio(|client| {
        let text = "algorithm ricart-agrawala\nnodes 2\nrequest 1\nrequest 2\ndeliver 1->2 REQUEST\n";
        let run = client.result("/runs", &json!({"script": text}));
        let lines: Vec<&Value> =
            run["choices"].as_array().expect("choices").iter().map(|next| &next["line"]).collect();
        assert_eq!(lines, ["deliver 2->1 REQUEST"]);
        assert_eq!(
            run["choices"][0],
            json!({"line": "deliver 2->1 REQUEST", "says": "REQUEST from 2 reaches 1", "node": 1, "from": 2, "kind": "REQUEST", "sent": 6})
        );
        assert_eq!(
            (&run["script"], &run["command"]),
            (&json!(text), &json!("doorway simulate --script FILE"))
        );
        let stuck = client.result("/runs", &json!({"script": format!("{text}release 1\nrequest 1\n")}));
        let sentence = "line 6 of the script: node 1 is waiting and cannot leave: it must be inside";
        assert_eq!((&stuck["trouble"], &stuck["end"]["state"]), (&json!(sentence), &json!("refused")));
        assert_eq!(stuck["events"], run["events"], "it is shown up to that line");
        let steps = client.result(
            "/runs",
            &json!({"script": "algorithm peterson\nnodes 2\nmemory tso\nbarrier off\nstep 1\n"}),
        );
        let lines: Vec<&Value> =
            steps["choices"].as_array().expect("choices").iter().map(|next| &next["line"]).collect();
        assert_eq!(lines, ["step 1", "reach 1 flag[0]", "step 2"]);
        assert_eq!((&steps["memory"], count(&steps["lines"])), (&json!(true), 6));
    });
}

#[test]
fn the_thirteen_nodes_end_in_the_deadlock_and_then_in_the_entries_8_7_11() {
    in_studio(|client| {
        let stuck = client.result("/runs", &json!({"script": "example:thirteen-nodes-deadlock"}));
        assert_eq!((&stuck["end"]["state"], &stuck["wait_cycle"]), (&json!("stalled"), &json!([7, 8, 11])));
        let solved = client.result("/runs", &json!({"script": "example:thirteen-nodes-resolved"}));
        let events = solved["events"].as_array().expect("events");
        let entries: Vec<&Value> =
            events.iter().filter(|event| event["event"] == "enter").map(|event| &event["node"]).collect();
        assert_eq!(entries, [8, 7, 11]);
    });
}

#[test]
fn a_counterexample_of_a_check_opens_as_a_run() {
    in_studio(|client| {
        let found = client.result("/checks", &json!({"algorithm": "maekawa/basic", "nodes": 3}));
        assert_eq!((&found["states"], &found["complete"]), (&json!(306), &json!(true)));
        let first = &found["counterexamples"][0];
        assert_eq!((&first["property"], count(&first["steps"])), (&json!("deadlock-freedom"), 6));
        let run = client.result("/runs", &json!({"script": first["script"]}));
        assert_eq!((&run["end"]["state"], &run["trouble"]), (&json!("stalled"), &Value::Null));
        let fast = json!({"algorithm": "lamport-fast", "nodes": 2, "properties": ["starvation-freedom"]});
        let found = client.result("/checks", &fast);
        assert_eq!(found["properties"][0]["verdict"], "violated");
        let run = client.result("/runs", &json!({"script": found["counterexamples"][0]["script"]}));
        let loops =
            run["events"].as_array().expect("events").iter().filter(|event| event["event"] == "loop").count();
        assert_eq!((loops, &run["trouble"], &run["end"]["state"]), (1, &Value::Null, &json!("done")));
        let holds = client.result("/checks", &json!({"algorithm": "central", "requests": [2, 2, 2]}));
        assert_eq!((&holds["states"], count(&holds["counterexamples"])), (&json!(869), 0));
    });
}

#[test]
fn a_comparison_has_a_cell_for_each_run() {
    in_studio(|client| {
        let spec = json!({
            "algorithms": ["lamport", "maekawa"], "nodes": [4, 9], "loads": ["isolated"], "entries": 50,
            "options": {"quorum": "grid"},
        });
        let told = client.result("/comparisons", &spec);
        let cells = told["cells"].as_array().expect("cells");
        let messages: Vec<&Value> = cells.iter().map(|cell| &cell["messages_per_entry"]).collect();
        assert_eq!(messages, [9.0, 6.0, 24.0, 12.0]);
        assert_eq!((&cells[3]["formula_least"], &cells[3]["formula_most"]), (&json!(12.0), &json!(28.0)));
    });
}

#[test]
fn a_quorum_system_comes_with_places_and_ratings() {
    in_studio(|client| {
        let plane = client.result("/quorums", &json!({"kind": "plane", "nodes": 7}));
        assert_eq!((&plane["n"], &plane["quorums"][0]), (&json!(7), &json!([1, 4, 6])));
        let layout = &plane["layout"];
        assert_eq!(
            (&layout["kind"], count(&layout["elements"])),
            (&json!("plane"), 14),
            "seven lines, seven nodes"
        );
        assert_eq!(plane["verification"]["intersecting"], true);
        assert_eq!(
            (&plane["ratings"]["load_fraction"], count(&plane["ratings"]["curve"])),
            (&json!("3/7"), 21)
        );
        let wall = client.result("/quorums", &json!({"kind": "wall:1,2,3"}));
        assert_eq!((&wall["n"], count(&wall["layout"]["elements"])), (&json!(6), 6));
        assert_eq!(count(&wall["minimal"]), 10);
    });
}

#[test]
fn a_run_can_be_taken_away_and_opened_again() {
    in_studio(|client| {
        let spec = json!({"algorithm": "raymond", "nodes": 4, "entries": 6});
        for (form, begins, ending) in [
            ("svg", "<svg ", "svg"),
            ("png", "\u{fffd}PNG", "png"),
            ("jsonl", "{\"version\":1,\"algorithm\":\"raymond\"", "jsonl"),
            ("shiviz", "(?<host>", "log"),
            ("perfetto", "{\"displayTimeUnit\":\"ms\"", "json"),
            ("html", "<!DOCTYPE html>", "html"),
        ] {
            let answer = client.post(&format!("/exports?format={form}"), &spec);
            assert_eq!(answer.status, 200, "{form}");
            assert!(answer.text().starts_with(begins), "{form}");
            let named = format!("attachment; filename=\"raymond.{ending}\"");
            assert_eq!(answer.header("content-disposition"), Some(named.as_str()));
        }
        let trace = client.post("/exports?format=jsonl", &spec).text();
        let (run, again) = (client.result("/runs", &spec), client.result("/runs", &json!({"trace": trace})));
        assert_eq!((&again["events"], &again["states"]), (&run["events"], &run["states"]));
    });
}
