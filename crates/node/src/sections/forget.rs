//! Forgetting idle sections.
//!
//! A node may forget a section by itself if the algorithm's state is the one in which the section would be made again. Otherwise
//! all members must forget together: the section's home, a member that its name picks, asks all of them. A member that is outside and
//! has no client waiting agrees, tells the number of the last parcel about the section that it sent to each member and of the last
//! parcel of any kind that it got from each, and does nothing in the section until it hears the verdict. If every parcel that was
//! sent had arrived before its receiver answered, no message is in flight, and the section can be forgotten
//! everywhere; its clock is kept as the least with which any section begins from then on.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use doorway_core::{NodeId, Phase, SectionName, Ticks};

use super::{Section, Sections};
use crate::message::{IdleSection, Idleness, Parcel};
use crate::wire::MOST_FORGOTTEN;
use crate::{Flaw, Rules};

/// A section that was touched, in the list of those that may be idle.
#[derive(Clone, Debug)]
pub(super) struct IdleEntry {
    pub(super) touched: Ticks,
    /// The entry counts only while the section has the same mark.
    pub(super) mark: u64,
    pub(super) name: SectionName,
}

/// A question about one section: what the members have answered so far.
#[derive(Debug, Default)]
pub(super) struct Round {
    stills: BTreeMap<NodeId, Answer>,
    is_refused: bool,
}

#[derive(Debug)]
struct Answer {
    still: Option<IdleSection>,
    /// The same for all sections of one answer.
    arrived: Arc<BTreeMap<NodeId, u64>>,
}

impl<R: Rules> Sections<R> {
    /// How many sections are looked at in one step.
    const MOST_AT_ONCE: usize = 256;
    /// How many questions are open at once; who tells of more idle sections will tell of them again.
    const MOST_ROUNDS: usize = 4 * MOST_FORGOTTEN;

    /// Forgets what can be forgotten of that which has been idle for long, and asks about the rest.
    pub(crate) fn sweep(&mut self) {
        let now = self.gate.now;
        let mut differing = Vec::new();
        for _ in 0..Self::MOST_AT_ONCE {
            let is_due = |entry: &&IdleEntry| entry.touched + self.timing.idle <= now;
            let Some(IdleEntry { mark, name, .. }) = self.idle.front().filter(is_due).cloned() else { break };
            self.idle.pop_front();
            // The section may have been forgotten meanwhile, and opened again.
            let Some(section) = self.open.get_mut(&name).filter(|section| section.mark == mark) else {
                continue;
            };
            section.mark = 0;
            let is_resting = section.touched + self.timing.idle <= now && self.is_resting(&name);
            // R20: forget alone
            if is_resting && self.is_as_new(&name) {
                self.forget(&name);
                self.counters.forgotten_alone += 1;
            } else {
                self.put_back_into_idle_list(&name);
                if is_resting && self.is_still(&name) {
                    differing.push(name);
                }
            }
        }
        self.tell_homes(differing);
    }

    fn put_back_into_idle_list(&mut self, name: &SectionName) {
        let (now, idle) = (self.gate.now, self.timing.idle);
        let Some(section) = self.open.get_mut(name) else { return };
        self.marks += 1;
        section.mark = self.marks;
        // What was looked at and could not be forgotten yet is looked at again after as long a time.
        let touched = if section.touched + idle <= now { now } else { section.touched };
        self.idle.push_back(IdleEntry { touched, mark: self.marks, name: name.clone() });
    }

    /// Whether no client here uses a section.
    fn is_resting(&self, name: &SectionName) -> bool {
        let rests = |section: &Section| {
            section.holder.is_none() && section.line.is_empty() && section.frozen.is_none()
        };
        self.open.get(name).is_some_and(rests) && self.phase(name) == Phase::Outside
    }

    /// Whether everything that this node said about a section has arrived.
    fn is_still(&self, name: &SectionName) -> bool {
        let Some((stage, section)) = self.stage.as_ref().zip(self.open.get(name)) else { return false };
        section.last_sent.iter().all(|(node, seq)| stage.delivery.has_arrived(*node, *seq))
    }

    /// Whether a section would be made again just as it is.
    fn is_as_new(&self, name: &SectionName) -> bool {
        if self.has(Flaw::OneSidedForgetting) {
            return true;
        }
        let running = self.open.get(name).and_then(|section| section.running.as_ref());
        let is_like_new =
            running.is_none_or(|is| self.fresh(name).is_some_and(|new| is.is_like(new.as_ref())));
        !self.recipe.is_perpetual() && is_like_new && self.is_still(name)
    }

    fn forget(&mut self, name: &SectionName) {
        if let Some(section) = self.open.remove(name) {
            // R20: floor
            self.floor = self.floor.max(section.clock);
            self.used.close(name);
        }
    }

    /// The member that is to ask about a section.
    fn home_of(&self, name: &SectionName) -> Option<NodeId> {
        let members = &self.stage.as_ref()?.members;
        let hash = crc32fast::hash(name.as_str().as_bytes());
        members.get(hash as usize % members.len()).copied()
    }

    fn tell_homes(&mut self, names: Vec<SectionName>) {
        if self.recipe.is_perpetual() {
            return;
        }
        let mut by_home: BTreeMap<NodeId, Vec<SectionName>> = BTreeMap::new();
        for name in names {
            if let Some(home) = self.home_of(&name) {
                by_home.entry(home).or_default().push(name);
            }
        }
        for (home, names) in by_home {
            self.say(home, Parcel::Idle(names));
        }
    }

    /// As the home of these sections: asks every member, itself included.
    pub(super) fn ask_whether_to_forget(&mut self, names: Vec<SectionName>) {
        let names: BTreeSet<SectionName> = names.into_iter().collect();
        let mine: Vec<SectionName> = names
            .into_iter()
            .filter(|name| !self.rounds.contains_key(name) && self.home_of(name) == Some(self.me))
            .take(MOST_FORGOTTEN.min(Self::MOST_ROUNDS.saturating_sub(self.rounds.len())))
            .collect();
        if mine.is_empty() {
            return;
        }
        self.rounds.extend(mine.iter().map(|name| (name.clone(), Round::default())));
        let question = Parcel::MayForget(mine);
        self.broadcast(&question);
        self.say(self.me, question);
    }

    /// As a member: tells how these sections stand here, and does nothing in those that can be forgotten.
    pub(super) fn answer_whether_to_forget(&mut self, home: NodeId, names: Vec<SectionName>) {
        let mut answers = Vec::with_capacity(names.len());
        for name in names {
            let is_at_home = self.home_of(&name) == Some(home);
            let is_idle = !self.open.contains_key(&name) || self.is_resting(&name);
            // R20: frozen until the verdict
            let still = (is_at_home && is_idle).then(|| self.freeze_section(&name));
            answers.push((name, still));
        }
        let arrived = self.stage.as_ref().map(|stage| stage.delivery.arrivals()).unwrap_or_default();
        self.say(home, Parcel::Idleness(Idleness { answers, arrived }));
    }

    fn freeze_section(&mut self, name: &SectionName) -> IdleSection {
        let touched = self.open.get(name).map(|section| section.touched);
        let section = self.section(name);
        // A question about a section does not count as a use of it.
        section.touched = touched.unwrap_or(section.touched);
        section.frozen = Some(Vec::new());
        IdleSection { clock: section.clock, sent: section.last_sent.clone() }
    }

    /// As the home: counts the answers, and when all have arrived tells the members to forget the sections or to keep them.
    pub(super) fn count_idleness(&mut self, from: NodeId, idleness: Idleness) {
        let Idleness { answers, arrived } = idleness;
        let arrived: Arc<BTreeMap<NodeId, u64>> = Arc::new(arrived.into_iter().collect());
        let Some(stage) = &self.stage else { return };
        let members = stage.members.len();
        let (mut forget, mut keep, mut clock) = (Vec::new(), Vec::new(), 0);
        for (name, still) in answers {
            let Some(round) = self.rounds.get_mut(&name) else { continue };
            round.is_refused |= still.is_none();
            round.stills.insert(from, Answer { still, arrived: Arc::clone(&arrived) });
            if round.stills.len() < members {
                continue;
            }
            // R20: forget together
            match round.verdict() {
                Some(highest) => {
                    clock = highest.max(clock);
                    forget.push(name.clone());
                }
                None => keep.push(name.clone()),
            }
            self.rounds.remove(&name);
        }
        if !forget.is_empty() || !keep.is_empty() {
            let verdict = Parcel::Verdict { forget, clock, keep };
            self.broadcast(&verdict);
            self.say(self.me, verdict);
        }
    }

    /// As a member: forgets the sections, or keeps using them.
    pub(super) fn obey_verdict(
        &mut self,
        home: NodeId,
        forget: &[SectionName],
        clock: u64,
        keep: &[SectionName],
    ) {
        if forget.iter().chain(keep).any(|name| self.home_of(name) != Some(home)) {
            return self.suspect(home, "a verdict on a section from a node that is not its home");
        }
        for name in forget {
            self.floor = self.floor.max(clock);
            let Some(section) = self.open.get_mut(name) else { continue };
            let Some(kept) = section.frozen.take() else { continue };
            self.frozen_weight -= weight_of(&kept);
            self.counters.forgotten_together += 1;
            if let Some(stage) = &mut self.stage {
                stage.holders.remove(name);
            }
            section.running = None;
            section.last_sent.clear();
            if section.line.is_empty() && kept.is_empty() {
                self.forget(name);
            } else {
                section.clock = section.clock.max(self.floor);
                self.go_on(name, kept);
            }
        }
        for name in keep {
            let kept = self.open.get_mut(name).and_then(|section| section.frozen.take());
            let Some(kept) = kept else { continue };
            self.frozen_weight -= weight_of(&kept);
            self.go_on(name, kept);
        }
    }

    /// A section is used again: first it handles the messages that came meanwhile, then the requests.
    fn go_on(&mut self, name: &SectionName, kept: Vec<HeldMessage>) {
        for (from, clock, bytes) in kept {
            self.hear(from, name, clock, bytes);
        }
        if self.open.get(name).is_some_and(|section| !section.line.is_empty()) {
            self.want(name);
        }
    }

    /// Sends a parcel to one member, which may be this node itself.
    pub(super) fn say(&mut self, to: NodeId, parcel: Parcel) {
        let now = self.gate.now;
        if to == self.me {
            self.open_parcel(to, parcel);
        } else if let Some(stage) = &mut self.stage {
            stage.delivery.send(to, parcel, now);
        }
    }
}

/// A message of the algorithm that waits for a verdict: who sent it, with which clock, and what it says.
pub(super) type HeldMessage = (NodeId, u64, Vec<u8>);

/// About how many bytes such messages take.
pub(super) fn weight_of(kept: &[HeldMessage]) -> usize {
    kept.iter().map(|(_, _, bytes)| size_of::<HeldMessage>() + bytes.len()).sum()
}

impl Round {
    /// The largest clock if all agree and nothing is on its way.
    fn verdict(&self) -> Option<u64> {
        if self.is_refused {
            return None;
        }
        let mut clock = 0;
        for (sender, answer) in &self.stills {
            let still = answer.still.as_ref()?;
            clock = clock.max(still.clock);
            for (receiver, seq) in &still.sent {
                let arrived = self.stills.get(receiver)?.arrived.get(sender).copied().unwrap_or_default();
                if arrived < *seq {
                    return None;
                }
            }
        }
        Some(clock)
    }
}
