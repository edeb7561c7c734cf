//! The flags of a spec, made from its table: one for each setting, with the setting's own help.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};
use doorway_catalog::settings::{CHOICES, Definition, RawValue, RunSpec, SettingKind, Spec, SweepRole};

use crate::usage::named;

/// A spec as it was typed, with the settings that a verb uses.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flags<S, U = Every>(pub(crate) S, PhantomData<U>);

/// Which settings a verb uses, and how.
pub(crate) trait Use {
    /// Whether it has a flag for this setting.
    fn has(definition: &Definition) -> bool;

    /// The headings in help of the axes and of the settings that all runs share.
    const HEADINGS: [&'static str; 2] = ["", ""];

    /// The list that is used if none is given for this axis; empty if there is none.
    fn usual_list(_axis: &str) -> &'static str {
        ""
    }
}

/// A verb that uses all settings of its spec.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Every;

impl Use for Every {
    fn has(_: &Definition) -> bool {
        true
    }
}

impl<S: Spec, U: Use> clap::FromArgMatches for Flags<S, U> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut spec = S::default();
        for definition in S::SETTINGS.iter().filter(|definition| U::has(definition)) {
            spec.set(definition.name, typed(matches, definition.name, definition.kind));
        }
        Ok(Self(spec, PhantomData))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl<S: Spec, U: Use> clap::Args for Flags<S, U> {
    fn augment_args(command: Command) -> Command {
        command.args(S::SETTINGS.iter().filter(|definition| U::has(definition)).map(flag))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// What was typed for a setting. Its usual value is not: a script's heading may say otherwise.
fn typed(matches: &ArgMatches, name: &str, kind: SettingKind) -> Vec<RawValue> {
    if !matches!(matches.value_source(name), Some(ValueSource::CommandLine)) {
        return Vec::new();
    }
    match kind {
        SettingKind::Switch => vec![RawValue::from("on")],
        _ => matches
            .get_many::<String>(name)
            .into_iter()
            .flatten()
            .map(|word| RawValue(word.clone()))
            .collect(),
    }
}

fn flag(definition: &'static Definition) -> Arg {
    let Definition { name, value, usual, kind, part, normal, .. } = *definition;
    let flag = Arg::new(name).long(definition.flag());
    let flag = match kind {
        SettingKind::Switch => return helped(flag.action(ArgAction::SetTrue), definition, part),
        SettingKind::Count | SettingKind::Number | SettingKind::Word => flag.action(ArgAction::Set),
        SettingKind::Repeated => flag.action(ArgAction::Append),
        SettingKind::Commas => flag.action(ArgAction::Append).value_delimiter(','),
    };
    // The word is only tested here, so that a spec has what was typed.
    let tested = move |word: &str| normal(word).map(|_| word.to_owned());
    let flag = flag.value_name(value).value_parser(tested).allow_negative_numbers(true);
    helped(if usual.is_empty() { flag } else { flag.default_value(usual) }, definition, part)
}

fn helped(flag: Arg, definition: &Definition, part: &'static str) -> Arg {
    let flag = if part.is_empty() { flag } else { flag.help_heading(part) };
    let mut paragraphs = definition.help();
    if let Some(first) = paragraphs.first_mut().filter(|_| definition.kind == SettingKind::Repeated) {
        first.push_str("; may be given again");
    }
    let flag = flag.help(paragraphs.first().cloned().unwrap_or_default());
    if paragraphs.len() > 1 { flag.long_help(paragraphs.join("\n\n")) } else { flag }
}

/// The choices for the algorithm: `--quorum`, `--structure`, `--tree`, `--arbitration` and `--set NAME=VALUE`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Choices(Vec<(String, String)>);

impl Choices {
    /// What was chosen, by name, flags before `--set`.
    pub(crate) fn words(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, word)| (name.as_str(), word.as_str()))
    }
}

impl clap::FromArgMatches for Choices {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let word = |name: &str| Some((name.to_owned(), matches.get_one::<String>(name)?.clone()));
        let flags = CHOICES.iter().filter_map(|choice| word(choice.name));
        let set = matches.get_many::<(String, String)>("set").into_iter().flatten().cloned();
        Ok(Self(flags.chain(set).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl clap::Args for Choices {
    fn augment_args(command: Command) -> Command {
        command.args(CHOICES.iter().map(flag)).arg(set("NAME=VALUE"))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// The choices for algorithms as axes of a grid: each a list of values.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChoiceLists(Vec<(String, Vec<String>)>);

impl ChoiceLists {
    /// What was chosen, by name.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.0.iter().map(|(name, words)| (name.as_str(), words.as_slice()))
    }
}

impl clap::FromArgMatches for ChoiceLists {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut lists: Vec<(String, Vec<String>)> = Vec::new();
        for choice in CHOICES {
            let words: Vec<String> =
                matches.get_many(choice.name).into_iter().flatten().map(String::clone).collect();
            if !words.is_empty() {
                lists.push((choice.name.to_owned(), words));
            }
        }
        let set: Vec<&(String, String)> = matches.get_many("set").into_iter().flatten().collect();
        for (name, _) in &set {
            let of_name = set.iter().filter(|(other, _)| other == name);
            lists.push((name.clone(), of_name.map(|(_, words)| words.clone()).collect()));
        }
        Ok(Self(lists))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl clap::Args for ChoiceLists {
    fn augment_args(command: Command) -> Command {
        let choice = |definition: &'static Definition| {
            let flag = Arg::new(definition.name).long(definition.name).action(ArgAction::Append);
            helped(flag.value_name("KIND,KIND"), definition, definition.part)
        };
        command.args(CHOICES.iter().map(choice)).arg(set("NAME=VALUE,VALUE"))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

fn set(value: &'static str) -> Arg {
    Arg::new("set")
        .long("set")
        .value_name(value)
        .action(ArgAction::Append)
        .value_parser(named)
        .help_heading(CHOICES[0].part)
        .help("Choose any parameter by its name, as `doorway explain` tells; may be given again")
}

/// The axes of a grid as they were typed: a list of values for each setting of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lists<U>(BTreeMap<&'static str, Vec<String>>, PhantomData<U>);

impl<U: Use> Lists<U> {
    /// The axes with what was typed for them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.0.iter().map(|(axis, words)| (*axis, words.as_slice()))
    }

    /// The values of an axis, split at commas: those that were typed, or the usual ones.
    pub(crate) fn split(&self, axis: &str) -> Vec<&str> {
        let typed = self.0.get(axis).into_iter().flatten().map(String::as_str);
        let words: Vec<&str> = typed.flat_map(|words| words.split(',')).collect();
        if words.is_empty() { U::usual_list(axis).split(',').collect() } else { words }
    }
}

/// The axes that a verb uses, each with its name.
fn axes<U: Use>() -> impl Iterator<Item = (&'static str, &'static Definition)> {
    RunSpec::SETTINGS.iter().filter(|definition| U::has(definition)).filter_map(|definition| match definition
        .sweep
    {
        SweepRole::Axis { name, .. } => Some((name, definition)),
        SweepRole::Common { .. } => Some((definition.name, definition)),
        SweepRole::Fixed => None,
    })
}

impl<U: Use> clap::FromArgMatches for Lists<U> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut lists = BTreeMap::new();
        for (axis, definition) in axes::<U>() {
            let is_switch = definition.kind == SettingKind::Switch
                && matches!(definition.sweep, SweepRole::Common { .. });
            let words =
                typed(matches, axis, if is_switch { SettingKind::Switch } else { SettingKind::Repeated });
            if !words.is_empty() {
                lists.insert(axis, words.into_iter().map(|word| word.0).collect());
            }
        }
        Ok(Self(lists, PhantomData))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl<U: Use> clap::Args for Lists<U> {
    fn augment_args(command: Command) -> Command {
        command.args(axes::<U>().map(|(axis, definition)| list::<U>(axis, definition)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

fn list<U: Use>(axis: &'static str, definition: &Definition) -> Arg {
    let flag = Arg::new(axis).long(axis);
    // A longer one would not fit into a line of help, which explains the syntax below it.
    let value = if definition.value.chars().count() > 55 { "VALUE" } else { definition.value };
    let (name, part) = match (definition.sweep, definition.kind) {
        (SweepRole::Common { .. }, SettingKind::Switch) => {
            return helped(flag.action(ArgAction::SetTrue), definition, U::HEADINGS[1]);
        }
        (SweepRole::Common { .. }, _) => (value.to_owned(), U::HEADINGS[1]),
        (_, SettingKind::Switch) => ("off,on".to_owned(), U::HEADINGS[0]),
        (_, SettingKind::Repeated) => (format!("none|{value}"), U::HEADINGS[0]),
        _ => (format!("{value},…"), U::HEADINGS[0]),
    };
    let flag = flag.action(ArgAction::Append).value_name(name).allow_negative_numbers(true);
    let usual = U::usual_list(axis);
    helped(if usual.is_empty() { flag } else { flag.default_value(usual) }, definition, part)
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;

    doorway_catalog::settings! {
        /// A spec with a setting that no other code knows.
        pub struct LongerSpec {
            /// Colour of the token
            ///
            /// red, or any other word.
            token_colour: String { value: "COLOUR", usual: "red" }
            /// Paint it
            paint: bool { usual: "off", kind: SettingKind::Switch }
        }
    }

    #[derive(Parser)]
    struct Parsed {
        #[command(flatten)]
        spec: Flags<LongerSpec>,
    }

    fn parsed(words: &[&str]) -> LongerSpec {
        let words = std::iter::once("doorway").chain(words.iter().copied());
        Parsed::try_parse_from(words).expect("these can be parsed").spec.0
    }

    #[test]
    fn a_setting_added_in_one_place_is_a_flag_with_help() {
        let help = Parsed::command().render_long_help().to_string();
        for part in
            ["--token-colour <COLOUR>", "Colour of the token", "red, or any other word", "[default: red]"]
        {
            assert!(help.contains(part), "{help}");
        }
        let spec = parsed(&["--token-colour", "blue", "--paint"]);
        assert_eq!((spec.shown("token_colour"), spec.paint.one()), ("blue", Ok(Some(true))));
        assert_eq!(parsed(&[]).shown("token_colour"), "red");
        assert!(parsed(&[]).token_colour.is_empty(), "a usual value was not typed");
    }
}
