//! Several named sections in one process.
//!
//! A process can take part in any number of sections. Each section has its own name, participants, node of
//! the algorithm and fence. The messages of all sections travel between the same processes, so each names its
//! section. Only the logical clock is shared: a request in one section is younger than anything that the
//! process has heard of in another.
//!
//! The algorithm numbers the P participants of a section from 1 to P in the order of their processes; this
//! module maps those numbers to processes and back. A section's node is created in its initial state when the
//! process first requests the section or receives a message for it.
//!
//! Applications that hold several sections at once must acquire them in one global order, such as by name;
//! otherwise they can deadlock.

mod charter;
mod name;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use self::charter::{Charter, Register};
pub use self::name::{SectionName, is_plain};
use crate::{
    Algorithm, Ask, Effects, Entered, Fence, Fenced, LamportClock, Machine, Never, NodeId, Out, Phase, Sent,
    Ticks,
};

/// A message of one section between two processes: the algorithm's message, the section's name, and the
/// largest fence of that section that the sender knows.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Named<M> {
    /// The section.
    pub section: SectionName,
    /// The largest fence that the sender has handed out or heard of.
    pub fence: Fence,
    /// The algorithm's message.
    pub msg: M,
}

/// The sections that one process takes part in.
///
/// Each method is one atomic step and writes its messages into the caller's [`Out`], in any type that
/// converts from [`Named`]: so a machine with further messages can use one message type for both.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Sections<A> {
    me: NodeId,
    /// The clock of the process. It is never behind that of any section.
    clock: LamportClock,
    open: BTreeMap<SectionName, Fenced<A>>,
    #[serde(skip)]
    register: Register<A>,
}

impl<A: Algorithm> Sections<A> {
    /// The sections of process `me`, none of them open yet.
    #[must_use]
    pub fn new(me: NodeId, register: Register<A>) -> Self {
        Self { me, clock: LamportClock::default(), open: BTreeMap::new(), register }
    }

    /// Creates the node of a section before its first use. Only a [perpetual](Algorithm::PERPETUAL) algorithm
    /// needs this, at every participant.
    pub fn open<M: From<Named<A::Msg>>>(&mut self, section: &SectionName, out: &mut Out<M>) {
        if !self.open.contains_key(section) {
            self.step(section, out, |_, _| {});
        }
    }

    /// The application requests a section. Returns the fence if it enters at once.
    ///
    /// # Panics
    /// If it already waits for the section or is inside.
    pub fn request<M: From<Named<A::Msg>>>(
        &mut self,
        section: &SectionName,
        out: &mut Out<M>,
    ) -> Option<Fence> {
        self.step(section, out, |node, effects| node.on_command(TIMELESS, Ask::Request, effects))
    }

    /// The application releases a section.
    ///
    /// # Panics
    /// If it was not inside.
    pub fn release<M: From<Named<A::Msg>>>(&mut self, section: &SectionName, out: &mut Out<M>) {
        self.step(section, out, |node, effects| node.on_command(TIMELESS, Ask::Release, effects));
    }

    /// A message of a section has arrived from a process. Returns the fence if this process enters now.
    pub fn message<M: From<Named<A::Msg>>>(
        &mut self,
        from: NodeId,
        named: Named<A::Msg>,
        out: &mut Out<M>,
    ) -> Option<Fence> {
        let Named { section, fence, msg } = named;
        let sender = self.register.charter(&section).and_then(|charter| charter.node_of(from));
        let Some(sender) = sender else {
            out.broken("a message for a section in which its sender takes no part");
            return None;
        };
        self.step(&section, out, |node, effects| node.on_message(TIMELESS, sender, fence, msg, effects))
    }

    /// One step of one section, under the clock of the process. Creates the section's node on first use.
    fn step<M: From<Named<A::Msg>>>(
        &mut self,
        section: &SectionName,
        out: &mut Out<M>,
        act: impl FnOnce(&mut Fenced<A>, &mut Effects<Fenced<A>>),
    ) -> Option<Fence> {
        let Some(charter) = self.register.charter(section) else {
            out.broken("a section that does not exist");
            return None;
        };
        if !self.open.contains_key(section) {
            let Some(node) = charter.node(self.me) else {
                out.broken("a section in which this process takes no part");
                return None;
            };
            self.open.insert(section.clone(), node);
            self.step_open(section, &charter, out, |node, effects| node.on_start(TIMELESS, effects));
        }
        self.step_open(section, &charter, out, act)
    }

    fn step_open<M: From<Named<A::Msg>>>(
        &mut self,
        section: &SectionName,
        charter: &Charter<A>,
        out: &mut Out<M>,
        act: impl FnOnce(&mut Fenced<A>, &mut Effects<Fenced<A>>),
    ) -> Option<Fence> {
        let node = self.open.get_mut(section)?;
        // The state must hold no buffers and the caller's has another type, so each step makes its own.
        let mut effects = Effects::default();
        node.clock().into_iter().for_each(|clock| clock.merge(self.clock.count()));
        act(node, &mut effects);
        node.clock().into_iter().for_each(|clock| self.clock.merge(clock.count()));
        effects.out.breach().into_iter().for_each(|what| out.broken(what));
        let fence = effects.header;
        for Sent { to, msg, rule } in effects.out.drain() {
            out.rule(rule);
            out.send_to(charter.processes_of(to), Named { section: section.clone(), fence, msg }.into());
        }
        effects.notices.first().map(|&Entered(fence)| fence)
    }

    /// The clock of the process.
    #[must_use]
    pub fn clock(&self) -> LamportClock {
        self.clock
    }

    /// Counts an event outside all sections, such as the sending of an application message.
    pub fn tick(&mut self) {
        self.clock.tick();
    }

    /// Merges a clock that the process has received, for instance in an application message.
    pub fn hear(&mut self, clock: LamportClock) {
        self.clock.merge(clock.count());
    }

    /// The phase of the process in a section.
    #[must_use]
    pub fn phase(&self, section: &SectionName) -> Phase {
        self.node(section).map_or(Phase::Outside, |node| node.node().phase())
    }

    /// The node of a section, if it has been created.
    #[must_use]
    pub fn node(&self, section: &SectionName) -> Option<&Fenced<A>> {
        self.open.get(section)
    }

    /// The charter of a section.
    #[must_use]
    pub fn charter(&self, section: &SectionName) -> Option<std::sync::Arc<Charter<A>>> {
        self.register.charter(section)
    }

    fn tell(&self, section: SectionName, entered: Option<Fence>, effects: &mut Effects<Self>) {
        effects.notices.extend(entered.map(|fence| (section, Entered(fence))));
        effects.header = self.clock;
    }
}

/// Algorithms have no clock time.
const TIMELESS: Ticks = Ticks(0);

/// A process that only takes part in sections. Every message carries its sender's clock.
impl<A: Algorithm> Machine for Sections<A> {
    type Header = LamportClock;
    type Msg = Named<A::Msg>;
    type Command = (SectionName, Ask);
    type Notice = (SectionName, Entered);
    type Timer = Never;
    type Write = Never;

    fn on_start(&mut self, _: Ticks, _: &mut Effects<Self>) {}

    fn on_command(&mut self, _: Ticks, (section, ask): (SectionName, Ask), effects: &mut Effects<Self>) {
        let entered = match ask {
            Ask::Request => self.request(&section, &mut effects.out),
            Ask::Release => {
                self.release(&section, &mut effects.out);
                None
            }
        };
        self.tell(section, entered, effects);
    }

    fn on_message(
        &mut self,
        _: Ticks,
        from: NodeId,
        clock: LamportClock,
        named: Named<A::Msg>,
        effects: &mut Effects<Self>,
    ) {
        self.hear(clock);
        let section = named.section.clone();
        let entered = self.message(from, named, &mut effects.out);
        self.tell(section, entered, effects);
    }

    fn on_timer(&mut self, _: Ticks, never: Never, _: &mut Effects<Self>) {
        match never {}
    }

    fn on_written(&mut self, _: Ticks, never: Never, _: &mut Effects<Self>) {
        match never {}
    }
}
