//! The coverage of the runs, for people: which faults overlapped, which rules fired, and what was missed.

use doorway_chaos::{Coverage, InjectedFault, Moment, ObservedRule, UNSEEN};
use doorway_terminal::table;
use doorway_terminal::text::{item, prose_width};

use super::page::COLUMN;

/// The widest line: tables of this kind are pasted into mails and issues.
const WIDEST: usize = 80;

/// Most missed pairs that the summary names.
const NAMED: usize = 12;

/// A few lines: the share of time under faults, the aimed faults, and the names of what was missed.
pub(super) fn summary(coverage: &Coverage) -> String {
    let line = |name, told: &str| item(name, told, COLUMN, prose_width().min(WIDEST));
    [
        line("time", &time(coverage)),
        line("aimed", &aimed(coverage)),
        line("rules", &rules(coverage)),
        line("pairs", &pairs(coverage, NAMED)),
    ]
    .join("\n")
}

/// The same with every number: how often each rule fired, and how often each two faults overlapped.
pub(super) fn whole(coverage: &Coverage) -> String {
    let line = |name, told: &str| item(name, told, COLUMN, prose_width().min(WIDEST));
    let times = [line("time", &time(coverage)), line("aimed", &aimed(coverage))].join("\n");
    let unseen = UNSEEN.map(|(number, why)| format!("{number} ({why})")).join(", ");
    let below = [line("rules", &rules(coverage)), line("unseen", &unseen)].join("\n");
    let key = "how often two faults were in force at once: 1 for 1 to 9, 2 for 10 to 99, and so on; a dot for never";
    let never = [line("matrix", key), line("pairs", &pairs(coverage, usize::MAX))].join("\n");
    [times, table_of_rules(coverage), below, matrix(coverage), never].join("\n\n")
}

fn time(coverage: &Coverage) -> String {
    let time = coverage.time();
    let share = |part: u64| (part * 100).checked_div(time.all.0).unwrap_or_default();
    let (one, two) = (share(time.under_one.0), share(time.under_two.0));
    format!("{one} % of the virtual time under faults, {two} % under two or more at once")
}

fn aimed(coverage: &Coverage) -> String {
    Moment::ALL.map(|moment| format!("{} {}", coverage.hits(moment), moment.name())).join(", ")
}

/// How many rules fired, and the names of the others.
fn rules(coverage: &Coverage) -> String {
    let never: Vec<String> =
        coverage.never_fired().map(|rule| format!("{} {}", rule.number(), rule.about())).collect();
    let (all, seen) = (ObservedRule::ALL.len(), ObservedRule::ALL.len() - never.len());
    let named = if never.is_empty() { String::new() } else { format!("; never: {}", never.join("; ")) };
    format!("{seen} of {all} fired{named}")
}

/// How many pairs of faults overlapped, and at most `most` names of the others.
fn pairs(coverage: &Coverage, most: usize) -> String {
    let never: Vec<String> = coverage.never_met().map(|(one, other)| format!("{one} + {other}")).collect();
    let all = Coverage::pairs().count();
    let told = format!("{} of {all} met", all - never.len());
    let named = never.iter().take(most).cloned().collect::<Vec<_>>().join(", ");
    match never.len() {
        0 => told,
        count if count <= most => format!("{told}; never: {named}"),
        count => format!("{told}; never: {named}, and {} more (--coverage names all)", count - most),
    }
}

fn table_of_rules(coverage: &Coverage) -> String {
    let row = |rule: &ObservedRule| {
        vec![rule.number().to_string(), rule.about().to_owned(), coverage.fired(*rule).to_string()]
    };
    let rows: Vec<Vec<String>> = ObservedRule::ALL.iter().map(row).collect();
    table::of_words_and_numbers(&["rule", "what happens", "times"], &rows, 2).trim_end().to_owned()
}

/// A row and a column for each fault; the number of digits of how often both were in force.
fn matrix(coverage: &Coverage) -> String {
    let width = InjectedFault::ALL.iter().map(|fault| fault.name().len()).max().unwrap_or_default();
    let letters = || ('a'..='z').take(InjectedFault::ALL.len());
    let row = |(place, letter): (usize, char)| {
        let fault = InjectedFault::ALL[place];
        let cells: String =
            InjectedFault::ALL[..=place].iter().map(|other| cell(coverage, fault, *other)).collect();
        format!("{:<width$}  {letter}{cells}", fault.name())
    };
    let rows = letters().enumerate().map(row).collect::<Vec<_>>().join("\n");
    let names: String = letters().map(|letter| format!(" {letter}")).collect();
    format!("{rows}\n{:<width$}   {names}", "")
}

fn cell(coverage: &Coverage, one: InjectedFault, other: InjectedFault) -> String {
    match coverage.met(one, other) {
        _ if !one.can_meet(other) => "  ".to_owned(),
        0 => " .".to_owned(),
        count => format!(" {}", count.ilog10() + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_missed_is_named_and_all_fits_eighty_columns() {
        let nothing = Coverage::new();
        let (few, all) = (summary(&nothing), whole(&nothing));
        for page in [&few, &all] {
            assert!(page.lines().all(|line| line.chars().count() <= 80), "{page}");
        }
        let flat = |page: &str| page.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat(&few).contains("0 of 39 fired; never: 2 a member sends a heartbeat; 3 "), "{few}");
        assert!(flat(&few).contains("0 of 267 met; never: crash + crash, crash + machine crash,"), "{few}");
        assert!(flat(&few).contains("and 255 more (--coverage names all)"), "{few}");
        assert!(flat(&all).contains("hand over + remove leader"), "{all}");
        assert!(all.contains("\ncrash               a .\n"), "{all}");
        assert!(
            all.contains("\nremove leader       v . .   . . . . . . . . . . . . . . . .   .  \n"),
            "{all}"
        );
        assert!(
            all.contains("\ntwo recoveries      z         .                 .   .     .   .          \n"),
            "{all}"
        );
    }
}
