//! Parses scripts.

use std::num::NonZeroUsize;

use doorway_core::NodeId;
use doorway_trace::ClockKind;

use super::{Action, Expectation, Heading, Pick, Script, ScriptError};

impl Script {
    /// Parses a script.
    ///
    /// # Errors
    /// Names the line that cannot be parsed and what it could be.
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        let mut script = Script { heading: Heading::default(), actions: Vec::new() };
        for (line, written) in (1..).zip(text.lines()) {
            let written =
                without_comment(written).replace("->", " -> ").replace('→', " -> ").replace('#', " #");
            let words: Vec<&str> = written.split_whitespace().collect();
            if words.is_empty() {
                continue;
            }
            let fail = |what: String| ScriptError::Impossible { line, what };
            if script.heading.read(&words).map_err(fail)? {
                if !script.actions.is_empty() {
                    return Err(fail(format!(
                        "`{}` belongs into the heading, before the first action",
                        words[0]
                    )));
                }
            } else {
                script.actions.push((line, action(&words).map_err(fail)?));
            }
        }
        script.check_loop()?;
        Ok(script)
    }

    /// A script has at most one loop, with at least one action in it.
    fn check_loop(&self) -> Result<(), ScriptError> {
        let mut loops = self.actions.iter().enumerate().filter(|(_, (_, action))| *action == Action::Loop);
        let Some((place, &(line, _))) = loops.next() else { return Ok(()) };
        if let Some((_, &(second, _))) = loops.next() {
            let what = format!("the loop began in line {line} already: a script has one `loop`");
            return Err(ScriptError::Impossible { line: second, what });
        }
        let happens = |(_, action): &(usize, Action)| !matches!(action, Action::Expect(_));
        if !self.actions[place + 1..].iter().any(happens) {
            let what =
                "nothing happens after `loop`: what comes after it, at least one action, is what repeats";
            return Err(ScriptError::Impossible { line, what: what.to_owned() });
        }
        Ok(())
    }
}

/// A line up to its comment. In a line that names a message, a `#` directly followed by text is the message's
/// number.
fn without_comment(line: &str) -> &str {
    let first = line.split_whitespace().next().unwrap_or_default();
    let mut may_count = ["deliver", "lose", "duplicate"].contains(&first);
    let begins_comment = |&(at, _): &(usize, &str)| {
        let next = line[at + 1..].chars().next().filter(|next| !next.is_whitespace() && *next != '#');
        let counts = may_count && next.is_some();
        may_count = false;
        !counts
    };
    line.match_indices('#').find(begins_comment).map_or(line, |(at, _)| &line[..at])
}

impl Heading {
    /// Reads a line of the heading; returns whether it was one.
    fn read(&mut self, words: &[&str]) -> Result<bool, String> {
        match *words {
            ["algorithm", name] => self.algorithm = Some(name.to_owned()),
            ["nodes", n] => {
                self.nodes = Some(n.parse().map_err(|_| format!("{n:?} is not a number of nodes"))?);
            }
            ["channels", word] => self.channels = Some(word.parse().map_err(|refusal| format!("{refusal}"))?),
            ["start-inside", word] => self.start_inside = Some(node(word)?),
            ["set", name, value] | [name @ ("quorum" | "structure" | "tree" | "arbitration"), value] => {
                self.options.push((name.to_owned(), value.to_owned()));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

fn action(words: &[&str]) -> Result<Action, String> {
    match *words {
        ["request", word] => Ok(Action::Request(node(word)?)),
        ["release", word] => Ok(Action::Release(node(word)?)),
        ["crash", word] => Ok(Action::Crash(node(word)?)),
        ["report", crashed, "to", word] => Ok(Action::Report { crashed: node(crashed)?, to: node(word)? }),
        ["deliver", "all"] => Ok(Action::DeliverAll),
        ["deliver", ref which @ ..] => pick(which).map(Action::Deliver),
        ["lose", ref which @ ..] => pick(which).map(Action::Lose),
        ["duplicate", ref which @ ..] => pick(which).map(Action::Duplicate),
        ["clock", word, "=", count] => Ok(Action::Clock(node(word)?, number(count)?)),
        ["tell", from, "->", to] => Ok(Action::Tell(node(from)?, node(to)?)),
        ["loop"] => Ok(Action::Loop),
        ["expect", ref what @ ..] => expectation(what).map(Action::Expect),
        _ => Err(format!(
            "`{}` is no action: request, release, deliver, lose, duplicate, crash, report, clock, tell, loop or expect",
            shown(words)
        )),
    }
}

fn expectation(words: &[&str]) -> Result<Expectation, String> {
    if let [clock, at, "=", times @ ..] = words
        && let Ok(clock) = clock.parse::<ClockKind>()
    {
        return logical_time(clock, node(at)?, counts(times)?);
    }
    match *words {
        ["inside", ref who @ ..] => nodes(who).map(Expectation::Inside),
        ["waiting", ref who @ ..] => nodes(who).map(Expectation::Waiting),
        ["deadlock", ref who @ ..] => nodes(who).map(Expectation::Deadlock),
        ["cycle", ref who @ ..] => nodes(who).map(Expectation::Cycle),
        ["entries", ref who @ ..] => nodes(who).map(Expectation::Entries),
        ["messages", count] => number(count).map(Expectation::Messages),
        ["in-flight", count] => number(count).map(Expectation::InFlight),
        ["out-of-order", count] => number(count).map(Expectation::OutOfOrder),
        ["violation"] => Ok(Expectation::Violation),
        ["state", at, ref rest @ ..] => {
            let rest = rest.join(" ");
            let (field, value) = rest.split_once('=').ok_or("`expect state` needs NODE FIELD = VALUE")?;
            Ok(Expectation::State {
                node: node(at)?,
                field: field.trim().to_owned(),
                value: value.trim().to_owned(),
            })
        }
        _ => Err(format!(
            "`expect {}` is no expectation: inside, waiting, deadlock, cycle, entries, messages, in-flight, state, \
             out-of-order, lamport, vector or violation",
            shown(words)
        )),
    }
}

fn logical_time(clock: ClockKind, node: NodeId, counts: Vec<u64>) -> Result<Expectation, String> {
    match clock {
        ClockKind::Lamport => Ok(Expectation::Lamport { node, counts }),
        ClockKind::Vector => Ok(Expectation::Vector { node, counts }),
        ClockKind::Both => Err("Lamport and vector time are expected on two lines".to_owned()),
    }
}

fn counts(words: &[&str]) -> Result<Vec<u64>, String> {
    if words.is_empty() {
        return Err("the time is missing: one number or several".to_owned());
    }
    words.iter().map(|word| number(word)).collect()
}

fn pick(words: &[&str]) -> Result<Pick, String> {
    let (named, which) = match words {
        [named @ .., last] if last.starts_with('#') => (named, ordinal(last)?),
        _ => (words, NonZeroUsize::MIN),
    };
    let (from, to, kind) = match *named {
        [from, "->", to] => (from, to, None),
        [from, "->", to, kind] => (from, to, Some(kind.to_owned())),
        _ => {
            return Err(format!(
                "`{}` does not name a message: FROM->TO or FROM->TO KIND do, and #2 behind it is the second",
                shown(words)
            ));
        }
    };
    Ok(Pick { from: node(from)?, to: node(to)?, kind, which })
}

/// Parses a number such as `#2`.
fn ordinal(word: &str) -> Result<NonZeroUsize, String> {
    let number = word.strip_prefix('#').and_then(|digits| digits.parse().ok());
    number.ok_or_else(|| {
        format!(
            "`{}` does not tell which message: #1 is the first, #2 the second; a comment needs a blank behind its #",
            shown(&[word])
        )
    })
}

/// A line for an error message: short, and without terminal escapes.
fn shown(words: &[&str]) -> String {
    const MOST: usize = 60;
    let line: String = words.join(" ").chars().take(MOST).flat_map(char::escape_debug).collect();
    if words.iter().map(|word| word.len() + 1).sum::<usize>() > MOST { format!("{line}…") } else { line }
}

fn nodes(words: &[&str]) -> Result<Vec<NodeId>, String> {
    match words {
        [] => Err("the nodes are missing: numbers, or `nobody`".to_owned()),
        ["nobody"] => Ok(Vec::new()),
        _ => words.iter().map(|word| node(word)).collect(),
    }
}

fn node(word: &str) -> Result<NodeId, String> {
    let number = word.parse().ok().and_then(NodeId::from_number);
    number.ok_or_else(|| format!("{word:?} is not a node: nodes are numbers from 1"))
}

fn number(word: &str) -> Result<u64, String> {
    word.parse().map_err(|_| format!("{word:?} is not a number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        Script::parse(text).expect_err("it cannot be read").to_string()
    }

    #[test]
    fn errors_name_their_line() {
        assert_eq!(
            refusal("request 1\n\nrequets 2"),
            "line 3 of the script: `requets 2` is no action: request, release, deliver, lose, duplicate, crash, report, \
             clock, tell, loop or expect"
        );
        assert_eq!(
            refusal("request 0"),
            "line 1 of the script: \"0\" is not a node: nodes are numbers from 1"
        );
        assert_eq!(
            refusal("deliver 1 2"),
            "line 1 of the script: `1 2` does not name a message: FROM->TO or FROM->TO KIND do, and #2 behind it is \
             the second"
        );
        let long = refusal(&format!("\u{1b}[31m{}", "x".repeat(1_000_000)));
        assert!(long.len() < 300 && !long.contains('\u{1b}'), "{long}");
        assert!(refusal("expect peace").contains("is no expectation"));
        assert!(refusal("expect inside").contains("the nodes are missing"));
        assert!(refusal("expect lamport 1 =").contains("the time is missing"));
        assert!(refusal("expect vector 1 = 2 x").contains("\"x\" is not a number"));
        assert!(refusal("channels quick").contains("is not an order of channels"));
        assert!(refusal("request 1\nnodes 3").contains("belongs into the heading"));
    }

    #[test]
    fn arrows_can_be_written_in_three_ways() {
        let lines = "deliver 3->1 REQUEST\ndeliver 3 -> 1 REQUEST\ndeliver 3→1 REQUEST # the same";
        let script = Script::parse(lines).expect("three deliveries");
        assert!(script.actions.iter().all(|(_, action)| *action == script.actions[0].1));
    }

    #[test]
    fn a_comment_may_follow_the_number_of_a_message() {
        let picks = |text: &str| {
            let script = Script::parse(text).expect("it can be read");
            let pick = |(_, action): &(usize, Action)| match action {
                Action::Deliver(pick) | Action::Lose(pick) | Action::Duplicate(pick) => {
                    (pick.kind.clone().unwrap_or_default(), pick.which.get())
                }
                other => panic!("{other:?} names no message"),
            };
            script.actions.iter().map(pick).collect::<Vec<_>>()
        };
        let reply = |which| ("REPLY".to_owned(), which);
        assert_eq!(
            picks("deliver 1->2 REPLY #2\nlose 1->2 REPLY#3 # late\nduplicate 1->2 REPLY # late #2"),
            [reply(2), reply(3), reply(1)]
        );
        assert_eq!(
            picks("deliver 1->2 #2\ndeliver 1->2 #\ndeliver 1->2 ## 2\nlose 1->2 #12#13"),
            [(String::new(), 2), (String::new(), 1), (String::new(), 1), (String::new(), 12)]
        );
        let script = Script::parse("request 1 #2\nclock 1 = 4 #5").expect("elsewhere it is a comment");
        assert_eq!(script.actions[1].1, Action::Clock(NodeId::new(0), 4));
    }

    #[test]
    fn a_wrong_message_number_is_refused() {
        for (word, line) in
            [("#0", "deliver 1->2 REPLY #0"), ("#x", "lose 1->2 #x"), ("#-1", "lose 1->2 #-1")]
        {
            assert_eq!(
                refusal(line),
                format!(
                    "line 1 of the script: `{word}` does not tell which message: #1 is the first, #2 the second; a \
                     comment needs a blank behind its #"
                )
            );
        }
        assert!(refusal("deliver all #2").contains("`all #2` does not name a message"));
        assert!(refusal("deliver #2").contains("`#2` does not name a message"));
    }

    #[test]
    fn a_script_has_one_loop_with_an_action() {
        assert_eq!(
            refusal("request 1\nloop\nrelease 1\n\nloop\nrequest 1"),
            "line 5 of the script: the loop began in line 2 already: a script has one `loop`"
        );
        for text in ["request 1\nloop", "request 1\nloop\nexpect inside 1"] {
            assert_eq!(
                refusal(text),
                "line 2 of the script: nothing happens after `loop`: what comes after it, at least one action, is \
                 what repeats"
            );
        }
        assert!(refusal("loop 3\nrequest 1").contains("`loop 3` is no action"));
        assert!(refusal("loop\nnodes 3\nrequest 1").contains("belongs into the heading"));
    }
}
