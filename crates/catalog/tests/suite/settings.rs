//! A setting that is defined once is found in JSON, in the schema and in the printed command.

use doorway_catalog::settings::{
    CheckSpec, Definition, RawValue, RunSpec, SettingKind, Spec, filled, schema, words,
};
use doorway_core::Refusal;
use doorway_simulator::Settings;
use serde_json::{Value, json};

doorway_catalog::settings! {
    /// A run with one setting more, which only this test knows.
    pub struct LongerSpec {
        /// Number of nodes
        nodes: usize { value: "N", usual: "5", kind: SettingKind::Count }
        /// Colour of the token
        ///
        /// red, or any other word.
        token_colour: String { value: "COLOUR", usual: "red", offers: &["red", "blue"] }
    }
}

/// A word that a setting can read, other than its usual one.
fn example(definition: &Definition) -> RawValue {
    let some =
        ["2", "1,2|3@5..9", "1@5", "0.5", "on", "off", "isolated", "any", "tso", "safe", "weak", "all"];
    let fits = |word: &&str| *word != definition.usual && (definition.normal)(word).is_ok();
    RawValue(
        some.into_iter().find(fits).unwrap_or_else(|| panic!("no example of {}", definition.name)).to_owned(),
    )
}

/// Asserts of every setting that it has help, and survives the way through JSON.
fn assert_defined_once<S: Spec + serde::Serialize + serde::de::DeserializeOwned>() {
    let schema = schema::<S>();
    for (at, definition) in S::SETTINGS.iter().enumerate() {
        let name = definition.name;
        assert_eq!((&schema[at]["name"], &schema[at]["help"]), (&json!(name), &json!(definition.summary())));
        assert!(!definition.summary().is_empty() && !definition.title().is_empty(), "{name}");
        assert!(!definition.summary().ends_with('.'), "{name}: help is a sentence without a full stop");
        let mut spec = S::default();
        assert!(spec.set(name, vec![example(definition)]), "{name}");
        let text = serde_json::to_value(&spec).expect("words are JSON");
        assert_eq!(text.as_object().map(|all| all.keys().collect::<Vec<_>>()), Some(vec![&name.to_owned()]));
        let back: S = serde_json::from_value(text).expect("it reads what it writes");
        let same = |spec: &S| (definition.normal)(&spec.words(name)[0].0);
        assert_eq!(same(&back), same(&spec), "{name}");
        let told = words(&spec, |_| true);
        assert_eq!(told.first(), Some(&format!("--{}", definition.flag())), "{name}");
        if !definition.usual.is_empty() && definition.kind != SettingKind::Commas {
            assert_eq!((definition.normal)(definition.usual).as_deref(), Ok(definition.usual), "{name}");
        }
    }
}

#[test]
fn every_setting_is_in_schema_json_and_command() {
    assert_defined_once::<RunSpec>();
    assert_defined_once::<CheckSpec>();
    assert_defined_once::<LongerSpec>();
}

#[test]
fn a_setting_added_in_one_place_is_found() {
    let spec: LongerSpec = serde_json::from_value(json!({"token_colour": "blue"})).expect("a spec");
    assert_eq!(spec.token_colour.one(), Ok(Some("blue".to_owned())));
    assert_eq!(words(&spec, |_| true), ["--token-colour", "blue"]);
    assert_eq!(filled(&spec)["token_colour"], "blue");
    let row = &schema::<LongerSpec>()[1];
    assert_eq!((&row["caption"], &row["help"]), (&json!("Token colour"), &json!("Colour of the token")));
    assert_eq!((&row["offers"], &row["hidden"]), (&json!(["red", "blue"]), &json!(false)));
}

#[test]
fn settings_that_are_not_given_are_as_the_simulator_has_them() {
    let no_file = |file: &str| Err(Refusal::new(file));
    let settings = RunSpec::default().settings(no_file).expect("the usual settings");
    assert_eq!(format!("{settings:?}"), format!("{:?}", Settings::default()));
    let given = RunSpec::of(&settings);
    for definition in RunSpec::SETTINGS {
        let words: Vec<&str> = given.words(definition.name).iter().map(|word| word.0.as_str()).collect();
        assert_eq!(words.join(","), definition.usual, "{}", definition.name);
    }
}

#[test]
fn words_of_settings_are_read_back_to_the_same_settings() {
    for definition in RunSpec::SETTINGS {
        let mut spec = RunSpec::default();
        spec.set(definition.name, vec![example(definition)]);
        let settings = spec.settings(|file| Err(Refusal::new(file))).expect("a value that can be read");
        let again = RunSpec::of(&settings).settings(|file| Err(Refusal::new(file))).expect("the same");
        assert_eq!(format!("{settings:?}"), format!("{again:?}"), "{}", definition.name);
        let usual = format!("{:?}", Settings::default());
        assert_ne!(format!("{settings:?}"), usual, "{} changes nothing", definition.name);
    }
}

#[test]
fn a_spec_refuses_strangers_and_lists_for_single_values() {
    let refused = |spec: Value| serde_json::from_value::<RunSpec>(spec).expect_err("refused").to_string();
    assert_eq!(refused(json!({"speed": 3})), "unknown field `speed`");
    assert_eq!(refused(json!({"nodes": [3, 4]})), "`nodes` has one value, not a list");
    let spec: RunSpec = serde_json::from_value(json!({"load": "heavy", "seed": null})).expect("words");
    assert!(spec.load.one().expect_err("no load").to_string().starts_with("load: \"heavy\" is not a load"));
    assert_eq!(spec.seed.one(), Ok(None));
}
