//! A second opinion: the same inputs for our library and for the crate `raft`, which is older and was written by others.
//!
//! The two send different messages, so a single message cannot be an input. A round can: some nodes reach each other, one of them
//! stands for election, commands are proposed while perhaps fewer reach each other, nodes are killed. After each part of it all
//! messages arrive. Then both must have let the same node lead, and must have decided the same commands.
//!
//! Where they may differ: terms, as `raft` does not answer messages of older terms; and what a node knows that no leader with a majority
//! reaches, as `raft` writes down what is decided and our library does not. Such a node may only be behind.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use raft::prelude::{ConfState, Message, RawNode};
use raft::storage::MemStorage;
use raft::{Config as RaftConfig, StateRole};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::engine::{Before, Config, Disk, Engine, Entry, Id, Linked, Log, Position, Role};
use super::local::{Event, Local, Mail};

/// A node of either kind.
trait Peer {
    type Mail: Clone;

    fn new(me: Id, voters: &BTreeSet<Id>) -> Self;
    fn stand(&mut self);
    fn say_that_it_leads(&mut self);
    fn propose(&mut self, command: u64);
    fn receive(&mut self, mail: &Self::Mail);
    fn restart(&mut self);
    fn take_mail(&mut self) -> Vec<(Id, Self::Mail)>;
    fn leads(&self) -> bool;
    fn term(&self) -> u64;
    fn decided(&self) -> Vec<u64>;
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
}

/// A node of the crate `raft`.
struct Theirs {
    me: Id,
    node: RawNode<MemStorage>,
    outbox: Vec<Message>,
}

impl Theirs {
    fn start(me: Id, store: MemStorage) -> RawNode<MemStorage> {
        let config = RaftConfig { id: me, ..RaftConfig::default() };
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
            let mut more = self.node.advance(ready);
            if let Some(commit) = more.commit_index() {
                store.wl().mut_hard_state().set_commit(commit);
            }
            self.outbox.extend(more.take_messages());
            self.node.advance_apply();
        }
    }
}

impl Peer for Theirs {
    type Mail = Message;

    fn new(me: Id, voters: &BTreeSet<Id>) -> Self {
        let voters: Vec<Id> = voters.iter().copied().collect();
        let store = MemStorage::new_with_conf_state(ConfState::from((voters, Vec::new())));
        Self { me, node: Self::start(me, store), outbox: Vec::new() }
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

    fn receive(&mut self, mail: &Message) {
        // It refuses some messages of nodes that it does not follow, which is as good as losing them.
        let _ = self.node.step(mail.clone());
        self.carry_out();
    }

    fn restart(&mut self) {
        self.node = Self::start(self.me, self.node.store().clone());
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
        entries.filter_map(|entry| Some(u64::from_be_bytes(entry.data.as_ref().try_into().ok()?))).collect()
    }
}

/// What happens in a round, to both.
#[derive(Clone, Debug)]
struct Round {
    /// Who reach each other while one stands for election.
    electors: BTreeSet<Id>,
    candidate: Id,
    /// Who reach each other while it proposes, if it leads.
    followers: BTreeSet<Id>,
    commands: Vec<u64>,
    /// Who is killed at the end and started again.
    killed: BTreeSet<Id>,
}

impl Round {
    fn draw(rng: &mut Pcg64Mcg, nodes: Id, next_command: &mut u64) -> Self {
        let candidate = 1 + rng.next_u64() % nodes;
        let some = |rng: &mut Pcg64Mcg, of_eight: u64| -> BTreeSet<Id> {
            (1..=nodes).filter(|_| rng.next_u64() % 8 < of_eight).collect()
        };
        let with = |mut set: BTreeSet<Id>| {
            set.insert(candidate);
            set
        };
        let (electors, followers) = (with(some(rng, 6)), with(some(rng, 4)));
        let count = rng.next_u64() % 3;
        let commands = (0..count).map(|_| std::mem::replace(next_command, *next_command + 1)).collect();
        Self { electors, candidate, followers, commands, killed: some(rng, 1) }
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
        let Round { electors, candidate, followers, commands, killed } = round;
        self.elect(*candidate, electors);
        let leads = self.nodes[candidate].leads();
        // A node that has gone on to a newer term would end the leader in ours, and be passed over in theirs.
        let term = self.nodes[candidate].term();
        let followers = &followers.iter().copied().filter(|id| self.nodes[id].term() <= term).collect();
        for command in commands.iter().filter(|_| leads) {
            self.node(*candidate).propose(*command);
            self.settle(followers);
        }
        for _ in 0..3 {
            self.node(*candidate).say_that_it_leads();
            self.settle(followers);
        }
        let decided = self.nodes.iter().map(|(id, node)| (*id, node.decided())).collect();
        let came = Came { leads, followers: BTreeSet::clone(followers), decided };
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
}

impl Came {
    /// Whether two libraries came to the same, as far as they must.
    fn agrees_with(&self, other: &Self) -> bool {
        let is_majority = self.leads && self.followers.len() * 2 > self.decided.len();
        let mut words = self.decided.iter().map(|(id, words)| (id, words, &other.decided[id]));
        (self.leads, &self.followers) == (other.leads, &other.followers)
            && words.all(|(id, ours, theirs)| {
                let common = ours.len().min(theirs.len());
                let is_reached = is_majority && self.followers.contains(id);
                ours[..common] == theirs[..common] && (!is_reached || ours.len() == theirs.len())
            })
    }
}

/// Where the two disagree after a round, if they do.
fn difference<E: Engine>(seed: u64, nodes: Id, rounds: usize) -> (u64, Option<String>) {
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let (mut ours, mut theirs) = (Cluster::<Ours<E>>::new(nodes), Cluster::<Theirs>::new(nodes));
    let mut next_command = 1;
    for place in 0..rounds {
        let round = Round::draw(&mut rng, nodes, &mut next_command);
        let (our_word, their_word) = (ours.make(&round), theirs.make(&round));
        if !our_word.agrees_with(&their_word) {
            let what = format!(
                "seed {seed}, {nodes} nodes, round {place}: {round:?}\nours {our_word:?}\ntheirs {their_word:?}"
            );
            return (ours.arrived, Some(what));
        }
    }
    (ours.arrived, None)
}

/// Compares until so many messages have arrived in ours.
fn compare<E: Engine>(messages: u64) -> Option<String> {
    let mut arrived = 0;
    for seed in 1.. {
        for nodes in [3, 5] {
            let (more, difference) = difference::<E>(seed, nodes, 40);
            arrived += more;
            if difference.is_some() {
                return difference;
            }
        }
        if arrived >= messages {
            println!("{seed} seeds, {arrived} messages");
            return None;
        }
    }
    None
}

#[test]
fn another_library_decides_the_same() {
    assert_eq!(compare::<Linked>(1_000_000), None);
}

#[test]
fn another_library_decides_otherwise_than_the_one_before() {
    let difference = compare::<Before>(1_000_000).expect("it lets a node lead that lacks what was decided");
    println!("{difference}");
}
