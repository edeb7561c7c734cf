//! The applications: one at each node, which think, ask, stay inside and leave.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use doorway_core::{NodeId, Ticks};

use crate::random::Random;
use crate::settings::{Load, Settings, Span};

/// All applications of a run. Each has at most one alarm, which ends its present stage.
pub struct Applications {
    load: Load,
    hold: Span,
    local_latency: Ticks,
    random: Random,
    /// Requests that are still to be issued.
    quota: u64,
    stages: Vec<Stage>,
    /// When each application asked for the entry that it waits for or is in.
    asked_at: Vec<Ticks>,
    alarms: BinaryHeap<Reverse<(Ticks, NodeId)>>,
    /// How many are between asking and leaving.
    busy: usize,
}

/// Where an application is. With a local latency its node hears of it later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// It does not want anything, for good or until it is told.
    Idle,
    /// It will ask when its alarm rings.
    Thinking,
    /// It has asked; its node hears it when the alarm rings.
    Asking,
    /// Its node has heard it.
    Waiting,
    /// Its node was let in; it hears of it when the alarm rings.
    Admitted,
    /// It is inside, and leaves when the alarm rings.
    Inside,
    /// It has left; its node hears it when the alarm rings, and with it the next request if there is one.
    Leaving {
        /// Whether it has asked again in the same breath.
        asks_again: bool,
    },
}

impl Applications {
    /// The moment at which a node asked that was inside from the start.
    pub const NEVER: Ticks = Ticks(u64::MAX);

    /// The applications of these settings; nobody has an alarm yet.
    #[must_use]
    pub fn new(settings: &Settings) -> Self {
        let n = settings.nodes;
        Self {
            load: settings.load.clone(),
            hold: settings.hold,
            local_latency: settings.local_latency,
            random: Random::new(settings.seed, 2),
            quota: settings.entries,
            stages: vec![Stage::Idle; n],
            asked_at: vec![Self::NEVER; n],
            alarms: BinaryHeap::new(),
            busy: 0,
        }
    }

    /// Sets the first alarms.
    pub fn begin(&mut self) {
        let n = self.stages.len();
        let first_ask = |index: usize, random: &mut Random| match self.load {
            Load::Saturated => Some(Ticks(0)),
            Load::Active(k) => (index < k).then_some(Ticks(0)),
            Load::Only(ref nodes) => nodes.contains(NodeId::new(index)).then_some(Ticks(0)),
            Load::Light(mean) => Some(Ticks(random.ticks(Span::Exponential(mean)))),
            Load::Isolated => None,
        };
        let mut alarms = Vec::with_capacity(n);
        for index in 0..n {
            if self.stages[index] == Stage::Idle
                && let Some(at) = first_ask(index, &mut self.random)
            {
                self.stages[index] = Stage::Thinking;
                alarms.push(Reverse((at, NodeId::new(index))));
            }
        }
        alarms.extend(self.alarms.drain());
        self.alarms = alarms.into();
    }

    /// Puts an application inside from the start.
    pub fn begin_inside(&mut self, node: NodeId) {
        self.busy += 1;
        self.go_inside(node, Ticks(0));
    }

    /// When the next alarm rings.
    #[inline]
    #[must_use]
    pub fn next_alarm(&self) -> Option<Ticks> {
        self.alarms.peek().map(|Reverse((at, _))| *at)
    }

    /// Whose alarm it is, and which stage it ends.
    pub fn ring(&mut self) -> Option<(NodeId, Stage)> {
        let Reverse((_, node)) = self.alarms.pop()?;
        Some((node, self.stages[node.index()]))
    }

    /// Where an application is.
    #[must_use]
    pub fn stage(&self, node: NodeId) -> Stage {
        self.stages[node.index()]
    }

    /// When it asked.
    #[must_use]
    pub fn asked_at(&self, node: NodeId) -> Ticks {
        self.asked_at[node.index()]
    }

    /// How long words between an application and its node are under way.
    #[must_use]
    pub fn local_latency(&self) -> Ticks {
        self.local_latency
    }

    /// How many requests were not issued yet.
    #[must_use]
    pub fn unissued(&self) -> u64 {
        self.quota
    }

    /// Whether nobody is between asking and leaving.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.busy == 0
    }

    /// Moves an application to a stage that no alarm ends.
    pub fn go(&mut self, node: NodeId, stage: Stage) {
        self.stages[node.index()] = stage;
    }

    /// Moves an application to a stage that an alarm ends.
    pub fn go_until(&mut self, node: NodeId, stage: Stage, until: Ticks) {
        self.stages[node.index()] = stage;
        self.alarms.push(Reverse((until, node)));
    }

    /// An application asks at the moment `at`, if there are requests left to issue. Tells whether it did.
    pub fn ask(&mut self, node: NodeId, at: Ticks) -> bool {
        if self.quota == 0 {
            self.go(node, Stage::Idle);
            return false;
        }
        self.quota -= 1;
        self.busy += 1;
        self.asked_at[node.index()] = at;
        if self.quota == 0 {
            let Self { alarms, stages, .. } = self;
            alarms.retain(|Reverse((_, node))| stages[node.index()] != Stage::Thinking);
        }
        true
    }

    /// An application enters and will leave after its time inside.
    pub fn go_inside(&mut self, node: NodeId, now: Ticks) {
        let hold = Ticks(self.random.ticks(self.hold));
        self.go_until(node, Stage::Inside, now + hold);
    }

    /// An application leaves; tells whether it wants in again at once.
    pub fn leave(&mut self, node: NodeId) -> bool {
        self.busy -= 1;
        self.go(node, Stage::Idle);
        match self.load {
            Load::Saturated => true,
            Load::Active(k) => node.index() < k,
            Load::Only(ref nodes) => nodes.contains(node),
            Load::Light(_) | Load::Isolated => false,
        }
    }

    /// The node of an application that left at the moment `left`, and did not ask again, knows it: the application
    /// thinks before it asks again, if it ever does.
    pub fn rest(&mut self, node: NodeId, left: Ticks) {
        self.go(node, Stage::Idle);
        if let Load::Light(mean) = self.load
            && self.quota > 0
        {
            let think = Ticks(self.random.ticks(Span::Exponential(mean)));
            self.go_until(node, Stage::Thinking, left + think);
        }
    }

    /// An application is gone with its node.
    pub fn bury(&mut self, node: NodeId) {
        let is_at_rest =
            |stage| matches!(stage, Stage::Idle | Stage::Thinking | Stage::Leaving { asks_again: false });
        let was_busy = !is_at_rest(self.stage(node));
        self.busy -= usize::from(was_busy);
        self.go(node, Stage::Idle);
    }

    /// When the system is quiet under an isolated load: who asks next, of those that live.
    pub fn draw_next(&mut self, lives: impl Fn(NodeId) -> bool) -> Option<NodeId> {
        if self.load != Load::Isolated || self.quota == 0 {
            return None;
        }
        let n = self.stages.len();
        let drawn = NodeId::new(self.random.below(n as u64) as usize);
        std::iter::once(drawn).chain(drawn.around(n)).find(|&node| lives(node))
    }
}
