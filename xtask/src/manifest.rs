//! A manifest as a flat list: every value under the whole path of its key, with its line.

use toml::Value;
use toml::de::{DeTable, DeValue};

/// One `key = value`. Tables are flattened, however they were written: `a = { b = 1 }`, `a.b = 1` and `b = 1` under `[a]` are one path.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyValue {
    /// Section and key, as in `workspace.package.edition`.
    pub path: Vec<String>,
    /// The value, which is no table.
    pub value: Value,
    /// The line of its key, from 1.
    pub line: usize,
}

impl KeyValue {
    /// Whether it has the path that these dotted words make.
    pub fn is_at(&self, path: &str) -> bool {
        self.path.iter().map(String::as_str).eq(path.split('.'))
    }
}

/// Every pair of a manifest, sorted by path. What is not TOML is left out: cargo has refused such a manifest before.
pub fn pairs(text: &str) -> Vec<KeyValue> {
    let (table, _) = DeTable::parse_recoverable(text);
    let mut found = Vec::new();
    flatten(text, table.get_ref(), &[], &mut found);
    found
}

fn flatten(text: &str, table: &DeTable<'_>, above: &[String], found: &mut Vec<KeyValue>) {
    for (key, value) in table {
        let path = [above, &[key.get_ref().to_string()]].concat();
        match value.get_ref() {
            DeValue::Table(table) => flatten(text, table, &path, found),
            _ => {
                let line = text[..key.span().start].matches('\n').count() + 1;
                let value = text[value.span()].parse::<Value>();
                found.extend(value.ok().map(|value| KeyValue { path, value, line }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_stands_under_its_section() {
        let all = pairs("top = 1\n[a.b] # why\nc.d = \"x#y\" # z\n[e.'cfg(a.b)']\nf = { g = true }\n");
        let found: Vec<_> =
            all.iter().map(|pair| (pair.path.join("/"), pair.value.to_string(), pair.line)).collect();
        let expected = [("a/b/c/d", "\"x#y\"", 3), ("e/cfg(a.b)/f/g", "true", 5), ("top", "1", 1)];
        assert_eq!(found, expected.map(|(path, value, line)| (path.to_owned(), value.to_owned(), line)));
        assert!(all[0].is_at("a.b.c.d") && !all[1].is_at("e.cfg(a.b).f.g"));
    }

    #[test]
    fn a_list_over_several_lines_is_one_value() {
        let all = pairs("[w]\nmembers = [\n  \"a\", # first\n  \"b\",\n]\nnext = true\n");
        assert_eq!(all[0].value, Value::from(vec!["a", "b"]));
        assert_eq!((all[1].is_at("w.next"), all[1].line), (true, 6));
    }
}
