//! Expectations about the logical time of nodes.

use doorway_core::{Explain, NodeId};
use doorway_trace::{ClockKind, Clocks, Header, LogicalTime};

use super::run::{ScriptRun, Trouble, compare};
use super::{Action, Expectation, Script};

impl Script {
    /// Whether it needs a recorded run: logical time is computed from the events.
    pub(super) fn asks_for_times(&self) -> bool {
        let is_about_time = |expectation: &Expectation| {
            matches!(expectation, Expectation::Lamport { .. } | Expectation::Vector { .. })
        };
        self.actions
            .iter()
            .any(|(_, action)| matches!(action, Action::Expect(expectation) if is_about_time(expectation)))
    }
}

impl<A: Explain> ScriptRun<A> {
    /// The last events of a node have these Lamport times.
    pub(super) fn expect_lamport(&mut self, node: NodeId, counts: &[u64]) -> Result<(), Trouble> {
        let times: Vec<u64> = self.times_of(node)?.iter().map(|time| time.lamport).collect();
        let last = &times[times.len().saturating_sub(counts.len())..];
        compare(&format!("the Lamport time of node {node}"), &shown(counts), &shown(last))
    }

    /// The last event of a node has this vector time.
    pub(super) fn expect_vector(&mut self, node: NodeId, counts: &[u64]) -> Result<(), Trouble> {
        let n = self.simulation.engine.machines().len();
        if counts.len() != n {
            return Err(Trouble::Impossible(format!(
                "a vector time has a count for each of the {n} nodes, not {}",
                counts.len()
            )));
        }
        let last = self.times_of(node)?.pop().unwrap_or_default();
        compare(&format!("the vector time of node {node}"), &shown(counts), &shown(&last.vector.dense(n)))
    }

    /// The logical times of all events of a node.
    fn times_of(&mut self, node: NodeId) -> Result<Vec<LogicalTime>, Trouble> {
        let header = Header::new("script", self.simulation.engine.machines().len(), 1);
        let (mut clocks, mut times) = (Clocks::new(&header, ClockKind::Both), Vec::new());
        for event in self.simulation.engine.log().iter().flat_map(|log| log.iter()) {
            let time = clocks.tell(&event).map_err(|refusal| Trouble::Impossible(refusal.to_string()))?;
            times.extend(time.filter(|_| event.node == node).cloned());
        }
        Ok(times)
    }
}

fn shown(counts: &[u64]) -> String {
    counts.iter().map(u64::to_string).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use doorway_algorithms::message::ricart_agrawala;
    use doorway_core::Options;

    use super::*;
    use crate::{ScriptError, Settings};

    /// Plays the frames 42 → 44 → 45, and then this line.
    fn ending(line: &str) -> Result<(), String> {
        let text = format!("clock 1 = 41\nrequest 1\nclock 2 = 42\ndeliver 1->2 REQUEST\n{line}");
        let script = Script::parse(&text).map_err(|error| error.to_string())?;
        let factory = ricart_agrawala::entry().factory(&Options::none()).expect("it has no choices");
        let settings = Settings { nodes: 2, ..Settings::default() };
        let played = script.play(&factory, &settings).map_err(|error: ScriptError| error.to_string())?;
        played.whole().map(|_| ()).map_err(|error| error.to_string())
    }

    #[test]
    fn the_last_times_of_a_node_are_expected() {
        for line in ["expect lamport 2 = 42 44 45", "expect lamport 2 = 45", "expect lamport 1 = 1 41 42 43"]
        {
            assert_eq!(ending(line), Ok(()), "{line}");
        }
        assert_eq!(ending("expect vector 2 = 4 4"), Ok(()));
        assert_eq!(ending("expect vector 1 = 4 0"), Ok(()));
    }

    #[test]
    fn another_time_is_unmet_with_both_times() {
        assert_eq!(
            ending("expect lamport 2 = 42 43 44").expect_err("the clock jumps"),
            "line 5 of the script: the Lamport time of node 2 is expected to be 42 43 44 and is 42 44 45"
        );
        assert_eq!(
            ending("expect vector 2 = 4 3").expect_err("it has answered"),
            "line 5 of the script: the vector time of node 2 is expected to be 4 3 and is 4 4"
        );
    }

    #[test]
    fn what_cannot_be_a_time_is_refused() {
        assert_eq!(
            ending("expect vector 2 = 4").expect_err("there are two nodes"),
            "line 5 of the script: a vector time has a count for each of the 2 nodes, not 1"
        );
        assert!(
            ending("expect lamport 3 = 1").expect_err("there are two nodes").contains("there is no node 3")
        );
        assert!(
            ending("expect lamport 2 = 1 2 3 4 5")
                .expect_err("it had fewer events")
                .contains("is 1 42 44 45")
        );
    }
}
