//! Compares the output of a command with what a page prints.
//!
//! A printed line `…` stands for any number of lines. What differs from run to run is masked on both sides: times,
//! ports, process numbers, fences and the memory of a state. Everything else must be equal, digit by digit.

/// The line that stands for any lines.
pub const ANY: &str = "…";

/// Fences are above 2^36: they have at least eleven digits.
const DIGITS_OF_A_FENCE: usize = 11;

/// Compares output with what is printed.
///
/// # Errors
/// The first printed lines that the output does not have, as a sentence.
pub fn compare(printed: &[String], output: &[String]) -> Result<(), String> {
    let [expected, found] = masked_alike(printed, output);
    let parts: Vec<&[String]> = expected.split(|line| line == ANY).collect();
    let last = parts.len() - 1;
    let mut rest = &found[..];
    for (index, part) in parts.iter().enumerate() {
        let at = match (index == 0, index == last) {
            (true, true) if rest.len() != part.len() => {
                return Err(first_difference(part, rest));
            }
            (true, _) => rest.starts_with(part).then_some(0),
            (false, true) => rest.ends_with(part).then(|| rest.len() - part.len()),
            (false, false) => {
                (0..=rest.len().saturating_sub(part.len())).find(|at| rest[*at..].starts_with(part))
            }
        };
        match at {
            Some(at) => rest = &rest[at + part.len()..],
            None if index == 0 => return Err(first_difference(part, rest)),
            None => return Err(format!("these lines are not in the output:\n{}", part.join("\n"))),
        }
    }
    Ok(())
}

fn first_difference(expected: &[String], found: &[String]) -> String {
    let end = "(the end)".to_owned();
    let line = |lines: &[String], at: usize| lines.get(at).unwrap_or(&end).clone();
    let at = (0..expected.len().max(found.len())).find(|at| expected.get(*at) != found.get(*at));
    let at = at.unwrap_or_default();
    format!("line {} is\n{}\nand not\n{}", at + 1, line(found, at), line(expected, at))
}

/// Both texts with what differs from run to run masked. Where anything was masked the columns of a table may shift, so
/// runs of blanks and rules count as one.
fn masked_alike(printed: &[String], output: &[String]) -> [Vec<String>; 2] {
    let texts = [printed, output];
    let masked = texts.map(|lines| lines.iter().map(|line| masked(line.trim_end())).collect::<Vec<_>>());
    let is_masked =
        (0..2).any(|side| texts[side].iter().zip(&masked[side]).any(|(line, mask)| line.trim_end() != mask));
    if is_masked { masked.map(|lines| lines.iter().map(|line| narrowed(line)).collect()) } else { masked }
}

/// A line in which each number that differs from run to run is `#`.
fn masked(line: &str) -> String {
    let mut masked = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, from) = rest.split_at(at);
        let end = from.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(from.len());
        let end = from[..end].trim_end_matches('.').len();
        let (number, after) = from.split_at(end);
        masked.push_str(before);
        match mask(&masked, number, after) {
            Some(skipped) => {
                masked.push('#');
                rest = &after[skipped..];
            }
            None => {
                masked.push_str(number);
                rest = after;
            }
        }
    }
    masked + rest
}

/// Whether a number differs from run to run, and then how many bytes after it belong to it, such as the unit of a time.
fn mask(before: &str, number: &str, after: &str) -> Option<usize> {
    const UNITS: [&str; 4] = [" s", " ms", " µs", " min"];
    let is_word_end = |text: &str| !text.starts_with(char::is_alphanumeric);
    let is_in_word = before.ends_with(|c: char| c.is_alphanumeric() || c == '.' || c == '-');
    if is_in_word {
        return None;
    }
    let unit = UNITS.iter().find(|unit| after.strip_prefix(**unit).is_some_and(is_word_end));
    let is_address = number.starts_with("127.0.0.1") && after.starts_with(':');
    let is_process = before.ends_with(" (") && after.starts_with(')');
    let is_fence = number.len() >= DIGITS_OF_A_FENCE && !number.contains('.');
    let is_memory = after.starts_with(" bytes a state");
    match unit {
        Some(unit) => Some(unit.len()),
        None if is_address => {
            Some(1 + after[1..].find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len() - 1))
        }
        None if is_process || is_fence || is_memory => Some(0),
        None => None,
    }
}

/// A line in which runs of blanks and of rules are one each.
fn narrowed(line: &str) -> String {
    let mut narrow = String::new();
    for c in line.chars() {
        if !(matches!(c, ' ' | '─') && narrow.ends_with(c)) {
            narrow.push(c);
        }
    }
    narrow
}

/// The printed lines with those of the output in their place, if it is clear which ones: the lines before the only `…`
/// and after it keep their number.
pub fn renewed(printed: &[String], output: &[String]) -> Option<Vec<String>> {
    let gaps: Vec<usize> = (0..printed.len()).filter(|at| printed[*at] == ANY).collect();
    match gaps[..] {
        [] => Some(output.to_vec()),
        [gap] => {
            let (head, tail) = (gap, printed.len() - gap - 1);
            let is_long_enough = head + tail <= output.len();
            is_long_enough
                .then(|| [&output[..head], &[ANY.to_owned()], &output[output.len() - tail..]].concat())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    fn is_equal(printed: &str, output: &str) -> bool {
        compare(&lines(printed), &lines(output)).is_ok()
    }

    const OUTPUT: &str =
        "lamport, 3 nodes\n\n  entries   20 in 300 ticks\n  messages  120, 6 per entry\n\nreplay: seed 1\n";

    #[test]
    fn equal_lines_are_equal() {
        assert!(is_equal(OUTPUT, OUTPUT));
        assert!(is_equal("", ""));
    }

    #[test]
    fn a_wrong_digit_is_found_wherever_it_is() {
        for (at, digit) in OUTPUT.char_indices().filter(|(_, c)| c.is_ascii_digit()) {
            let wrong = if digit == '7' { "8" } else { "7" };
            let mut printed = OUTPUT.to_owned();
            printed.replace_range(at..=at, wrong);
            assert!(!is_equal(&printed, OUTPUT), "{printed}");
        }
        let told = compare(&lines("a\nb 1\nc"), &lines("a\nb 2\nc"));
        assert_eq!(told, Err("line 2 is\nb 2\nand not\nb 1".to_owned()));
    }

    #[test]
    fn a_line_too_few_or_too_many_is_found() {
        assert!(!is_equal("a\nb", "a\nb\nc"));
        assert!(!is_equal("a\nb\nc", "a\nb"));
        assert!(!is_equal("", "a"));
        assert!(!is_equal("a", ""));
    }

    #[test]
    fn an_ellipsis_stands_for_any_lines() {
        for printed in ["…", "…\nreplay: seed 1", "lamport, 3 nodes\n…", "…\n  entries   20 in 300 ticks\n…"]
        {
            assert!(is_equal(printed, OUTPUT), "{printed}");
        }
        assert!(is_equal("a\n…\nb", "a\nb"), "also for none");
        for printed in ["…\nreplay: seed 2", "lamport, 4 nodes\n…", "…\n  entries   20 in 301 ticks\n…"]
        {
            assert!(!is_equal(printed, OUTPUT), "{printed}");
        }
        assert!(!is_equal("…\nb\n…\na\n…", "a\nb"), "the order counts");
        assert!(!is_equal("a\n…\na", "a"), "a line counts once");
    }

    #[test]
    fn times_ports_processes_fences_and_memory_are_masked() {
        for (printed, output) in [
            ("39381 states; 28 bytes a state; 0.1 s", "39381 states; 31 bytes a state; 12.4 s"),
            ("inside with fence 206158430209", "inside with fence 137438953473"),
            ("demo  inside  sh (4711)  b  998 ms", "demo  inside  sh (83)  b  1 s"),
            ("a     127.0.0.1:46469  leader", "a     127.0.0.1:7700  leader"),
            (
                "Node  Address          Lease\n────\na  127.0.0.1:46469  996 ms",
                "Node  Address  Lease\n──\na  127.0.0.1:1  9 ms",
            ),
        ] {
            assert!(is_equal(printed, output), "{printed}");
        }
        for (printed, output) in [
            ("39381 states; 0.1 s", "39382 states; 0.1 s"),
            ("a  127.0.0.1:1  leader  3", "a  127.0.0.1:1  leader  4"),
            ("10.0.0.1:7700", "10.0.0.1:7701"),
            ("C8 in 5 steps", "C8 in 6 steps"),
            ("load 0.42857142857142", "load 0.42857142857143"),
            ("--latency senders:1,3", "--latency senders:1,4"),
        ] {
            assert!(!is_equal(printed, output), "{printed}");
        }
    }

    #[test]
    fn columns_count_where_nothing_is_masked() {
        assert!(!is_equal("a  1", "a   1"));
        assert!(is_equal("a  1\nb  2 s", "a   1\nb   3 s"));
    }

    #[test]
    fn printed_lines_are_renewed_where_their_place_is_clear() {
        let renewed = |printed: &str| renewed(&lines(printed), &lines("a\nb\nc"));
        assert_eq!(renewed("x"), Some(lines("a\nb\nc")));
        assert_eq!(renewed("x\n…"), Some(lines("a\n…")));
        assert_eq!(renewed("…\nx\ny"), Some(lines("…\nb\nc")));
        assert_eq!(renewed("…\nx\n…"), None);
    }
}
