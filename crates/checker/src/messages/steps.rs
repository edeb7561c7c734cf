//! The steps of the whole system.

use std::sync::atomic::Ordering;

use doorway_core::Phase;

use super::Messages;
use super::maps::{Map, NO_COUNTER, StateOrMessage};
use super::outcomes::{CRASH, NodeOutcome, RELEASE, REQUEST, report, reported};
use crate::{Property, Step};

/// A missing table entry that a step needs.
pub(super) enum Missing {
    /// The outcome of an input in a state of a node.
    Outcome { process: u32, local: u32, input: u32 },
    /// The image of a state or a message under a map.
    Map { thing: StateOrMessage, map: Map },
    /// What an application tells another.
    Tell { from: u32, to: u32, local: u32 },
}

/// What happens to a message. The action of such a step is `letter * 4 + what`.
pub(super) const ARRIVES: u32 = 0;
pub(super) const IS_LOST: u32 = 1;
pub(super) const ARRIVES_AGAIN: u32 = 2;
pub(super) const IS_TOLD: u32 = 3;

/// Units in the fault budget of the state's word: see [`Messages`].
const LOSS: u32 = 1;
const DUPLICATE: u32 = 1 << 8;
const CRASHED: u32 = 1 << 16;
const SUSPICION: u32 = 1 << 24;

const MOST_PROCESSES: u32 = super::Setting::MOST_NODES as u32;

/// A successor state under construction.
struct Draft<'w> {
    word: &'w mut Vec<u32>,
    sends: u32,
    broken: Option<(Property, &'static str)>,
    /// The process that entered.
    entered: Option<u32>,
}

impl Messages {
    /// Visits every step from a state, unless a table entry is missing.
    pub(super) fn try_steps(
        &self,
        state: &[u32],
        visit: &mut impl FnMut(Step, &[u32]),
    ) -> Result<(), Missing> {
        let mut word = Vec::with_capacity(state.len() + 16);
        for (process, &local) in (0..).zip(&state[..self.n()]) {
            let facts = self.tables.facts(local);
            match facts.phase {
                Phase::Outside if facts.asks => {
                    self.take(state, &mut word, None, (process, REQUEST), visit)?;
                }
                Phase::Inside => self.take(state, &mut word, None, (process, RELEASE), visit)?,
                Phase::Outside | Phase::Waiting => {}
            }
        }
        for place in 0..self.flight.letters(state).len() {
            if self.flight.can_arrive(&self.tables, state, place) {
                let letter = self.flight.letters(state)[place];
                let to = self.tables.route(letter).to;
                self.take(state, &mut word, Some((place, ARRIVES)), (to, letter), visit)?;
                if self.setting.faults.any() {
                    self.lose_or_duplicate(state, &mut word, place, visit)?;
                }
            }
        }
        if self.setting.faults.crashes > 0 {
            self.crash(state, &mut word, visit)?;
        }
        if self.has_oracle {
            self.report(state, &mut word, visit)?;
        }
        if self.setting.watches.order {
            self.tell(state, &mut word, visit)?;
        }
        Ok(())
    }

    fn budget(&self) -> usize {
        self.flight.head - 1
    }

    /// Loses or duplicates the message at this place, if the fault budget allows.
    fn lose_or_duplicate(
        &self,
        state: &[u32],
        word: &mut Vec<u32>,
        place: usize,
        visit: &mut impl FnMut(Step, &[u32]),
    ) -> Result<(), Missing> {
        let letter = self.flight.letters(state)[place];
        let route = *self.tables.route(letter);
        let budget = state[self.budget()];
        if budget & 0xFF > 0 {
            word.clear();
            word.extend_from_slice(state);
            word[self.budget()] -= LOSS;
            self.flight.take(&self.tables, word, place, false);
            let mut draft = Draft { word, sends: 0, broken: None, entered: None };
            self.finish(&mut draft, false)?;
            visit(self.fault(route.from, letter * 4 + IS_LOST, route.lane), draft.word);
        }
        if budget >> 8 & 0xFF > 0 {
            let step = (place, ARRIVES_AGAIN);
            self.take(state, word, Some(step), (route.to, letter), visit)?;
        }
        Ok(())
    }

    fn fault(&self, process: u32, action: u32, lane: u32) -> Step {
        Step { process, action, owed: None, lane, sends: 0, broken: None }
    }

    /// Crashes each live node in turn, if the fault budget allows; messages in flight to it are dropped.
    fn crash(
        &self,
        state: &[u32],
        word: &mut Vec<u32>,
        visit: &mut impl FnMut(Step, &[u32]),
    ) -> Result<(), Missing> {
        if state[self.budget()] >> 16 & 0xFF == 0 {
            return Ok(());
        }
        for (process, &local) in (0..).zip(&state[..self.n()]) {
            if self.tables.facts(local).is_crashed {
                continue;
            }
            let outcome = self.known(process, local, CRASH)?;
            word.clear();
            word.extend_from_slice(state);
            word[process as usize] = outcome.local;
            word[self.budget()] -= CRASHED;
            let kept = self.flight.letters(state).iter().copied();
            let kept: Vec<u32> = kept.filter(|letter| self.tables.route(*letter).to != process).collect();
            word.truncate(self.flight.head);
            word.extend(kept);
            let mut draft = Draft { word, sends: 0, broken: None, entered: None };
            self.finish(&mut draft, true)?;
            visit(self.fault(process, CRASH, self.application(process)), draft.word);
        }
        Ok(())
    }

    /// Reports each crash to each live node that does not know of it, and wrong ones if the fault budget allows. A true report
    /// is owed.
    fn report(
        &self,
        state: &[u32],
        word: &mut Vec<u32>,
        visit: &mut impl FnMut(Step, &[u32]),
    ) -> Result<(), Missing> {
        let may_err = state[self.budget()] >> 24 > 0;
        for (crashed, &gone) in (0..).zip(&state[..self.n()]) {
            let is_true = self.tables.facts(gone).is_crashed;
            for (process, &local) in (0..).zip(&state[..self.n()]) {
                let facts = self.tables.facts(local);
                let is_new = process != crashed && !facts.is_crashed && facts.reported >> crashed & 1 == 0;
                if is_new && (is_true || may_err) {
                    self.take(state, word, None, (process, report(crashed)), visit)?;
                }
            }
        }
        Ok(())
    }

    /// The lane of a node's application.
    fn application(&self, process: u32) -> u32 {
        (self.n() * self.n()) as u32 + process
    }

    /// Lets applications tell each other of requests that the receiver does not know.
    fn tell(
        &self,
        state: &[u32],
        word: &mut Vec<u32>,
        visit: &mut impl FnMut(Step, &[u32]),
    ) -> Result<(), Missing> {
        for (from, &local) in (0..).zip(&state[..self.n()]) {
            let known = self.tables.facts(local).known;
            for (to, &other) in (0..).zip(&state[..self.n()]) {
                let facts = self.tables.facts(other);
                if from == to
                    || known & !facts.known == 0
                    || facts.is_crashed
                    || self.tables.facts(local).is_crashed
                {
                    continue;
                }
                let letter = self.tables.tells.get(&(from, to, local));
                let &letter = letter.ok_or(Missing::Tell { from, to, local })?;
                word.clear();
                word.extend_from_slice(state);
                word[to as usize] = self.known(to, other, letter)?.local;
                self.flight.tell(word, from, to);
                visit(self.fault(to, letter * 4 + IS_TOLD, self.application(from)), word);
            }
        }
        Ok(())
    }

    fn known(&self, process: u32, local: u32, input: u32) -> Result<&NodeOutcome, Missing> {
        self.tables.outcomes.find(local, input).ok_or(Missing::Outcome { process, local, input })
    }

    /// Visits the successor after an input to a process; `message` has the place and fate of the message, if
    /// it is one.
    fn take(
        &self,
        state: &[u32],
        word: &mut Vec<u32>,
        message: Option<(usize, u32)>,
        (process, input): (u32, u32),
        visit: &mut impl FnMut(Step, &[u32]),
    ) -> Result<(), Missing> {
        word.clear();
        word.extend_from_slice(state);
        match message {
            Some((place, ARRIVES)) => self.flight.take(&self.tables, word, place, true),
            Some(_) => word[self.budget()] -= DUPLICATE,
            None => {}
        }
        let crashed = reported(input).filter(|_| message.is_none());
        let is_true = crashed.is_some_and(|crashed| self.tables.facts(state[crashed as usize]).is_crashed);
        if crashed.is_some() && !is_true {
            word[self.budget()] -= SUSPICION;
        }
        let mut draft = Draft { word, sends: 0, broken: None, entered: None };
        self.apply(&mut draft, process, input)?;
        self.finish(&mut draft, input == REQUEST)?;
        let Draft { word, sends, broken, .. } = draft;
        let (action, owed, lane) = match message {
            None if input == REQUEST => (REQUEST, None, self.application(process)),
            None if crashed.is_some() => {
                // Numbers from the top, which no message has.
                (input, is_true.then_some(input - process * MOST_PROCESSES), self.application(process))
            }
            None => (RELEASE, Some(process), self.application(process)),
            Some((_, what)) => {
                let route = self.tables.route(input);
                let class = if self.translates { route.lane * 64 + route.kind } else { input };
                let owed = (what == ARRIVES).then_some(self.n() as u32 + class);
                (input * 4 + what, owed, route.lane)
            }
        };
        visit(Step { process, action, owed, lane, sends, broken }, word);
        Ok(())
    }

    /// Applies an input to a node and adds its messages to those in flight.
    fn apply(&self, draft: &mut Draft<'_>, process: u32, input: u32) -> Result<(), Missing> {
        let outcome = self.known(process, draft.word[process as usize], input)?;
        draft.word[process as usize] = outcome.local;
        let sends = self.tables.outcomes.sends(outcome);
        draft.sends += sends.len() as u32;
        for (number, &letter) in sends.iter().enumerate() {
            if self.setting.faults.crashes > 0 {
                let to = self.tables.route(letter).to as usize;
                if self.tables.facts(draft.word[to]).is_crashed {
                    continue;
                }
            }
            if !self.flight.put(&self.tables, draft.word, process, letter, &sends[..number]) {
                self.overflows.store(true, Ordering::Relaxed);
            }
        }
        if let Some(what) = self.tables.outcomes.breach(outcome) {
            draft.broken = Some((Property::Invariants, what));
        }
        if outcome.enters() {
            draft.entered = Some(process);
            if outcome.overtakes() {
                draft.broken = Some((
                    Property::HappenedBeforeOrder,
                    "a request is served before one that happened before it",
                ));
            }
            if self.setting.watches.fences {
                let last = &mut draft.word[self.n()];
                if outcome.fence <= *last {
                    draft.broken =
                        Some((Property::Fence, "an entry has no larger fence than the one before"));
                }
                *last = outcome.fence;
            }
        }
        Ok(())
    }

    /// Maps a state to the representative of its class of indistinguishable states.
    fn finish(&self, draft: &mut Draft<'_>, may_be_last: bool) -> Result<(), Missing> {
        if self.setting.watches.order
            && let Some(process) = draft.entered
        {
            self.map_all(draft.word, &Map::Served(process))?;
        }
        if self.setting.reduction {
            if may_be_last && !draft.word[..self.n()].iter().any(|local| self.tables.facts(*local).asks) {
                self.map_all(draft.word, &Map::Quiet)?;
            }
            while self.deliver_eagerly(draft)?.is_some() {}
        }
        if self.translates {
            self.shift_counters(draft.word)?;
        }
        Ok(())
    }

    /// Takes one eager delivery, if there is one; returns its node and message.
    fn deliver_eagerly(&self, draft: &mut Draft<'_>) -> Result<Option<(u32, u32)>, Missing> {
        for place in 0..self.flight.letters(draft.word).len() {
            let letter = self.flight.letters(draft.word)[place];
            let to = self.tables.route(letter).to;
            let outcome = self.known(to, draft.word[to as usize], letter)?;
            if outcome.is_eager() && self.flight.can_arrive(&self.tables, draft.word, place) {
                self.flight.take(&self.tables, draft.word, place, true);
                self.apply(draft, to, letter)?;
                return Ok(Some((to, letter)));
            }
        }
        Ok(None)
    }

    fn map_all(&self, word: &mut Vec<u32>, map: &Map) -> Result<(), Missing> {
        let mapped = |thing| {
            let found = self.tables.mapped(thing, map);
            found.ok_or_else(|| Missing::Map { thing, map: map.clone() })
        };
        for local in &mut word[..self.n()] {
            *local = mapped(StateOrMessage::Local(*local))?;
        }
        let letters = self.flight.letters(word).iter().map(|letter| mapped(StateOrMessage::Letter(*letter)));
        let letters: Vec<u32> = letters.collect::<Result<_, _>>()?;
        self.flight.replace(word, &letters);
        Ok(())
    }

    /// Subtracts the least counter of each group from all counters of the group.
    fn shift_counters(&self, word: &mut Vec<u32>) -> Result<(), Missing> {
        match self.shift(&word[..self.n()], self.flight.letters(word)) {
            Some(map) => self.map_all(word, &map),
            None => Ok(()),
        }
    }

    /// The map that subtracts the least counter of each group, unless all are 0.
    pub(super) fn shift(&self, locals: &[u32], letters: &[u32]) -> Option<Map> {
        let floors = locals.iter().map(|local| &self.tables.local_floors[*local as usize]);
        let flying = letters.iter().map(|letter| &self.tables.letter_floors[*letter as usize]);
        let mut least = vec![NO_COUNTER; self.n() + 1];
        for floors in floors.chain(flying) {
            least.iter_mut().zip(floors).for_each(|(least, floor)| *least = (*least).min(*floor));
        }
        least.iter_mut().filter(|least| **least == NO_COUNTER).for_each(|least| *least = 0);
        least.iter().any(|least| *least > 0).then(|| Map::Shift(least.into_boxed_slice()))
    }

    /// The single steps of a step, with its eager deliveries.
    pub(super) fn unfolded(&self, state: &[u32], step: &Step) -> Vec<Step> {
        let mut steps = vec![*step];
        if !self.setting.reduction {
            return steps;
        }
        let mut word = state.to_vec();
        let (input, arrives) = match step.action {
            REQUEST | RELEASE => (step.action, None),
            action if action != CRASH && reported(action).is_none() && action % 4 == ARRIVES => {
                (action / 4, Some(action / 4))
            }
            _ => return steps,
        };
        if let Some(place) =
            arrives.and_then(|letter| self.flight.letters(&word).iter().position(|other| *other == letter))
        {
            self.flight.take(&self.tables, &mut word, place, true);
        }
        let mut draft = Draft { word: &mut word, sends: 0, broken: None, entered: None };
        let is_applied = self.apply(&mut draft, step.process, input).is_ok();
        if is_applied
            && input == REQUEST
            && !draft.word[..self.n()].iter().any(|local| self.tables.facts(*local).asks)
        {
            let _ = self.map_all(draft.word, &Map::Quiet);
        }
        while let Ok(Some((process, letter))) = self.deliver_eagerly(&mut draft) {
            let lane = self.tables.route(letter).lane;
            let (action, owed) = (letter * 4 + ARRIVES, Some(self.n() as u32 + letter));
            steps.push(Step { process, action, owed, lane, sends: 0, broken: None });
        }
        steps
    }
}
