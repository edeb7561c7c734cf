//! `doorway explain`: one page of the textbook.

mod program;

use doorway_catalog::Catalog;
use doorway_core::{About, Channels, Options, Parameter, Refusal, Rule, Specimen};
use doorway_terminal::text;
use serde_json::{Value, json};

use crate::Answer;
use crate::names::{self, Named};
use crate::typed::Typed;

/// Explain one algorithm
///
/// Prints one page of the textbook: the source of the algorithm, its idea, its claims, its rules and invariants, its
/// parameters, and a command to try.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  doorway explain ricart-agrawala
  doorway explain maekawa/basic        a specimen: what is wrong with it
  doorway explain bakery               a program over shared memory
  doorway explain raymond --json")]
pub(crate) struct Arguments {
    /// The algorithm, as `doorway algorithms` lists it
    algorithm: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn answer(catalog: &Catalog, arguments: &Arguments, typed: &Typed) -> Result<Answer, Refusal> {
    let about = match names::find_any(catalog, typed, &arguments.algorithm)? {
        Named::Algorithm(about) => about,
        Named::Program(about) => return program::answer(catalog, about, arguments.json, typed),
    };
    let subject = catalog.subject(about.name, &Options::none())?;
    let laws = Guarantees { rules: subject.rules(), invariants: subject.invariants() };
    let to_try = command_to_try(about, &typed.program);
    Ok(Answer::holds(match arguments.json {
        true => as_json(about, &laws, &to_try).to_string() + "\n",
        false => page(about, &laws, &to_try),
    }))
}

/// What an algorithm tells about its type.
struct Guarantees {
    rules: &'static [Rule],
    invariants: Vec<&'static str>,
}

fn as_json(about: &About, laws: &Guarantees, to_try: &str) -> Value {
    let mut told = doorway_catalog::described(about);
    let rules: Vec<Value> =
        laws.rules.iter().map(|rule| json!({"name": rule.name, "text": rule.text})).collect();
    told["page"] = json!(about.page());
    told["rules"] = json!(rules);
    told["invariants"] = json!(laws.invariants);
    told["try"] = json!(to_try);
    versioned(told)
}

/// What is told, behind the version of the format.
fn versioned(told: Value) -> Value {
    let mut answer = json!({"version": 1});
    if let (Value::Object(answer), Value::Object(told)) = (&mut answer, told) {
        answer.extend(told);
    }
    answer
}

/// The heading of a page.
fn heading(title: &str, name: &str) -> String {
    let title = format!("{title}  ({name})");
    format!("{title}\n{}", "═".repeat(title.chars().count()))
}

/// What is wrong with a specimen.
fn wrong(specimen: Specimen) -> String {
    let sentence = format!(
        "Specimen {} of {}, wrong on purpose: {}. Consequence: {}.",
        specimen.id, specimen.of, specimen.wrong, specimen.verdict
    );
    text::wrap(&sentence, text::prose_width(), 0)
}

fn page(about: &About, laws: &Guarantees, to_try: &str) -> String {
    let mut parts = vec![heading(about.title, about.name)];
    parts.extend(about.specimen.map(wrong));
    parts.push(rewrapped(without_title(&about.page(), about.title)));
    parts.push(claims(about));
    let rules: Vec<(&str, &str)> = laws.rules.iter().map(|rule| (rule.name, rule.text)).collect();
    parts.extend(items(&heading_of_rules(about), &rules));
    parts.extend(bullets("Invariants, tested by --invariants", &laws.invariants));
    parts.extend(items("Parameters", &parameters("--", about.parameters)));
    parts.push(format!("Try\n  {to_try}"));
    parts.join("\n\n") + "\n"
}

/// The page without its first line, where that only says the title again.
fn without_title<'a>(page: &'a str, title: &str) -> &'a str {
    match page.split_once('\n') {
        Some((first, rest)) if first.trim_end_matches('.') == title => rest.trim_start_matches('\n'),
        _ => page,
    }
}

/// A specimen shares the rules of the algorithm that it spoils, and may not have all of them.
fn heading_of_rules(about: &About) -> String {
    match about.specimen {
        Some(specimen) => format!("Rules of {}, which this variant spoils", specimen.of),
        None => "Rules".to_owned(),
    }
}

fn claims(about: &About) -> String {
    let lines = [
        ("excludes by", about.family.name()),
        ("messages per entry", about.messages.formula),
        ("delay", about.delay),
        ("needs", &text::channels(about.needs)),
    ];
    items("Claims", &lines).unwrap_or_default()
}

/// What can be chosen, each with what one types in front of its name.
fn parameters(typed: &str, parameters: &[Parameter]) -> Vec<(String, String)> {
    let told = |parameter: &Parameter| {
        let help = parameter.help.trim_end_matches('.');
        (format!("{typed}{}", parameter.name), format!("{help}; {} unless chosen.", parameter.default))
    };
    parameters.iter().map(told).collect()
}

/// A command that shows what is special: for a specimen, many runs in which something should go wrong. One that is right
/// under causal delivery is tried with less. Starvation takes a run without end, which only a checker can show: two nodes ask
/// again and again, and the third asks once.
fn command_to_try(about: &About, program: &str) -> String {
    let name = about.name;
    match about.specimen {
        Some(specimen) if specimen.verdict.contains("starve") => {
            let requests = "--requests unbounded,unbounded,1";
            format!("{program} check {name} {requests} --channels fifo --property starvation-freedom")
        }
        Some(specimen) => {
            let channels = about.needs.min(Channels::Fifo).name();
            let work = "--nodes 7 --load light:100 --latency exponential:20 --runs 100";
            let crash = if specimen.verdict.ends_with("after a crash") { " --crash 1@100" } else { "" };
            format!("{program} simulate {name} --channels {channels} {work}{crash}")
        }
        None => {
            let choice = about.parameters.first();
            let choice =
                choice.map(|chosen| format!(" --{} {}", chosen.name, chosen.default)).unwrap_or_default();
            format!("{program} simulate {name} --nodes 13{choice}")
        }
    }
}

/// Terms with their meanings under a heading; nothing if there are none.
fn items<T: AsRef<str>, M: AsRef<str>>(heading: &str, items: &[(T, M)]) -> Option<String> {
    let longest = items.iter().map(|(term, _)| term.as_ref().chars().count()).max()?;
    let column = longest.min(24) + 4;
    let lines = items
        .iter()
        .map(|(term, text)| text::item(term.as_ref(), text.as_ref(), column, text::prose_width()));
    Some(format!("{heading}\n{}", lines.collect::<Vec<_>>().join("\n")))
}

fn bullets(heading: &str, sentences: &[&str]) -> Option<String> {
    let lines: Vec<String> =
        sentences.iter().map(|sentence| text::item("·", sentence, 4, text::prose_width())).collect();
    (!lines.is_empty()).then(|| format!("{heading}\n{}", lines.join("\n")))
}

/// The header of an algorithm's file for a terminal: paragraphs are broken anew, and a line that begins with a label
/// (`Messages: …`), a list or an indented line stays where it is.
fn rewrapped(page: &str) -> String {
    let mut paragraphs: Vec<String> = Vec::new();
    let mut is_open = false;
    for line in page.lines().map(without_links) {
        let stands_alone = line.starts_with(' ') || line.starts_with('|');
        let begins = line.starts_with("- ") || has_label(&line);
        match paragraphs.last_mut() {
            Some(paragraph) if is_open && !begins && !stands_alone && !line.is_empty() => {
                paragraph.push(' ');
                paragraph.push_str(&line);
            }
            _ => paragraphs.push(line.clone()),
        }
        is_open = !line.is_empty() && !stands_alone;
    }
    let wrapped = paragraphs.iter().map(|paragraph| match paragraph.starts_with([' ', '|']) {
        true => paragraph.clone(),
        false => text::wrap(paragraph, text::prose_width(), if paragraph.starts_with("- ") { 2 } else { 0 }),
    });
    wrapped.collect::<Vec<_>>().join("\n").trim_end().to_owned()
}

/// `Messages: …`, but not a sentence that has a colon somewhere.
fn has_label(line: &str) -> bool {
    line.split(' ').next().is_some_and(|word| word.ends_with(':') && word.starts_with(char::is_uppercase))
}

/// Links into the documentation lead nowhere on a terminal: [`Name`] becomes `Name`.
fn without_links(line: &str) -> String {
    line.replace("[`", "`").replace("`]", "`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_are_joined_and_labels_begin_a_line() {
        let page =
            "An idea\nin two lines.\n\nMessages: 3 of\nthem.\nDelay: T.\n  as it is\n- one\n- two\n  more";
        let lines =
            "An idea in two lines.\n\nMessages: 3 of them.\nDelay: T.\n  as it is\n- one\n- two\n  more";
        assert_eq!(rewrapped(page), lines);
        assert_eq!(rewrapped("see [`Name`]"), "see `Name`");
    }

    #[test]
    fn a_title_is_not_said_twice() {
        assert_eq!(without_title("Token ring.\n\nAn idea.", "Token ring"), "An idea.");
        assert_eq!(without_title("A ring.\n\nAn idea.", "Token ring"), "A ring.\n\nAn idea.");
    }
}
