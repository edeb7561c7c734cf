//! What clients do, written down beside what nodes do. A lane of a trace has room for one section: with several, two nodes
//! inside different ones would look like two inside.

use std::collections::BTreeMap;

use doorway_core::{Fence, NodeId, SectionName, Ticks};
use doorway_node::{Command, Loss, Notice, RequestId};
use doorway_trace::{Log, What};

use super::violation::ClusterViolation;

/// The waiters and the holder of one section, at each node: several clients of a node are one lane.
pub(super) struct Recorder {
    section: SectionName,
    /// The requests of each node that are about the section.
    requests: Vec<BTreeMap<RequestId, Stage>>,
    /// How many violations are written down.
    violations: usize,
}

/// How far a request has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Waiting,
    Inside,
    /// It must stop, and is inside until it has or is freed.
    Stopping(Loss),
}

impl Recorder {
    pub(super) fn new(section: SectionName, nodes: usize) -> Self {
        Self { section, requests: vec![BTreeMap::new(); nodes], violations: 0 }
    }

    /// A node is about to get a command, which is a step: this event causes all that the node sends in it.
    pub(super) fn hear(&mut self, now: Ticks, node: NodeId, command: &Command, log: &mut Log) {
        let mut step = |what, rule| log.push(now, node, what, rule, None);
        match command {
            Command::Lock(lock) if lock.names.contains(&self.section) => {
                let requests = &mut self.requests[node.index()];
                let is_alone = requests.is_empty();
                requests.insert(lock.request, Stage::Waiting);
                if is_alone {
                    step(What::Request, "")
                } else {
                    step(What::Timer, "one more client asks")
                };
            }
            Command::Release { request, .. } if self.has(node, *request) => {
                if !self.leave(now, node, *request, "", log) {
                    log.push(now, node, What::Timer, "one of its clients leaves", None);
                }
            }
            Command::Lock(_) => drop(step(What::Timer, "a client asks elsewhere")),
            Command::Release { .. } => drop(step(What::Timer, "a client leaves elsewhere")),
            Command::Cancel(_) => drop(step(What::Timer, "a client gives up")),
            Command::Gone(_) => drop(step(What::Timer, "a client is gone")),
            Command::Unreachable(_) => drop(step(What::Timer, "a client cannot be reached any more")),
            Command::Alive(_) => drop(step(What::Timer, "a client gives a sign of life")),
            Command::Leave { .. } => drop(step(What::Timer, "it is told to leave the cluster")),
            Command::Appoint(_) => drop(step(What::Timer, "it is told who shall vote")),
            Command::Remove(_) | Command::Revoke { .. } => {
                step(What::Timer, "it is told to remove a node");
            }
            Command::Lead(_) => drop(step(What::Timer, "it is told who is to lead")),
            Command::Break(_) => drop(step(What::Timer, "it is told to break a section")),
        }
    }

    /// A node has sent a notice in the step that was recorded last.
    pub(super) fn tell(&mut self, now: Ticks, node: NodeId, notice: &Notice, log: &mut Log) {
        match notice {
            Notice::Granted { request, fences, .. } => {
                if let Some((_, fence)) = fences.iter().find(|(name, _)| *name == self.section) {
                    self.enter(node, *request, *fence, log);
                }
            }
            Notice::Lost { request, why } => {
                if let Some(stage) = self.requests[node.index()].get_mut(request) {
                    *stage = Stage::Stopping(*why);
                }
            }
            Notice::Freed { request } => {
                let rule = match self.requests[node.index()].get(request) {
                    Some(Stage::Stopping(why)) => lost(*why),
                    Some(Stage::Waiting | Stage::Inside) | None => "its client could not be talked to",
                };
                self.leave(now, node, *request, rule, log);
            }
            Notice::Refused { request, .. } => drop(self.leave(now, node, *request, "not served", log)),
            Notice::Renewed { .. } | Notice::Wanted { .. } | Notice::Left => {}
            Notice::WrongAlgorithm { .. } | Notice::WrongTiming { .. } | Notice::Expelled => {}
            Notice::NotLeader { .. } | Notice::NotDone(_) | Notice::Appointed(_) | Notice::Removed(_) => {}
            Notice::Revoked(_) | Notice::Leads(_) | Notice::NotHandedOver { .. } => {}
            Notice::Broken { .. } | Notice::Corrupt(_) | Notice::SetBack { .. } => {}
            Notice::Stranger { .. }
            | Notice::TwoClusters(_)
            | Notice::OtherFounder(_)
            | Notice::KeptOut(_)
            | Notice::ViewReplaced(_) => {}
        }
    }

    fn has(&self, node: NodeId, request: RequestId) -> bool {
        self.requests[node.index()].contains_key(&request)
    }

    fn enter(&mut self, node: NodeId, request: RequestId, fence: Fence, log: &mut Log) {
        self.requests[node.index()].insert(request, Stage::Inside);
        log.enter(fence, "");
    }

    /// A request is over, granted or not; the lane continues with the other requests of its node. Returns whether that
    /// was recorded.
    fn leave(
        &mut self,
        now: Ticks,
        node: NodeId,
        request: RequestId,
        rule: &'static str,
        log: &mut Log,
    ) -> bool {
        let requests = &mut self.requests[node.index()];
        let Some(stage) = requests.remove(&request) else { return false };
        let is_inside = requests.values().any(|stage| *stage != Stage::Waiting);
        if is_inside || (stage == Stage::Waiting && !requests.is_empty()) {
            return false;
        }
        log.push(now, node, What::Release, rule, None);
        if !requests.is_empty() {
            log.push(now, node, What::Request, "another client waits", None);
        }
        true
    }

    /// The process of a node is gone, and with it all that it knew of its clients.
    pub(super) fn forget_node(&mut self, node: NodeId) {
        self.requests[node.index()].clear();
    }

    /// Writes down what must never happen and has happened since this was asked last, in a step of this node.
    pub(super) fn violate(
        &mut self,
        now: Ticks,
        node: NodeId,
        violations: &[ClusterViolation],
        log: &mut Log,
    ) {
        for ClusterViolation { sentence, .. } in violations.iter().skip(self.violations) {
            let what = sentence.split_once(" s: ").map_or(sentence.as_str(), |(_, what)| what).to_owned();
            log.push(now, node, What::Violation { what }, "", log.step());
        }
        self.violations = violations.len();
    }
}

/// Why a holder had to stop, in a few words.
fn lost(why: Loss) -> &'static str {
    match why {
        Loss::Lease => "the lease is lost",
        Loss::LeftOut => "the node was left out",
        Loss::MaxHold => "held as long as it was asked for",
        Loss::Leaving => "the node is leaving",
        Loss::SetBack => "the disk was set back",
        Loss::Conflict => "two nodes reported holding it",
        Loss::Broken => "an operator broke the lock",
        Loss::Silent => "no sign of life",
    }
}

#[cfg(test)]
mod tests {
    use doorway_node::{ClientId, LockCommand};

    use super::*;
    use crate::violation::ViolationKind;

    fn lock(request: u64) -> Command {
        Command::Lock(LockCommand {
            request: RequestId(request),
            client: ClientId(request),
            names: vec![SectionName::new("door").expect("a name")],
            patience: None,
            max_hold: None,
            ttl: None,
            tell_if_wanted: false,
        })
    }

    fn granted(request: u64) -> Notice {
        let fences = vec![(SectionName::new("door").expect("a name"), Fence(request))];
        Notice::Granted { request: RequestId(request), fences, until: Ticks(9) }
    }

    fn release(request: u64) -> Command {
        Command::Release { request: RequestId(request), fence: Fence(request) }
    }

    #[test]
    fn two_clients_of_a_node_are_one_lane() {
        let mut recorder = Recorder::new(SectionName::new("door").expect("a name"), 1);
        let (node, now, mut log) = (NodeId::new(0), Ticks(1), Log::of::<u64>());
        recorder.hear(now, node, &lock(1), &mut log);
        recorder.tell(now, node, &granted(1), &mut log);
        recorder.hear(now, node, &lock(2), &mut log);
        recorder.hear(now, node, &release(1), &mut log);
        recorder.tell(now, node, &granted(2), &mut log);
        recorder.tell(now, node, &Notice::Lost { request: RequestId(2), why: Loss::Lease }, &mut log);
        recorder.hear(now, node, &Command::Alive(ClientId(2)), &mut log);
        recorder.tell(now, node, &Notice::Freed { request: RequestId(2) }, &mut log);
        recorder.hear(now, node, &release(2), &mut log);
        let lines = log.iter().map(|event| (event.what, event.rule.unwrap_or_default().into_owned()));
        let expected = [
            (What::Request, ""),
            (What::Enter { fence: Fence(1) }, ""),
            (What::Timer, "one more client asks"),
            (What::Release, ""),
            (What::Request, "another client waits"),
            (What::Enter { fence: Fence(2) }, ""),
            (What::Timer, "a client gives a sign of life"),
            (What::Release, "the lease is lost"),
            (What::Timer, "a client leaves elsewhere"),
        ];
        let expected = expected.map(|(what, rule)| (what, rule.to_owned()));
        assert_eq!(lines.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_violation_is_recorded_once_and_without_its_time() {
        let mut recorder = Recorder::new(SectionName::new("door").expect("a name"), 1);
        let (node, mut log) = (NodeId::new(0), Log::of::<u64>());
        let all = ["at 0.000003 s: two are inside", "at 0.000004 s: and a third"];
        let all =
            all.map(|what| ClusterViolation { kind: ViolationKind::TwoInside, sentence: what.to_owned() });
        recorder.violate(Ticks(3), node, &all[..1], &mut log);
        recorder.violate(Ticks(4), node, &all, &mut log);
        let told: Vec<String> = log.iter().map(|event| event.sentence()).collect();
        assert_eq!(told, ["violation: two are inside", "violation: and a third"]);
    }
}
