//! An algorithm as a lock node needs it: its type is forgotten, its messages are bytes.
//!
//! So the whole node is compiled once and not once for each algorithm, and what an algorithm cannot read or believe is found in
//! one place, whichever it is.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use doorway_core::{
    Algorithm, Entry, Explain, Factory, Members, Node, NodeId, Options, Out, Phase, Refusal, Sent, Start, To,
    check_sound,
};

/// How to make the nodes of one algorithm, for any number of members.
#[derive(Clone)]
pub struct Recipe {
    name: Arc<str>,
    is_perpetual: bool,
    plan: Arc<MakeBlueprint>,
}

type MakeBlueprint = dyn Fn(&Members) -> Result<Blueprint, Refusal> + Send + Sync;

impl Recipe {
    /// The recipe of an algorithm. All nodes of a cluster must have the same under the same name.
    pub fn new<A: Algorithm>(name: &str, factory: Factory<A>) -> Self {
        let plan = move |members: &Members| {
            let (plan, members) = (factory.plan(members)?, *members);
            let make = move |me, start| -> Box<dyn Participant> {
                Box::new(Running { node: plan.node(me, start), members })
            };
            Ok(Blueprint { make: Arc::new(make) })
        };
        Self { name: name.into(), is_perpetual: A::PERPETUAL, plan: Arc::new(plan) }
    }

    /// The recipe of an algorithm with what was chosen for it, which becomes part of the name.
    ///
    /// # Errors
    /// If what was chosen does not fit it.
    pub fn of<A: Explain>(entry: &Entry<A>, options: &Options) -> Result<Self, Refusal> {
        Ok(Self::new(&full_name(entry.about.name, options), entry.factory(options)?))
    }

    /// The algorithm's name, with what was chosen for it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the algorithm sends messages even without a request: then each section must be open at every member.
    #[must_use]
    pub fn is_perpetual(&self) -> bool {
        self.is_perpetual
    }

    /// The blueprint for `n` members.
    ///
    /// # Errors
    /// If the algorithm cannot run with that many.
    pub fn blueprint(&self, n: usize) -> Result<Blueprint, Refusal> {
        (self.plan)(&Members::new(n)?)
    }
}

/// The name of an algorithm with what was chosen for it, as one types it. Nodes compare it before they work together.
#[must_use]
pub fn full_name(name: &str, options: &Options) -> String {
    let chosen = options.iter().map(|(name, choice)| format!(" --{name} {}", choice.word));
    format!("{name}{}", chosen.collect::<String>())
}

impl fmt::Debug for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Recipe").field(&self.name).finish()
    }
}

/// How to make the nodes of one algorithm among the members of one view.
#[derive(Clone)]
pub struct Blueprint {
    make: Arc<MakeParticipant>,
}

type MakeParticipant = dyn Fn(NodeId, Start) -> Box<dyn Participant> + Send + Sync;

impl Blueprint {
    /// One node.
    #[must_use]
    pub fn participant(&self, me: NodeId, start: Start) -> Box<dyn Participant> {
        (self.make)(me, start)
    }
}

impl fmt::Debug for Blueprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Blueprint")
    }
}

/// A node of an algorithm, with its type erased.
pub trait Participant: fmt::Debug + Send {
    /// Its phase: outside, waiting or inside.
    fn phase(&self) -> Phase;
    /// Starts the node.
    fn start(&mut self, post: &mut StepOutput);
    /// Its application requests entry; it must be outside.
    fn request(&mut self, post: &mut StepOutput);
    /// Its application releases; it must be inside.
    fn release(&mut self, post: &mut StepOutput);
    /// A message has arrived.
    fn message(&mut self, from: NodeId, bytes: &[u8], post: &mut StepOutput);
    /// Whether its state is the same as another's.
    fn is_like(&self, other: &dyn Participant) -> bool;
    /// For a downcast to the concrete type.
    fn as_any(&self) -> &dyn Any;
}

/// The output of one step of a participant.
#[derive(Debug, Default)]
pub struct StepOutput {
    /// The messages, each for one participant or for several.
    pub sends: Vec<(To, Vec<u8>)>,
    /// The protocol violation that the step met, if any.
    pub broken: Option<&'static str>,
}

#[derive(Debug)]
struct Running<A> {
    node: Node<A>,
    members: Members,
}

impl<A: Algorithm> Running<A> {
    fn step(&mut self, post: &mut StepOutput, act: impl FnOnce(&mut Node<A>, &mut Out<A::Msg>)) {
        let mut out = Out::default();
        act(&mut self.node, &mut out);
        post.broken = post.broken.or(out.breach());
        for Sent { to, msg, .. } in out.drain() {
            match postcard::to_stdvec(&msg) {
                Ok(bytes) => post.sends.push((to, bytes)),
                Err(_) => post.broken = Some("a message that cannot be encoded"),
            }
        }
    }
}

impl<A: Algorithm> Participant for Running<A> {
    fn phase(&self) -> Phase {
        self.node.phase()
    }

    fn start(&mut self, post: &mut StepOutput) {
        self.step(post, Node::start);
    }

    fn request(&mut self, post: &mut StepOutput) {
        self.step(post, Node::request);
    }

    fn release(&mut self, post: &mut StepOutput) {
        self.step(post, Node::release);
    }

    fn message(&mut self, from: NodeId, bytes: &[u8], post: &mut StepOutput) {
        let Ok((msg, [])) = postcard::take_from_bytes::<A::Msg>(bytes) else {
            post.broken = Some("bytes that are not a message of the algorithm");
            return;
        };
        if !self.members.contains(from) || check_sound(&msg, &self.members).is_err() {
            post.broken = Some("a message from or about a node that is not a member");
            return;
        }
        self.step(post, |node, out| node.message(from, msg, out));
    }

    fn is_like(&self, other: &dyn Participant) -> bool {
        other.as_any().downcast_ref::<Self>().is_some_and(|other| other.node == self.node)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
