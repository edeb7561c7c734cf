//! The number of messages that a node's request costs, over every run.
//!
//! A message is counted when it arrives. In a run that ends every message has arrived, so that this is the number of messages
//! sent. An arrival tells sender, receiver and kind; since every node asks once, that tells which request the message names. The
//! lecture counts otherwise: an INQUIRE, the RELINQUISH that answers it and the new LOCKED that follows are charged to the request
//! that made the arbiter inquire. Which one that was becomes part of the states.

use doorway_catalog::Catalog;
use doorway_checker::counts::Messages as Counts;
use doorway_checker::{
    Act, Delivery, Messages, Property, Runs, Search, SearchLimits, Setting, Step, StepsKnown, System, explore,
};
use doorway_core::{Channels, NodeId, Phase, Refusal};

use crate::check::Instance;

/// The messages that are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charged {
    /// All.
    All,
    /// Those that the request of this node causes.
    CausedBy(NodeId),
    /// Those that name the request of this node.
    Naming(NodeId),
}

/// The smallest and the largest number of messages over every run of Sanders' algorithm in which each node asks once, in channels
/// of any order; `None` if no run ends, or there are too many states.
///
/// # Errors
/// If the instance cannot be explored, or is another one.
pub(super) fn extremes(
    catalog: &Catalog,
    instance: &Instance,
    charged: Charged,
) -> Result<Option<Counts>, Refusal> {
    /// Far more than the instances of claims have.
    const MOST_STATES: u64 = 400_000;
    let asks_once = instance.requests.iter().all(|asked| *asked <= 1);
    if instance.requests.len() > MOST_NODES || instance.channels != Channels::Any || !asks_once {
        return Err(Refusal::new(format!(
            "messages are charged among at most {MOST_NODES} nodes that ask once, in channels of any order"
        )));
    }
    let subject = catalog.subject(&instance.algorithm, &instance.options)?;
    let setting = Setting::new(instance.requests.clone(), instance.channels);
    let mut system = Arrivals { of: subject.system(setting)?, charged };
    let runs = Runs { messages: true, ..Runs::default() };
    let limits = SearchLimits { states: MOST_STATES, ..SearchLimits::default() };
    Ok(explore(&mut system, &Search { runs, limits, ..Search::default() }, &mut |_| ()).messages)
}

/// The causes of this many nodes fit into a word.
const MOST_NODES: usize = 5;

/// A system whose steps count arrivals instead of sends.
///
/// ```text
/// causes of arbiter 0 … causes of arbiter n−1 │ state of the algorithm
/// ```
struct Arrivals {
    of: Messages,
    charged: Charged,
}

/// The causes at one arbiter, for each node three bits: the number of a node, or 0.
///
/// ```text
/// bits 0–14   the node that made the arbiter inquire this one
/// bits 15–29  the node whose inquiry made this one give back what it will get again
/// ```
#[derive(Clone, Copy)]
struct Causes(u32);

/// Which cause.
#[derive(Clone, Copy)]
enum Of {
    /// Of an INQUIRE and its RELINQUISH.
    Inquiry = 0,
    /// Of a LOCKED that comes again.
    Again = 15,
}

impl Causes {
    fn get(self, of: Of, node: NodeId) -> Option<NodeId> {
        NodeId::from_number(self.0 >> (of as u32 + 3 * node.index() as u32) & 7)
    }

    fn with(self, of: Of, node: NodeId, cause: Option<NodeId>) -> Self {
        let shift = of as u32 + 3 * node.index() as u32;
        Self(self.0 & !(7 << shift) | cause.map_or(0, |cause| cause.number()) << shift)
    }
}

/// The inquiries in flight, each from an arbiter to a node.
type Inquiries = Vec<(NodeId, NodeId)>;

impl Arrivals {
    /// The causes, and the state of the algorithm.
    fn split<'a>(&self, state: &'a [u32]) -> (&'a [u32], &'a [u32]) {
        state.split_at(self.of.processes())
    }

    /// The inquiries in flight: in channels of any order every message in flight can arrive next. `None` if the system must learn
    /// the state first.
    fn inquiries(&self, state: &[u32]) -> Option<Inquiries> {
        let mut found = Vec::new();
        let known = self.of.steps(state, &mut |step, _| {
            if let Act::Deliver(Delivery { from, to, kind: "INQUIRE", .. }) = self.of.act(&step) {
                found.push((from, to));
            }
        });
        (known == StepsKnown::All).then_some(found)
    }

    /// Whether a step counts; changes the causes as it does.
    fn charge(&self, act: &Act, causes: &mut [u32]) -> bool {
        let Act::Deliver(Delivery { from, to, kind, .. }) = *act else { return false };
        let (arbiter, named) = match kind {
            "REQUEST" | "RELINQUISH" | "RELEASE" => (to, from),
            _ => (from, to),
        };
        let at = Causes(causes[arbiter.index()]);
        let (cause, after) = match kind {
            "INQUIRE" => (at.get(Of::Inquiry, named), at),
            "RELINQUISH" => {
                let cause = at.get(Of::Inquiry, named);
                (cause, at.with(Of::Inquiry, named, None).with(Of::Again, named, cause))
            }
            "LOCKED" => (at.get(Of::Again, named), at.with(Of::Again, named, None)),
            _ => (None, at),
        };
        causes[arbiter.index()] = after.0;
        match self.charged {
            Charged::All => true,
            Charged::CausedBy(node) => cause.unwrap_or(named) == node,
            Charged::Naming(node) => named == node,
        }
    }

    /// Notes whose request the new inquiries of a step are due to: that of the sender, or of the node itself.
    fn note(act: &Act, before: &Inquiries, after: &Inquiries, causes: &mut [u32]) {
        let cause = match act {
            Act::Deliver(delivery) => delivery.from,
            Act::Request(node) | Act::Release(node) => *node,
            _ => return,
        };
        for &(arbiter, node) in after.iter().filter(|inquiry| !before.contains(inquiry)) {
            let at = &mut causes[arbiter.index()];
            *at = Causes(*at).with(Of::Inquiry, node, Some(cause)).0;
        }
    }

    /// Every step of a state with its successor; `None` if the system must learn the state first.
    fn successors(&self, state: &[u32]) -> Option<Vec<(Step, Vec<u32>)>> {
        let (causes, state) = self.split(state);
        let mut steps = Vec::new();
        let known = self.of.steps(state, &mut |step, after| steps.push((step, after.to_vec())));
        let before = self.inquiries(state).filter(|_| known == StepsKnown::All)?;
        let successor = |(step, after): (Step, Vec<u32>)| {
            let act = self.of.act(&step);
            let mut causes = causes.to_vec();
            let sends = u32::from(self.charge(&act, &mut causes));
            if matches!(self.charged, Charged::CausedBy(_)) {
                Self::note(&act, &before, &self.inquiries(&after)?, &mut causes);
            }
            Some((Step { sends, ..step }, [causes, after].concat()))
        };
        steps.into_iter().map(successor).collect()
    }
}

impl System for Arrivals {
    fn processes(&self) -> usize {
        self.of.processes()
    }

    fn initial(&mut self) -> Vec<Vec<u32>> {
        let causes = vec![0; self.of.processes()];
        self.of.initial().into_iter().map(|state| [causes.clone(), state].concat()).collect()
    }

    fn steps(&self, state: &[u32], visit: &mut impl FnMut(Step, &[u32])) -> StepsKnown {
        let Some(successors) = self.successors(state) else { return StepsKnown::No };
        successors.iter().for_each(|(step, after)| visit(*step, after));
        StepsKnown::All
    }

    /// Learns the successors as well, since a step is charged by what is in flight after it.
    fn learn(&mut self, state: &[u32]) {
        let state = self.split(state).1.to_vec();
        self.of.learn(&state);
        let mut successors = Vec::new();
        let known = self.of.steps(&state, &mut |_, after| successors.push(after.to_vec()));
        debug_assert_eq!(known, StepsKnown::All, "the system has learned this state");
        successors.iter().for_each(|state| self.of.learn(state));
    }

    fn phase(&self, state: &[u32], process: usize) -> Phase {
        self.of.phase(self.split(state).1, process)
    }

    fn flaws(&self, state: &[u32]) -> Vec<(Property, String)> {
        self.of.flaws(self.split(state).1)
    }

    fn is_cut(&self) -> bool {
        self.of.is_cut()
    }

    fn describe(&self, step: &Step) -> String {
        self.of.describe(step)
    }
}
