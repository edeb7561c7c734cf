//! The steps of the whole system.

use std::sync::atomic::Ordering;

use doorway_core::Phase;

use super::Messages;
use super::maps::{Map, NO_COUNTER, Thing};
use super::outcomes::{CRASH, Outcome, RELEASE, REQUEST};
use crate::{Property, Step};

/// What has to be found out before a step can be made.
pub(super) enum Missing {
    /// What a node in this state does when it is told this.
    Outcome { process: u32, local: u32, input: u32 },
    /// What a thing is mapped to.
    Map { thing: Thing, map: Map },
    /// What an application tells another one.
    Tell { from: u32, to: u32, local: u32 },
}

/// What happens to a message; the number of an action is four times the message's, and this.
pub(super) const ARRIVES: u32 = 0;
pub(super) const IS_LOST: u32 = 1;
pub(super) const ARRIVES_AGAIN: u32 = 2;
pub(super) const IS_TOLD: u32 = 3;

/// Places in the word of faults that may still happen.
const LOSS: u32 = 1;
const DUPLICATE: u32 = 1 << 8;
const CRASHED: u32 = 1 << 16;

/// A state that is being made.
struct Draft<'w> {
    word: &'w mut Vec<u32>,
    sends: u32,
    broken: Option<(Property, &'static str)>,
    /// Who entered.
    entered: Option<u32>,
}

impl Messages {
    /// Visits every step from a state, unless something is missing for that.
    pub(super) fn try_steps(
        &self,
        state: &[u32],
        visit: &mut impl FnMut(Step, &[u32]),
    ) -> Result<(), Missing> {
        let mut word = Vec::with_capacity(state.len() + 16);
        for (process, &local) in (0..).zip(&state[..self.n()]) {
            let face = self.tables.face(local);
            match face.phase {
                Phase::Outside if face.asks => {
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
                    self.spoil(state, &mut word, place, visit)?;
                }
            }
        }
        if self.setting.faults.crashes > 0 {
            self.crash(state, &mut word, visit)?;
        }
        if self.setting.watches.order {
            self.tell(state, &mut word, visit)?;
        }
        Ok(())
    }

    fn budget(&self) -> usize {
        self.flight.head - 1
    }

    /// Loses or doubles the message at this place, as far as that may still happen.
    fn spoil(
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

    /// Stops any one node, if one may still stop; what is on its way to it is gone.
    fn crash(
        &self,
        state: &[u32],
        word: &mut Vec<u32>,
        visit: &mut impl FnMut(Step, &[u32]),
    ) -> Result<(), Missing> {
        if state[self.budget()] >> 16 == 0 {
            return Ok(());
        }
        for (process, &local) in (0..).zip(&state[..self.n()]) {
            if self.tables.face(local).is_crashed {
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

    /// The lane of a node's application.
    fn application(&self, process: u32) -> u32 {
        (self.n() * self.n()) as u32 + process
    }

    /// Lets applications tell each other of requests, where that is news.
    fn tell(
        &self,
        state: &[u32],
        word: &mut Vec<u32>,
        visit: &mut impl FnMut(Step, &[u32]),
    ) -> Result<(), Missing> {
        for (from, &local) in (0..).zip(&state[..self.n()]) {
            let known = self.tables.face(local).known;
            for (to, &other) in (0..).zip(&state[..self.n()]) {
                let face = self.tables.face(other);
                if from == to
                    || known & !face.known == 0
                    || face.is_crashed
                    || self.tables.face(local).is_crashed
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

    fn known(&self, process: u32, local: u32, input: u32) -> Result<&Outcome, Missing> {
        self.tables.outcomes.find(local, input).ok_or(Missing::Outcome { process, local, input })
    }

    /// Visits the state after a step: a process is told something, by a message at this place if it is one.
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
        let mut draft = Draft { word, sends: 0, broken: None, entered: None };
        self.tell_node(&mut draft, process, input)?;
        self.finish(&mut draft, input == REQUEST)?;
        let Draft { word, sends, broken, .. } = draft;
        let (action, owed, lane) = match message {
            None if input == REQUEST => (REQUEST, None, self.application(process)),
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

    /// Tells a node something and puts in flight what it sends.
    fn tell_node(&self, draft: &mut Draft<'_>, process: u32, input: u32) -> Result<(), Missing> {
        let outcome = self.known(process, draft.word[process as usize], input)?;
        draft.word[process as usize] = outcome.local;
        let sends = self.tables.outcomes.sends(outcome);
        draft.sends += sends.len() as u32;
        for (number, &letter) in sends.iter().enumerate() {
            if self.setting.faults.crashes > 0 {
                let to = self.tables.route(letter).to as usize;
                if self.tables.face(draft.word[to]).is_crashed {
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

    /// Makes of a state the one that stands for it and for others like it.
    fn finish(&self, draft: &mut Draft<'_>, may_be_last: bool) -> Result<(), Missing> {
        if self.setting.watches.order
            && let Some(process) = draft.entered
        {
            self.map_all(draft.word, &Map::Served(process))?;
        }
        if self.setting.reduction {
            if may_be_last && !draft.word[..self.n()].iter().any(|local| self.tables.face(*local).asks) {
                self.map_all(draft.word, &Map::Quiet)?;
            }
            while self.hurry(draft)?.is_some() {}
        }
        if self.translates {
            self.take_down(draft.word)?;
        }
        Ok(())
    }

    /// Makes one step that can be made at once, if there is one; it gives the node and the message.
    fn hurry(&self, draft: &mut Draft<'_>) -> Result<Option<(u32, u32)>, Missing> {
        for place in 0..self.flight.letters(draft.word).len() {
            let letter = self.flight.letters(draft.word)[place];
            let to = self.tables.route(letter).to;
            let outcome = self.known(to, draft.word[to as usize], letter)?;
            if outcome.is_eager() && self.flight.can_arrive(&self.tables, draft.word, place) {
                self.flight.take(&self.tables, draft.word, place, true);
                self.tell_node(draft, to, letter)?;
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
            *local = mapped(Thing::Local(*local))?;
        }
        let letters = self.flight.letters(word).iter().map(|letter| mapped(Thing::Letter(*letter)));
        let letters: Vec<u32> = letters.collect::<Result<_, _>>()?;
        self.flight.replace(word, &letters);
        Ok(())
    }

    /// Takes the least counter of each group from all counters of it.
    fn take_down(&self, word: &mut Vec<u32>) -> Result<(), Missing> {
        match self.down(&word[..self.n()], self.flight.letters(word)) {
            Some(map) => self.map_all(word, &map),
            None => Ok(()),
        }
    }

    /// How much can be taken from the counters of each group, if anything.
    pub(super) fn down(&self, locals: &[u32], letters: &[u32]) -> Option<Map> {
        let floors = locals.iter().map(|local| &self.tables.local_floors[*local as usize]);
        let flying = letters.iter().map(|letter| &self.tables.letter_floors[*letter as usize]);
        let mut least = vec![NO_COUNTER; self.n() + 1];
        for floors in floors.chain(flying) {
            least.iter_mut().zip(floors).for_each(|(least, floor)| *least = (*least).min(*floor));
        }
        least.iter_mut().filter(|least| **least == NO_COUNTER).for_each(|least| *least = 0);
        least.iter().any(|least| *least > 0).then(|| Map::Down(least.into_boxed_slice()))
    }

    /// The single steps of a step.
    pub(super) fn unfolded(&self, state: &[u32], step: &Step) -> Vec<Step> {
        let mut steps = vec![*step];
        if !self.setting.reduction {
            return steps;
        }
        let mut word = state.to_vec();
        let (input, arrives) = match step.action {
            REQUEST | RELEASE => (step.action, None),
            action if action != CRASH && action % 4 == ARRIVES => (action / 4, Some(action / 4)),
            _ => return steps,
        };
        if let Some(place) =
            arrives.and_then(|letter| self.flight.letters(&word).iter().position(|other| *other == letter))
        {
            self.flight.take(&self.tables, &mut word, place, true);
        }
        let mut draft = Draft { word: &mut word, sends: 0, broken: None, entered: None };
        let is_told = self.tell_node(&mut draft, step.process, input).is_ok();
        if is_told
            && input == REQUEST
            && !draft.word[..self.n()].iter().any(|local| self.tables.face(*local).asks)
        {
            let _ = self.map_all(draft.word, &Map::Quiet);
        }
        while let Ok(Some((process, letter))) = self.hurry(&mut draft) {
            let lane = self.tables.route(letter).lane;
            let (action, owed) = (letter * 4 + ARRIVES, Some(self.n() as u32 + letter));
            steps.push(Step { process, action, owed, lane, sends: 0, broken: None });
        }
        steps
    }
}
