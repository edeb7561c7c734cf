//! Several named sections in one process.
//!
//! A process takes part in as many sections as it likes. Each has its name, its participants, its own node of the
//! algorithm and its own fence; the messages of all of them travel between the same processes, so each says which
//! section it is about. Only the logical clock is shared: a process has one, whatever it takes part in, and a request in
//! one section is younger than anything that the process heard of in another.
//!
//! The algorithm numbers its nodes from 1 to P, the participants of a section in the order of their processes; here its
//! numbers become processes and back. A section's node comes to life when the process first asks for the section or
//! hears of it, in the state of a node that has not heard anything, which is just what it is.
//!
//! Whoever wants several sections at once takes them in one order that all processes share, such as that of their
//! names: else two can wait for each other for ever.

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

/// A message of one section on its way between processes: what the algorithm says, about which section, and the largest
/// fence of that section that the sender knows.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Named<M> {
    /// The section that it is about.
    pub section: SectionName,
    /// The largest fence that the sender has handed out or heard of.
    pub fence: Fence,
    /// What the algorithm says.
    pub msg: M,
}

/// The sections that one process takes part in.
///
/// Each method is one atomic step and writes what to send into the caller's [`Out`], as any message that a [`Named`] one
/// can be turned into: so a machine that has more to say than its sections do puts both into one type.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Sections<A> {
    me: NodeId,
    /// The one clock of the process. It never runs behind that of any section.
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

    /// Brings the node of a section to life before it is needed. Only an algorithm whose messages travel without being
    /// asked ([`Algorithm::PERPETUAL`]) needs that, at every participant; otherwise the first use does it.
    pub fn open<M: From<Named<A::Msg>>>(&mut self, section: &SectionName, out: &mut Out<M>) {
        if !self.open.contains_key(section) {
            self.step(section, out, |_, _| {});
        }
    }

    /// The application wants into a section; answers with the fence of the entry if it is in already.
    ///
    /// # Panics
    /// If it waits for that section, or is inside.
    pub fn request<M: From<Named<A::Msg>>>(
        &mut self,
        section: &SectionName,
        out: &mut Out<M>,
    ) -> Option<Fence> {
        self.step(section, out, |node, effects| node.on_command(TIMELESS, Ask::Request, effects))
    }

    /// The application has left a section.
    ///
    /// # Panics
    /// If it was not inside.
    pub fn release<M: From<Named<A::Msg>>>(&mut self, section: &SectionName, out: &mut Out<M>) {
        self.step(section, out, |node, effects| node.on_command(TIMELESS, Ask::Release, effects));
    }

    /// A message of a section has arrived from a process; answers with the fence if the process is in now.
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

    /// One step of one section: its node, made now if this is its first, under the clock of the process.
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
        // A state holds no buffers and the caller's is of another type, so a step has one of its own.
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

    /// The one clock of the process.
    #[must_use]
    pub fn clock(&self) -> LamportClock {
        self.clock
    }

    /// Counts an event of the process that is none of a section, such as the sending of a message of its application.
    pub fn tick(&mut self) {
        self.clock.tick();
    }

    /// The process has heard of this time, be it in a message of its application.
    pub fn hear(&mut self, clock: LamportClock) {
        self.clock.merge(clock.count());
    }

    /// Where the process stands towards a section.
    #[must_use]
    pub fn phase(&self, section: &SectionName) -> Phase {
        self.node(section).map_or(Phase::Outside, |node| node.node().phase())
    }

    /// The node of a section, if it has come to life.
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

/// An algorithm knows no time.
const TIMELESS: Ticks = Ticks(0);

/// A process that does nothing but take part in sections. Every message tells its sender's clock.
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
