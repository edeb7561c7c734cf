//! A second opinion: the same inputs for our library and for the crate `raft`, which is older and was written by others.
//!
//! The two send different messages, so a single message cannot be an input. A round can: some nodes reach each other, one of them
//! stands for election, commands are proposed while perhaps fewer reach each other, nodes are killed. After each part of it all
//! messages arrive. Then both must have let the same node lead, and must have decided the same commands. In some rounds all reach
//! each other and the voters change: both must end with the same voters, and go on with those.
//!
//! Where they may differ: terms, as `raft` does not answer messages of older terms; and what a node knows that no leader with a majority
//! reaches, as `raft` writes down what is decided and our library does not. Such a node may only be behind. A change of voters that is
//! interrupted cannot be compared: with our library new voters count as soon as they are in the log, with `raft` when they are
//! decided, so that a node that has such an entry needs other votes in the one than in the other.

mod round;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use raft::prelude::{
    ConfChangeSingle, ConfChangeTransition, ConfChangeType, ConfChangeV2, ConfState, Entry as RaftEntry,
    EntryType, Message, RawNode,
};
use raft::storage::MemStorage;
use raft::{Config as RaftConfig, StateRole, Storage};
use rand_core::SeedableRng;
use rand_pcg::Pcg64Mcg;

use super::engine::{Before, Config, Disk, Engine, Entry, Id, Linked, Log, Position, Role};
use super::local::{Event, Local, Mail};
use round::{Changes, Round};

/// A node of either kind.
trait Peer {
    type Mail: Clone;

    fn new(me: Id, voters: &BTreeSet<Id>) -> Self;
    fn stand(&mut self);
    fn say_that_it_leads(&mut self);
    fn propose(&mut self, command: u64);
    fn change_voters(&mut self, voters: &BTreeSet<Id>);
    fn receive(&mut self, mail: &Self::Mail);
    fn restart(&mut self);
    fn take_mail(&mut self) -> Vec<(Id, Self::Mail)>;
    fn leads(&self) -> bool;
    fn term(&self) -> u64;
    fn decided(&self) -> Vec<u64>;
    /// Who votes, as far as it knows; nothing while that changes.
    fn voters(&self) -> Option<BTreeSet<Id>>;
}

/// A node of ours. What a command says is looked up by its place, as in the lock's node.
struct Ours<E: Engine> {
    local: Local<E>,
    outbox: Vec<(Id, OurMail<E>)>,
    commands: BTreeMap<Position, u64>,
}

/// A message with all that its sender knows of commands.
type OurMail<E> = (Mail<<E as Engine>::Message>, BTreeMap<Position, u64>);

impl<E: Engine> Ours<E> {
    fn handle(&mut self, event: &Event<'_, E::Message>) {
        let Some(outcome) = self.local.handle(event) else { return };
        self.local = outcome.local;
        let commands = &self.commands;
        self.outbox.extend(outcome.sends.into_iter().map(|(to, mail)| (to, (mail, commands.clone()))));
    }
}

impl<E: Engine> Peer for Ours<E> {
    type Mail = OurMail<E>;

    fn new(me: Id, voters: &BTreeSet<Id>) -> Self {
        let base_config = Config { voters: voters.clone(), ..Config::default() };
        let disk = Disk { term: 0, voted_for: None, log: Log { base_config, ..Log::default() } };
        Self { local: Local::new(me, disk), outbox: Vec::new(), commands: BTreeMap::new() }
    }

    fn stand(&mut self) {
        self.handle(&Event::Stand);
    }

    fn say_that_it_leads(&mut self) {
        if self.leads() {
            self.handle(&Event::Stand);
        }
    }

    fn propose(&mut self, command: u64) {
        let log = self.local.engine.image().log;
        let place = Position { term: self.term(), index: log.base.index + log.entries.len() as u64 + 1 };
        self.commands.insert(place, command);
        self.handle(&Event::Propose);
    }

    fn change_voters(&mut self, voters: &BTreeSet<Id>) {
        let log = self.local.engine.image().log;
        let joint = Config { next_voters: voters.clone(), ..log.config_at(u64::MAX).1.clone() };
        self.handle(&Event::Change(&joint));
    }

    fn receive(&mut self, (mail, commands): &Self::Mail) {
        self.commands.extend(commands);
        self.handle(&Event::Receive(mail));
    }

    fn restart(&mut self) {
        self.handle(&Event::Restart);
    }

    fn take_mail(&mut self) -> Vec<(Id, Self::Mail)> {
        std::mem::take(&mut self.outbox)
    }

    fn leads(&self) -> bool {
        self.local.engine.image().role == Role::Leader
    }

    fn term(&self) -> u64 {
        self.local.engine.image().term
    }

    fn decided(&self) -> Vec<u64> {
        let image = self.local.engine.image();
        let places = image.log.places().take_while(|(place, _)| place.index <= image.commit);
        let commands = places.filter(|(_, entry)| **entry == Entry::Command);
        commands.filter_map(|(place, _)| self.commands.get(&place).copied()).collect()
    }

    fn voters(&self) -> Option<BTreeSet<Id>> {
        let log = self.local.engine.image().log;
        let config = log.config_at(u64::MAX).1;
        config.next_voters.is_empty().then(|| config.voters.clone())
    }
}

/// A node of the crate `raft`.
struct Theirs {
    me: Id,
    node: RawNode<MemStorage>,
    /// Up to where changes of voters are in the store.
    applied: u64,
    outbox: Vec<Message>,
}

impl Theirs {
    fn start(me: Id, store: MemStorage, applied: u64) -> RawNode<MemStorage> {
        let config = RaftConfig { id: me, applied, ..RaftConfig::default() };
        let logger = slog::Logger::root(slog::Discard, slog::o!());
        RawNode::new(&config, store, &logger).expect("a sound start")
    }

    /// Writes and sends what it wants, in the order that it asks for.
    fn carry_out(&mut self) {
        while self.node.has_ready() {
            let store = self.node.store().clone();
            let mut ready = self.node.ready();
            self.outbox.extend(ready.take_messages());
            store.wl().append(ready.entries()).expect("entries that continue the log");
            if let Some(state) = ready.hs() {
                store.wl().set_hardstate(state.clone());
            }
            self.outbox.extend(ready.take_persisted_messages());
            ready.take_committed_entries().iter().for_each(|entry| self.apply(entry));
            let mut more = self.node.advance(ready);
            if let Some(commit) = more.commit_index() {
                store.wl().mut_hard_state().set_commit(commit);
            }
            self.outbox.extend(more.take_messages());
            more.take_committed_entries().iter().for_each(|entry| self.apply(entry));
            self.node.advance_apply();
        }
    }

    /// From here on a change of voters that was decided counts.
    fn apply(&mut self, entry: &RaftEntry) {
        if entry.get_entry_type() == EntryType::EntryConfChangeV2 {
            let change = change_of(entry.get_context());
            let state = self.node.apply_conf_change(&change).expect("a change that fits");
            self.node.store().wl().set_conf_state(state);
        }
        self.applied = entry.index;
    }
}

/// A change of voters through a phase with both sets, from what stands beside its entry: who comes, and who goes. Without
/// either it is the end of that phase.
fn change_of(context: &[u8]) -> ConfChangeV2 {
    let singles = context.chunks(2).map(|word| {
        let mut single = ConfChangeSingle::default();
        single.set_node_id(word[1].into());
        let is_new = word[0] == ADDED;
        single.set_change_type(if is_new { ConfChangeType::AddNode } else { ConfChangeType::RemoveNode });
        single
    });
    let singles: Vec<ConfChangeSingle> = singles.collect();
    let mut change = ConfChangeV2::default();
    if !singles.is_empty() {
        change.set_transition(ConfChangeTransition::Implicit);
        change.set_changes(singles.into());
    }
    change
}

const ADDED: u8 = 1;
const REMOVED: u8 = 0;

impl Peer for Theirs {
    type Mail = Message;

    fn new(me: Id, voters: &BTreeSet<Id>) -> Self {
        let voters: Vec<Id> = voters.iter().copied().collect();
        let store = MemStorage::new_with_conf_state(ConfState::from((voters, Vec::new())));
        Self { me, node: Self::start(me, store, 0), applied: 0, outbox: Vec::new() }
    }

    fn stand(&mut self) {
        self.node.campaign().expect("a voter may stand for election");
        self.carry_out();
    }

    fn say_that_it_leads(&mut self) {
        self.node.ping();
        self.carry_out();
    }

    fn propose(&mut self, command: u64) {
        self.node.propose(Vec::new(), command.to_be_bytes().to_vec()).expect("a leader takes commands");
        self.carry_out();
    }

    fn change_voters(&mut self, voters: &BTreeSet<Id>) {
        let old = self.voters().expect("no change is under way");
        let added = voters.difference(&old).map(|id| [ADDED, *id as u8]);
        let removed = old.difference(voters).map(|id| [REMOVED, *id as u8]);
        let context: Vec<u8> = added.chain(removed).flatten().collect();
        let change = change_of(&context);
        self.node.propose_conf_change(context, change).expect("a leader takes changes");
        self.carry_out();
    }

    fn receive(&mut self, mail: &Message) {
        // It refuses some messages of nodes that it does not follow, which is as good as losing them.
        let _ = self.node.step(mail.clone());
        self.carry_out();
    }

    fn restart(&mut self) {
        self.node = Self::start(self.me, self.node.store().clone(), self.applied);
        self.carry_out();
    }

    fn take_mail(&mut self) -> Vec<(Id, Message)> {
        std::mem::take(&mut self.outbox).into_iter().map(|mail| (mail.to, mail)).collect()
    }

    fn leads(&self) -> bool {
        self.node.raft.state == StateRole::Leader
    }

    fn term(&self) -> u64 {
        self.node.raft.term
    }

    fn decided(&self) -> Vec<u64> {
        let log = &self.node.raft.raft_log;
        let entries = log.all_entries().into_iter().take_while(|entry| entry.index <= log.committed);
        let commands = entries.filter(|entry| entry.get_entry_type() == EntryType::EntryNormal);
        commands.filter_map(|entry| Some(u64::from_be_bytes(entry.data.as_ref().try_into().ok()?))).collect()
    }

    fn voters(&self) -> Option<BTreeSet<Id>> {
        let ConfState { voters, voters_outgoing, .. } = self.node.store().initial_state().ok()?.conf_state;
        voters_outgoing.is_empty().then(|| voters.into_iter().collect())
    }
}

/// The nodes of one kind, and how many messages have arrived.
struct Cluster<P> {
    nodes: BTreeMap<Id, P>,
    arrived: u64,
}

impl<P: Peer> Cluster<P> {
    fn new(nodes: Id) -> Self {
        let voters: BTreeSet<Id> = (1..=nodes).collect();
        let nodes = voters.iter().map(|id| (*id, P::new(*id, &voters))).collect();
        Self { nodes, arrived: 0 }
    }

    fn node(&mut self, id: Id) -> &mut P {
        self.nodes.get_mut(&id).expect("a node")
    }

    /// Lets all messages arrive between those who reach each other; the others are lost.
    fn settle(&mut self, together: &BTreeSet<Id>) {
        let mut under_way = VecDeque::new();
        loop {
            for (from, node) in &mut self.nodes {
                let reaches = |to: &Id| together.contains(from) && together.contains(to);
                under_way.extend(node.take_mail().into_iter().filter(|(to, _)| reaches(to)));
            }
            let Some((to, mail)) = under_way.pop_front() else { return };
            self.node(to).receive(&mail);
            self.arrived += 1;
        }
    }

    /// One stands for election until it leads, or has lost in a term that is new to all who hear it.
    fn elect(&mut self, candidate: Id, electors: &BTreeSet<Id>) {
        loop {
            let newest = electors.iter().map(|id| self.nodes[id].term()).max().unwrap_or_default();
            let is_old = self.nodes[&candidate].term() < newest;
            let node = self.node(candidate);
            if node.leads() && is_old {
                node.restart();
            } else if node.leads() {
                return;
            }
            self.node(candidate).stand();
            let is_new = self.nodes[&candidate].term() > newest;
            self.settle(electors);
            if is_new {
                return;
            }
        }
    }

    /// Carries out a round.
    fn make(&mut self, round: &Round) -> Came {
        let Round { electors, candidate, followers, commands, change, killed } = round;
        self.elect(*candidate, electors);
        let leads = self.nodes[candidate].leads();
        // A node that has gone on to a newer term would end the leader in ours, and be passed over in theirs.
        let term = self.nodes[candidate].term();
        let followers = &followers.iter().copied().filter(|id| self.nodes[id].term() <= term).collect();
        for command in commands.iter().filter(|_| leads) {
            self.node(*candidate).propose(*command);
            self.settle(followers);
        }
        if let Some(voters) = change.as_ref().filter(|_| leads) {
            self.node(*candidate).change_voters(voters);
            self.settle(followers);
        }
        for _ in 0..3 {
            self.node(*candidate).say_that_it_leads();
            self.settle(followers);
        }
        let decided = self.nodes.iter().map(|(id, node)| (*id, node.decided())).collect();
        let voters = self.nodes.iter().map(|(id, node)| (*id, node.voters())).collect();
        let came = Came { leads, followers: BTreeSet::clone(followers), decided, voters };
        killed.iter().for_each(|id| self.node(*id).restart());
        self.nodes.values_mut().for_each(|node| drop(node.take_mail()));
        came
    }
}

/// What came of a round.
#[derive(Debug)]
struct Came {
    /// Whether the candidate leads.
    leads: bool,
    /// Whom it reaches.
    followers: BTreeSet<Id>,
    /// What each node knows to be decided.
    decided: BTreeMap<Id, Vec<u64>>,
    /// Who votes, as far as each node knows.
    voters: BTreeMap<Id, Option<BTreeSet<Id>>>,
}

impl Came {
    /// Whether two libraries came to the same, as far as they must; these vote.
    fn agrees_with(&self, other: &Self, voters: &BTreeSet<Id>) -> bool {
        let is_majority = self.leads && self.followers.intersection(voters).count() * 2 > voters.len();
        let is_reached = |id: &Id| is_majority && self.followers.contains(id) && voters.contains(id);
        let mut words = self.decided.iter().map(|(id, words)| (id, words, &other.decided[id]));
        (self.leads, &self.followers) == (other.leads, &other.followers)
            && words.all(|(id, ours, theirs)| {
                let common = ours.len().min(theirs.len());
                ours[..common] == theirs[..common] && (!is_reached(id) || ours.len() == theirs.len())
            })
            && [self, other].iter().all(|came| {
                voters.iter().filter(|id| is_reached(id)).all(|id| came.voters[id].as_ref() == Some(voters))
            })
    }
}

/// How much was compared.
#[derive(Debug, Default)]
struct Compared {
    rounds: u64,
    /// Messages that have arrived in ours.
    messages: u64,
    /// Finished changes of voters.
    changes: u64,
}

/// The rounds of a seed.
const ROUNDS: usize = 40;

/// Where the two disagree after a round, if they do.
fn difference<E: Engine>(seed: u64, nodes: Id, changes: Changes, compared: &mut Compared) -> Option<String> {
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let (mut ours, mut theirs) = (Cluster::<Ours<E>>::new(nodes), Cluster::<Theirs>::new(nodes));
    let (mut next_command, mut voters) = (1, (1..=nodes).collect());
    for place in 0..ROUNDS {
        let round = Round::draw(&mut rng, nodes, &voters, changes, &mut next_command);
        let (our_word, their_word) = (ours.make(&round), theirs.make(&round));
        if let Some(changed) = round.change.clone().filter(|_| our_word.leads) {
            voters = changed;
            compared.changes += 1;
        }
        if !our_word.agrees_with(&their_word, &voters) {
            return Some(format!(
                "seed {seed}, {nodes} nodes, round {place}: {round:?}\nours {our_word:?}\ntheirs {their_word:?}"
            ));
        }
        compared.rounds += 1;
    }
    compared.messages += ours.arrived;
    None
}

/// Compares until this many messages have arrived in ours.
fn compare<E: Engine>(messages: u64, changes: Changes) -> Option<String> {
    let mut compared = Compared::default();
    for seed in 1.. {
        for nodes in [3, 5] {
            let difference = difference::<E>(seed, nodes, changes, &mut compared);
            if difference.is_some() {
                return difference;
            }
        }
        if compared.messages >= messages {
            println!("{seed} seeds, {compared:?}");
            return None;
        }
    }
    None
}

#[test]
fn another_library_decides_the_same() {
    assert_eq!(compare::<Linked>(1_000_000, Changes::Some), None);
}

#[test]
fn another_library_decides_otherwise_than_the_one_before() {
    let difference =
        compare::<Before>(1_000_000, Changes::None).expect("it lets a node lead that lacks what was decided");
    println!("{difference}");
}
