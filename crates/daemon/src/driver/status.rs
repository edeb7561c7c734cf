//! The status of this node and of the others.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;

use doorway_client::clock;
use doorway_core::{Fence, NodeId, SectionName, Ticks};
use doorway_node::node::Standing;
use doorway_node::timing::milliseconds;
use doorway_node::{ClientId, SectionSummary};
use doorway_protocol::{ClientStatus, DaemonMsg, NodeStatus, OwnStatus, SectionStatus, Status};
use tokio::sync::OwnedSemaphorePermit;

use super::{Driver, MOST_QUESTIONS, Reminder};
use crate::config::Peer;
use crate::peers::peer_msg::{Lane, NodeReport, PeerMsg, PeerQuery, PeerReply};

/// The client of a status question. Its connection has room for few such questions, and gets it back when the answer is written.
pub(super) struct StatusRequester {
    pub(super) client: ClientId,
    pub(super) number: u32,
    pub(super) room: OwnedSemaphorePermit,
}

/// A question of a client about all nodes, while they answer.
pub(super) struct Survey {
    asker: StatusRequester,
    /// The user that asks, if quotas count it.
    uid: Option<u32>,
    /// Who has not answered yet, this node included.
    missing: BTreeSet<NodeId>,
    accounts: BTreeMap<NodeId, NodeReport>,
    /// Whether the others have had their time.
    is_late: bool,
}

/// An account of this node that is being put together: a slice of its sections at a time, so that other events, on which leases depend,
/// come in between.
pub(super) struct Accounting {
    reader: Reader,
    scope: Scope,
    sections: Vec<SectionStatus>,
    /// How many more waiters fit into the answer.
    room: usize,
    is_cut: bool,
}

/// The reader of an account.
#[derive(Clone, Copy)]
enum Reader {
    /// The survey of this number.
    Survey(u64),
    /// Another node, for its question of this number.
    Peer(NodeId, u64),
}

/// The sections that are still to be added.
enum Scope {
    One(SectionName),
    /// All sections after this one.
    After(Option<SectionName>),
}

/// How many sections, and how many waiters, a node reports at most.
const MOST_SECTIONS: usize = 1_000;
const MOST_CLIENTS: usize = 2_000;

/// The same for all nodes together.
const MOST_SECTIONS_IN_ALL: usize = 10_000;
const MOST_CLIENTS_IN_ALL: usize = 20_000;

/// How many sections and clients are looked at before other events have their turn.
const SLICE: usize = 64;

impl Driver {
    /// Asks all nodes, or only this one, and answers the client when they have or had their time.
    pub(super) fn survey(&mut self, asker: StatusRequester, section: Option<SectionName>, everywhere: bool) {
        let uid = self.clients.get(&asker.client).and_then(|client| client.caller.quota_uid());
        let of_user = self.surveys.values().filter(|survey| uid.is_some() && survey.uid == uid).count();
        if self.surveys.len() >= MOST_QUESTIONS || of_user >= MOST_QUESTIONS / 2 {
            let sentence = "too many questions are pending: try again".to_owned();
            if let Some(client) = self.clients.get(&asker.client) {
                client.outbox.answer(&DaemonMsg::Failed { number: asker.number, sentence }, asker.room);
            }
            return;
        }
        let question = self.next_question;
        self.next_question += 1;
        let mut missing = BTreeSet::from([self.me]);
        if everywhere {
            let ask =
                PeerMsg::Ask { number: question, question: PeerQuery::Status { section: section.clone() } };
            let others = self.shared.peers.all().into_iter().filter(|link| link.is_up()).map(|link| link.id);
            missing.extend(others.filter(|node| self.shared.peers.tell(*node, Lane::Life, &ask)));
            self.remind(milliseconds(500), Reminder::Survey(question));
        }
        let survey = Survey { asker, uid, missing, accounts: BTreeMap::new(), is_late: false };
        self.surveys.insert(question, survey);
        self.begin_account(Reader::Survey(question), section);
    }

    /// Another node asks for the status of this one. A node asks on behalf of no more clients than this one would.
    pub(super) fn account_for_peer(&mut self, node: NodeId, number: u64, section: Option<SectionName>) {
        let is_its =
            |account: &&Accounting| matches!(account.reader, Reader::Peer(other, _) if other == node);
        if self.accountings.iter().filter(is_its).count() < MOST_QUESTIONS {
            self.begin_account(Reader::Peer(node, number), section);
        }
    }

    fn begin_account(&mut self, reader: Reader, section: Option<SectionName>) {
        let scope = section.map_or(Scope::After(None), Scope::One);
        let (sections, room) = (Vec::new(), MOST_CLIENTS);
        self.accountings.push_back(Accounting { reader, scope, sections, room, is_cut: false });
    }

    /// Looks at some more sections for the account whose turn it is.
    pub(super) fn account_for_a_slice(&mut self) {
        let Some(mut account) = self.accountings.pop_front() else { return };
        let mut seen = 0;
        while seen < SLICE {
            let Some(look) = self.next_look(&mut account) else {
                return self.finish_account(account);
            };
            seen += 1 + look.waiting.len();
            account.is_cut |= look.waiting.len() > account.room;
            let told = look.waiting.len().min(account.room);
            account.room -= told;
            account.sections.push(self.section_status(&look, told));
        }
        self.accountings.push_back(account);
    }

    /// The next section that an account tells of.
    fn next_look(&self, account: &mut Accounting) -> Option<SectionSummary> {
        // One more than there is room for, so that it shows that there are more.
        let waiting = account.room + 1;
        let after = match &account.scope {
            Scope::One(name) if account.sections.is_empty() => {
                return self.node.section_up_to(name, waiting);
            }
            Scope::One(_) => return None,
            Scope::After(after) => after.as_ref(),
        };
        let look = self.node.section_after(after, waiting)?;
        if account.sections.len() >= MOST_SECTIONS {
            account.is_cut = true;
            return None;
        }
        account.scope = Scope::After(Some(look.name.clone()));
        Some(look)
    }

    fn finish_account(&mut self, Accounting { reader, sections, is_cut, .. }: Accounting) {
        let account = NodeReport { own: self.own_status(), sections, is_cut };
        match reader {
            Reader::Survey(number) => self.hear_account(number, self.me, account),
            Reader::Peer(node, number) => {
                let shared = self.shared.clone();
                // Another thread encodes long answers.
                self.shared.runtime.spawn_blocking(move || {
                    let answer = PeerReply::Status(Box::new(account));
                    shared.peers.tell(node, Lane::Load, &PeerMsg::Answer { number, answer });
                });
            }
        }
    }

    pub(super) fn hear_account(&mut self, question: u64, from: NodeId, account: NodeReport) {
        let Some(survey) = self.surveys.get_mut(&question) else { return };
        if survey.missing.remove(&from) {
            survey.accounts.insert(from, account);
        }
        self.end_survey_if_done(question);
    }

    /// The others have had their time.
    pub(super) fn end_survey(&mut self, question: u64) {
        if let Some(survey) = self.surveys.get_mut(&question) {
            survey.is_late = true;
        }
        self.end_survey_if_done(question);
    }

    /// Answers the client if all nodes have answered, or this node has and the others have timed out. Another thread puts
    /// it together: it may be long.
    fn end_survey_if_done(&mut self, question: u64) {
        let me = self.me;
        let is_done =
            |survey: &Survey| survey.missing.is_empty() || (survey.is_late && !survey.missing.contains(&me));
        if !self.surveys.get(&question).is_some_and(is_done) {
            return;
        }
        let Some(Survey { asker, accounts, .. }) = self.surveys.remove(&question) else { return };
        let Some(client) = self.clients.get(&asker.client) else { return };
        let (outbox, status) = (client.outbox.clone(), self.status_without_accounts());
        self.shared.runtime.spawn_blocking(move || {
            let status = Box::new(with_accounts(status, accounts));
            outbox.answer(&DaemonMsg::Status { number: asker.number, status }, asker.room);
        });
    }

    /// What this node knows of the cluster, without the nodes' own reports.
    fn status_without_accounts(&self) -> (Vec<NodeId>, Status) {
        let look = self.node.look();
        let view = look.newest;
        let peers = self.shared.roster.all();
        let ids = peers.iter().map(Peer::id).collect();
        let nodes = peers.into_iter().map(|peer| {
            let id = peer.id();
            NodeStatus {
                is_member: view.is_some_and(|view| view.members.contains_key(&id)),
                is_voter: view.is_some_and(|view| view.all_voters().values().any(|node| *node == id)),
                is_leader: look.leader == Some(id),
                own: None,
                name: peer.name,
                address: peer.address,
            }
        });
        let status = Status {
            cluster: self.shared.config.cluster.clone(),
            algorithm: self.algorithm(),
            node: self.shared.config.node.get_ref().clone(),
            nodes: nodes.collect(),
            sections: Vec::new(),
            is_cut: false,
        };
        (ids, status)
    }

    fn algorithm(&self) -> String {
        let config = &self.shared.config;
        let chosen = config.options.iter().map(|(name, choice)| format!(" --{name} {choice}"));
        format!("{}{}", config.algorithm.get_ref(), chosen.collect::<String>())
    }

    fn section_status(&self, look: &SectionSummary, waiting: usize) -> SectionStatus {
        let inside =
            look.inside.map(|inside| self.client_status(inside.client, inside.since, Some(inside.fence)));
        let waiting = look.waiting.iter().take(waiting);
        let waiting = waiting.map(|waiting| self.client_status(waiting.client, waiting.since, None));
        SectionStatus { name: look.name.clone(), inside, waiting: waiting.collect() }
    }

    fn client_status(&self, client: ClientId, since: Ticks, fence: Option<Fence>) -> ClientStatus {
        let client = self.clients.get(&client);
        ClientStatus {
            node: self.shared.config.node.get_ref().clone(),
            process: client.and_then(|client| client.caller.process),
            label: client.map(|client| client.label.clone()).unwrap_or_default(),
            since: clock::now() - since,
            fence,
        }
    }

    fn own_status(&self) -> OwnStatus {
        let (look, now) = (self.node.look(), clock::now());
        OwnStatus {
            standing: self.standing(look.standing, look.is_leaving).to_owned(),
            view: look.view.map(|view| view.number),
            lease_left: look.lease_until - now,
            quiet_left: look.quiet_until - now,
            up: now - self.started,
            clients: self.clients.len() as u64,
            open: look.open as u64,
            waiting: look.waiting as u64,
            entries: look.counters.entries,
            sent: self.sent,
            memory: memory(),
            epoch: look.epoch.map(|epoch| epoch.to_string()),
            revoked: look.newest.map(|view| view.revoked.clone()).unwrap_or_default(),
            warnings: self.warnings(),
        }
    }

    fn standing(&self, standing: Standing, is_leaving: bool) -> &'static str {
        match standing {
            _ if self.shared.is_disk_failing.load(Ordering::Relaxed) => "disk not writable",
            Standing::SetBack => "disk set back",
            Standing::Over => "over",
            _ if is_leaving => "leaving",
            Standing::Starting => "starting",
            Standing::Joining if !self.founding.is_over && self.founding.missing.is_some() => "founding",
            Standing::Joining => "joining",
            Standing::Limbo => "changing views",
            Standing::Active => "active",
        }
    }
}

/// A status with the reports of the nodes about themselves and their sections.
fn with_accounts(
    (ids, mut status): (Vec<NodeId>, Status),
    mut accounts: BTreeMap<NodeId, NodeReport>,
) -> Status {
    (status.sections, status.is_cut) = all_sections(&mut accounts);
    for (id, node) in ids.into_iter().zip(&mut status.nodes) {
        node.own = accounts.remove(&id).map(|account| account.own);
    }
    status
}

/// The sections of all nodes, each once, as far as there is room to tell of them.
fn all_sections(accounts: &mut BTreeMap<NodeId, NodeReport>) -> (Vec<SectionStatus>, bool) {
    let mut is_cut = accounts.values().any(|account| account.is_cut);
    let mut sections: BTreeMap<SectionName, SectionStatus> = BTreeMap::new();
    let mut room = MOST_CLIENTS_IN_ALL;
    for mut section in accounts.values_mut().flat_map(|account| std::mem::take(&mut account.sections)) {
        if sections.len() >= MOST_SECTIONS_IN_ALL && !sections.contains_key(&section.name) {
            is_cut = true;
            continue;
        }
        is_cut |= section.waiting.len() > room;
        section.waiting.truncate(room);
        room -= section.waiting.len();
        let whole = sections.entry(section.name.clone()).or_insert_with(|| nobody_in(&section.name));
        whole.inside = whole.inside.take().or(section.inside);
        whole.waiting.extend(section.waiting);
    }
    (sections.into_values().collect(), is_cut)
}

fn nobody_in(name: &SectionName) -> SectionStatus {
    SectionStatus { name: name.clone(), inside: None, waiting: Vec::new() }
}

/// How much memory this process has, in bytes, where the operating system tells.
fn memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kilobytes << 10)
}
