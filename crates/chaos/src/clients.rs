//! The clients of a cluster: they ask, wait, hold, write, leave, and sometimes sleep through their deadline.

mod stopping;

use doorway_core::{Fence, NodeId, SectionName, Ticks};
use doorway_node::{ClientId, Command, LockCommand, Notice, RequestId};
use doorway_simulator::Random;

use super::cluster::Cluster;
use super::violation::ViolationKind;

/// All clients of a cluster.
pub(super) struct Clients {
    clients: Vec<Client>,
    names: Vec<SectionName>,
    random: Random,
    /// How clients with a time-to-live behave, and those that must stop, is drawn on its own.
    manners: Random,
    requests: u64,
    /// The number of the alarm kind that belongs to clients.
    kind: u64,
    /// After the faults: all clients hold for a short time only, and each wait is measured.
    is_recovering: Option<Ticks>,
    /// The longest wait after the faults.
    pub(super) slowest: Ticks,
    /// How many requests were refused after the time that they said they would wait.
    pub(super) timed_out: u64,
    /// How often a holder was told to stop.
    pub(super) lost: u64,
}

struct Client {
    node: NodeId,
    state: State,
    /// Alarms of earlier states mean nothing.
    generation: u64,
    is_asleep: bool,
    /// What it will do when it wakes up.
    missed: bool,
    /// The time-to-live of its request, and whether it gives signs of life.
    ttl: Option<Ticks>,
    gives_signs: bool,
    /// D: the latest deadline that it was told, on its node's clock.
    told_until: Ticks,
    /// The unfinished write of a client that has vanished.
    late: Option<(RequestId, Vec<(SectionName, Fence)>)>,
}

/// In the token of an alarm: whether it is for a sign of life, and which alarm, or whose sign, it is.
const SIGN: u64 = 1 << 39;
const GENERATION: u64 = SIGN - 1;

/// The names of the first `count` sections.
pub(super) fn section_names(count: usize) -> Vec<SectionName> {
    (1..=count).filter_map(|number| SectionName::new(&format!("section-{number}")).ok()).collect()
}

enum State {
    /// It does something else.
    Away,
    /// It has asked.
    Waiting { request: RequestId, since: Ticks },
    /// It is inside.
    Inside { request: RequestId, sections: Vec<(SectionName, Fence)>, leaves: Ticks },
    /// It must stop and has not yet.
    Stopping { request: RequestId, sections: Vec<(SectionName, Fence)> },
}

impl Clients {
    /// Clients for each node of a cluster, which share the sections.
    pub(super) fn new(nodes: usize, each: usize, sections: usize, schedule: u64, kind: u64) -> Self {
        let client = |node| Client {
            node,
            state: State::Away,
            generation: 0,
            is_asleep: false,
            missed: false,
            ttl: None,
            gives_signs: true,
            told_until: Ticks(0),
            late: None,
        };
        Self {
            clients: NodeId::first(nodes).flat_map(|node| (0..each).map(move |_| client(node))).collect(),
            names: section_names(sections),
            random: Random::new(schedule, 23),
            manners: Random::new(schedule, 37),
            requests: 0,
            kind,
            is_recovering: None,
            slowest: Ticks(0),
            timed_out: 0,
            lost: 0,
        }
    }

    /// Starts all clients.
    pub(super) fn begin(&mut self, cluster: &mut Cluster) {
        for place in 0..self.clients.len() {
            self.rest(place, cluster);
        }
    }

    /// The faults are over: from now on waits are measured.
    pub(super) fn recover(&mut self, cluster: &mut Cluster) {
        self.is_recovering = Some(cluster.now());
        for place in 0..self.clients.len() {
            self.wake(place, cluster);
            if let State::Inside { leaves, .. } = &mut self.clients[place].state {
                *leaves = cluster.now() + Ticks(10_000);
                self.put_alarm(place, Ticks(10_000), cluster);
            }
        }
    }

    /// The longest time that a client has waited since the faults ended.
    pub(super) fn longest_wait(&self, now: Ticks) -> Ticks {
        let healed = self.is_recovering.unwrap_or(now);
        let waits = self.clients.iter().filter_map(|client| match &client.state {
            State::Waiting { since, .. } => Some(now - (*since).max(healed)),
            State::Away | State::Inside { .. } | State::Stopping { .. } => None,
        });
        waits.max().unwrap_or_default()
    }

    fn put_alarm(&mut self, place: usize, after: Ticks, cluster: &mut Cluster) {
        let client = &mut self.clients[place];
        client.generation += 1;
        let token = (self.kind << 56) | ((place as u64) << 40) | (client.generation & GENERATION);
        let at = cluster.now() + after;
        cluster.engine().put_alarm(at, token);
    }

    /// A client does something else for a while.
    fn rest(&mut self, place: usize, cluster: &mut Cluster) {
        self.clients[place].state = State::Away;
        let span = if self.random.happens(0.1) { 1_000_000 } else { 100_000 };
        let span = Ticks(1 + self.random.below(span));
        self.put_alarm(place, span, cluster);
    }

    /// An alarm of a client rings.
    pub(super) fn ring(&mut self, token: u64, cluster: &mut Cluster) {
        let (place, generation) = ((token >> 40 & 0xffff) as usize, token & GENERATION);
        if token & SIGN != 0 {
            return self.give_sign(place, generation, cluster);
        }
        let client = &mut self.clients[place];
        if client.generation & GENERATION != generation {
            return;
        }
        if client.is_asleep {
            client.missed = true;
            return;
        }
        match &client.state {
            State::Away => self.ask(place, cluster),
            State::Waiting { .. } if self.is_recovering.is_none() => self.vanish(place, cluster),
            State::Waiting { .. } => {}
            State::Inside { leaves, .. } if *leaves > cluster.now() => {
                let left = *leaves - cluster.now();
                self.write(place, cluster);
                self.confuse(place, cluster);
                self.put_alarm(place, left, cluster);
            }
            State::Inside { .. } if self.is_recovering.is_none() && self.random.happens(0.05) => {
                self.vanish(place, cluster);
            }
            State::Inside { .. } => self.leave(place, cluster),
            State::Stopping { .. } => self.stop_late(place, cluster),
        }
    }

    /// A client is gone without a word, and its node notices. What it had begun to write may still arrive, and then it is the
    /// fence that protects: the lock is free.
    fn vanish(&mut self, place: usize, cluster: &mut Cluster) {
        if self.is_forsaken(place, cluster) {
            return;
        }
        let client = &mut self.clients[place];
        let node = client.node;
        if let State::Inside { request, sections, .. } = &client.state {
            cluster.judge_mut().end(*request);
            client.late = Some((*request, sections.clone()));
        }
        cluster.command(node, Command::Gone(ClientId(place as u64)));
        self.rest(place, cluster);
    }

    /// Sends a node commands that must change nothing: that a request is over with a fence that it does not have, or one that
    /// is over already; that one is withdrawn that does not exist, or is inside.
    fn confuse(&mut self, place: usize, cluster: &mut Cluster) {
        if !self.random.happens(0.1) || self.is_recovering.is_some() {
            return;
        }
        let State::Inside { request, sections, .. } = &self.clients[place].state else { return };
        let (node, request) = (self.clients[place].node, *request);
        let Some((name, fence)) = sections.first().cloned() else { return };
        let past = RequestId(self.random.below(request.0));
        let command = match self.random.below(5) {
            0 => Command::Release { request, fence: Fence(fence.0 + 1) },
            1 => Command::Release { request, fence: Fence(fence.0 - 1) },
            2 => Command::Release { request: self.over_before(past), fence },
            3 => Command::Cancel(RequestId(u64::MAX - self.random.below(9))),
            _ => Command::Cancel(request),
        };
        if cluster.engine().is_crashed(node) || cluster.engine().is_paused(node) {
            return;
        }
        let is_inside = |cluster: &Cluster| cluster.nodes()[node.index()].look_at(&name).1 == Some(fence);
        let was_inside = is_inside(cluster);
        cluster.command(node, command.clone());
        let is_lost = |notice: &Notice| matches!(notice, Notice::Lost { request: lost, .. } | Notice::Freed { request: lost } if *lost == request);
        let is_told = cluster.engine().effects().notices.iter().any(is_lost);
        if was_inside && !is_told && !is_inside(cluster) {
            let what = format!("node {node} took {name} from its holder because of {command:?}");
            cluster.judge_mut().violate(ViolationKind::Command, what);
        }
    }

    /// A request that is over, this one or one before it; or, if there is none, one that never was.
    fn over_before(&self, request: RequestId) -> RequestId {
        let is_over = |id: &u64| {
            let id = RequestId(*id);
            self.waiting(id).is_none() && self.inside(id).is_none()
        };
        RequestId((1..=request.0).rev().find(is_over).unwrap_or_default())
    }

    fn ask(&mut self, place: usize, cluster: &mut Cluster) {
        let node = self.clients[place].node;
        if let Some((request, sections)) = self.clients[place].late.take() {
            let (judge, engine) = cluster.judge_and_engine();
            judge.write(request, &sections, engine);
        }
        if cluster.engine().is_crashed(node) {
            return self.rest(place, cluster);
        }
        self.requests += 1;
        let request = RequestId(self.requests);
        let (since, is_patient) = (cluster.now(), self.is_recovering.is_some());
        self.clients[place].state = State::Waiting { request, since };
        let patience = match self.random.below(10) {
            _ if is_patient => None,
            0 => Some(Ticks(0)),
            1 | 2 => Some(Ticks(self.random.below(500_000))),
            _ => None,
        };
        let max_hold = self.random.happens(0.1).then(|| Ticks(1 + self.random.below(200_000)));
        let lock = LockCommand {
            request,
            client: ClientId(place as u64),
            names: self.draw_names(),
            patience,
            max_hold,
            ttl: self.draw_ttl(place),
            tell_if_wanted: self.random.happens(0.5),
        };
        cluster.command(node, Command::Lock(lock));
        if self.random.happens(0.05) && !is_patient {
            cluster.command(node, Command::Cancel(request));
        }
        if self.random.happens(0.03) && !is_patient && self.waiting(request) == Some(place) {
            let span = Ticks(self.random.below(200_000));
            self.put_alarm(place, span, cluster);
        }
    }

    /// One of the sections that they use.
    pub(super) fn some_name(&self, random: &mut Random) -> SectionName {
        self.names[random.below(self.names.len() as u64) as usize].clone()
    }

    fn draw_names(&mut self) -> Vec<SectionName> {
        let first = self.random.below(self.names.len() as u64) as usize;
        let mut names = vec![self.names[first].clone()];
        let count = match self.random.below(20) {
            0 => 3 + self.random.below(3) as usize,
            1 | 2 => 2,
            _ => 1,
        };
        let others = (1..count.min(self.names.len())).map(|step| (first + step) % self.names.len());
        names.extend(others.map(|place| self.names[place].clone()));
        names
    }

    fn write(&mut self, place: usize, cluster: &mut Cluster) {
        if let State::Inside { request, sections, .. } | State::Stopping { request, sections } =
            &self.clients[place].state
        {
            let (judge, engine) = cluster.judge_and_engine();
            judge.write(*request, sections, engine);
        }
    }

    fn leave(&mut self, place: usize, cluster: &mut Cluster) {
        self.write(place, cluster);
        if let State::Inside { request, sections, .. } | State::Stopping { request, sections } =
            &self.clients[place].state
        {
            let (request, fence) = (*request, sections.first().map(|(_, fence)| *fence).unwrap_or_default());
            cluster.judge_mut().end(request);
            let node = self.clients[place].node;
            cluster.command(node, Command::Release { request, fence });
        }
        self.rest(place, cluster);
    }

    /// A node has sent a notice to one of its clients.
    pub(super) fn hear(&mut self, node: NodeId, notice: Notice, cluster: &mut Cluster) {
        match notice {
            Notice::Granted { request, fences, until } => self.enter(node, request, fences, until, cluster),
            Notice::Renewed { request, until } => {
                let (judge, engine) = cluster.judge_and_engine();
                judge.renew(request, until, engine);
                if let Some(place) = self.inside(request) {
                    self.clients[place].told_until = until;
                }
            }
            Notice::Lost { request, .. } => {
                self.lost += 1;
                // A sleeping client has not heard of it yet, and writes once more when it wakes up.
                if let Some(place) = self.inside(request).filter(|place| !self.clients[*place].is_asleep) {
                    self.stop(place, cluster);
                }
            }
            Notice::Freed { request } => cluster.judge_mut().free(request),
            Notice::Refused { request, .. } => {
                self.timed_out += 1;
                if let Some(place) = self.waiting(request) {
                    self.rest(place, cluster);
                }
            }
            Notice::Wanted { .. } | Notice::Left | Notice::WrongAlgorithm { .. } => {}
            Notice::WrongTiming { .. } | Notice::Expelled | Notice::Broken { .. } => {}
            Notice::NotLeader { .. } | Notice::NotDone(_) | Notice::Appointed(_) | Notice::Removed(_) => {}
            Notice::Stranger { .. }
            | Notice::TwoClusters(_)
            | Notice::OtherFounder(_)
            | Notice::KeptOut(_)
            | Notice::ViewReplaced(_) => {}
            Notice::SetBack { .. } if cluster.is_tampered(node) => {}
            Notice::SetBack { seen, .. } => {
                let what = format!("node {node} says that its disk was set back from {seen:?}");
                cluster.judge_mut().violate(ViolationKind::SetBack, what);
            }
            Notice::Revoked(_) | Notice::Leads(_) | Notice::NotHandedOver { .. } => {}
            Notice::Corrupt(why) => {
                cluster.judge_mut().violate(ViolationKind::Stopped, format!("node {node} stopped: {why}"));
            }
        }
    }

    fn waiting(&self, request: RequestId) -> Option<usize> {
        let is_it =
            |client: &Client| matches!(client.state, State::Waiting { request: its, .. } if its == request);
        self.clients.iter().position(is_it)
    }

    fn inside(&self, request: RequestId) -> Option<usize> {
        let is_it = |client: &Client| matches!(client.state, State::Inside { request: its, .. } | State::Stopping { request: its, .. } if its == request);
        self.clients.iter().position(is_it)
    }

    fn enter(
        &mut self,
        node: NodeId,
        request: RequestId,
        sections: Vec<(SectionName, Fence)>,
        until: Ticks,
        cluster: &mut Cluster,
    ) {
        let (judge, engine) = cluster.judge_and_engine();
        judge.grant(node, request, sections.clone(), until, engine);
        let Some(place) = self.waiting(request) else {
            // Its client is gone, with the node's process that it had asked.
            let fence = sections.first().map(|(_, fence)| *fence).unwrap_or_default();
            cluster.judge_mut().end(request);
            cluster.command(node, Command::Release { request, fence });
            return;
        };
        let now = cluster.now();
        if let (State::Waiting { since, .. }, Some(healed)) = (&self.clients[place].state, self.is_recovering)
        {
            self.slowest = self.slowest.max(now - (*since).max(healed));
        }
        let longest = if self.is_recovering.is_some() { 10_000 } else { 100_000 };
        let is_long = self.random.happens(0.15) && self.is_recovering.is_none();
        let span = if is_long { self.random.below(3_000_000) } else { self.random.below(longest) };
        let span = span + self.silence(place).0;
        let leaves = now + Ticks(1 + span);
        self.clients[place].state = State::Inside { request, sections, leaves };
        self.clients[place].told_until = until;
        self.put_sign(place, request, cluster);
        if !self.clients[place].is_asleep {
            self.write(place, cluster);
        }
        let half = Ticks(1 + span / 2);
        self.put_alarm(place, half, cluster);
    }

    /// The nodes with a client inside.
    pub(super) fn nodes_with_holders(&self) -> Vec<NodeId> {
        let inside = self.clients.iter().filter(|client| matches!(client.state, State::Inside { .. }));
        inside.map(|client| client.node).collect()
    }

    /// The process of a node is gone: waiters ask again, holders continue until their deadline.
    pub(super) fn lose_node(&mut self, node: NodeId, with_clients: bool, cluster: &mut Cluster) {
        for place in 0..self.clients.len() {
            let client = &self.clients[place];
            if client.node != node {
                continue;
            }
            match &client.state {
                State::Away => {}
                State::Waiting { .. } => self.rest(place, cluster),
                State::Inside { request, .. } | State::Stopping { request, .. } if with_clients => {
                    cluster.judge_mut().end(*request);
                    self.rest(place, cluster);
                }
                State::Inside { .. } | State::Stopping { .. } => {}
            }
        }
    }

    /// The clients of a node fall asleep, or one of them does.
    pub(super) fn fall_asleep(&mut self, node: NodeId, only_one: bool) {
        let mut those: Vec<&mut Client> =
            self.clients.iter_mut().filter(|client| client.node == node).collect();
        let most = if only_one { 1 } else { those.len() };
        those.iter_mut().take(most).for_each(|client| client.is_asleep = true);
    }

    /// The clients of a node wake up.
    pub(super) fn wake_up(&mut self, node: NodeId, cluster: &mut Cluster) {
        for place in 0..self.clients.len() {
            if self.clients[place].node == node {
                self.wake(place, cluster);
            }
        }
    }

    /// A client wakes up and, if it thinks that it is inside, writes before it looks.
    fn wake(&mut self, place: usize, cluster: &mut Cluster) {
        let client = &mut self.clients[place];
        if !std::mem::take(&mut client.is_asleep) {
            return;
        }
        let missed = std::mem::take(&mut client.missed);
        self.write(place, cluster);
        if missed {
            self.put_alarm(place, Ticks(0), cluster);
        }
    }
}
