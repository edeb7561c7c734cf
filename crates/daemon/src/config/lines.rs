//! Where in a file a key stands.

use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The lines of the keys that a text gives, by their names: `limits.clients`, `nodes.2.address`, counted from 0 as lists are.
#[derive(Clone, Debug, Default)]
pub(super) struct Lines(BTreeMap<String, usize>);

impl Lines {
    /// Those of a text. A text that cannot be read has none.
    pub(super) fn of(text: &str) -> Self {
        let mut lines = Self::default();
        if let Ok(table) = DeTable::parse(text) {
            lines.take_table(text, "", table.get_ref());
        }
        lines
    }

    /// The line of a key, or of the table that it would stand in.
    pub(super) fn line(&self, key: &str) -> Option<usize> {
        let within = || key.rsplit_once('.').and_then(|(table, _)| self.line(table));
        self.0.get(key).copied().or_else(within)
    }

    /// Whether a key is given at all.
    pub(super) fn has(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    fn take_table(&mut self, text: &str, within: &str, table: &DeTable<'_>) {
        for (key, value) in table {
            let name = format!("{within}{}", key.get_ref());
            self.0.insert(name.clone(), line_at(text, key.span().start));
            self.take(text, &name, value);
        }
    }

    fn take(&mut self, text: &str, name: &str, value: &Spanned<DeValue<'_>>) {
        match value.get_ref() {
            DeValue::Table(table) => self.take_table(text, &format!("{name}."), table),
            DeValue::Array(values) => {
                for (place, value) in values.iter().enumerate() {
                    let name = format!("{name}.{place}");
                    self.0.insert(name.clone(), line_at(text, value.span().start));
                    self.take(text, &name, value);
                }
            }
            DeValue::String(_)
            | DeValue::Integer(_)
            | DeValue::Float(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_) => {}
        }
    }
}

/// The line of a place in a text, from 1.
pub(super) fn line_at(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|byte| *byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_a_line_even_if_it_is_missing() {
        let lines =
            Lines::of("a = 1\n\n[limits]\nclients = 2\n[[nodes]]\nname = \"x\"\n\n[[nodes]]\nname = \"y\"\n");
        let found =
            ["a", "limits", "limits.clients", "limits.other", "nodes.0.name", "nodes.1", "nodes.1.name", "b"];
        assert_eq!(
            found.map(|key| lines.line(key)),
            [Some(1), Some(3), Some(4), Some(3), Some(6), Some(8), Some(9), None]
        );
        assert_eq!(Lines::of("a = ").line("a"), None);
    }
}
