//! The columns of a sweep: the one list from which rows, their reading and the schema are made.

use std::borrow::Cow;
use std::fmt;

use doorway_catalog::settings::{self, Definition, RunSpec, Spec, SweepRole};
use doorway_catalog::{Catalog, Trial};
use doorway_core::{About, Refusal};
use doorway_simulator::Report;
use serde::Serialize;

use super::axes::choices_of;
use super::grid::text;

/// One column.
#[derive(Clone, Debug, Serialize)]
pub struct Column {
    /// Its name in the header of the file.
    pub name: Cow<'static, str>,
    /// What its values are.
    #[serde(rename = "type")]
    pub kind: ColumnKind,
    /// What it is counted or measured in; empty if it is neither.
    pub unit: &'static str,
    /// What it tells, in one sentence.
    pub description: Cow<'static, str>,
    #[serde(skip)]
    source: Source,
}

/// What the values of a column are. Any of them may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ColumnKind {
    /// A whole number that is not negative.
    Integer,
    /// A number.
    Number,
    /// True or false.
    Boolean,
    /// A text on one line.
    Text,
}

/// A value in a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// There is none.
    Missing,
    /// A whole number.
    Integer(u64),
    /// A number.
    Number(f64),
    /// True or false.
    Boolean(bool),
    /// A text on one line, not empty.
    Text(String),
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug)]
enum Source {
    /// The run as it was asked for.
    Point(fn(&RequestedRun<'_>) -> Value),
    /// A setting of the run.
    Setting(&'static Definition),
    /// What is chosen for the algorithm under this name.
    Choice(&'static str),
    /// What came of it, if it could be run.
    Report(fn(&Report) -> Value),
    /// Why nothing came of it.
    Refusal,
}

/// A run that is asked for.
pub(super) struct RequestedRun<'a> {
    pub(super) index: u64,
    trial: &'a Trial,
    spec: RunSpec,
    /// The latency as it was typed: a trial does not know the file of a matrix.
    latency: &'a str,
    about: Option<&'a About>,
}

impl<'a> RequestedRun<'a> {
    pub(super) fn new(index: u64, trial: &'a Trial, latency: &'a str, catalog: &'a Catalog) -> Self {
        let (spec, about) = (RunSpec::of(&trial.settings), catalog.about(&trial.algorithm));
        Self { index, trial, spec, latency, about }
    }

    fn setting(&self, setting: &Definition) -> Value {
        if setting.name == "latency" {
            return Value::text(self.latency);
        }
        let text = text(setting, self.spec.words(setting.name));
        match kind(setting) {
            ColumnKind::Integer => text.parse::<u64>().ok().into(),
            ColumnKind::Number => text.parse::<f64>().ok().into(),
            ColumnKind::Boolean => (text == "on").into(),
            ColumnKind::Text => Value::text(&text),
        }
    }
}

/// All columns of a sweep with this catalog.
pub(super) fn all(catalog: &Catalog) -> Vec<Column> {
    let chosen = choices_of(catalog).into_iter().map(|name| Column {
        name: if is_taken(name) { Cow::Owned(format!("choice_{name}")) } else { Cow::Borrowed(name) },
        kind: ColumnKind::Text,
        unit: "",
        description: Cow::Owned(format!("what is chosen as {name}; missing if the algorithm has none")),
        source: Source::Choice(name),
    });
    points().into_iter().chain(chosen).chain(reports()).chain([ERROR]).collect()
}

/// The values of a row: what was asked for and what came of it, or why nothing did.
pub(super) fn row(
    columns: &[Column],
    asked: &RequestedRun<'_>,
    report: &Result<Report, Refusal>,
) -> Vec<Value> {
    let value = |column: &Column| match (column.source, report) {
        (Source::Report(value), Ok(report)) => value(report),
        (Source::Refusal, Err(refusal)) => Value::text(&refusal.to_string()),
        _ => column.asked(asked).unwrap_or(Value::Missing),
    };
    columns.iter().map(value).collect()
}

/// What is wrong with a row that should be of this run: the first column that tells of another one.
pub(super) fn foreign(columns: &[Column], row: &[Value], asked: &RequestedRun<'_>) -> Option<String> {
    columns.iter().zip(row).find_map(|(column, value)| {
        let expected = column.asked(asked)?;
        let (name, index) = (&column.name, asked.index);
        (expected != *value)
            .then(|| format!("the {name} of run {index} is {expected} on the grid, and here {value}"))
    })
}

/// The place of the column of this name.
pub(super) fn place(columns: &[Column], name: &str) -> Option<usize> {
    columns.iter().position(|column| column.name == name)
}

fn is_taken(name: &str) -> bool {
    points().into_iter().chain(reports()).chain([ERROR]).any(|column| column.name == name)
}

fn choice(asked: &RequestedRun<'_>, name: &str) -> Value {
    let parameter = asked.about.and_then(|about| about.parameter(name));
    parameter.map_or(Value::Missing, |parameter| Value::text(&asked.trial.options.choice(parameter).word))
}

impl Column {
    fn is_axis(&self) -> bool {
        matches!(self.source, Source::Setting(setting) if matches!(setting.sweep, SweepRole::Axis { .. }))
    }

    /// Its value as far as that is known before the run is made.
    fn asked(&self, asked: &RequestedRun<'_>) -> Option<Value> {
        match self.source {
            Source::Point(value) => Some(value(asked)),
            Source::Setting(setting) => Some(asked.setting(setting)),
            Source::Choice(name) => Some(choice(asked, name)),
            Source::Report(_) | Source::Refusal => None,
        }
    }
}

const fn point(
    name: &'static str,
    kind: ColumnKind,
    unit: &'static str,
    description: &'static str,
    value: fn(&RequestedRun<'_>) -> Value,
) -> Column {
    let (name, description) = (Cow::Borrowed(name), Cow::Borrowed(description));
    Column { name, kind, unit, description, source: Source::Point(value) }
}

const fn told(
    name: &'static str,
    kind: ColumnKind,
    unit: &'static str,
    description: &'static str,
    value: fn(&Report) -> Value,
) -> Column {
    let (name, description) = (Cow::Borrowed(name), Cow::Borrowed(description));
    Column { name, kind, unit, description, source: Source::Report(value) }
}

/// Why a point could not be run.
const ERROR: Column = Column {
    name: Cow::Borrowed("error"),
    kind: ColumnKind::Text,
    unit: "",
    description: Cow::Borrowed("why there was no run; missing if there was one"),
    source: Source::Refusal,
};

/// The run as it was asked for: axes, settings that all runs share, and the seed.
fn points() -> Vec<Column> {
    let (seed, axes): (Vec<_>, Vec<_>) =
        RunSpec::SETTINGS.iter().filter_map(setting).partition(|column| column.name == "seed");
    let (axes, shared): (Vec<_>, Vec<_>) = axes.into_iter().partition(Column::is_axis);
    let first = [
        point("run", ColumnKind::Integer, "", "the number of the point on the grid, from 0", |asked| {
            asked.index.into()
        }),
        point("algorithm", ColumnKind::Text, "", "the algorithm", |asked| {
            Value::text(&asked.trial.algorithm)
        }),
    ];
    first.into_iter().chain(axes).chain(shared).chain(seed).collect()
}

/// The column of a setting, if it has one.
fn setting(setting: &'static Definition) -> Option<Column> {
    let name = match setting.sweep {
        SweepRole::Fixed | SweepRole::Common { column: "" } => return None,
        SweepRole::Common { column } | SweepRole::Axis { column, .. } => column,
    };
    let (name, description) = (Cow::Borrowed(name), Cow::Owned(setting.summary()));
    let (kind, unit) = (kind(setting), setting.unit);
    Some(Column { name, kind, unit, description, source: Source::Setting(setting) })
}

fn kind(setting: &Definition) -> ColumnKind {
    match setting.kind {
        settings::SettingKind::Count | settings::SettingKind::Number => ColumnKind::Integer,
        settings::SettingKind::Switch => ColumnKind::Boolean,
        settings::SettingKind::Word if setting.unit == "probability" => ColumnKind::Number,
        settings::SettingKind::Word | settings::SettingKind::Repeated | settings::SettingKind::Commas => {
            ColumnKind::Text
        }
    }
}

/// What came of it.
fn reports() -> Vec<Column> {
    use ColumnKind::{Integer, Number};
    let counts = vec![
        told("entries", Integer, "entries", "entries that were measured", |report| report.entries.into()),
        told("messages", Integer, "messages", "messages of the algorithm", |report| report.messages.into()),
        told("messages_per_entry", Number, "messages/entry", "messages divided by entries", |report| {
            report.messages_per_entry.into()
        }),
        told("messages_by_kind", ColumnKind::Text, "messages", "messages of each kind", by_kind),
        told("bytes", Integer, "bytes", "the size of all messages", |report| report.bytes.into()),
    ];
    let rest = vec![
        told(
            "throughput_entries_per_tick",
            Number,
            "entries/tick",
            "entries from the first to the last by time",
            |report| report.throughput.into(),
        ),
        told("fairness_jain", Number, "1", "Jain's index over the entries of those who asked", |report| {
            report.fairness.jain.into()
        }),
        told(
            "max_bypass",
            Integer,
            "entries",
            "how often one that waited was passed over, at most",
            |report| report.fairness.max_bypass.into(),
        ),
        told(
            "out_of_order",
            Integer,
            "entries",
            "entries against happened-before; missing unless asked for",
            |report| report.out_of_order.into(),
        ),
        told("node_messages_min", Integer, "messages", "messages that a node handled, at least", |report| {
            report.load.min.into()
        }),
        told(
            "node_messages_mean",
            Number,
            "messages",
            "messages that a node handled, on average",
            |report| report.load.mean.into(),
        ),
        told("node_messages_max", Integer, "messages", "messages that a node handled, at most", |report| {
            report.load.max.into()
        }),
    ];
    [counts, times(), rest, troubles()].concat()
}

/// How long it took.
fn times() -> Vec<Column> {
    use ColumnKind::{Integer, Number};
    vec![
        told("response_time_mean_ticks", Number, "ticks", "from request to release, the mean", |report| {
            report.response_time.mean.into()
        }),
        told("response_time_p50_ticks", Integer, "ticks", "the same, the median", |report| {
            report.response_time.p50.into()
        }),
        told("response_time_p99_ticks", Integer, "ticks", "the same, 99 of 100", |report| {
            report.response_time.p99.into()
        }),
        told("response_time_max_ticks", Integer, "ticks", "the same, the largest", |report| {
            report.response_time.max.into()
        }),
        told("waiting_time_mean_ticks", Number, "ticks", "from request to entry, the mean", |report| {
            report.waiting_time.mean.into()
        }),
        told("waiting_time_p50_ticks", Integer, "ticks", "the same, the median", |report| {
            report.waiting_time.p50.into()
        }),
        told("waiting_time_p99_ticks", Integer, "ticks", "the same, 99 of 100", |report| {
            report.waiting_time.p99.into()
        }),
        told("waiting_time_max_ticks", Integer, "ticks", "the same, the largest", |report| {
            report.waiting_time.max.into()
        }),
        told(
            "sync_delay_mean_ticks",
            Number,
            "ticks",
            "from a release to the next entry while somebody waits",
            |report| report.sync_delay.summary.mean.into(),
        ),
        told("sync_delay_p50_ticks", Integer, "ticks", "the same, the median", |report| {
            report.sync_delay.summary.p50.into()
        }),
        told("sync_delay_p99_ticks", Integer, "ticks", "the same, 99 of 100", |report| {
            report.sync_delay.summary.p99.into()
        }),
        told("sync_delay_max_ticks", Integer, "ticks", "the same, the largest", |report| {
            report.sync_delay.summary.max.into()
        }),
        told("sync_delay_count", Integer, "entries", "entries that followed such a release", |report| {
            report.sync_delay.count.into()
        }),
        told("time_ticks", Integer, "ticks", "when the run ended", |report| report.time.into()),
    ]
}

/// What went wrong.
fn troubles() -> Vec<Column> {
    use ColumnKind::{Boolean, Integer, Text};
    vec![
        told("lost", Integer, "messages", "messages that never arrived", |report| report.lost.into()),
        told("duplicated", Integer, "messages", "messages that arrived twice", |report| {
            report.duplicated.into()
        }),
        told("resent", Integer, "messages", "messages sent again by the layer below", |report| {
            report.retransmission.resent.into()
        }),
        told("acknowledgements", Integer, "messages", "acknowledgements of the layer below", |report| {
            report.retransmission.acknowledgements.into()
        }),
        told("stalled", Boolean, "", "whether somebody waits for ever", |report| report.stalled.into()),
        told("wait_cycle", Text, "nodes", "nodes that wait for each other in a ring", wait_cycle),
        told("unissued", Integer, "requests", "requests that nobody was left to make", |report| {
            report.unissued.into()
        }),
        told(
            "violations",
            Integer,
            "violations",
            "how often something happened that must never happen",
            |report| (report.violations.len() as u64).into(),
        ),
        told("first_violation", Text, "", "the first of them", |report| {
            report.violations.first().map_or(Value::Missing, |sentence| Value::text(sentence))
        }),
    ]
}

fn by_kind(report: &Report) -> Value {
    let kinds: Vec<String> =
        report.messages_by_kind.iter().map(|(name, count)| format!("{name}={count}")).collect();
    Value::text(&kinds.join(" "))
}

fn wait_cycle(report: &Report) -> Value {
    let nodes: Vec<String> = report.wait_cycle.iter().map(ToString::to_string).collect();
    Value::text(&nodes.join(" "))
}

impl Value {
    /// A text; one without letters is missing, and one of several lines becomes one.
    pub(super) fn text(text: &str) -> Self {
        match text {
            "" => Value::Missing,
            _ => Value::Text(text.replace(|letter: char| letter.is_control(), " ")),
        }
    }
}

/// For sentences about it.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Missing => f.write_str("missing"),
            Value::Integer(number) => number.fmt(f),
            Value::Number(number) => number.fmt(f),
            Value::Boolean(value) => value.fmt(f),
            Value::Text(text) => text.fmt(f),
        }
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Value::Integer(number)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        if number.is_finite() { Value::Number(number) } else { Value::Missing }
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Value::Boolean(value)
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::Missing, T::into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_different_and_measured_columns_have_a_unit() {
        let columns = all(&Catalog::textbook());
        let mut names: Vec<&str> = columns.iter().map(|column| column.name.as_ref()).collect();
        assert_eq!((names[0], names[names.len() - 1]), ("run", "error"));
        assert!(["quorum", "tree", "structure", "arbitration"].iter().all(|name| names.contains(name)));
        for column in &columns {
            let counts = matches!(column.kind, ColumnKind::Integer | ColumnKind::Number);
            let is_name = ["run", "seed"].contains(&column.name.as_ref());
            assert!(!counts || is_name || !column.unit.is_empty(), "{} has no unit", column.name);
            assert_eq!(column.name.ends_with("_ticks"), column.unit == "ticks" && counts, "{}", column.name);
        }
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), columns.len());
    }
}
