//! Tables that fit the terminal: words aligned in columns under one thin line.

use comfy_table::{
    Cell, CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Table, TableStyle, Width,
};

use crate::text;

/// One thin line under the header and nothing else.
const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─'));

/// Blanks between two columns.
const GAP: u16 = 2;

/// A table of words.
pub(crate) fn of_words(headings: &[&str], rows: &[Vec<String>]) -> String {
    rendered(headings, rows, usize::MAX)
}

/// A table in which only the first column is of words, and all others are of numbers.
pub(crate) fn of_numbers(headings: &[&str], rows: &[Vec<String>]) -> String {
    of_words_and_numbers(headings, rows, 1)
}

/// A table in which the first so many columns are of words, and all others are of numbers.
pub(crate) fn of_words_and_numbers(headings: &[&str], rows: &[Vec<String>], words: usize) -> String {
    rendered(headings, rows, words)
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
        let least = Width::Fixed(longest_word(texts) + GAP);
        column.set_padding((0, GAP)).set_constraint(ColumnConstraint::LowerBoundary(least));
        if place >= words {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// Names and formulas are not broken inside.
fn longest_word<'a>(texts: impl Iterator<Item = &'a str>) -> u16 {
    let longest = texts.flat_map(str::split_whitespace).map(|word| word.chars().count()).max();
    u16::try_from(longest.unwrap_or(0)).unwrap_or(u16::MAX - GAP)
}
