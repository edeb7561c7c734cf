//! No file holds a path of one machine; network addresses stand only where a reader expects them.

use super::Finding;
use super::files::File;

/// What a network address starts with; written in pieces, as this file is checked too.
const SCHEMES: [&str; 2] = [concat!("http", "://"), concat!("https", "://")];

/// Where this project is developed; written in pieces as well.
const MACHINE: &str = concat!("/wo", "rk/");

/// Hosts that are names of formats, citations, or the reader's own machine.
const KNOWN_HOSTS: [&str; 4] = ["www.w3.org/", "doi.org/", "127.0.0.1", "localhost"];

/// Looks at every line.
pub fn check(file: &File) -> Vec<Finding> {
    let lines = file.text.lines().enumerate();
    let wrong = lines.filter_map(|(index, line)| {
        let sentence = if has_machine_path(line) {
            "This path exists on one machine only."
        } else if !may_name_hosts(&file.path) && has_unknown_host(line) {
            "A network address belongs into a Markdown file or a manifest."
        } else {
            return None;
        };
        Some(Finding::new(&file.path, index + 1, sentence))
    });
    wrong.collect()
}

fn may_name_hosts(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.ends_with(".md") || name.starts_with("LICENSE") || matches!(name, "Cargo.toml" | "Cargo.lock")
}

/// A path from the root of the machine, not a part of a longer one.
fn has_machine_path(line: &str) -> bool {
    let is_start = |at: usize| !line[..at].ends_with(|c: char| c.is_alphanumeric() || "._-*}/".contains(c));
    line.match_indices(MACHINE).any(|(at, _)| is_start(at))
}

fn has_unknown_host(line: &str) -> bool {
    let is_known = |rest: &str| KNOWN_HOSTS.iter().any(|host| rest.starts_with(host));
    SCHEMES.iter().any(|scheme| line.split(scheme).skip(1).any(|rest| !is_known(rest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<usize> {
        let file = File { path: path.to_owned(), text: text.to_owned() };
        check(&file).into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn paths_of_one_machine_are_found_everywhere() {
        for path in ["a.rs", "README.md", ".ci/run"] {
            assert_eq!(found(path, &format!("a\ncd {MACHINE}main\n")), [2]);
            assert!(found(path, &format!("src{MACHINE}x and ./{MACHINE}")).is_empty());
        }
    }

    #[test]
    fn hosts_are_named_only_where_people_follow_links() {
        for scheme in SCHEMES {
            let line = format!("see {scheme}crates.example\n");
            assert_eq!(found("crates/core/src/lib.rs", &line), [1]);
            for path in ["docs/1.md", "LICENSE-APACHE", "Cargo.lock", "crates/core/Cargo.toml"] {
                assert!(found(path, &line).is_empty());
            }
        }
    }

    #[test]
    fn formats_citations_and_ourselves_are_known() {
        for host in KNOWN_HOSTS {
            assert!(found("a.rs", &format!("{}{host}", SCHEMES[0])).is_empty());
        }
    }
}
