//! What happened, as people say it.

use std::fmt::Write;

use doorway_core::NodeId;

use crate::{AccessKind, Event, What};

impl Event {
    /// What happened, in a few words that begin with who did it. Names from outside are in it as they are, but in one line.
    #[must_use]
    pub fn sentence(&self) -> String {
        let node = self.node;
        let told = match &self.what {
            What::Start => format!("node {node} comes to life"),
            What::Request => format!("node {node} asks to enter"),
            What::Enter { fence } => format!("node {node} enters with fence {fence}"),
            What::Release => format!("node {node} leaves"),
            What::Send { to, kind, .. } => format!("node {node} sends {kind} to node {to}"),
            What::Deliver { from, kind, .. } => format!("node {node} receives {kind} from node {from}"),
            What::Lost { to, kind, why } => format!("node {node}'s {kind} to node {to} is lost: {why}"),
            What::Access { access, register, value, line } => {
                accessed(node, *access, register, *value, *line)
            }
            What::Clock { count } => format!("the clock of node {node} is set to {count}"),
            What::Timer => format!("node {node} is reminded"),
            What::Written => format!("node {node} has written to its disk"),
            What::Crash => format!("node {node} crashes"),
            What::Report { crashed } => format!("node {node} is told that node {crashed} has crashed"),
            What::Pause => format!("node {node} stands still"),
            What::Resume => format!("node {node} goes on"),
            What::Violation { what } => format!("violation: {what}"),
            What::Loop => "from here on the run repeats itself for ever".to_owned(),
        };
        one_line(&told)
    }

    /// The nodes that it is about: its own, and the other end of a message.
    #[must_use]
    pub fn nodes(&self) -> [NodeId; 2] {
        let other = match self.what {
            What::Send { to, .. } | What::Lost { to, .. } => to,
            What::Deliver { from, .. } => from,
            What::Report { crashed } => crashed,
            What::Start | What::Request | What::Enter { .. } | What::Release => self.node,
            What::Access { .. } | What::Clock { .. } | What::Timer | What::Written => self.node,
            What::Crash | What::Pause | What::Resume => self.node,
            What::Violation { .. } | What::Loop => self.node,
        };
        [self.node, other]
    }
}

fn accessed(node: NodeId, access: AccessKind, register: &str, value: u64, line: u32) -> String {
    let mut told = match access {
        AccessKind::Read => format!("node {node} reads {register} = {value}"),
        AccessKind::Write => format!("node {node} writes {register} := {value}"),
        AccessKind::Begin => format!("node {node} begins to write {register} := {value}"),
        AccessKind::End => format!("node {node} has written {register} := {value}"),
        AccessKind::Reach => format!("node {node}'s {register} = {value} reaches memory"),
        AccessKind::Barrier => format!("node {node} passes a barrier"),
    };
    if line > 0 {
        let _ = write!(told, " (line {line})");
    }
    told
}

/// A text without line breaks and what else could mislead a terminal.
pub(crate) fn one_line(text: &str) -> String {
    let misleads = |letter: char| {
        letter.is_control()
            || matches!(letter, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars().map(|letter| if misleads(letter) { '\u{fffd}' } else { letter }).collect()
}

#[cfg(test)]
mod tests {
    use doorway_core::Ticks;

    use super::*;

    #[test]
    fn a_hostile_name_stays_in_its_line() {
        let what = What::Violation { what: "two\nare\u{1b}[31m \u{202e}inside".to_owned() };
        let event = Event { id: 1, time: Ticks(0), node: NodeId::new(0), what, rule: None, cause: None };
        assert_eq!(event.sentence(), "violation: two\u{fffd}are\u{fffd}[31m \u{fffd}inside");
    }
}
