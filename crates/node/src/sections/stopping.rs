//! Holders that must stop, and when their sections are free.
//!
//! A client may hear nothing for a while, so telling it to stop does not free its sections. It gets no later deadline, and its sections are
//! free when it releases them, when its connection ends, or at D + M: D is the latest deadline that it was told, M the margin. Until then
//! it counts as inside for the algorithm, for reports and for forgetting, and a lease that returns does not revive it (R31).
//!
//! D + M is never later than the end of the lease at the time when D was told, as D is at most the lease less the margin. So other nodes,
//! which wait for the lease of a node that is gone or left out, wait for the slack of its clients as well.
//!
//! There is one mechanism, however a holder comes to stop: at the end of the lease, of its longest stay or of its time-to-live, by
//! a break, when the node leaves, in a conflict, and when its client cannot be reached any more. Only a node that has given up its
//! life forgets its holders at once.

use doorway_core::{SectionName, Ticks};

use super::{Hold, Sections};
use crate::{ClientId, Flaw, Loss, Notice, RequestId, Rules};

impl<R: Rules> Sections<R> {
    /// A request has all of its sections; tells the deadline for its client. The entry counts as a sign of life: a client that waits
    /// gives none.
    pub(super) fn begin_hold(&mut self, id: RequestId) -> Ticks {
        let now = self.gate.now;
        let Some(request) = self.requests.get(&id) else { return now };
        let ends = request.max_hold.map(|span| now + span);
        let silent_at = request.ttl.map(|span| now + span);
        let hold = Hold { told_until: now, ends, silent_at, freed_at: None };
        let told_until = self.deadline(&hold);
        self.set_hold(id, Hold { told_until, ..hold });
        told_until
    }

    /// Until when a holder may stay, as things are now: never earlier than it was told before.
    fn deadline(&self, hold: &Hold) -> Ticks {
        let silent_at = hold.silent_at.filter(|_| !self.has(Flaw::DeadlineBeyondTtl));
        let ends = hold.ends.into_iter().chain(silent_at);
        // R32: within the time-to-live
        ends.fold(self.gate.deadline, Ticks::min).max(hold.told_until)
    }

    /// Replaces what is known of a stay, and sets its alarm in place of the one before.
    fn set_hold(&mut self, id: RequestId, hold: Hold) {
        let Some(request) = self.requests.get_mut(&id) else { return };
        request.alarm().into_iter().for_each(|at| {
            self.alarms.remove(&(at, id));
        });
        request.hold = Some(hold);
        self.alarms.extend(request.alarm().map(|at| (at, id)));
    }

    /// The holds of clients that are inside and were not told to stop.
    fn stays(&self) -> Vec<(RequestId, Hold)> {
        let may_stay = self.requests.iter().filter(|(_, request)| request.may_stay());
        may_stay.filter_map(|(id, request)| Some((*id, request.hold?))).collect()
    }

    /// The lease has grown: those inside may stay longer, and those held back may come in.
    pub(crate) fn renew(&mut self) {
        for (id, hold) in self.stays() {
            self.tell_deadline(id, hold);
        }
        self.try_gate();
    }

    /// A client gives a sign of life: its time-to-live counts anew.
    pub(crate) fn hear_sign_of_life(&mut self, client: ClientId) {
        let now = self.gate.now;
        for id in self.clients.get(&client).cloned().unwrap_or_default() {
            let Some(request) = self.requests.get(&id).filter(|request| request.may_stay()) else { continue };
            if let (Some(hold), Some(ttl)) = (request.hold, request.ttl) {
                // R32: a sign of life
                self.tell_deadline(id, Hold { silent_at: Some(now + ttl), ..hold });
            }
        }
    }

    /// Tells a holder its deadline if that has moved.
    fn tell_deadline(&mut self, id: RequestId, hold: Hold) {
        let until = self.deadline(&hold);
        if until > hold.told_until {
            // R18: the new deadline
            self.notices.push(Notice::Renewed { request: id, until });
        }
        self.set_hold(id, Hold { told_until: until, ..hold });
    }

    /// Something about a stay is due: it has been too long, or silent for too long, or its slack is over.
    pub(super) fn end_hold(&mut self, id: RequestId, hold: Hold) {
        let is_due = |time: Option<Ticks>| time.is_some_and(|time| time <= self.gate.now);
        // R31: freed at D + M
        if is_due(hold.freed_at) {
            self.free(id);
        } else if is_due(hold.ends) {
            self.tell_to_stop(id, Some(Loss::MaxHold));
        } else if is_due(hold.silent_at) {
            self.tell_to_stop(id, Some(Loss::Silent));
        }
    }

    /// Tells all holders to stop. Requests that have not got all of their sections start over.
    pub(crate) fn stop_all(&mut self, why: Loss) {
        for id in self.holders_here() {
            self.stop_or_start_over(id, why);
        }
    }

    /// Two nodes reported to hold a section: neither may continue.
    pub(crate) fn conflict(&mut self, name: &SectionName) {
        if let Some(holder) = self.open.get(name).and_then(|section| section.holder) {
            self.stop_or_start_over(holder, Loss::Conflict);
        }
    }

    pub(super) fn stop_or_start_over(&mut self, id: RequestId, why: Loss) {
        if self.requests.get(&id).is_some_and(super::Request::is_in) {
            self.tell_to_stop(id, Some(why));
        } else {
            self.start_over(id);
        }
    }

    /// A client that may still run cannot be reached any more: its requests are cancelled, and its sections are free a
    /// margin after its deadline.
    pub(crate) fn on_unreachable(&mut self, client: ClientId) {
        for id in self.clients.get(&client).cloned().unwrap_or_default() {
            if self.requests.get(&id).is_some_and(super::Request::is_in) {
                self.tell_to_stop(id, None);
            } else {
                self.end(id);
            }
        }
    }

    /// This life of the node is over and it is in no view: all holders must stop, and are forgotten at once. No other client can enter
    /// here before the node is in another view, and the members of every view wait for the lease of a life that is not in it: for
    /// D + M, which is not later.
    pub(crate) fn forget_holders(&mut self, why: Loss) {
        for id in self.holders_here() {
            self.stop_or_start_over(id, why);
            // R13: freed at once
            if self.requests.get(&id).is_some_and(super::Request::is_in) {
                self.free(id);
            }
        }
    }

    /// The requests that have at least one section.
    fn holders_here(&self) -> Vec<RequestId> {
        let has_any = self.requests.iter().filter(|(_, request)| !request.fences.is_empty());
        has_any.map(|(id, _)| *id).collect()
    }

    /// One that is in must stop: it is told, if there is a way to tell it, and is freed at D + M if it has not left by then.
    fn tell_to_stop(&mut self, id: RequestId, why: Option<Loss>) {
        let Some(request) = self.requests.get(&id).filter(|request| request.may_stay()) else { return };
        let Some(hold) = request.hold else { return };
        self.stopping += request.names.len();
        let forgotten = hold.silent_at.filter(|_| self.has(Flaw::DeadlineBeyondTtl));
        let until = forgotten.map_or(hold.told_until, |silent_at| hold.told_until.min(silent_at));
        // R31: slack
        self.set_hold(id, Hold { freed_at: Some(until + self.timing.margin), ..hold });
        self.notices.extend(why.map(|why| Notice::Lost { request: id, why }));
    }

    /// Takes the sections of one that had to stop.
    fn free(&mut self, id: RequestId) {
        self.notices.push(Notice::Freed { request: id });
        self.end(id);
    }
}
