//! The applications, one at each node: they think, request, hold and release.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use doorway_core::{NodeId, Ticks};

use crate::random::Random;
use crate::settings::{Load, Settings, Span};

/// All applications of a run. Each has at most one alarm, which ends its current stage.
pub struct Applications {
    load: Load,
    hold: Span,
    local_latency: Ticks,
    random: Random,
    /// Requests that are still to be issued.
    quota: u64,
    stages: Vec<Stage>,
    /// When each application made its current request.
    asked_at: Vec<Ticks>,
    alarms: BinaryHeap<Reverse<(Ticks, NodeId)>>,
    /// The number of applications between request and release.
    busy: usize,
}

/// The stage of an application. With a local latency its node learns of it later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// It has no request and no alarm.
    Idle,
    /// It makes a request when its alarm rings.
    Thinking,
    /// It has made a request, which reaches its node when the alarm rings.
    Asking,
    /// Its node has the request.
    Waiting,
    /// Its node has entered; the application learns of it when the alarm rings.
    Admitted,
    /// It is inside and leaves when the alarm rings.
    Inside,
    /// It has left; the release, and the next request if there is one, reach its node when the alarm rings.
    Leaving {
        /// Whether it has made the next request at the same time.
        asks_again: bool,
    },
}

impl Applications {
    /// The request time of a node that started inside.
    pub const NEVER: Ticks = Ticks(u64::MAX);

    /// The applications of these settings, without alarms.
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

    /// Starts an application inside.
    pub fn begin_inside(&mut self, node: NodeId) {
        self.busy += 1;
        self.go_inside(node, Ticks(0));
    }

    /// The time of the next alarm.
    #[inline]
    #[must_use]
    pub fn next_alarm(&self) -> Option<Ticks> {
        self.alarms.peek().map(|Reverse((at, _))| *at)
    }

    /// Takes the next alarm: its node, and the stage that it ends.
    pub fn ring(&mut self) -> Option<(NodeId, Stage)> {
        let Reverse((_, node)) = self.alarms.pop()?;
        Some((node, self.stages[node.index()]))
    }

    /// The stage of an application.
    #[must_use]
    pub fn stage(&self, node: NodeId) -> Stage {
        self.stages[node.index()]
    }

    /// When it made its request.
    #[must_use]
    pub fn asked_at(&self, node: NodeId) -> Ticks {
        self.asked_at[node.index()]
    }

    /// The latency between an application and its node.
    #[must_use]
    pub fn local_latency(&self) -> Ticks {
        self.local_latency
    }

    /// The number of requests not issued yet.
    #[must_use]
    pub fn unissued(&self) -> u64 {
        self.quota
    }

    /// Whether no application is between request and release.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.busy == 0
    }

    /// Moves an application to a stage without an alarm.
    pub fn go(&mut self, node: NodeId, stage: Stage) {
        self.stages[node.index()] = stage;
    }

    /// Moves an application to a stage that ends with an alarm at `until`.
    pub fn go_until(&mut self, node: NodeId, stage: Stage, until: Ticks) {
        self.stages[node.index()] = stage;
        self.alarms.push(Reverse((until, node)));
    }

    /// Issues a request of an application at time `at`, if any are left. Returns whether it did.
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

    /// Moves an application inside, until its hold time is over.
    pub fn go_inside(&mut self, node: NodeId, now: Ticks) {
        let hold = Ticks(self.random.ticks(self.hold));
        self.go_until(node, Stage::Inside, now + hold);
    }

    /// An application leaves. Returns whether it requests again at once.
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

    /// The node of an application that left at time `left` without a new request has the release: the
    /// application now thinks, if it will request again.
    pub fn rest(&mut self, node: NodeId, left: Ticks) {
        self.go(node, Stage::Idle);
        if let Load::Light(mean) = self.load
            && self.quota > 0
        {
            let think = Ticks(self.random.ticks(Span::Exponential(mean)));
            self.go_until(node, Stage::Thinking, left + think);
        }
    }

    /// An application stops with its node.
    pub fn crash(&mut self, node: NodeId) {
        let is_at_rest =
            |stage| matches!(stage, Stage::Idle | Stage::Thinking | Stage::Leaving { asks_again: false });
        let was_busy = !is_at_rest(self.stage(node));
        self.busy -= usize::from(was_busy);
        self.go(node, Stage::Idle);
    }

    /// Draws the live node that makes the next request when the system is quiet under an isolated load.
    pub fn draw_next(&mut self, lives: impl Fn(NodeId) -> bool) -> Option<NodeId> {
        if self.load != Load::Isolated || self.quota == 0 {
            return None;
        }
        let n = self.stages.len();
        let drawn = NodeId::new(self.random.below(n as u64) as usize);
        std::iter::once(drawn).chain(drawn.around(n)).find(|&node| lives(node))
    }
}
