//! What nodes tell each other.

use doorway_core::{NodeId, SectionName, Ticks};
use serde::{Deserialize, Serialize};

use crate::consensus::Ballot;
use crate::disk::Founders;
use crate::wire::{
    LARGEST_PART, LONGEST_SAYING, MOST_FORGOTTEN, MOST_INSIDE, MOST_NODES, MOST_PARTS, at_most,
};
use crate::{BreakTarget, DiskId, DiskState, Epoch, Incarnation, Nonce, Timing};

/// A message between two nodes. Everything but [`Msg::Parcel`] may be lost, doubled and overtaken; parcels are numbered,
/// acknowledged and sent again.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Msg {
    /// To every voter, every h: I live.
    Heartbeat(Heartbeat),
    /// A voter's answer.
    Ack(Ack),
    /// To every known node: the sender is not a member and wants to be one.
    Hello(Hello),
    /// The answer to a hello.
    Welcome(Welcome),
    /// To every voter: this life is over, and no client is inside any more.
    Leave(Incarnation),
    /// To every member of a view: where I was inside when I learned of it, or a part of that.
    Report(ReportPart),
    /// The answer: that part of a report has arrived.
    Heard {
        /// The view that it was for.
        view: u64,
        /// Whose report it was.
        reporter: Incarnation,
        /// The number of the part.
        part: u16,
    },
    /// Something within a view that must arrive once and in order.
    Parcel {
        /// The view.
        view: u64,
        /// Its number among the parcels of this view from this sender to this receiver, from 1.
        seq: u64,
        /// All parcels up to this number have arrived in the other direction.
        ack: u64,
        /// What it is.
        parcel: Parcel,
    },
    /// All parcels of a view up to this number have arrived.
    Got {
        /// The view.
        view: u64,
        /// The number.
        ack: u64,
    },
    /// The consensus about views.
    Ballot(Ballot),
    /// Who I am, and what I know of you. Nothing else counts before it.
    Greeting(Box<Greeting>),
    /// Between founders, until they have founded their cluster.
    Founding(Founding),
}

impl Msg {
    /// The disk of the sender and how far it has come, if others rely on that.
    pub(crate) fn origin(&self) -> Option<(DiskId, DiskState)> {
        let of = |life: &Incarnation, synced| Some((life.disk, DiskState { synced, ..life.start() }));
        match self {
            Msg::Heartbeat(heartbeat) => of(&heartbeat.incarnation, heartbeat.synced),
            Msg::Hello(hello) => of(&hello.incarnation, hello.synced),
            Msg::Ack(ack) => Some((ack.voter, ack.state)),
            Msg::Ballot(ballot) => Some((ballot.from, ballot.state)),
            Msg::Leave(life) => of(life, 0),
            Msg::Welcome(_) | Msg::Report(_) | Msg::Heard { .. } | Msg::Parcel { .. } | Msg::Got { .. } => {
                None
            }
            Msg::Greeting(_) | Msg::Founding(_) => None,
        }
    }
}

/// A node tells another who it is and what it knows of the other.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Greeting {
    /// Which life of the sender.
    pub incarnation: Incarnation,
    /// How many writes its disk has synced.
    pub synced: u64,
    /// Its cluster, if it has one.
    pub epoch: Option<Epoch>,
    /// Whether its disk was set back: then it takes no part.
    pub is_set_back: bool,
    /// The disk of the greeted node, and how far it had come when the sender last heard of it.
    pub yours: Option<(DiskId, DiskState)>,
    /// What the greeted node knows of the sender's disk, which the sender has checked.
    pub found: Option<DiskState>,
    /// Whether the sender wants an answer.
    pub asks: bool,
}

/// A founder tells the others about itself.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Founding {
    /// Its disk.
    pub disk: DiskId,
    /// Its share of the epoch.
    pub share: Nonce,
    /// All founders with their disks, if it has written that down.
    pub list: Option<Founders>,
    /// Whether it still waits for others. Only then is it answered.
    pub waits: bool,
}

/// A member tells a voter that it lives.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Heartbeat {
    /// Which life.
    pub incarnation: Incarnation,
    /// The view that it has adopted.
    pub view: u64,
    /// Whether it has installed that view.
    pub is_active: bool,
    /// How many writes its disk has synced.
    pub synced: u64,
    /// Its number, larger than that of every earlier one.
    pub seq: u64,
    /// The number of the newest heartbeat that this voter has answered, as far as the sender knows.
    pub answered: u64,
    /// Members that have not acknowledged for too long, or whose report is missing for too long.
    #[serde(deserialize_with = "at_most::<_, _, MOST_NODES>")]
    pub unreachable: Vec<NodeId>,
    /// Whether a fence of this view is running out of numbers.
    pub is_running_out: bool,
}

/// A voter's answer to a heartbeat.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Ack {
    /// Who answers.
    pub voter: DiskId,
    /// How far its disk has come.
    pub state: DiskState,
    /// Whose heartbeat it was.
    pub incarnation: Incarnation,
    /// The number of the heartbeat.
    pub seq: u64,
    /// Whether the voter stands behind it; if not, there is a newer view without the sender, or with other voters.
    pub is_granted: bool,
    /// The newest view that the voter knows to be decided, if it leaves the sender out.
    pub left_out_by: Option<u64>,
}

/// A node asks to become a member.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Hello {
    /// Which life.
    pub incarnation: Incarnation,
    /// The algorithm that it runs, with what was chosen for it.
    pub algorithm: String,
    /// The times that it lives by.
    pub timing: Timing,
    /// The number of the newest view that it knows to be decided: so its age shows even where its life is not remembered.
    pub newest: u64,
    /// How many writes its disk has synced.
    pub synced: u64,
    /// Its number, larger than that of every earlier one.
    pub seq: u64,
    /// The nodes that it has heard answer for long enough.
    #[serde(deserialize_with = "at_most::<_, _, MOST_NODES>")]
    pub heard: Vec<NodeId>,
}

/// The answer to a hello.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Welcome {
    /// Whose hello it was.
    pub incarnation: Incarnation,
    /// The number of the hello.
    pub seq: u64,
    /// The algorithm that the answering node runs: one of another algorithm cannot take part.
    pub algorithm: String,
    /// The times that the answering node lives by: one with other times cannot take part.
    pub timing: Timing,
    /// Whether the disk of the one who said hello was removed and votes no more.
    pub is_removed: bool,
}

/// What a member tells all others when it learns of a view, in parts. It never changes afterwards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberReport {
    /// The view.
    pub view: u64,
    /// Who reports.
    pub incarnation: Incarnation,
    /// The sections that it is inside of, in the order of their names.
    pub inside: Vec<SectionName>,
    /// How long ago it last acknowledged a node that is not in the view, if it is a voter.
    pub age: Option<Ticks>,
}

/// A part of a report. A long report in one message would block a slow link, and a lost one would have to be sent again as a whole.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ReportPart {
    /// The view.
    pub view: u64,
    /// Who reports.
    pub incarnation: Incarnation,
    /// How long ago it last acknowledged a node that is not in the view, if it is a voter. The same in all parts.
    pub age: Option<Ticks>,
    /// Its number among the parts, from 0.
    pub number: u16,
    /// How many parts there are.
    pub count: u16,
    /// The sections that the reporter is inside of, those that belong to this part.
    #[serde(deserialize_with = "at_most::<_, _, MOST_INSIDE>")]
    pub inside: Vec<SectionName>,
}

impl MemberReport {
    /// The parts in which it is sent, at least one: each has as many names as fit.
    #[must_use]
    pub fn parts(&self) -> Vec<ReportPart> {
        let mut parts: Vec<Vec<SectionName>> = vec![Vec::new()];
        let mut bytes = 0;
        for name in &self.inside {
            if bytes + name.as_str().len() > LARGEST_PART {
                parts.push(Vec::new());
                bytes = 0;
            }
            bytes += name.as_str().len();
            parts.last_mut().into_iter().for_each(|part| part.push(name.clone()));
        }
        let MemberReport { view, incarnation, age, .. } = *self;
        let count = parts.len() as u16;
        let numbered = (0..).zip(parts);
        numbered
            .map(|(number, inside)| ReportPart { view, incarnation, age, number, count, inside })
            .collect()
    }
}

impl ReportPart {
    /// Whether it can be a part of a report.
    pub(crate) fn is_in_order(&self) -> bool {
        let bytes: usize = self.inside.iter().map(|name| name.as_str().len()).sum();
        let is_needed = self.count == 1 || !self.inside.is_empty();
        self.number < self.count && self.count <= MOST_PARTS && bytes <= LARGEST_PART && is_needed
    }
}

/// A message that is delivered in order within a view.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Parcel {
    /// A message of a section's algorithm.
    Section {
        /// The section.
        section: SectionName,
        /// The largest counter of a fence of that section that the sender knows.
        clock: u64,
        /// The algorithm's message.
        #[serde(deserialize_with = "at_most::<_, _, LONGEST_SAYING>")]
        bytes: Vec<u8>,
    },
    /// Open this section: its algorithm sends messages even without a request.
    Open(SectionName),
    /// A client waits for this section.
    Wanted(SectionName),
    /// To their home: these sections are idle here.
    Idle(#[serde(deserialize_with = "at_most::<_, _, MOST_FORGOTTEN>")] Vec<SectionName>),
    /// From their home: can these sections be forgotten?
    MayForget(#[serde(deserialize_with = "at_most::<_, _, MOST_FORGOTTEN>")] Vec<SectionName>),
    /// The answer to their home.
    Idleness(Idleness),
    /// From their home: forget these sections, whose clocks were at most this, or keep using them.
    Verdict {
        /// The sections to forget.
        #[serde(deserialize_with = "at_most::<_, _, MOST_FORGOTTEN>")]
        forget: Vec<SectionName>,
        /// The largest of their clocks.
        clock: u64,
        /// The sections to keep.
        #[serde(deserialize_with = "at_most::<_, _, MOST_FORGOTTEN>")]
        keep: Vec<SectionName>,
    },
    /// The holder of a section is to be told to stop.
    Break(BreakTarget),
    /// The answer: the holder, if there was one, was told.
    Broken {
        /// The holder that was meant.
        target: BreakTarget,
        /// Whether there was a holder.
        was_inside: bool,
    },
}

impl Parcel {
    /// The sections that come to life where it is opened, if they have not yet.
    pub(crate) fn opens(&self) -> &[SectionName] {
        match self {
            Parcel::Section { section, .. } | Parcel::Open(section) => std::slice::from_ref(section),
            Parcel::MayForget(names) => names,
            Parcel::Wanted(_) | Parcel::Idle(_) | Parcel::Idleness(_) | Parcel::Verdict { .. } => &[],
            Parcel::Break(_) | Parcel::Broken { .. } => &[],
        }
    }

    /// About how many bytes of memory it takes.
    pub(crate) fn weight(&self) -> usize {
        const NAME: usize = 64;
        let of = |names: &[SectionName]| names.iter().map(|name| NAME + name.as_str().len()).sum::<usize>();
        match self {
            Parcel::Section { section, bytes, .. } => of(std::slice::from_ref(section)) + bytes.len(),
            Parcel::Open(name) | Parcel::Wanted(name) => of(std::slice::from_ref(name)),
            Parcel::Break(target) | Parcel::Broken { target, .. } => {
                of(std::slice::from_ref(&target.section))
            }
            Parcel::Idle(names) | Parcel::MayForget(names) => of(names),
            Parcel::Verdict { forget, keep, .. } => of(forget) + of(keep),
            Parcel::Idleness(Idleness { answers, arrived }) => {
                let sent = |still: &Option<IdleSection>| still.as_ref().map_or(0, |still| still.sent.len());
                let answers = answers.iter().map(|(name, still)| {
                    of(std::slice::from_ref(name)) + size_of::<(NodeId, u64)>() * sent(still)
                });
                answers.sum::<usize>() + size_of::<(NodeId, u64)>() * arrived.len()
            }
        }
    }
}

/// How sections stand at one member that was asked whether they can be forgotten. Until the verdict it does nothing in those
/// that it agrees about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Idleness {
    /// The sections of the question, in its order, each with the member's answer.
    #[serde(deserialize_with = "at_most::<_, _, MOST_FORGOTTEN>")]
    pub answers: Vec<(SectionName, Option<IdleSection>)>,
    /// How many parcels of each member had arrived when it answered.
    #[serde(deserialize_with = "at_most::<_, _, MOST_NODES>")]
    pub arrived: Vec<(NodeId, u64)>,
}

/// A section that is idle at a member.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct IdleSection {
    /// Its clock there.
    pub clock: u64,
    /// The number of the last parcel about it to each member.
    #[serde(deserialize_with = "at_most::<_, _, MOST_NODES>")]
    pub sent: Vec<(NodeId, u64)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(names: usize, length: usize) -> MemberReport {
        let incarnation = Incarnation { disk: DiskId(1), boot: 1, tenure: 0, nonce: Nonce(0) };
        let inside = (0..names).map(|number| SectionName::new(&format!("{number:0length$}")));
        let inside = inside.map(|name| name.expect("a good name")).collect();
        MemberReport { view: 3, incarnation, inside, age: None }
    }

    #[test]
    fn a_report_has_one_part_or_as_many_as_its_names_need() {
        for (names, length, count) in [(0, 1, 1), (1, 255, 1), (10_000, 5, 7), (10_000, 255, 313)] {
            let report = report(names, length);
            let parts = report.parts();
            assert_eq!(parts.len(), count, "{names} names of {length} bytes");
            assert!(parts.iter().all(ReportPart::is_in_order));
            let longest =
                parts.iter().map(|part| crate::wire::encode(&Msg::Report(part.clone())).len()).max();
            assert!(longest <= Some(10 << 10), "{longest:?} bytes");
            let inside: Vec<SectionName> = parts.into_iter().flat_map(|part| part.inside).collect();
            assert_eq!(inside, report.inside);
        }
    }

    #[test]
    fn parts_that_cannot_be_are_not_in_order() {
        let good = report(1, 5).parts().remove(0);
        let broken = |change: fn(&mut ReportPart)| {
            let mut part = good.clone();
            change(&mut part);
            !part.is_in_order()
        };
        assert!(good.is_in_order());
        assert!(broken(|part| part.number = 1), "past the last");
        assert!(broken(|part| (part.number, part.count) = (MOST_PARTS, MOST_PARTS + 1)), "too many");
        assert!(broken(|part| part.inside = report(33, 255).inside), "too large");
        assert!(broken(|part| (part.count, part.inside) = (2, Vec::new())), "nothing is in it");
    }
}
