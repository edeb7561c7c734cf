//! Tables that fit the terminal: words aligned in columns under one thin line.

use std::ops::Range;

use comfy_table::{
    Cell, CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Table, TableStyle, Width,
};

use crate::text;

/// One thin line under the header and nothing else.
const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─'));

/// Blanks between two columns.
const GAP: u16 = 2;

/// A table of words.
#[must_use]
pub fn of_words(headings: &[&str], rows: &[Vec<String>]) -> String {
    rendered(headings, rows, usize::MAX)
}

/// How many columns of a terminal a table takes if none of its texts is broken.
#[must_use]
pub fn natural_width(headings: &[&str], rows: &[Vec<String>]) -> usize {
    let widths = (0..headings.len()).map(|place| usize::from(widest(headings, rows, place)));
    widths.sum::<usize>() + usize::from(GAP) * headings.len().saturating_sub(1)
}

/// A table in which only the first column is of words, and all others are of numbers.
#[must_use]
pub fn of_numbers(headings: &[&str], rows: &[Vec<String>]) -> String {
    of_words_and_numbers(headings, rows, 1)
}

/// A table whose first `words` columns have words, and all others numbers: several tables below each other if
/// there are more numbers than fit the terminal, each with the words.
#[must_use]
pub fn of_words_and_numbers(headings: &[&str], rows: &[Vec<String>], words: usize) -> String {
    let parts = parts(headings, rows, words);
    let tables = parts.into_iter().map(|numbers| {
        let places: Vec<usize> = (0..words).chain(numbers).collect();
        let headings: Vec<&str> = places.iter().map(|&place| headings[place]).collect();
        let picked = |row: &Vec<String>| {
            places.iter().map(|&place| row.get(place).cloned().unwrap_or_default()).collect()
        };
        rendered(&headings, &rows.iter().map(picked).collect::<Vec<_>>(), words)
    });
    tables.collect::<Vec<_>>().join("\n")
}

/// As many columns of numbers for each table as fit beside the words.
fn parts(headings: &[&str], rows: &[Vec<String>], words: usize) -> Vec<Range<usize>> {
    let gap = usize::from(GAP);
    let taken: usize = (0..words).map(|place| usize::from(widest(headings, rows, place)) + gap).sum();
    let mut parts: Vec<Range<usize>> = Vec::new();
    if words == headings.len() {
        parts.push(words..words);
    }
    let mut used = 0;
    for place in words..headings.len() {
        let width = usize::from(widest(headings, rows, place)) + gap;
        match parts.last_mut() {
            Some(part) if taken + used + width <= text::width() + gap => part.end = place + 1,
            _ => {
                parts.push(place..place + 1);
                used = 0;
            }
        }
        used += width;
    }
    parts
}

fn rendered(headings: &[&str], rows: &[Vec<String>], words: usize) -> String {
    let mut table = Table::new();
    table
        .load_style(STYLE)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(u16::try_from(text::width()).unwrap_or(u16::MAX))
        .set_header(headings.iter().map(Cell::new))
        .add_rows(rows);
    for (place, column) in table.column_iter_mut().enumerate() {
        let texts = rows.iter().filter_map(|row| row.get(place).map(String::as_str)).chain([headings[place]]);
        let gap = if place + 1 == headings.len() { 0 } else { GAP };
        let least = Width::Fixed(longest_word(texts) + gap);
        column.set_padding((0, gap)).set_constraint(ColumnConstraint::LowerBoundary(least));
        if place >= words {
            // A number is never broken, and blanks at its end keep it in line with those that have a mark there.
            let width = Width::Fixed(widest(headings, rows, place) + gap);
            column.set_constraint(ColumnConstraint::Absolute(width));
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// The longest text of a column.
fn widest(headings: &[&str], rows: &[Vec<String>], place: usize) -> u16 {
    let texts = rows.iter().filter_map(|row| row.get(place).map(String::as_str)).chain([headings[place]]);
    let widest = texts.map(|text| text.chars().count()).max();
    u16::try_from(widest.unwrap_or(0)).unwrap_or(u16::MAX - GAP)
}

/// Names and formulas are not broken inside.
fn longest_word<'a>(texts: impl Iterator<Item = &'a str>) -> u16 {
    let longest = texts.flat_map(str::split_whitespace).map(|word| word.chars().count()).max();
    u16::try_from(longest.unwrap_or(0)).unwrap_or(u16::MAX - GAP)
}
