//! Links between the documents.

use super::{PAGES, place, read};

/// Documents that have links and no commands of their own.
const MORE: [&str; 3] = ["docs/SUMMARY.md", "ARCHITECTURE.md", "benches/README.md"];

/// The targets of links and pictures that are not on the network.
fn targets(page: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (at, _) in page.match_indices("](") {
        let target = page[at + 2..].split(')').next().unwrap_or_default();
        if !target.contains("://") {
            found.push(target);
        }
    }
    found
}

/// The name by which a heading is linked: small letters and digits, blanks as hyphens.
fn anchor(heading: &str) -> String {
    let heading = heading.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
    heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_')).collect()
}

fn has_heading(page: &str, name: &str) -> bool {
    page.lines().filter(|line| line.starts_with('#')).any(|line| anchor(line) == name)
}

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
    for path in PAGES.iter().chain(&MORE) {
        let page = read(path);
        let folder = path.rsplit_once('/').map(|(folder, _)| format!("{folder}/")).unwrap_or_default();
        for target in targets(&page) {
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let file = if file.is_empty() { (*path).to_owned() } else { format!("{folder}{file}") };
            assert!(place(&file).exists(), "{path}: {target} leads nowhere");
            let is_there = heading.is_empty() || has_heading(&read(&file), heading);
            assert!(is_there, "{path}: {file} has no heading #{heading}");
        }
    }
}

#[test]
fn a_heading_is_linked_as_browsers_expect() {
    assert_eq!(anchor("## What rests on consensus, and how?"), "what-rests-on-consensus-and-how");
    assert_eq!(targets("[a](b.md#c) ![p](d.png) [e](ftp://f)"), ["b.md#c", "d.png"]);
}
