//! The steps of the whole system.

use std::sync::atomic::Ordering;

use doorway_core::shared::Place;

use super::tables::{Ending, NextAccess};
use super::{MemorySetting, RegisterModel, SharedMemory};
use crate::{Property, Step};

/// A missing outcome that a step needs: that of loading this value in this state of a process.
pub(super) struct Missing {
    pub(super) local: u32,
    pub(super) value: u32,
}

/// An action with this bit is a store that reaches memory, and the rest is the packed store; without it, the
/// action is the number of an outcome.
pub(super) const REACHES_MEMORY: u32 = 1 << 31;

/// Computes the steps from one state, one after the other.
struct Draft<'s, V> {
    shared: &'s SharedMemory,
    /// The state; each step changes it in place and restores it.
    word: Vec<u32>,
    visit: &'s mut V,
}

impl SharedMemory {
    /// Visits every step from a state, unless an outcome is missing.
    pub(super) fn try_steps(
        &self,
        state: &[u32],
        visit: &mut impl FnMut(Step, &[u32]),
    ) -> Result<(), Missing> {
        let mut word = Vec::with_capacity(state.len() + 1);
        word.extend_from_slice(state);
        let mut draft = Draft { shared: self, word, visit };
        for (process, &local) in (0..).zip(&state[..self.n()]) {
            draft.go(process, local)?;
        }
        if self.buffers.are_there() {
            (0..self.n() as u32).for_each(|process| draft.reach_memory(process));
        }
        Ok(())
    }
}

impl<V: FnMut(Step, &[u32])> Draft<'_, V> {
    /// Visits every enabled step of a process.
    #[inline]
    fn go(&mut self, process: u32, local: u32) -> Result<(), Missing> {
        let buffers = self.shared.buffers;
        match self.shared.tables.facts(local).access {
            NextAccess::Rest => Ok(()),
            NextAccess::Idle | NextAccess::Begin { .. } => self.make(process, local, 0, None),
            NextAccess::Load { register } if self.shared.setting.registers == RegisterModel::Atomic => {
                let value = buffers.see(&self.word, process, register);
                self.make(process, local, value, None)
            }
            NextAccess::Load { register } => self.load_any(process, local, register),
            NextAccess::Store { register, value } if buffers.are_there() => {
                self.store_later(process, local, register, value)
            }
            NextAccess::Store { register, value }
                if self.shared.setting.registers == RegisterModel::SafeAny =>
            {
                self.end_store(process, local, register, value)
            }
            NextAccess::Store { register, value } => self.make(process, local, 0, Some((register, value))),
            NextAccess::Barrier | NextAccess::Next { .. } if buffers.len(&self.word, process) > 0 => Ok(()),
            NextAccess::Barrier => self.make(process, local, 0, None),
            NextAccess::Next { first, count, into } => {
                let registers = &self.word[self.shared.n()..];
                let among = &registers[first as usize..][..count as usize];
                let largest = among.iter().copied().max().unwrap_or(0);
                self.make(process, local, largest, Some((into, largest + 1)))
            }
        }
    }

    /// Visits a step that loads this value and stores immediately.
    #[inline]
    fn make(
        &mut self,
        process: u32,
        local: u32,
        value: u32,
        store: Option<(u32, u32)>,
    ) -> Result<(), Missing> {
        let Some(number) = self.shared.tables.find(local, value) else {
            return Err(Missing { local, value });
        };
        if self.is_over(process, number) {
            return Ok(());
        }
        match store {
            None => self.visit(process, number),
            Some((register, value)) => {
                let place = self.shared.n() + register as usize;
                let before = std::mem::replace(&mut self.word[place], value);
                self.visit(process, number);
                self.word[place] = before;
            }
        }
        Ok(())
    }

    /// Visits a load that may overlap stores: one step per possible value.
    fn load_any(&mut self, process: u32, local: u32, register: u32) -> Result<(), Missing> {
        let (shared, n) = (self.shared, self.shared.n());
        let old = self.word[n + register as usize];
        let is_overlapped = (0..n).any(|other| shared.stored(&self.word, other, register).is_some());
        if is_overlapped && shared.setting.registers.is_safe() {
            let largest = shared.setting.largest(&shared.cells[register as usize]) as u32;
            return (0..=largest).try_for_each(|value| self.make(process, local, value, None));
        }
        self.make(process, local, old, None)?;
        for other in 0..n {
            let Some(value) = shared.stored(&self.word, other, register) else { continue };
            let is_known =
                (0..other).any(|earlier| shared.stored(&self.word, earlier, register) == Some(value));
            if value != old && !is_known {
                self.make(process, local, value, None)?;
            }
        }
        Ok(())
    }

    /// Visits the end of a store to a register in which overlapping stores leave any value: one step per value
    /// if this is the last of several that overlap.
    fn end_store(&mut self, process: u32, local: u32, register: u32, value: u32) -> Result<(), Missing> {
        let (shared, n) = (self.shared, self.shared.n());
        let is_stored = |other: usize| shared.stored(&self.word, other, register).is_some();
        let is_overlapped = (0..n).any(|other| other != process as usize && is_stored(other));
        if is_overlapped {
            return self.make(process, local, value, Some((register, value | MemorySetting::OVERLAPPED)));
        }
        if self.word[n + register as usize] & MemorySetting::OVERLAPPED == 0 {
            return self.make(process, local, value, Some((register, value)));
        }
        let largest = shared.setting.largest(&shared.cells[register as usize]) as u32;
        (0..=largest).try_for_each(|left| self.make(process, local, left, Some((register, left))))
    }

    /// Visits a buffered store, if the buffer has room.
    fn store_later(&mut self, process: u32, local: u32, register: u32, value: u32) -> Result<(), Missing> {
        let (shared, buffers) = (self.shared, self.shared.buffers);
        if buffers.len(&self.word, process) >= buffers.capacity {
            shared.is_full.store(true, Ordering::Relaxed);
            return Ok(());
        }
        let Some(number) = shared.tables.find(local, 0) else {
            return Err(Missing { local, value: 0 });
        };
        if !self.is_over(process, number) {
            let place = buffers.put(&mut self.word, process, buffers.entry(register, value));
            self.visit(process, number);
            buffers.take(&mut self.word, process, place);
        }
        Ok(())
    }

    /// Visits the steps in which a buffered store of a process reaches memory.
    fn reach_memory(&mut self, process: u32) {
        let (buffers, n) = (self.shared.buffers, self.shared.n());
        let range = buffers.range(&self.word, process);
        let first = range.start;
        for place in range {
            if !buffers.is_next(&self.word, first, place) {
                continue;
            }
            let entry = buffers.take(&mut self.word, process, place);
            let (register, value) = buffers.store(entry);
            let cell = n + register as usize;
            let before = std::mem::replace(&mut self.word[cell], value);
            let lane = n as u32 + buffers.lane(process, register);
            let action = REACHES_MEMORY | entry;
            (self.visit)(
                Step { process, action, owed: Some(lane), lane, sends: 0, broken: None },
                &self.word,
            );
            self.word[cell] = before;
            buffers.put_back(&mut self.word, process, place, entry);
        }
    }

    /// Visits the sink and returns true if a step goes beyond the limit or breaks the contract.
    #[inline]
    fn is_over(&mut self, process: u32, number: u32) -> bool {
        if self.shared.tables.outcome(number).ending == Ending::Goes {
            return false;
        }
        (self.visit)(self.shared.step(process, number), &self.shared.beyond);
        true
    }

    /// Visits the successor of a step, after its change of memory.
    #[inline]
    fn visit(&mut self, process: u32, number: u32) {
        let outcome = self.shared.tables.outcome(number);
        self.word[process as usize] = outcome.after;
        (self.visit)(self.shared.step(process, number), &self.word);
        self.word[process as usize] = outcome.before;
    }
}

impl SharedMemory {
    /// The step of a process with this outcome. Fairness never forces a process to leave the remainder.
    #[inline]
    fn step(&self, process: u32, number: u32) -> Step {
        let outcome = self.tables.outcome(number);
        let is_owed = self.tables.facts(outcome.before).place != Place::Remainder;
        let broken = match outcome.ending {
            Ending::Broken(what) => Some((Property::Invariants, what)),
            Ending::Goes | Ending::Beyond => None,
        };
        Step { process, action: number, owed: is_owed.then_some(process), lane: process, sends: 0, broken }
    }

    /// The value that a process is currently storing to this non-atomic register, if any.
    #[inline]
    fn stored(&self, word: &[u32], process: usize, register: u32) -> Option<u32> {
        match self.tables.facts(word[process]).access {
            NextAccess::Store { register: other, value } if other == register => Some(value),
            _ => None,
        }
    }
}
