//! A cluster in virtual time whose clients do just what a test says, and which notes every word that they are told.

use std::collections::BTreeMap;

use doorway_catalog::Catalog;
use doorway_chaos::{Cluster, ClusterEvent, Design};
use doorway_core::{Fence, NodeId, Options, SectionName, Ticks};
use doorway_node::node::Standing;
use doorway_node::{ClientId, Command, LockCommand, Loss, Notice, Reason, RequestId, Timing};

/// So many milliseconds of virtual time.
pub const fn ms(count: u64) -> Ticks {
    Ticks(count * 1_000)
}

/// A node by its place.
pub const fn node(place: usize) -> NodeId {
    NodeId::new(place)
}

/// Sections by their names.
pub fn names(words: &[&str]) -> Vec<SectionName> {
    words.iter().map(|word| SectionName::new(word).expect("a good name")).collect()
}

/// A request of a client that waits and stays for as long as it takes, and does not ask to be told anything.
pub fn lock(request: u64, client: u64, sections: &[&str]) -> LockCommand {
    LockCommand {
        request: RequestId(request),
        client: ClientId(client),
        names: names(sections),
        patience: None,
        max_hold: None,
        ttl: None,
        tell_if_wanted: false,
    }
}

/// What has become of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It waits.
    Waiting,
    /// It is in, with this fence in its first section.
    Inside(Fence),
    /// It was in and its client has left.
    Left,
    /// It was in and was told to stop.
    Lost(Loss),
    /// It was not served.
    Refused(Reason),
    /// Its client is gone, or the node that it was made at.
    Gone,
}

/// One request, and what came of it.
#[derive(Clone, Debug)]
pub struct Asked {
    pub lock: LockCommand,
    pub node: NodeId,
    pub fate: Fate,
    /// When it was granted.
    pub granted: Option<Ticks>,
    /// When it was told that it will not be served, or must stop.
    pub ended: Option<Ticks>,
    /// D: the latest deadline that it was told, on its node's clock.
    pub until: Ticks,
    /// When its node took its sections, as it had to stop and did not say that it had.
    pub freed: Option<Ticks>,
    /// What it got.
    pub fences: Vec<(SectionName, Fence)>,
    /// The notices that a client waits: for which section, and when.
    pub wanted: Vec<(Ticks, SectionName)>,
}

/// A cluster and its clients.
pub struct Scene {
    pub cluster: Cluster,
    pub asked: BTreeMap<RequestId, Asked>,
    /// In the order of their grants.
    pub entered: Vec<RequestId>,
    /// How long a holder stays; with `None` no holder leaves by itself.
    pub stay: Option<Ticks>,
    /// The sections that were broken, and whether anybody was inside.
    pub broken: Vec<(SectionName, bool)>,
    wrong: Vec<String>,
}

impl Scene {
    /// A cluster of `n` nodes that can grant a request at once.
    pub fn new(algorithm: &str, nodes: usize, seed: u64, change: impl FnOnce(&mut Timing)) -> Self {
        let recipe = Catalog::textbook().recipes().recipe(algorithm, &Options::none()).expect("it exists");
        let mut design = Design::new(nodes, recipe, seed);
        change(&mut design.timing);
        let cluster = Cluster::new(design).expect("a good design");
        let mut scene = Self {
            cluster,
            asked: BTreeMap::new(),
            entered: Vec::new(),
            stay: None,
            broken: Vec::new(),
            wrong: Vec::new(),
        };
        scene.run_until(Self::BEGINNING);
        assert!(scene.cluster.nodes().iter().all(|node| node.look().standing == Standing::Active));
        scene
    }

    /// When the first view is installed and quiet.
    pub const BEGINNING: Ticks = ms(2_500);

    /// Goes on until then; everything that is due then has happened.
    pub fn run_until(&mut self, limit: Ticks) {
        loop {
            match self.cluster.next(limit) {
                ClusterEvent::Notice(_, notice) => self.hear(notice),
                ClusterEvent::Alarm(token) => self.leave(RequestId(token)),
                ClusterEvent::Over => return,
            }
        }
    }

    /// A moment of a node's clock, as it is now or was before, for what happened at this time.
    pub fn local(&mut self, node: NodeId, time: Ticks) -> Ticks {
        self.cluster.engine().local_time(node, time)
    }

    /// Goes on for so long.
    pub fn run_for(&mut self, span: Ticks) {
        self.run_until(self.cluster.now() + span);
    }

    /// The next time at which anything happens, and goes on until it has.
    pub fn step(&mut self) -> Option<Ticks> {
        let next = self.cluster.engine().next_time()?;
        self.run_until(next);
        Some(next)
    }

    /// Tells a node something, and hears at once what it answers at once.
    pub fn tell(&mut self, node: NodeId, command: Command) {
        self.cluster.command(node, command);
        self.run_until(self.cluster.now());
    }

    /// A client asks.
    pub fn ask(&mut self, node: NodeId, lock: LockCommand) -> RequestId {
        let request = lock.request;
        let asked = Asked {
            lock: lock.clone(),
            node,
            fate: Fate::Waiting,
            granted: None,
            ended: None,
            until: Ticks(0),
            freed: None,
            fences: Vec::new(),
            wanted: Vec::new(),
        };
        assert!(self.asked.insert(request, asked).is_none(), "request {request:?} is asked once");
        self.tell(node, Command::Lock(lock));
        request
    }

    /// What has become of a request.
    pub fn fate(&self, request: RequestId) -> Fate {
        self.asked[&request].fate
    }

    /// A client who is inside leaves.
    pub fn leave(&mut self, request: RequestId) {
        let Some(asked) = self.asked.get(&request) else { return };
        let (Fate::Inside(fence), node) = (asked.fate, asked.node) else { return };
        self.cluster.judge_mut().end(request);
        self.tell(node, Command::Release { request, fence });
        // Unless it is told in the same moment that it has stayed for too long.
        if self.fate(request) == Fate::Inside(fence) {
            self.end(request, Fate::Left);
        }
    }

    fn end(&mut self, request: RequestId, fate: Fate) {
        let now = self.cluster.now();
        if let Some(asked) = self.asked.get_mut(&request) {
            (asked.fate, asked.ended) = (fate, Some(now));
        }
    }

    /// A client does not want to wait any longer.
    pub fn cancel(&mut self, request: RequestId) {
        let node = self.asked[&request].node;
        self.tell(node, Command::Cancel(request));
    }

    /// A client is gone.
    pub fn gone(&mut self, node: NodeId, client: ClientId) {
        let its = self.asked.values_mut().filter(|asked| asked.lock.client == client && asked.node == node);
        for asked in its.filter(|asked| matches!(asked.fate, Fate::Waiting | Fate::Inside(_))) {
            asked.fate = Fate::Gone;
            self.cluster.judge_mut().end(asked.lock.request);
        }
        self.tell(node, Command::Gone(client));
    }

    /// A node crashes with all its clients.
    pub fn crash(&mut self, node: NodeId) {
        self.cluster.crash(node);
        for asked in self.asked.values_mut().filter(|asked| asked.node == node) {
            if matches!(asked.fate, Fate::Waiting | Fate::Inside(_)) {
                asked.fate = Fate::Gone;
            }
            self.cluster.judge_mut().end(asked.lock.request);
        }
    }

    fn hear(&mut self, notice: Notice) {
        match notice {
            Notice::Granted { request, fences, until } => self.enter(request, fences, until),
            Notice::Renewed { request, until } => {
                let (judge, engine) = self.cluster.judge_and_engine();
                judge.renew(request, until, engine);
                let asked = self.asked.get_mut(&request).expect("somebody asked");
                if !matches!(asked.fate, Fate::Inside(_)) || until <= asked.until {
                    self.wrong.push(format!("request {} is told {until} after {asked:?}", request.0));
                }
                asked.until = until;
            }
            Notice::Lost { request, why } => {
                // It does not say that it has stopped, so that it counts as inside until it is freed.
                let is_inside = |fate| matches!(fate, Fate::Inside(_));
                self.turn(request, Fate::Lost(why), is_inside);
            }
            Notice::Freed { request } => {
                let now = self.cluster.now();
                self.cluster.judge_mut().free(request);
                let asked = self.asked.get_mut(&request).expect("somebody asked");
                if asked.freed.replace(now).is_some() {
                    self.wrong.push(format!("at {now}: request {} is freed twice", request.0));
                }
            }
            Notice::Refused { request, why } => {
                self.turn(request, Fate::Refused(why), |fate| fate == Fate::Waiting);
            }
            Notice::Wanted { request, section } => {
                let now = self.cluster.now();
                let asked = self.asked.get_mut(&request).expect("somebody asked");
                asked.wanted.push((now, section));
            }
            Notice::Left => {}
            Notice::Broken { target, was_inside } => self.broken.push((target.section, was_inside)),
            other => self.wrong.push(format!("{other:?}")),
        }
    }

    /// The one step that a request may take from where it is.
    fn turn(&mut self, request: RequestId, to: Fate, may: impl Fn(Fate) -> bool) {
        let now = self.cluster.now();
        let asked = self.asked.get_mut(&request).expect("somebody asked");
        if !may(asked.fate) {
            self.wrong.push(format!("at {now}: request {} is told {to:?} after {:?}", request.0, asked.fate));
        }
        self.end(request, to);
    }

    fn enter(&mut self, request: RequestId, fences: Vec<(SectionName, Fence)>, until: Ticks) {
        let now = self.cluster.now();
        self.turn(request, Fate::Inside(fences[0].1), |fate| fate == Fate::Waiting);
        let asked = self.asked.get_mut(&request).expect("somebody asked");
        (asked.granted, asked.ended, asked.fences) = (Some(now), None, fences.clone());
        asked.until = until;
        let (node, mut wished) = (asked.node, asked.lock.names.clone());
        wished.sort_unstable();
        if !fences.iter().map(|(name, _)| name).eq(&wished) {
            self.wrong.push(format!("at {now}: request {} did not get what it asked for", request.0));
        }
        self.entered.push(request);
        let (judge, engine) = self.cluster.judge_and_engine();
        judge.grant(node, request, fences, until, engine);
        if let Some(stay) = self.stay {
            engine.put_alarm(now + stay, request.0);
        }
    }

    /// Everything that must not be and was: wrong answers, and what the judge saw.
    pub fn wrong(&self) -> Vec<String> {
        let violations = self.cluster.judge().violations().iter().map(ToString::to_string);
        self.wrong.iter().cloned().chain(violations).collect()
    }

    /// How many sections are open at all nodes that live.
    pub fn open(&mut self) -> Vec<usize> {
        let living = |cluster: &mut Cluster, place| !cluster.engine().is_crashed(node(place));
        let places: Vec<usize> =
            (0..self.cluster.nodes().len()).filter(|place| living(&mut self.cluster, *place)).collect();
        places.into_iter().map(|place| self.cluster.nodes()[place].look().open).collect()
    }
}
