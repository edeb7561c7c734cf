//! A scene: a cluster, its clients one by one, and what each of them was told when.

use std::collections::BTreeMap;

use doorway_catalog::Catalog;
use doorway_chaos::{Cluster, ClusterEvent, Design};
use doorway_core::{Fence, NodeId, Options, SectionName, Ticks};
use doorway_node::node::Standing;
use doorway_node::timing::milliseconds;
use doorway_node::{ClientId, Command, LockCommand, Loss, Notice, Reason, Recipe, RequestId};

/// The default algorithm.
pub const DEFAULT: &str = "carvalho-roucairol";

/// The recipe of an algorithm of the catalog.
pub fn recipe_of(name: &str) -> Recipe {
    Catalog::textbook().recipes().recipe(name, &Options::none()).expect("it is in the catalog")
}

/// A cluster on which a test plays.
pub struct Scene {
    pub cluster: Cluster,
    stories: BTreeMap<RequestId, Story>,
    /// What nodes said that is about no request.
    pub announcements: Vec<(NodeId, Notice)>,
}

/// What became of a request.
#[derive(Clone, Debug)]
pub struct Story {
    pub node: NodeId,
    pub granted: Option<(Ticks, Fence)>,
    pub lost: Option<(Ticks, Loss)>,
    pub refused: Option<(Ticks, Reason)>,
    is_over: bool,
}

impl Scene {
    /// A settled cluster of `n` voters with the default algorithm.
    pub fn new(nodes: usize, seed: u64) -> Self {
        Self::of(Design::new(nodes, recipe_of(DEFAULT), seed))
    }

    /// A cluster after everything has settled.
    pub fn of(design: Design) -> Self {
        let mut scene = Self::unsettled(design);
        scene.settle();
        scene
    }

    /// A cluster that begins to live.
    pub fn unsettled(design: Design) -> Self {
        let cluster = Cluster::new(design).expect("its parts fit together");
        Self { cluster, stories: BTreeMap::new(), announcements: Vec::new() }
    }

    pub fn now(&self) -> Ticks {
        self.cluster.now()
    }

    /// All nodes that have not crashed.
    pub fn alive(&mut self) -> Vec<NodeId> {
        let nodes = self.cluster.design().nodes;
        NodeId::first(nodes).filter(|node| !self.cluster.engine().is_crashed(*node)).collect()
    }

    /// The node that leads.
    pub fn leader(&self) -> NodeId {
        self.cluster.leader().expect("somebody leads")
    }

    /// A node that does not lead, counted from the first.
    pub fn follower(&self, place: usize) -> NodeId {
        let leader = self.leader();
        let mut others = NodeId::first(self.cluster.design().nodes).filter(|node| *node != leader);
        others.nth(place).expect("there are so many")
    }

    /// Time passes.
    pub fn run(&mut self, span: Ticks) {
        let until = self.now() + span;
        self.run_until(until);
    }

    /// Time passes until then.
    pub fn run_until(&mut self, until: Ticks) {
        loop {
            match self.cluster.next(until) {
                ClusterEvent::Notice(node, notice) => self.hear(node, notice),
                ClusterEvent::Alarm(_) => {}
                ClusterEvent::Over => return,
            }
        }
    }

    /// Time passes until something holds, looked at every millisecond; answers with how long it took.
    pub fn run_while(&mut self, what: &str, goes_on: impl Fn(&mut Self) -> bool) -> Ticks {
        let begun = self.now();
        while goes_on(self) {
            let seed = self.cluster.design().seed;
            assert!(self.now() < begun + milliseconds(30_000), "seed {seed}: {what} has lasted for 30 s");
            self.run(milliseconds(1));
        }
        self.now() - begun
    }

    /// Runs until all live nodes are active in the newest view, no quiet time is left, and nothing changes for a second.
    pub fn settle(&mut self) {
        let limit = self.now() + milliseconds(30_000);
        let mut steady_since = self.now();
        let mut views = self.cluster.judge().views();
        while self.now() < steady_since + milliseconds(1_500) {
            self.run(milliseconds(20));
            if !self.is_settled() || self.cluster.judge().views() != views {
                (steady_since, views) = (self.now(), self.cluster.judge().views());
            }
            let seed = self.cluster.design().seed;
            assert!(self.now() < limit, "seed {seed}: the cluster does not settle");
        }
    }

    fn is_settled(&mut self) -> bool {
        let newest = self.view_number();
        let now = self.now();
        self.cluster.leader().is_some()
            && self.alive().into_iter().all(|node| {
                let local = self.cluster.engine().local_time(node, now);
                let look = self.cluster.nodes()[node.index()].look();
                let adopted = look.view.map(|view| view.number);
                look.standing == Standing::Active && adopted == Some(newest) && look.quiet_until <= local
            })
    }

    /// Whether a node acts in a view.
    pub fn is_active(&self, node: NodeId) -> bool {
        self.cluster.nodes()[node.index()].look().standing == Standing::Active
    }

    /// The number of the newest view that anybody alive knows to be decided.
    pub fn view_number(&mut self) -> u64 {
        let alive = self.alive();
        let looks = alive.into_iter().map(|node| self.cluster.nodes()[node.index()].look());
        looks.filter_map(|look| Some(look.newest?.number)).max().unwrap_or_default()
    }

    /// Requests a section at a node, without a timeout.
    pub fn lock(&mut self, node: NodeId, section: &str) -> RequestId {
        let request = RequestId(self.stories.len() as u64 + 1);
        let story = Story { node, granted: None, lost: None, refused: None, is_over: false };
        self.stories.insert(request, story);
        let lock = LockCommand {
            request,
            client: ClientId(request.0),
            names: vec![SectionName::new(section).expect("a good name")],
            patience: None,
            max_hold: None,
            ttl: None,
            tell_if_wanted: false,
        };
        self.cluster.command(node, Command::Lock(lock));
        self.run(Ticks(0));
        request
    }

    /// Requests a section and gets it.
    pub fn hold(&mut self, node: NodeId, section: &str) -> RequestId {
        let request = self.lock(node, section);
        self.wait_for(request);
        request
    }

    /// Everybody alive holds a section of their own, called after the node.
    pub fn hold_one_each(&mut self) -> BTreeMap<NodeId, RequestId> {
        let alive = self.alive();
        alive.into_iter().map(|node| (node, self.hold(node, &format!("of-{node}")))).collect()
    }

    /// Time passes until a request is in; answers with when it was.
    pub fn wait_for(&mut self, request: RequestId) -> Ticks {
        let limit = self.now() + milliseconds(30_000);
        while self.story(request).granted.is_none() {
            match self.cluster.next(limit) {
                ClusterEvent::Notice(node, notice) => self.hear(node, notice),
                ClusterEvent::Alarm(_) => {}
                ClusterEvent::Over => panic!(
                    "seed {}: a request of node {} has waited for 30 s",
                    self.cluster.design().seed,
                    self.story(request).node
                ),
            }
        }
        self.granted_at(request)
    }

    /// Releases a request.
    pub fn release(&mut self, request: RequestId) {
        let story = self.story(request).clone();
        let Some((_, fence)) = story.granted else { panic!("only who is inside can leave") };
        self.end(request);
        self.cluster.command(story.node, Command::Release { request, fence });
        self.run(Ticks(0));
    }

    /// What became of a request.
    pub fn story(&self, request: RequestId) -> &Story {
        &self.stories[&request]
    }

    pub fn granted_at(&self, request: RequestId) -> Ticks {
        self.story(request).granted.expect("it was let in").0
    }

    pub fn fence(&self, request: RequestId) -> Fence {
        self.story(request).granted.expect("it was let in").1
    }

    /// Whether a request is inside and was not lost.
    pub fn is_inside(&self, request: RequestId) -> bool {
        let story = self.story(request);
        story.granted.is_some() && !story.is_over
    }

    fn end(&mut self, request: RequestId) {
        self.stories.get_mut(&request).into_iter().for_each(|story| story.is_over = true);
        self.cluster.judge_mut().end(request);
    }

    fn hear(&mut self, node: NodeId, notice: Notice) {
        let now = self.now();
        match notice {
            Notice::Granted { request, fences, until } => {
                let fence = fences.first().map(|(_, fence)| *fence).unwrap_or_default();
                let story = self.stories.get_mut(&request).expect("somebody has asked");
                story.granted = Some((now, fence));
                let (judge, engine) = self.cluster.judge_and_engine();
                judge.grant(node, request, fences, until, engine);
            }
            Notice::Renewed { request, until } => {
                let (judge, engine) = self.cluster.judge_and_engine();
                judge.renew(request, until, engine);
            }
            Notice::Lost { request, why } => {
                let story = self.stories.get_mut(&request).expect("somebody has asked");
                story.lost = Some((now, why));
                let fence = story.granted.map(|(_, fence)| fence).unwrap_or_default();
                self.end(request);
                // It stops at once and releases, so that no client waits for its slack.
                self.cluster.command(node, Command::Release { request, fence });
            }
            Notice::Refused { request, why } => {
                self.stories.get_mut(&request).expect("somebody has asked").refused = Some((now, why));
            }
            Notice::Wanted { .. } | Notice::Freed { .. } => {}
            other => self.announcements.push((node, other)),
        }
    }

    /// Cuts all links of a node, both ways.
    pub fn cut_off(&mut self, node: NodeId) {
        for peer in NodeId::first(self.cluster.design().nodes).filter(|peer| *peer != node) {
            self.cut(node, peer);
        }
    }

    /// Cuts a link, both ways.
    pub fn cut(&mut self, one: NodeId, other: NodeId) {
        let network = self.cluster.engine().network_mut();
        network.cut(one, other);
        network.cut(other, one);
    }

    /// A node crashes together with its clients: they do nothing from then on, but the other nodes cannot know that.
    pub fn crash(&mut self, node: NodeId) {
        self.cluster.crash(node);
        for story in self.stories.values_mut().filter(|story| story.node == node) {
            story.is_over = true;
        }
    }

    /// A node starts again from its disk.
    pub fn restart(&mut self, node: NodeId) {
        self.cluster.restart(node, false);
    }

    /// The end of the play: nothing happened that must never happen.
    pub fn finish(self) {
        let (seed, violations) = (self.cluster.design().seed, self.cluster.judge().violations());
        assert!(violations.is_empty(), "seed {seed}: {violations:#?}");
        let is_corrupt = |(_, notice): &(NodeId, Notice)| matches!(notice, Notice::Corrupt(_));
        assert!(!self.announcements.iter().any(is_corrupt), "seed {seed}: {:?}", self.announcements);
    }
}
