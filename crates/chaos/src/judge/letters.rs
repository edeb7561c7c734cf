//! What is judged of what nodes say to each other.

use std::collections::{BTreeMap, VecDeque};

use doorway_core::{NodeId, SectionName, Ticks};
use doorway_node::disk::DiskContents;
use doorway_node::{DiskId, Incarnation, ReportPart, View};
use doorway_simulator::Engine;

use super::Judge;
use crate::host::{DiskRequirement, Forgetting, Host, Said};
use crate::moment::Moment;
use crate::rule::ObservedRule;
use crate::violation::ViolationKind;

/// The heartbeats of one life, and the voters that acknowledged them.
#[derive(Debug, Default)]
pub(super) struct Beats {
    /// When they left, on the sender's clock, by number.
    sent: VecDeque<(u64, Ticks)>,
    /// The sending of the newest one that each voter has acknowledged.
    stood: BTreeMap<DiskId, Ticks>,
}

impl Beats {
    /// No acknowledgement of an older one counts.
    const REMEMBERED: usize = 64;

    fn send(&mut self, seq: u64, at: Ticks) {
        if self.sent.back().is_none_or(|(last, _)| *last < seq) {
            self.sent.push_back((seq, at));
        }
        if self.sent.len() > Self::REMEMBERED {
            self.sent.pop_front();
        }
    }

    fn stand(&mut self, voter: DiskId, seq: u64) {
        let sent = self.sent.binary_search_by_key(&seq, |(seq, _)| *seq).ok();
        if let Some((_, at)) = sent.and_then(|place| self.sent.get(place)) {
            let newest = self.stood.entry(voter).or_default();
            *newest = (*newest).max(*at);
        }
    }
}

impl Judge {
    /// What a node said in its last step.
    pub(super) fn judge_said(&mut self, node: NodeId, said: Vec<Said>, disk: &[u8], engine: &Engine<Host>) {
        for said in said {
            match said {
                Said::Heartbeat { life, seq } => {
                    self.fire(ObservedRule::Heartbeat);
                    let local = engine.local_time(node, self.now);
                    self.beats.entry(life).or_default().send(seq, local);
                }
                Said::Ack { voter, life, seq, is_allowed } => {
                    self.beats.entry(life).or_default().stand(voter, seq);
                    if !is_allowed {
                        self.violate(
                            ViolationKind::Acknowledgement,
                            format!("node {node} stands behind {life}, against the newest view in its log"),
                        );
                    }
                }
                Said::Refusal { is_stale: true } => self.fire(ObservedRule::RefusedStale),
                Said::Refusal { is_stale: false } => self.fire(ObservedRule::RefusedOutsider),
                Said::HeardOld => self.fire(ObservedRule::DroppedOld),
                Said::HeardEarly => self.fire(ObservedRule::KeptEarly),
                Said::Snapshot => self.moments.push((Moment::Snapshot, node)),
                Said::Report(part) => self.judge_report(part),
                Said::Forget(forgetting) => self.judge_forgetting(node, &forgetting),
                Said::Claim(claim) => self.judge_claim(node, claim, disk),
            }
        }
    }

    /// The latest time such that in each set of voters a majority stands behind heartbeats sent then or later.
    pub(super) fn majority_since(&self, life: &Incarnation, view: &View) -> Option<Ticks> {
        let beats = self.beats.get(life)?;
        let since = view.voter_sets().map(|voters| {
            let mut times: Vec<Ticks> =
                voters.keys().filter_map(|disk| beats.stood.get(disk)).copied().collect();
            times.sort_unstable();
            let place = times.len().checked_sub(voters.len() / 2 + 1)?;
            times.get(place).copied()
        });
        since.collect::<Option<Vec<Ticks>>>()?.into_iter().min()
    }

    /// A life reports once for each view, and no two report the same section.
    fn judge_report(&mut self, part: ReportPart) {
        self.report_parts += 1;
        let (number, life) = (part.view, part.incarnation);
        let of_view = self.reports.entry(number).or_default();
        let others = of_view.range((life, 0)..=(life, u16::MAX)).map(|(_, other)| other);
        let mut is_changed = false;
        for other in others {
            is_changed |= (other.age, other.count) != (part.age, part.count);
            is_changed |= other.number == part.number && *other != part;
        }
        match of_view.contains_key(&(life, part.number)) {
            _ if is_changed => {
                self.violate(
                    ViolationKind::Report,
                    format!("{life} has changed its report for view {number}"),
                );
            }
            true => {}
            false => {
                let is_twice = |name: &&SectionName| {
                    of_view.values().any(|other| other.inside.binary_search(name).is_ok())
                };
                let twice = part.inside.iter().find(is_twice).cloned();
                let has_holder = !part.inside.is_empty();
                of_view.insert((life, part.number), part);
                if has_holder {
                    self.fire(ObservedRule::ReportedInside);
                }
                if let Some(name) = twice {
                    let what = format!("{name} is reported twice for view {number}");
                    self.violate(ViolationKind::Report, what);
                }
            }
        }
    }

    /// What all forget together begins again above every counter that was handed out in the view.
    fn judge_forgetting(&mut self, node: NodeId, forgetting: &Forgetting) {
        let Forgetting { view, seq, to, ref names, clock } = *forgetting;
        let known = self.verdicts.entry((node, to)).or_default();
        // What is sent again was true when it was sent first.
        if std::mem::replace(known, (view, seq).max(*known)) >= (view, seq) {
            return;
        }
        let is_higher = |name: &&SectionName| {
            let last = self.fences.get(*name).map_or(0, |fence| fence.0);
            last >> Self::COUNTER_BITS == view && last & ((1 << Self::COUNTER_BITS) - 1) > clock
        };
        if let Some(name) = names.iter().find(is_higher) {
            let what = format!("{name} is forgotten in view {view} at {clock}, below a fence that was given");
            self.violate(ViolationKind::Clock, what);
        }
    }

    /// Nothing leaves a node that its disk does not know.
    fn judge_claim(&mut self, node: NodeId, claim: DiskRequirement, disk: &[u8]) {
        if self.claims[node.index()].replace(claim) == Some(claim) {
            return;
        }
        let Ok(memory) = DiskContents::read(disk) else { return };
        let ((term, voted_for), last) = (memory.vote(), memory.last());
        let is_same = claim.last.term == 0 || claim.last.term == last.term;
        let is_written = claim.term <= term
            && (!claim.has_voted || claim.term < term || voted_for.is_some())
            && (claim.last.index < last.index || (claim.last.index == last.index && is_same));
        if !is_written {
            self.violate(
                ViolationKind::Unsynced,
                format!("node {node} said something that its disk does not know"),
            );
        }
    }
}
