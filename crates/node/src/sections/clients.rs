//! Requests from their making to their end.

use doorway_core::{Fence, SectionName, Ticks};

use super::forget::IdleEntry;
use super::{Request, Section, Sections};
use crate::message::Parcel;
use crate::{ClientId, LockCommand, Notice, Reason, RequestId, Rules};

/// The longest time between two notices that a client waits.
const LONGEST_NUDGE: Ticks = crate::timing::milliseconds(5_000);

impl<R: Rules> Sections<R> {
    /// A request that can be taken joins the line of its first section.
    pub(super) fn admit_request(&mut self, lock: LockCommand) {
        let LockCommand { request: id, client, mut names, patience, max_hold, ttl, tell_if_wanted } = lock;
        let now = self.gate.now;
        names.sort_unstable();
        names.iter().for_each(|name| self.used.begin(name));
        self.made += 1;
        let request = Request {
            client,
            names,
            fences: Vec::new(),
            number: self.made,
            gives_up: patience.map(|patience| now + patience),
            max_hold,
            ttl,
            hold: None,
            asked: now,
            nudge: Some((now + self.timing.nudge, self.timing.nudge)),
            tell_if_wanted,
        };
        self.alarms.extend(request.alarm().map(|at| (at, id)));
        self.requests.insert(id, request);
        self.clients.entry(client).or_default().insert(id);
        self.join_line(id);
    }

    /// A request waits for the next of its sections.
    fn join_line(&mut self, id: RequestId) {
        let Some(request) = self.requests.get(&id) else { return };
        let Some(name) = request.names.get(request.fences.len()).cloned() else { return };
        let section = self.section(&name);
        section.line.push_back(id);
        if section.holder.is_some() {
            self.tell_wanted(&name);
        }
        self.want(&name);
    }

    /// A section, made if this is its first use here.
    pub(super) fn section(&mut self, name: &SectionName) -> &mut Section {
        let (now, clock, count) = (self.gate.now, self.floor, self.open.len() as u64);
        let section = self.open.entry(name.clone()).or_insert_with(|| {
            self.counters.most_open = self.counters.most_open.max(count + 1);
            Section { clock, ..Section::default() }
        });
        section.touched = now;
        if section.mark == 0 {
            self.marks += 1;
            section.mark = self.marks;
            self.idle.push_back(IdleEntry { touched: now, mark: self.marks, name: name.clone() });
        }
        section
    }

    /// A request gets a section with this fence.
    pub(super) fn enter(&mut self, id: RequestId, fence: Fence) {
        self.counters.entries += 1;
        self.inside += 1;
        let Some(request) = self.requests.get_mut(&id) else { return };
        request.fences.push(fence);
        if !request.is_in() {
            self.join_line(id);
            return;
        }
        let fences = request.grants();
        // R18: a grant and its deadline
        let until = self.begin_hold(id);
        self.notices.push(Notice::Granted { request: id, fences, until });
        self.tell_of_the_lines(id);
    }

    /// Tells a new holder that wants to know it that clients wait here already.
    fn tell_of_the_lines(&mut self, id: RequestId) {
        let Some(request) = self.requests.get(&id).filter(|request| request.tell_if_wanted) else { return };
        let is_wanted =
            |name: &&SectionName| self.open.get(name).is_some_and(|section| !section.line.is_empty());
        let wanted: Vec<SectionName> = request.names.iter().filter(is_wanted).cloned().collect();
        wanted.iter().for_each(|name| self.tell_wanted(name));
    }

    /// A client has left.
    pub(crate) fn release(&mut self, id: RequestId, fence: Fence) {
        // R18: a release names its fence
        let is_its = |request: &Request| request.is_in() && request.fences.first() == Some(&fence);
        if self.requests.get(&id).is_some_and(is_its) {
            self.end(id);
        }
    }

    /// A client does not want to wait any longer.
    pub(crate) fn cancel(&mut self, id: RequestId) {
        if self.requests.get(&id).is_some_and(|request| !request.is_in()) {
            self.refuse(id, Reason::Cancelled);
        }
    }

    /// A client is gone.
    pub(crate) fn client_gone(&mut self, client: ClientId) {
        for id in self.clients.get(&client).cloned().unwrap_or_default() {
            self.end(id);
        }
    }

    /// A request that waits will not be served.
    pub(super) fn refuse(&mut self, id: RequestId, why: Reason) {
        self.notices.push(Notice::Refused { request: id, why });
        self.end(id);
    }

    /// A request that has some of its sections gives them back and waits for all of them anew. Its client was never told that it is
    /// inside, so they are free at once.
    pub(super) fn start_over(&mut self, id: RequestId) {
        let Some(request) = self.requests.get_mut(&id).filter(|request| !request.is_in()) else { return };
        let held: Vec<SectionName> = request.names[..request.fences.len()].to_vec();
        let next = request.names[request.fences.len()].clone();
        request.fences.clear();
        if let Some(section) = self.open.get_mut(&next) {
            section.line.retain(|other| *other != id);
        }
        held.iter().for_each(|name| self.give_back(name));
        self.join_line(id);
    }

    /// A request is over: it gives back what it has and waits no more.
    pub(super) fn end(&mut self, id: RequestId) {
        let Some(request) = self.requests.remove(&id) else { return };
        request.alarm().into_iter().for_each(|at| {
            self.alarms.remove(&(at, id));
        });
        if request.is_stopping() {
            self.stopping -= request.names.len();
        }
        if let Some(requests) = self.clients.get_mut(&request.client) {
            requests.remove(&id);
            if requests.is_empty() {
                self.clients.remove(&request.client);
            }
        }
        if let Some(next) = request.names.get(request.fences.len()) {
            if let Some(section) = self.open.get_mut(next) {
                section.line.retain(|other| *other != id);
            }
            // R17: cancelled while held. A section held back for it alone goes back now, not when the gate opens.
            self.settle(next);
        }
        let held = &request.names[..request.fences.len()];
        held.iter().for_each(|name| self.give_back(name));
        for name in &request.names {
            self.used.end(name, self.open.contains_key(name));
        }
    }

    /// A section has no holder any more.
    fn give_back(&mut self, name: &SectionName) {
        let now = self.gate.now;
        let Some(section) = self.open.get_mut(name) else { return };
        if section.holder.take().is_some() {
            section.touched = now;
            self.inside -= 1;
            self.pass_on(name);
        }
    }

    /// Tells the holder of a section that another client waits for it, if it wants to know.
    pub(super) fn tell_wanted(&mut self, name: &SectionName) {
        let holder = self.open.get(name).and_then(|section| section.holder);
        let Some(id) = holder else { return };
        let is_curious = |request: &Request| request.tell_if_wanted && request.may_stay();
        if self.requests.get(&id).is_some_and(is_curious) {
            self.notices.push(Notice::Wanted { request: id, section: name.clone() });
        }
    }

    /// Tells the other members that a client here has waited for a while, and later again.
    pub(super) fn nudge(&mut self, id: RequestId) {
        let now = self.gate.now;
        let Some(request) = self.requests.get_mut(&id) else { return };
        let Some((_, pause)) = request.nudge else { return };
        let pause = Ticks(pause.0 * 2).min(LONGEST_NUDGE);
        request.nudge = Some((now + pause, pause));
        self.alarms.extend(request.alarm().map(|at| (at, id)));
        let Some(name) = request.names.get(request.fences.len()).cloned() else { return };
        if self
            .open
            .get(&name)
            .is_some_and(|section| section.line.front() == Some(&id) && section.holder.is_none())
        {
            self.broadcast(&Parcel::Wanted(name));
        }
    }
}
