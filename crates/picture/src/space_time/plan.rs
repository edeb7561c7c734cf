//! A run in abstract units, for a page: moments to the right, lanes down. The page decides how many pixels a moment and a lane get, so that it
//! can zoom and change its width without asking again; who was in which phase, which message went where and how messages that go the same way
//! are kept apart is decided here, as for exports.
//!
//! Events are counted by their place in the list, from 0.

use std::collections::BTreeMap;

use doorway_core::{Fence, NodeId, Phase, Refusal, Ticks};
use doorway_trace::{Event, Header, What};
use serde::Serialize;

use super::history::{End, History, Lane, Message, Stay};
use super::lanes::name;
use super::ribbons::RibbonPlan;
use super::routes::Routes;

/// What a space-time diagram shows.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DiagramPlan {
    /// The time of each moment.
    pub moments: Vec<Ticks>,
    /// The moment of each event.
    pub moment_of: Vec<usize>,
    /// A lane for each node.
    pub lanes: Vec<LanePlan>,
    /// The messages whose sending is known, in the order of their sending.
    pub messages: Vec<MessagePlan>,
    /// What must never happen, and did.
    pub violations: Vec<Mark>,
    /// From where on the run repeats itself for ever.
    pub repetition: Option<Mark>,
}

/// An event that is marked, and its moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Mark {
    /// Its moment.
    pub moment: usize,
    /// The event.
    pub event: usize,
}

/// The lane of one node.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LanePlan {
    /// Its phases, one after the other.
    pub stays: Vec<StayPlan>,
    /// Its crashes.
    pub crashes: Vec<Mark>,
    /// Whether it is down at the end.
    pub down: bool,
    /// Its vote or token, see [`DiagramPlan::set_ribbon`].
    pub ribbon: Vec<RibbonPlan>,
}

/// A time in one phase.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct StayPlan {
    /// `outside`, `waiting` or `inside`.
    pub phase: &'static str,
    /// Its first moment.
    pub from: usize,
    /// The moment in which it ends; the number of moments if it lasts to the end.
    pub until: usize,
    /// The event with which it began.
    pub event: usize,
    /// The fence of an entry.
    pub fence: Option<Fence>,
}

/// A message.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MessagePlan {
    /// The event of its sending.
    pub event: usize,
    /// Its kind.
    pub kind: String,
    /// Its sender.
    pub from: NodeId,
    /// Its recipient.
    pub to: NodeId,
    /// The moment of its sending.
    pub sent: usize,
    /// One arrow for each delivery or loss; one without an end if it is still in flight.
    pub arrows: Vec<ArrowPlan>,
}

/// An arrow of a message.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ArrowPlan {
    /// The event that ends it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<Mark>,
    /// Why the message is lost, if it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost: Option<String>,
    /// How many arrows go the same way before it, with moments spaced by time and evenly: so many steps it bends aside.
    pub bends: [u32; 2],
    /// Whether it leaves from the band of a node that waits or is inside, and whether it arrives at one: there it keeps its distance.
    pub bands: [bool; 2],
}

/// What the space-time diagram of a run shows.
///
/// # Errors
/// If the events are not those of one run of these nodes.
pub fn plan(header: &Header, events: &[Event]) -> Result<DiagramPlan, Refusal> {
    let history = History::new(header, events)?;
    let planner = Planner { history: &history, places: places(events), starts: starts(header, events) };
    let lanes = NodeId::first(header.nodes).zip(&history.lanes).map(|(node, lane)| planner.lane(node, lane));
    let violations =
        history.violations.iter().map(|violation| planner.mark(violation.moment, violation.event.id));
    Ok(DiagramPlan {
        lanes: lanes.collect(),
        messages: planner.messages(),
        violations: violations.collect(),
        repetition: history.repetition.map(|repetition| planner.mark(repetition.moment, repetition.event)),
        moments: history.moments.clone(),
        moment_of: history.moment_of_event.clone(),
    })
}

/// The place of each event in the list, by its id.
fn places(events: &[Event]) -> BTreeMap<u64, usize> {
    events.iter().enumerate().map(|(place, event)| (event.id, place)).collect()
}

/// The first start of each node, with which its first phase begins; the first event where there is none.
fn starts(header: &Header, events: &[Event]) -> Vec<usize> {
    let mut starts = vec![0; header.nodes];
    for (place, event) in events.iter().enumerate().rev().filter(|(_, event)| event.what == What::Start) {
        starts[event.node.index()] = place;
    }
    starts
}

struct Planner<'h, 'a> {
    history: &'h History<'a>,
    places: BTreeMap<u64, usize>,
    starts: Vec<usize>,
}

impl Planner<'_, '_> {
    fn place(&self, id: u64) -> usize {
        self.places.get(&id).copied().unwrap_or_default()
    }

    fn mark(&self, moment: usize, id: u64) -> Mark {
        Mark { moment, event: self.place(id) }
    }

    fn lane(&self, node: NodeId, lane: &Lane) -> LanePlan {
        let stays = lane.stays.iter().map(|stay| StayPlan {
            phase: name(stay.phase),
            from: stay.from,
            until: stay.until,
            event: stay.event.map_or(self.starts[node.index()], |id| self.place(id)),
            fence: stay.fence,
        });
        let lasts = lane.stays.last().is_some_and(|stay| stay.until == self.history.moments.len());
        LanePlan {
            stays: stays.collect(),
            crashes: lane.crashes.iter().map(|&(moment, id)| self.mark(moment, id)).collect(),
            down: !lane.crashes.is_empty() && !lasts,
            ribbon: Vec::new(),
        }
    }

    fn messages(&self) -> Vec<MessagePlan> {
        let mut routes = [Routes::default(), Routes::default()];
        let known = self.history.messages.iter().filter_map(|message| Some((message, message.sent?)));
        let plans = known.map(|(message, sent)| MessagePlan {
            event: self.place(message.event.id),
            kind: self.history.kinds[message.kind].to_owned(),
            from: message.from,
            to: message.to,
            sent,
            arrows: self.arrows(message, sent, &mut routes),
        });
        plans.collect()
    }

    fn arrows(&self, message: &Message<'_>, sent: usize, routes: &mut [Routes; 2]) -> Vec<ArrowPlan> {
        let mut arrow = |end: Option<Mark>, lost: Option<&str>| {
            let until = end.map_or(sent, |end| end.moment);
            let times = [sent, until].map(|moment| self.time(moment));
            let moments = [sent, until].map(|moment| moment as i64);
            let [by_time, evenly] = routes;
            let bends = [
                by_time.earlier(message.from, message.to, times),
                evenly.earlier(message.from, message.to, moments),
            ];
            let arrives_at_band = end.is_some_and(|end| self.has_band(message.to, end.moment));
            let bands = [self.has_band(message.from, sent), arrives_at_band];
            ArrowPlan { end, lost: lost.map(str::to_owned), bends, bands }
        };
        if message.ends.is_empty() {
            return vec![arrow(None, None)];
        }
        let ends = message.ends.iter().map(|end| match *end {
            End::Delivered { moment, event } => arrow(Some(self.mark(moment, event.id)), None),
            End::Lost { moment, event, why } => arrow(Some(self.mark(moment, event.id)), Some(why)),
        });
        ends.collect()
    }

    /// Whether the lane of a node has a band at a moment: one that lasts, ends or begins then.
    fn has_band(&self, node: NodeId, moment: usize) -> bool {
        let stays = &self.history.lanes[node.index()].stays;
        let after = stays.partition_point(|stay| stay.until < moment);
        let near = stays[after..].iter().take_while(|stay| stay.from <= moment);
        let is_seen = |stay: &Stay| stay.phase != Phase::Outside && stay.until > stay.from;
        near.into_iter().any(is_seen)
    }

    fn time(&self, moment: usize) -> i64 {
        self.history.moments.get(moment).map_or(i64::MAX, |time| i64::try_from(time.0).unwrap_or(i64::MAX))
    }
}
