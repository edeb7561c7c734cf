//! The little of TOML that manifests use: sections, keys and values, each with its line.

/// One `key = value`, under the whole path of its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Section and key, as in `workspace.package.edition`.
    pub path: String,
    /// The value as written, on one line and without blanks.
    pub value: String,
    /// The line of its key, from 1.
    pub line: usize,
}

/// Every pair of a manifest, in order.
pub fn pairs(text: &str) -> Vec<Pair> {
    let mut found: Vec<Pair> = Vec::new();
    let mut section = String::new();
    for (index, line) in text.lines().enumerate() {
        let line: String = without_comment(line).split_whitespace().collect();
        let open = found.last_mut().filter(|pair| is_open(&pair.value));
        if let Some(pair) = open {
            pair.value.push_str(&line);
        } else if let Some(header) = line.strip_prefix('[') {
            section = header.trim_matches(['[', ']']).to_owned() + ".";
        } else if let Some((key, value)) = line.split_once('=') {
            found.push(Pair { path: format!("{section}{key}"), value: value.to_owned(), line: index + 1 });
        }
    }
    found
}

/// Whether a value goes on in the next line: a list or table whose bracket is not closed.
fn is_open(value: &str) -> bool {
    let count = |brackets: [char; 2]| value.matches(brackets).count();
    count(['[', '{']) > count([']', '}'])
}

fn without_comment(line: &str) -> &str {
    let mut quote = None;
    for (at, c) in line.char_indices() {
        match (quote, c) {
            (None, '#') => return &line[..at],
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            (None | Some(_), _) => {}
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths_and_values(text: &str) -> Vec<(String, String)> {
        pairs(text).into_iter().map(|pair| (pair.path, pair.value)).collect()
    }

    #[test]
    fn a_pair_stands_under_its_section() {
        let text = "top = 1\n[a.b] # why\nc.d = \"x#y\" # z\n";
        let expected = [("top", "1"), ("a.b.c.d", "\"x#y\"")];
        assert_eq!(paths_and_values(text), expected.map(|(path, value)| (path.to_owned(), value.to_owned())));
    }

    #[test]
    fn a_list_over_several_lines_is_one_value() {
        let all = pairs("[w]\nmembers = [\n  \"a\", # first\n  \"b\",\n]\nnext = true\n");
        assert_eq!(all[0].value, "[\"a\",\"b\",]");
        assert_eq!((all[1].path.as_str(), all[1].line), ("w.next", 6));
    }
}
