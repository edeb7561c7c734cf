//! The settings of runs and checks, each defined once.
//!
//! A spec such as [`RunSpec`] is a struct whose fields are declared in one [`settings!`](macro@crate::settings) table. The field's
//! doc comment is its help. From the same row come the flag of the command line, the name in JSON, the axis and the column of
//! a sweep, the control in the studio's form (see [`schema`]) and the words of the printed command (see [`words`]).
//!
//! A spec holds what was typed, as words: a flag, a page and a printed command all have words. [`Given::one`] and
//! [`Given::all`] read them.

mod check;
mod choices;
mod given;
mod readable;
mod run;
mod word;

use doorway_core::Refusal;
use serde_json::{Map, Value, json};

pub use check::{CheckSpec, Wanted};
pub use choices::{CHOICES, choice_words, is_flag};
pub use given::{Given, deserialize, serialize};
pub use readable::{Delay, Readable, Requests, whole};
pub use run::RunSpec;
pub use word::RawValue;

/// The definition of one setting: a row of a table.
#[derive(Clone, Copy, Debug)]
pub struct Definition {
    /// Its name in JSON; the flag has dashes in place of underscores.
    pub name: &'static str,
    /// The doc comment of the field, as written.
    pub doc: &'static str,
    /// How a value is typed, as in `TICKS|uniform:FROM:TO`.
    pub value: &'static str,
    /// The value that is used if none is given; empty if there is none, or if it depends on the algorithm.
    pub usual: &'static str,
    /// How many values it takes, and of which sort.
    pub kind: SettingKind,
    /// The heading under which help lists it; empty for the first group.
    pub part: &'static str,
    /// The caption in forms; the name if empty.
    pub caption: &'static str,
    /// Whether forms leave it out because the page sets it in another way.
    pub hidden: bool,
    /// Values that a form offers.
    pub offers: &'static [&'static str],
    /// Whether the printed command has it even if it has its usual value.
    pub always: bool,
    /// How a sweep uses it.
    pub sweep: SweepRole,
    /// What a value is counted in; empty if it is not a number.
    pub unit: &'static str,
    /// Reads a word and gives it back in its normal form.
    pub normal: fn(&str) -> Result<String, Refusal>,
}

/// How many values a setting takes, and of which sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingKind {
    /// One whole number, small enough for a number in JSON.
    Count,
    /// One whole number of any size: a text in JSON, whose readers may know only numbers up to 2^53.
    Number,
    /// One word.
    Word,
    /// On or off; the flag takes no value.
    Switch,
    /// Any number of words; the flag may be given again.
    Repeated,
    /// Any number of words; the flag takes them with commas between.
    Commas,
}

/// How a sweep uses a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SweepRole {
    /// Not at all.
    Fixed,
    /// As one value for all runs.
    Common {
        /// The name of its column; empty if it has none.
        column: &'static str,
    },
    /// As an axis of the grid.
    Axis {
        /// The name of the axis.
        name: &'static str,
        /// The name of its column.
        column: &'static str,
    },
}

impl SettingKind {
    fn name(self) -> &'static str {
        match self {
            SettingKind::Count => "count",
            SettingKind::Number => "number",
            SettingKind::Word => "word",
            SettingKind::Switch => "switch",
            SettingKind::Repeated => "repeated",
            SettingKind::Commas => "commas",
        }
    }
}

impl Definition {
    /// What a row has that says nothing else.
    pub const PLAIN: Self = Self {
        name: "",
        doc: "",
        value: "",
        usual: "",
        kind: SettingKind::Word,
        part: "",
        caption: "",
        hidden: false,
        offers: &[],
        always: false,
        sweep: SweepRole::Fixed,
        unit: "",
        normal: |word| Ok(word.to_owned()),
    };

    /// The flag without its dashes: `start-inside`.
    #[must_use]
    pub fn flag(&self) -> String {
        self.name.replace('_', "-")
    }

    /// The paragraphs of the doc comment, the first of which is the short help.
    #[must_use]
    pub fn help(&self) -> Vec<String> {
        let paragraph =
            |text: &str| text.lines().map(str::trim).collect::<Vec<_>>().join(" ").trim().to_owned();
        self.doc.split("\n\n").map(paragraph).filter(|text| !text.is_empty()).collect()
    }

    /// The short help: one sentence without a full stop.
    #[must_use]
    pub fn summary(&self) -> String {
        self.help().into_iter().next().unwrap_or_default()
    }

    /// The caption in forms: `Local latency`.
    #[must_use]
    pub fn title(&self) -> String {
        if !self.caption.is_empty() {
            return self.caption.to_owned();
        }
        let name = self.name.replace('_', " ");
        let mut letters = name.chars();
        letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
    }

    /// What a page must know to make a control for it.
    #[must_use]
    pub fn json(&self) -> Value {
        json!({
            "name": self.name,
            "caption": self.title(),
            "hidden": self.hidden,
            "kind": self.kind.name(),
            "value": self.value,
            "usual": self.usual,
            "offers": self.offers,
            "help": self.summary(),
            "long_help": self.help().join("\n\n"),
            "part": self.part,
        })
    }
}

/// A struct of settings with its table.
pub trait Spec: Default {
    /// The table, in the order of help and printed commands.
    const SETTINGS: &'static [Definition];

    /// What was typed for this setting; empty if nothing was, or if there is no such setting.
    fn words(&self, name: &str) -> &[RawValue];

    /// Types a setting anew; whether there is one of this name.
    fn set(&mut self, name: &str, words: Vec<RawValue>) -> bool;

    /// The first word that was typed for this setting, or its usual value.
    fn shown(&self, name: &str) -> &str {
        let usual = || Self::definition(name).map_or("", |definition| definition.usual);
        self.words(name).first().map_or_else(usual, |word| word.0.as_str())
    }

    /// The definition of this name.
    #[must_use]
    fn definition(name: &str) -> Option<&'static Definition> {
        Self::SETTINGS.iter().find(|definition| definition.name == name)
    }
}

/// Every setting of a spec, from which a form is built.
#[must_use]
pub fn schema<S: Spec>() -> Value {
    S::SETTINGS.iter().map(Definition::json).collect()
}

/// The settings of a spec as flags with their values: what has its usual value is left out.
#[must_use]
pub fn words<S: Spec>(spec: &S, is_wanted: impl Fn(&Definition) -> bool) -> Vec<String> {
    let mut told = Vec::new();
    for definition in S::SETTINGS.iter().filter(|definition| is_wanted(definition)) {
        let flag = format!("--{}", definition.flag());
        let words: Vec<&str> = spec.words(definition.name).iter().map(|word| word.0.as_str()).collect();
        match (definition.kind, &words[..]) {
            (SettingKind::Switch, [one]) if bool::read(one) == Ok(true) => told.push(flag),
            (SettingKind::Switch, _) | (_, []) => {}
            (SettingKind::Commas, all) if all.join(",") != definition.usual => {
                told.extend([flag, all.join(",")])
            }
            (SettingKind::Repeated, all) => {
                told.extend(all.iter().flat_map(|&word| [flag.clone(), word.to_owned()]))
            }
            (_, [one, ..]) if definition.always || *one != definition.usual => {
                told.extend([flag, (*one).to_owned()]);
            }
            _ => {}
        }
    }
    told
}

/// The whole spec as JSON: numbers and switches as such, lists as lists, and null for what is not given.
#[must_use]
pub fn filled<S: Spec>(spec: &S) -> Map<String, Value> {
    let told = |definition: &Definition| {
        let words = spec.words(definition.name);
        let first = words.first().map(|word| word.0.as_str());
        let value = match definition.kind {
            SettingKind::Repeated | SettingKind::Commas => words.iter().map(|word| word.0.as_str()).collect(),
            SettingKind::Switch => Value::Bool(first.is_some_and(|word| bool::read(word) == Ok(true))),
            SettingKind::Count => first.map_or(Value::Null, |word| {
                word.parse::<u64>().map_or_else(|_| Value::from(word), Value::from)
            }),
            SettingKind::Number | SettingKind::Word => first.map_or(Value::Null, Value::from),
        };
        (definition.name.to_owned(), value)
    };
    S::SETTINGS.iter().map(told).collect()
}

/// Declares a spec and its table: each field with its doc comment and its row.
///
/// ```
/// use doorway_catalog::settings::{Definition, SettingKind, Spec, schema};
///
/// doorway_catalog::settings! {
///     /// How to brew.
///     pub struct TeaSpec {
///         /// Minutes in the pot
///         minutes: u64 { value: "MINUTES", usual: "3", kind: SettingKind::Count }
///     }
/// }
/// let tea: TeaSpec = serde_json::from_str("{\"minutes\": 4}")?;
/// assert_eq!(tea.minutes.one(), Ok(Some(4)));
/// assert_eq!(schema::<TeaSpec>()[0]["help"], "Minutes in the pot");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[macro_export]
macro_rules! settings {
    (
        $(#[$meta:meta])*
        pub struct $Spec:ident {
            $( $(#[doc = $doc:literal])+ $name:ident: $Type:ty { $($key:ident: $value:expr),* $(,)? } )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug)]
        pub struct $Spec {
            $( $(#[doc = $doc])+ pub $name: $crate::settings::Given<$Type>, )*
        }

        impl Default for $Spec {
            fn default() -> Self {
                Self { $( $name: $crate::settings::Given::new(stringify!($name)), )* }
            }
        }

        impl $crate::settings::Spec for $Spec {
            const SETTINGS: &'static [$crate::settings::Definition] = &[
                $( $crate::settings::Definition {
                    name: stringify!($name),
                    doc: concat!($($doc, "\n"),+),
                    normal: <$Type as $crate::settings::Readable>::normal,
                    $($key: $value,)*
                    ..$crate::settings::Definition::PLAIN
                }, )*
            ];

            fn words(&self, name: &str) -> &[$crate::settings::RawValue] {
                match name {
                    $( stringify!($name) => self.$name.words(), )*
                    _ => &[],
                }
            }

            fn set(&mut self, name: &str, words: Vec<$crate::settings::RawValue>) -> bool {
                match name {
                    $( stringify!($name) => self.$name.set(words), )*
                    _ => return false,
                }
                true
            }
        }

        impl<'de> ::serde::Deserialize<'de> for $Spec {
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::settings::deserialize(deserializer)
            }
        }

        impl ::serde::Serialize for $Spec {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $crate::settings::serialize(self, serializer)
            }
        }
    };
}
