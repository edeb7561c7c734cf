//! The scripts that ship are all at hand, and come out as they say.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use doorway_catalog::Catalog;
use doorway_catalog::examples::{FILES, SCRIPTS, play, script};
use doorway_core::Options;
use doorway_experiments::memory::Replay;

#[test]
fn everything_in_the_folder_of_scripts_is_at_hand() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts");
    let names = |inner: &str| {
        let files = fs::read_dir(folder.join(inner)).expect("the folder is there");
        let names =
            files.map(|file| file.expect("it can be listed").file_name().to_string_lossy().into_owned());
        names.map(|name| format!("{inner}{name}")).collect::<Vec<_>>()
    };
    let all = [names(""), names("clocks/"), names("memory/"), names("specimens/")].concat().into_iter();
    let there: BTreeSet<String> = all.filter(|name| name.contains('.') && !name.ends_with(".md")).collect();
    let scripts = SCRIPTS.iter().map(|example| format!("{}.script", example.name));
    let at_hand: BTreeSet<String> = scripts.chain(FILES.iter().map(|file| file.name.to_owned())).collect();
    assert_eq!(at_hand, there);
}

#[test]
fn every_example_comes_out_as_it_says() {
    let catalog = Catalog::textbook();
    for example in SCRIPTS {
        if Replay::is_for(example.text, &catalog) {
            let replay = Replay::of_script(example.text, &Options::none(), &catalog).expect(example.name);
            assert!(replay.is_as_expected(), "{}", example.name);
            continue;
        }
        let outcome = play(example.name, &catalog).expect(example.name);
        assert!(outcome.as_expected, "{}", example.name);
    }
}

#[test]
fn an_unknown_example_is_answered_with_the_known_ones() {
    let refusal = script("nothing").expect_err("there is none").to_string();
    assert!(refusal.starts_with("no script \"nothing\" ships with Doorway: there are carvalho"), "{refusal}");
}
