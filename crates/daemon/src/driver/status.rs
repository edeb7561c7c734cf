//! How things stand, here and at the other nodes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;

use doorway_client::clock;
use doorway_client::protocol::{ClientStatus, NodeStatus, OwnStatus, SectionStatus, Status, Told};
use doorway_core::{Fence, NodeId, SectionName, Ticks};
use doorway_node::node::Standing;
use doorway_node::timing::milliseconds;
use doorway_node::{ClientId, SectionLook};

use super::{Driver, MOST_QUESTIONS, Reminder};
use crate::peers::words::{Account, Lane, Question, Word};

/// A question of a client about all nodes, while the others answer.
pub(super) struct Survey {
    client: ClientId,
    number: u32,
    /// Who has not answered yet.
    missing: BTreeSet<NodeId>,
    accounts: BTreeMap<NodeId, Account>,
}

/// How many sections, and how many of those who wait, a node tells of at most.
const MOST_SECTIONS: usize = 1_000;
const MOST_CLIENTS: usize = 2_000;

/// The same for all nodes together.
const MOST_SECTIONS_IN_ALL: usize = 10_000;
const MOST_CLIENTS_IN_ALL: usize = 20_000;

impl Driver {
    /// Asks all nodes, or only this one, and answers the client when they have or had their time.
    pub(super) fn survey(
        &mut self,
        client: ClientId,
        number: u32,
        section: Option<SectionName>,
        everywhere: bool,
    ) {
        if self.surveys.len() >= MOST_QUESTIONS {
            let sentence = "too many questions are under way: ask again".to_owned();
            return self.tell(client, &Told::Failed { number, sentence });
        }
        let accounts = BTreeMap::from([(self.me, self.account(section.as_ref()))]);
        let question = self.next_question;
        self.next_question += 1;
        let mut missing = BTreeSet::new();
        if everywhere {
            let ask = Word::Ask { number: question, question: Question::Status { section } };
            let others = self.shared.peers.all().into_iter().filter(|link| link.is_up()).map(|link| link.id);
            missing = others.filter(|node| self.shared.peers.tell(*node, Lane::Life, &ask)).collect();
        }
        let is_complete = missing.is_empty();
        self.surveys.insert(question, Survey { client, number, missing, accounts });
        if is_complete {
            self.end_survey(question);
        } else {
            self.remind(milliseconds(500), Reminder::Survey(question));
        }
    }

    pub(super) fn hear_account(&mut self, question: u64, from: NodeId, account: Account) {
        let Some(survey) = self.surveys.get_mut(&question) else { return };
        if survey.missing.remove(&from) {
            survey.accounts.insert(from, account);
        }
        if survey.missing.is_empty() {
            self.end_survey(question);
        }
    }

    /// Tells the client what is known by now.
    pub(super) fn end_survey(&mut self, question: u64) {
        let Some(Survey { client, number, accounts, .. }) = self.surveys.remove(&question) else { return };
        let status = Box::new(self.status(accounts));
        self.tell(client, &Told::Status { number, status });
    }

    fn status(&self, mut accounts: BTreeMap<NodeId, Account>) -> Status {
        let (sections, is_cut) = all_sections(&mut accounts);
        let look = self.node.look();
        let view = look.newest;
        let nodes = self.shared.roster.all().into_iter().map(|peer| {
            let id = peer.id();
            NodeStatus {
                is_member: view.is_some_and(|view| view.members.contains_key(&id)),
                is_voter: view.is_some_and(|view| view.all_voters().values().any(|node| *node == id)),
                is_leader: look.leader == Some(id),
                own: accounts.remove(&id).map(|account| account.own),
                name: peer.name,
                address: peer.address,
            }
        });
        Status {
            cluster: self.shared.config.cluster.clone(),
            algorithm: self.algorithm(),
            node: self.shared.config.node.get_ref().clone(),
            nodes: nodes.collect(),
            sections,
            is_cut,
        }
    }

    fn algorithm(&self) -> String {
        let config = &self.shared.config;
        let chosen = config.options.iter().map(|(name, choice)| format!(" --{name} {choice}"));
        format!("{}{}", config.algorithm.get_ref(), chosen.collect::<String>())
    }

    /// How this node is, and who is inside or waits here.
    pub(super) fn account(&self, section: Option<&SectionName>) -> Account {
        let mut looks = match section {
            Some(name) => self.node.section(name).into_iter().collect(),
            None => self.node.sections(MOST_SECTIONS + 1),
        };
        let mut is_cut = looks.len() > MOST_SECTIONS;
        looks.truncate(MOST_SECTIONS);
        let mut room = MOST_CLIENTS;
        let sections = looks.into_iter().map(|look| {
            is_cut |= look.waiting.len() > room;
            let told = look.waiting.len().min(room);
            room -= told;
            self.section_status(&look, told)
        });
        let sections = sections.collect();
        Account { own: self.own_status(), sections, is_cut }
    }

    fn section_status(&self, look: &SectionLook, waiting: usize) -> SectionStatus {
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
            warnings: self.warnings(),
        }
    }

    fn standing(&self, standing: Standing, is_leaving: bool) -> &'static str {
        match standing {
            _ if self.shared.is_disk_failing.load(Ordering::Relaxed) => "its disk takes nothing",
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

/// The sections of all nodes, each once, as far as there is room to tell of them.
fn all_sections(accounts: &mut BTreeMap<NodeId, Account>) -> (Vec<SectionStatus>, bool) {
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
