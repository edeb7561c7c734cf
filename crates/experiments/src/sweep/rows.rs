//! Rows as lines of a file: CSV as RFC 4180 has it, or JSON lines. What is written reads back as it was, numbers included.
//!
//! A row is a line and no text has a line break in it, so that a file that was cut anywhere still tells which of its rows are
//! whole.

use std::borrow::Cow;

use csv::StringRecord;
use doorway_core::Refusal;
use serde_json::{Map, Value as Json};

use super::columns::{Column, ColumnKind, Value};

/// How rows are written as lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lines {
    Csv,
    Json,
}

impl Lines {
    /// What stands before all rows, with its line break.
    pub(super) fn header(self, columns: &[Column]) -> String {
        match self {
            Lines::Csv => csv_line(columns.iter().map(|column| column.name.clone())),
            Lines::Json => String::new(),
        }
    }

    /// A row as a line, with its line break.
    pub(super) fn line(self, columns: &[Column], row: &[Value]) -> String {
        match self {
            Lines::Csv => csv_line(row.iter().map(csv_field)),
            Lines::Json => {
                let mut line = String::with_capacity(512);
                for (column, value) in columns.iter().zip(row) {
                    line.push(if line.is_empty() { '{' } else { ',' });
                    line.push_str(&Json::from(column.name.as_ref()).to_string());
                    line.push(':');
                    line.push_str(&json(value).to_string());
                }
                line.push_str("}\n");
                line
            }
        }
    }

    /// Reads a line without its break.
    ///
    /// # Errors
    /// If it is no row of these columns.
    pub(super) fn read(self, columns: &[Column], line: &str) -> Result<Vec<Value>, Refusal> {
        let row = match self {
            Lines::Csv => read_csv(columns, line),
            Lines::Json => read_json(columns, line),
        };
        row.ok_or_else(|| Refusal::new("it is no row of the columns that the manifest names"))
    }
}

/// A line of CSV with its line break.
fn csv_line<'a>(fields: impl Iterator<Item = Cow<'a, str>>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::with_capacity(512));
    for field in fields {
        writer.write_field(field.as_bytes()).expect("memory takes every field");
    }
    writer.write_record(None::<&[u8]>).expect("memory takes the end of a record");
    String::from_utf8(writer.into_inner().expect("memory takes every byte")).expect("fields are text")
}

fn csv_field(value: &Value) -> Cow<'_, str> {
    match value {
        Value::Missing => "".into(),
        Value::Integer(number) => number.to_string().into(),
        Value::Number(number) => number.to_string().into(),
        Value::Boolean(value) => value.to_string().into(),
        Value::Text(text) => text.into(),
    }
}

fn read_csv(columns: &[Column], line: &str) -> Option<Vec<Value>> {
    if !is_well_quoted(line) {
        return None;
    }
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(line.as_bytes());
    let mut fields = StringRecord::new();
    reader.read_record(&mut fields).ok().filter(|&is_there| is_there)?;
    let same = fields.len() == columns.len();
    let values = columns.iter().zip(&fields).map(|(column, field)| read_field(column.kind, field));
    values.collect::<Option<Vec<Value>>>().filter(|_| same)
}

/// Whether quotes stand only around whole fields, and every quoted field is closed. The reader of the `csv` crate takes the end of
/// the text for a missing quote, so that a damaged row would pass for a whole one.
fn is_well_quoted(line: &str) -> bool {
    #[derive(Clone, Copy, PartialEq)]
    enum At {
        Start,
        Plain,
        Quoted,
        /// After a quote inside a quoted field: its end, or the first of two that mean one.
        Quote,
    }
    let next = |at: At, c: char| match (at, c) {
        (At::Start, '"') | (At::Quote, '"') => Some(At::Quoted),
        (At::Quoted, '"') => Some(At::Quote),
        (At::Quoted, _) => Some(At::Quoted),
        (At::Start | At::Plain | At::Quote, ',') => Some(At::Start),
        (At::Plain, '"') | (At::Quote, _) => None,
        (At::Start | At::Plain, _) => Some(At::Plain),
    };
    line.chars().try_fold(At::Start, next).is_some_and(|end| end != At::Quoted)
}

fn read_field(kind: ColumnKind, field: &str) -> Option<Value> {
    match kind {
        _ if field.is_empty() => Some(Value::Missing),
        ColumnKind::Integer => field.parse().ok().map(Value::Integer),
        ColumnKind::Number => field.parse().ok().filter(|number: &f64| number.is_finite()).map(Value::Number),
        ColumnKind::Boolean => field.parse().ok().map(Value::Boolean),
        ColumnKind::Text => Some(Value::Text(field.to_owned())),
    }
}

fn json(value: &Value) -> Json {
    match value {
        Value::Missing => Json::Null,
        Value::Integer(number) => (*number).into(),
        Value::Number(number) => (*number).into(),
        Value::Boolean(value) => (*value).into(),
        Value::Text(text) => text.as_str().into(),
    }
}

fn read_json(columns: &[Column], line: &str) -> Option<Vec<Value>> {
    let object: Map<String, Json> = serde_json::from_str(line).ok()?;
    let same = object.len() == columns.len() && columns.iter().zip(object.keys()).all(|(a, b)| a.name == *b);
    let values = columns.iter().zip(object.values()).map(|(column, value)| read_value(column.kind, value));
    values.collect::<Option<Vec<Value>>>().filter(|_| same)
}

fn read_value(kind: ColumnKind, value: &Json) -> Option<Value> {
    match kind {
        _ if value.is_null() => Some(Value::Missing),
        ColumnKind::Integer => value.as_u64().map(Value::Integer),
        ColumnKind::Number => value.as_f64().map(Value::Number),
        ColumnKind::Boolean => value.as_bool().map(Value::Boolean),
        ColumnKind::Text => value.as_str().map(|text| Value::Text(text.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::super::columns::all;
    use doorway_catalog::Catalog;

    use super::*;

    /// A row whose values depend on a number.
    fn row(columns: &[Column], number: u64) -> Vec<Value> {
        let value = |(place, column): (usize, &Column)| {
            let mixed = (number + place as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            match column.kind {
                _ if mixed.is_multiple_of(5) => Value::Missing,
                ColumnKind::Integer => Value::Integer(mixed),
                ColumnKind::Number => Value::from(f64::from_bits(mixed)),
                ColumnKind::Boolean => Value::Boolean(mixed.is_multiple_of(2)),
                ColumnKind::Text => {
                    Value::text(["a,b", "say \"no\"", "\"", "é|1@2..3", "x\ny", ","][mixed as usize % 6])
                }
            }
        };
        columns.iter().enumerate().map(value).collect()
    }

    #[test]
    fn what_is_written_reads_back_bit_by_bit() {
        let columns = all(&Catalog::textbook());
        for lines in [Lines::Csv, Lines::Json] {
            for number in 0..2_000 {
                let row = row(&columns, number);
                let line = lines.line(&columns, &row);
                assert_eq!(line.matches('\n').count(), 1);
                assert_eq!(
                    lines.read(&columns, line.trim_end_matches('\n')),
                    Ok(row),
                    "row {number}: {line}"
                );
            }
        }
    }

    #[test]
    fn a_field_with_a_broken_quote_is_refused() {
        let columns = &all(&Catalog::textbook())[..2];
        let read = |line: &str| Lines::Csv.read(columns, line);
        let row = |name: &str| Ok(vec![Value::Integer(1), Value::text(name)]);
        assert_eq!(read("1,\"a, b\""), row("a, b"));
        assert_eq!(read("1,\"say \"\"no\"\"\""), row("say \"no\""));
        for line in ["1,\"a", "1,\"a\"\"", "1,a\"b", "1,a\"b\"", "1,\"a\"b", "1\",\"a"] {
            read(line).expect_err(line);
        }
    }

    #[test]
    fn what_is_no_row_is_refused() {
        let columns = all(&Catalog::textbook());
        for lines in [Lines::Csv, Lines::Json] {
            let whole = lines.line(&columns, &row(&columns, 7));
            let shorter = &whole[..whole.len() / 2];
            for line in ["", "x", "\"", "{}", "null", "\0\0\0", &lines.header(&columns), shorter] {
                lines.read(&columns, line).expect_err(line);
            }
        }
    }
}
