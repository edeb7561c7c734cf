//! Requests: the client's numbers and the node's, from the asking to the end.

use std::collections::BTreeMap;

use doorway_client::clock;
use doorway_core::{Fence, SectionName, Ticks, is_plain};
use doorway_node::{ClientId, Command, LockCommand, Loss, Reason, RequestId};
use doorway_protocol::{self as protocol, ClientMsg, DaemonMsg};

use tokio::sync::OwnedSemaphorePermit;
use tracing::Level;

use super::quotas::Quotas;
use super::status::StatusRequester;
use super::telling::LockEvent;
use super::{Driver, REFUSALS_A_SECOND};
use crate::throttle::Throttle;

/// The requests of all clients.
pub(super) struct Requests {
    quotas: Quotas,
    /// How often the log tells of requests that were refused at once.
    refusals: Throttle,
    made: u64,
    all: BTreeMap<RequestId, Request>,
    by_number: BTreeMap<(ClientId, u32), RequestId>,
}

/// A request as the daemon knows it.
struct Request {
    client: ClientId,
    number: u32,
    /// Its sections with the fences with which it was let in; none before that.
    inside: Vec<(SectionName, Fence)>,
    /// The user whose quotas count it, if any do, and its sections.
    counted: Option<(u32, Vec<SectionName>)>,
}

impl Requests {
    /// None, with so much for each user.
    pub(super) fn new(quotas: Quotas) -> Self {
        let refusals = Throttle::new(REFUSALS_A_SECOND);
        Self { quotas, refusals, made: 0, all: BTreeMap::new(), by_number: BTreeMap::new() }
    }

    /// A new one, counted for its user, of the names that the node may use.
    ///
    /// # Errors
    /// If its client has one of that number already, or its user has too many.
    fn add(
        &mut self,
        (client, uid): (ClientId, Option<u32>),
        number: u32,
        names: &[SectionName],
        most_used: usize,
    ) -> Result<RequestId, Reason> {
        if self.by_number.contains_key(&(client, number)) {
            return Err(Reason::BadNumber);
        }
        if uid.is_some_and(|uid| !self.quotas.take(uid, names, most_used)) {
            return Err(Reason::Quota);
        }
        self.made += 1;
        let id = RequestId(self.made);
        self.by_number.insert((client, number), id);
        let counted = uid.map(|uid| (uid, names.to_vec()));
        self.all.insert(id, Request { client, number, inside: Vec::new(), counted });
        Ok(id)
    }

    fn get(&self, client: ClientId, number: u32) -> Option<(RequestId, &Request)> {
        let id = *self.by_number.get(&(client, number))?;
        Some((id, self.all.get(&id)?))
    }

    fn remove(&mut self, id: RequestId) -> Option<Request> {
        let request = self.all.remove(&id)?;
        self.by_number.remove(&(request.client, request.number));
        if let Some((uid, names)) = &request.counted {
            self.quotas.give_back(*uid, names, clock::now());
        }
        Some(request)
    }

    /// Whether a client has been granted a lock and has not released it.
    pub(super) fn is_anybody_inside(&self) -> bool {
        self.all.values().any(|request| !request.inside.is_empty())
    }

    /// The sections that a client holds, by request.
    pub(super) fn inside(&self, client: ClientId) -> impl Iterator<Item = &[(SectionName, Fence)]> {
        let those = self.by_number.range((client, 0)..=(client, u32::MAX));
        those.filter_map(|(_, id)| self.all.get(id)).map(|request| request.inside.as_slice())
    }

    /// Counts names no more that the node has forgotten.
    pub(super) fn forget_names(&mut self, now: Ticks, is_used: impl Fn(&SectionName) -> bool) {
        self.quotas.forget(now, is_used);
    }

    /// A client is gone.
    pub(super) fn forget_client(&mut self, client: ClientId) {
        self.forget_those(client, |_| true);
    }

    /// Drops all waiting requests of a client.
    pub(super) fn forget_waiting(&mut self, client: ClientId) {
        self.forget_those(client, |request| request.inside.is_empty());
    }

    fn forget_those(&mut self, client: ClientId, is_meant: impl Fn(&Request) -> bool) {
        let all = self.by_number.range((client, 0)..=(client, u32::MAX)).map(|(_, id)| *id);
        let those: Vec<RequestId> = all.filter(|id| self.all.get(id).is_some_and(&is_meant)).collect();
        those.into_iter().for_each(|id| {
            self.remove(id);
        });
    }
}

impl Driver {
    /// Handles a message of a client.
    pub(super) fn answer(&mut self, client: ClientId, ask: ClientMsg, room: OwnedSemaphorePermit) {
        tracing::trace!(client = client.0, ?ask, "asked");
        match ask {
            ClientMsg::Introduce { label } => {
                if let Some(client) = self.clients.get_mut(&client) {
                    client.label = shown(&label);
                }
            }
            ClientMsg::Lock { number, names, patience, max_hold, ttl, tell_if_wanted } => {
                let uid = self.clients.get(&client).and_then(|client| client.caller.quota_uid());
                let request = match self.requests.add((client, uid), number, &names, self.node.most_used()) {
                    Ok(request) => request,
                    Err(why) => return self.refuse_at_once(client, number, why),
                };
                let lock = LockCommand { request, client, names, patience, max_hold, ttl, tell_if_wanted };
                self.command(Command::Lock(lock));
            }
            ClientMsg::Cancel { number } | ClientMsg::Release { number } => self.give_back(client, number),
            ClientMsg::Alive => self.command(Command::Alive(client)),
            ClientMsg::Status { number, section, everywhere } => {
                self.survey(StatusRequester { client, number, room }, section, everywhere);
            }
            // Answered where it is read, so that nothing else makes it late.
            ClientMsg::Clock => {}
            ClientMsg::Break { number, target } => self.break_open(client, number, target),
            ClientMsg::Administer { number, order } => self.administer(client, number, order),
        }
    }

    /// A request is cancelled or released.
    fn give_back(&mut self, client: ClientId, number: u32) {
        let Some((id, request)) = self.requests.get(client, number) else { return };
        match request.inside.first().map(|(_, fence)| *fence) {
            Some(fence) => {
                if let Some(request) = self.requests.remove(id) {
                    self.tell_log(LockEvent::Released, client, &request.inside, "released by its client");
                }
                if let Some(client) = self.clients.get(&client) {
                    client.outbox.forget(number);
                }
                self.command(Command::Release { request: id, fence });
            }
            None => self.command(Command::Cancel(id)),
        }
    }

    pub(super) fn grant(&mut self, id: RequestId, fences: Vec<(SectionName, Fence)>, until: Ticks) {
        let Some(request) = self.requests.all.get_mut(&id) else { return };
        request.inside.clone_from(&fences);
        let (client, number) = (request.client, request.number);
        self.tell_log(LockEvent::Granted, client, &fences, "its turn came");
        self.tell(client, &DaemonMsg::Granted { number, fences, until });
    }

    /// The holder of a request must stop. The request stays until its client releases it or the node frees it.
    pub(super) fn lose(&mut self, id: RequestId, why: Loss) {
        let Some(Request { client, number, inside, .. }) = self.requests.all.get(&id) else { return };
        let uid = self.clients.get(client).and_then(|client| client.caller.uid);
        // One line for each request; the debug level has one for each lock.
        if let Some((lock, fence)) = inside.first() {
            let (lock, fence, locks) = (lock.as_str(), fence.0, inside.len());
            tracing::warn!(lock, fence, locks, client = client.0, uid, why = why.sentence(), "lock lost");
        }
        self.tell_log(LockEvent::Lost, *client, inside, why.sentence());
        self.tell(*client, &DaemonMsg::Lost { number: *number, why });
    }

    /// The node has taken the sections of a request whose holder had to stop.
    pub(super) fn free(&mut self, id: RequestId) {
        if let Some(Request { client, number, inside, .. }) = self.requests.remove(id) {
            let why = "its client had to stop and did not release it in time";
            self.tell_log(LockEvent::Freed, client, &inside, why);
            self.tell(client, &DaemonMsg::Freed { number });
        }
    }

    pub(super) fn refuse(&mut self, id: RequestId, why: Reason) {
        if let Some(Request { client, number, .. }) = self.requests.remove(id) {
            let uid = self.clients.get(&client).and_then(|client| client.caller.uid);
            tracing::debug!(client = client.0, uid, number, why = %why.sentence(), "request refused");
            self.tell(client, &DaemonMsg::Refused { number, why });
        }
    }

    /// The same before the node has heard of it. A client may be refused so without end: then the log tells of some, and how many it left out.
    fn refuse_at_once(&mut self, client: ClientId, number: u32, why: Reason) {
        if tracing::enabled!(Level::DEBUG)
            && let Some(unlogged) = self.requests.refusals.admit(clock::now())
        {
            let caller = self.clients.get(&client).map(|client| client.caller);
            let (uid, process) =
                (caller.and_then(|caller| caller.uid), caller.and_then(|caller| caller.process));
            let why = why.sentence();
            tracing::debug!(client = client.0, uid, process, number, %why, unlogged, "request refused");
        }
        self.tell(client, &DaemonMsg::Refused { number, why });
    }

    pub(super) fn tell_request(&self, id: RequestId, told: impl FnOnce(u32) -> DaemonMsg) {
        if let Some(request) = self.requests.all.get(&id) {
            self.tell(request.client, &told(request.number));
        }
    }
}

/// A client's label, cut to its limit, on one line, and without control characters that could act on a terminal.
fn shown(label: &str) -> String {
    let shown = |character: char| match character {
        plain if is_plain(plain) => plain,
        blank if blank.is_whitespace() => ' ',
        _ => char::REPLACEMENT_CHARACTER,
    };
    let label: String = label.chars().map(shown).collect();
    protocol::shortened(&label).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_one_short_line_without_control_characters() {
        assert_eq!(shown("sh -c 'a\nb'\t\u{1b}[2J"), "sh -c 'a b' \u{fffd}[2J");
        assert_eq!(shown(&"ü".repeat(150)), "ü".repeat(100));
        assert_eq!(shown(&format!("x{}", "ü".repeat(150))).len(), 199);
    }
}
