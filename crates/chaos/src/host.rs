//! A node as its cluster keeps it: what it hears has been bytes on the way, and what it says is noted for the judge.

use std::cmp::Ordering;
use std::ops::{Deref, DerefMut};

use doorway_core::{Effects, Machine, NodeId, SectionName, Ticks, To};
use doorway_node::disk::Write;
use doorway_node::{
    Ballot, Body, Command, DiskId, Heartbeat, Incarnation, Msg, Notice, Parcel, Position, ReportPart, View,
    wire,
};

use super::rules::TestedNode;

/// A node, and what it has said in its last step.
pub struct Host {
    node: TestedNode,
    said: Vec<Said>,
    /// What became of a message on the wire, if it did not come out as it went in.
    garbled: Option<String>,
}

/// Something that a node said, as far as it is judged.
#[derive(Clone, Debug)]
pub(super) enum Said {
    /// I live.
    Heartbeat { life: Incarnation, seq: u64 },
    /// I stand behind that heartbeat; and whether I may.
    Ack { voter: DiskId, life: Incarnation, seq: u64, is_allowed: bool },
    /// I do not stand behind a heartbeat; and whether because of a change of voters that its sender has missed.
    Refusal { is_stale: bool },
    /// I was inside of these, and maybe of more.
    Report(ReportPart),
    /// All have agreed: forget these sections, whose clocks were at most this.
    Forget(Forgetting),
    /// In the consensus: what my disk must know for it.
    Claim(DiskRequirement),
    /// Nothing, but it begins to replace its log by a snapshot.
    Snapshot,
    /// Nothing, but it has heard a message of an older view.
    HeardOld,
    /// Nothing, but it has heard a message of a view that it has not installed yet.
    HeardEarly,
}

/// What a node may answer to what it hears, and what is worth noting of that.
#[derive(Clone, Copy, Default)]
struct Heard {
    /// Whether it may stand behind the heartbeat that it hears.
    is_allowed: bool,
    /// Whether the sender of that heartbeat is a member and has missed a change of voters.
    is_stale: bool,
    /// When a message comes before or after its view.
    untimely: Option<Ordering>,
}

/// A verdict about sections.
#[derive(Clone, Debug)]
pub(super) struct Forgetting {
    pub(super) view: u64,
    /// Its number among the parcels to that node; it may be sent again.
    pub(super) seq: u64,
    pub(super) to: NodeId,
    pub(super) names: Vec<SectionName>,
    pub(super) clock: u64,
}

/// What a disk must know before something leaves its node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct DiskRequirement {
    /// The term.
    pub(super) term: u64,
    /// Whether a vote was given in it.
    pub(super) has_voted: bool,
    /// Up to where the log reaches.
    pub(super) last: Position,
}

impl Host {
    /// A node that has said nothing yet.
    pub(super) fn new(node: TestedNode) -> Self {
        Self { node, said: Vec::new(), garbled: None }
    }

    /// What it said in its last step.
    pub(super) fn take_said(&mut self) -> Vec<Said> {
        std::mem::take(&mut self.said)
    }

    /// What became of a message for it on the wire.
    pub(super) fn take_garbled(&mut self) -> Option<String> {
        self.garbled.take()
    }

    /// A message as it comes out of its bytes.
    fn unpack(&mut self, msg: Msg) -> Option<Msg> {
        match wire::decode(&wire::encode(&msg)) {
            Ok(same) if same == msg => Some(same),
            Ok(other) => {
                self.garbled = Some(format!("{msg:?} comes out as {other:?}"));
                None
            }
            Err(refusal) => {
                self.garbled = Some(format!("{msg:?} cannot be read: {refusal}"));
                None
            }
        }
    }

    /// What the judge must know of a message before the node handles it.
    fn heard(&self, msg: &Msg) -> Heard {
        match msg {
            Msg::Heartbeat(beat) => {
                let newest = self.node.newest_in_log();
                let is_in = newest.is_some_and(|view| view.has(&beat.incarnation));
                let is_allowed = may_acknowledge(newest, beat);
                Heard { is_allowed, is_stale: is_in && !is_allowed, untimely: None }
            }
            Msg::Parcel { view, .. } => {
                let (adopted, is_active) = self.node.adopted().unwrap_or_default();
                let untimely = match view.cmp(&adopted) {
                    Ordering::Equal if is_active => None,
                    Ordering::Equal => Some(Ordering::Greater),
                    other => Some(other),
                };
                Heard { untimely, ..Heard::default() }
            }
            _ => Heard::default(),
        }
    }

    /// One step of the node, which has heard something or not.
    fn step(
        &mut self,
        heard: Heard,
        effects: &mut Effects<Self>,
        act: impl FnOnce(&mut TestedNode, &mut Effects<TestedNode>),
    ) {
        let mut of_node = Effects {
            header: (),
            out: std::mem::take(&mut effects.out),
            notices: std::mem::take(&mut effects.notices),
            timers: std::mem::take(&mut effects.timers),
            writes: std::mem::take(&mut effects.writes),
        };
        act(&mut self.node, &mut of_node);
        let Effects { out, notices, timers, writes, .. } = of_node;
        *effects = Effects { header: (), out, notices, timers, writes };
        self.said.clear();
        self.said.extend(effects.out.sends().iter().filter_map(|sent| said(&sent.to, &sent.msg, heard)));
        if effects.writes.iter().any(|write| matches!(write, Write::Replace(_))) {
            self.said.push(Said::Snapshot);
        }
        self.said.extend(heard.untimely.map(|when| match when {
            Ordering::Less => Said::HeardOld,
            Ordering::Equal | Ordering::Greater => Said::HeardEarly,
        }));
    }
}

impl Deref for Host {
    type Target = TestedNode;

    fn deref(&self) -> &TestedNode {
        &self.node
    }
}

impl DerefMut for Host {
    fn deref_mut(&mut self) -> &mut TestedNode {
        &mut self.node
    }
}

impl Machine for Host {
    type Header = ();
    type Msg = Msg;
    type Command = Command;
    type Notice = Notice;
    type Timer = Ticks;
    type Write = Write;

    fn on_start(&mut self, now: Ticks, effects: &mut Effects<Self>) {
        self.step(Heard::default(), effects, |node, effects| node.on_start(now, effects));
    }

    fn on_command(&mut self, now: Ticks, command: Command, effects: &mut Effects<Self>) {
        self.step(Heard::default(), effects, |node, effects| node.on_command(now, command, effects));
    }

    fn on_message(&mut self, now: Ticks, from: NodeId, (): (), msg: Msg, effects: &mut Effects<Self>) {
        let Some(msg) = self.unpack(msg) else { return self.said.clear() };
        let heard = self.heard(&msg);
        self.step(heard, effects, |node, effects| node.on_message(now, from, (), msg, effects));
    }

    fn on_timer(&mut self, now: Ticks, timer: Ticks, effects: &mut Effects<Self>) {
        self.step(Heard::default(), effects, |node, effects| node.on_timer(now, timer, effects));
    }

    fn on_written(&mut self, now: Ticks, write: Write, effects: &mut Effects<Self>) {
        self.step(Heard::default(), effects, |node, effects| node.on_written(now, write, effects));
    }
}

fn said(to: &To, msg: &Msg, heard: Heard) -> Option<Said> {
    Some(match msg {
        Msg::Heartbeat(beat) => Said::Heartbeat { life: beat.incarnation, seq: beat.seq },
        Msg::Ack(ack) if ack.is_granted => {
            let Heard { is_allowed, .. } = heard;
            Said::Ack { voter: ack.voter, life: ack.incarnation, seq: ack.seq, is_allowed }
        }
        Msg::Ack(_) => Said::Refusal { is_stale: heard.is_stale },
        Msg::Report(part) => Said::Report(part.clone()),
        Msg::Parcel { view, seq, parcel: Parcel::Verdict { forget, clock, .. }, .. } => {
            let To::One(to) = *to else { return None };
            Said::Forget(Forgetting { view: *view, seq: *seq, to, names: forget.clone(), clock: *clock })
        }
        Msg::Ballot(ballot) => Said::Claim(claim(ballot)),
        _ => return None,
    })
}

fn claim(ballot: &Ballot) -> DiskRequirement {
    let mut claim = DiskRequirement { term: ballot.term, ..DiskRequirement::default() };
    match &ballot.body {
        Body::Vote { is_granted } => claim.has_voted = *is_granted,
        Body::AskVote { last } | Body::Sound { last, .. } | Body::Appended { last } | Body::Lead { last } => {
            claim.last = *last
        }
        // What a leader says was decided is on its own disk as well.
        Body::Append { decided, .. } => claim.last.index = *decided,
        Body::Snapshot(snapshot) => claim.last = snapshot.position,
        Body::Support { .. } => {}
    }
    claim
}

/// Whether a voter may stand behind a heartbeat, by the newest view in its log, decided or not.
fn may_acknowledge(newest: Option<&View>, beat: &Heartbeat) -> bool {
    newest.is_some_and(|newest| {
        let is_member = newest.members.values().any(|life| *life == beat.incarnation);
        newest.number <= beat.view || (is_member && beat.view >= newest.voters_since)
    })
}

#[cfg(test)]
mod tests {
    use doorway_catalog::Catalog;
    use doorway_core::Options;
    use std::collections::BTreeSet;

    use crate::Breakable;
    use doorway_node::{Damping, Nonce, Setup, Timing, disk};

    use super::*;

    #[test]
    fn a_message_that_the_wire_garbles_is_reported() {
        let me = NodeId::new(0);
        let recipe = Catalog::textbook().recipes().recipe("central", &Options::none()).expect("a recipe");
        let timing = Timing::default();
        let damping = Damping::of(&timing);
        let (peers, most_open) = ([me].into(), Setup::MOST_OPEN);
        let (founders, nonce) = (BTreeSet::new(), Nonce(1));
        let setup = Setup { me, peers, founders, nonce, recipe, timing, longest_log: 64, most_open, damping };
        let node = TestedNode::with_rules(setup, &disk::blank(DiskId(7), Nonce(2)), Breakable::default())
            .expect("a node");
        let mut host = Host::new(node);
        let wanted = Msg::Got { view: 3, ack: 4 };
        assert_eq!((host.unpack(wanted.clone()), host.take_garbled()), (Some(wanted), None));
        let parcel = Parcel::Verdict { forget: Vec::new(), clock: wire::LAST_COUNTER + 1, keep: Vec::new() };
        assert_eq!(host.unpack(Msg::Parcel { view: 1, seq: 1, ack: 0, parcel }), None);
        assert!(host.take_garbled().is_some_and(|what| what.contains("cannot be read")));
    }

    #[test]
    fn a_voter_acknowledges_members_that_know_its_newest_view() {
        let life = |boot| Incarnation { disk: DiskId(1), boot, tenure: 0, nonce: Nonce(boot.into()) };
        let mut newest = View::genesis([(DiskId(1), NodeId::new(0))].into());
        (newest.number, newest.voters_since) = (5, 4);
        newest.members.insert(NodeId::new(0), life(2));
        let beat = |boot, view| Heartbeat {
            incarnation: life(boot),
            view,
            is_active: true,
            synced: 0,
            seq: 1,
            answered: 0,
            unreachable: Vec::new(),
            is_running_out: false,
        };
        let may = |boot, view| may_acknowledge(Some(&newest), &beat(boot, view));
        assert_eq!([may(1, 5), may(1, 4), may(2, 4), may(2, 3)], [true, false, true, false]);
        assert!(!may_acknowledge(None, &beat(2, 5)));
    }
}
