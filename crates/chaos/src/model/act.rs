//! What can happen at a node, as a number for the checker and as a sentence for people.

use std::fmt;

use super::roster::{Roster, Seat};
use super::state::NODES;
use super::voters::{Voters, Voting};

/// What happens at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// It sends a heartbeat, which a voter acknowledges.
    Heartbeat { voter: usize },
    /// A second voter acknowledges the heartbeat: a lease.
    Renew { voter: usize },
    /// It writes a view of its own into its log.
    Propose { view: u8, roster: Roster },
    /// It takes a view, or that there is none, from another's log.
    Accept { view: u8, from: usize },
    /// It writes into its log that the new voters decide.
    Configure,
    /// It takes that the new voters decide, or that they do not, from another's log.
    AcceptConfig { from: usize },
    /// It learns that the new voters decide.
    DecideConfig,
    /// It learns that a view of its log is decided.
    Learn { view: u8 },
    /// All reports are here.
    Install { view: u8 },
    /// It sends the permission of its view to another.
    Pass { view: u8, to: usize },
    /// A permission arrives.
    Receive { view: u8 },
    /// It lets its client in.
    Enter { view: u8 },
    /// It lets its client in by a view that it should have frozen.
    EnterUnfrozen,
    /// Its client leaves.
    Release,
    /// It tells its client to stop.
    Tell,
    /// Its lease ends while its client is inside.
    LeaseEnds,
    /// The deadline of the client of its earlier incarnation comes.
    OrphanEnds,
    /// Its quiet time ends.
    QuietEnds,
    /// Its quiet time ends by the ages that these voters have reported.
    QuietAges { voters: Voters },
    /// It says that it leaves.
    Leave,
    /// It crashes.
    Crash,
    /// It is started again.
    Restart,
    /// Its disk is replaced by an earlier copy, with the log up to this view or, if it is 0, as before the first start; and it is
    /// started again. These voters, one bit each, know of what it lacks.
    SetBack { view: u8, voters: u8 },
    /// It hears from a voter what it lacks.
    Greet { voter: usize },
}

impl Act {
    /// Its number.
    pub(super) fn code(self) -> u32 {
        let (kind, view, other) = match self {
            Act::Heartbeat { voter } => (0, 0, voter as u32),
            Act::Renew { voter } => (1, 0, voter as u32),
            Act::Propose { view, roster } => (2, view, roster.code()),
            Act::Accept { view, from } => (3, view, from as u32),
            Act::Learn { view } => (4, view, 0),
            Act::Install { view } => (5, view, 0),
            Act::Pass { view, to } => (6, view, to as u32),
            Act::Receive { view } => (7, view, 0),
            Act::Enter { view } => (8, view, 0),
            Act::EnterUnfrozen => (16, 0, 0),
            Act::Release => (9, 0, 0),
            Act::LeaseEnds => (10, 0, 0),
            Act::OrphanEnds => (11, 0, 0),
            Act::QuietEnds => (12, 0, 0),
            Act::Leave => (13, 0, 0),
            Act::Crash => (14, 0, 0),
            Act::Restart => (15, 0, 0),
            Act::SetBack { view, voters } => (17, view, u32::from(voters)),
            Act::Greet { voter } => (18, 0, voter as u32),
            Act::Configure => (19, 0, 0),
            Act::AcceptConfig { from } => (20, 0, from as u32),
            Act::DecideConfig => (21, 0, 0),
            Act::Tell => (22, 0, 0),
            Act::QuietAges { voters } => (23, 0, u32::from(voters.0)),
        };
        kind | u32::from(view) << 5 | other << 8
    }

    /// The act with this number.
    pub(super) fn of(code: u32) -> Self {
        let (view, other) = ((code >> 5 & 7) as u8, code >> 8);
        let node = other as usize;
        match code & 31 {
            0 => Act::Heartbeat { voter: node },
            1 => Act::Renew { voter: node },
            2 => Act::Propose { view, roster: Roster::of(other) },
            3 => Act::Accept { view, from: node },
            4 => Act::Learn { view },
            5 => Act::Install { view },
            6 => Act::Pass { view, to: node },
            7 => Act::Receive { view },
            8 => Act::Enter { view },
            9 => Act::Release,
            10 => Act::LeaseEnds,
            11 => Act::OrphanEnds,
            12 => Act::QuietEnds,
            13 => Act::Leave,
            14 => Act::Crash,
            15 => Act::Restart,
            17 => Act::SetBack { view, voters: other as u8 },
            18 => Act::Greet { voter: node },
            19 => Act::Configure,
            20 => Act::AcceptConfig { from: node },
            21 => Act::DecideConfig,
            22 => Act::Tell,
            23 => Act::QuietAges { voters: Voters(other as u8) },
            _ => Act::EnterUnfrozen,
        }
    }

    /// A sentence about what happens at a node.
    pub(super) fn at(self, node: usize) -> String {
        let me = node + 1;
        match self {
            Act::Heartbeat { voter } => {
                format!("node {me} sends a heartbeat, and voter {} acknowledges it", voter + 1)
            }
            Act::Renew { voter } => {
                format!("voter {} acknowledges it, too: node {me} has a new lease", voter + 1)
            }
            Act::Propose { view, roster } => format!("node {me} proposes view {view}: {roster}"),
            Act::Accept { view, from } => {
                format!("node {me} takes what node {} has as view {view}", from + 1)
            }
            Act::Configure => format!("node {me} proposes that the new voters decide"),
            Act::AcceptConfig { from } => {
                format!("node {me} takes from the log of node {} whether the new voters decide", from + 1)
            }
            Act::DecideConfig => format!("node {me} learns that the new voters decide"),
            Act::Learn { view } => format!("node {me} learns view {view}"),
            Act::Install { view } => format!("node {me} installs view {view}"),
            Act::Pass { view, to } => {
                format!("node {me} sends the permission of view {view} to node {}", to + 1)
            }
            Act::Receive { view } => format!("the permission of view {view} arrives at node {me}"),
            Act::Enter { view } => format!("node {me} lets its client in, in view {view}"),
            Act::EnterUnfrozen => {
                format!("node {me} lets its client in by the view that it should have frozen")
            }
            Act::Release => format!("the client of node {me} leaves"),
            Act::Tell => format!("node {me} tells its client to stop"),
            Act::LeaseEnds => format!("the lease of node {me} ends, and its client stops"),
            Act::OrphanEnds => {
                format!("the client that the crashed node {me} left behind reaches its deadline")
            }
            Act::QuietEnds => format!("the quiet time of node {me} ends"),
            Act::QuietAges { voters } => {
                format!("the quiet time of node {me} ends by the ages of {}", names_of(voters))
            }
            Act::Leave => format!("node {me} says that it leaves"),
            Act::Crash => format!("node {me} crashes"),
            Act::Restart => format!("node {me} is started again"),
            Act::SetBack { view: 0, .. } => {
                format!("node {me} restarts with its disk from before its first start")
            }
            Act::SetBack { view, voters } => {
                let names = names_of(Voters(voters));
                format!(
                    "node {me} restarts with an earlier disk that ends with view {view}; known to {names}"
                )
            }
            Act::Greet { voter } => {
                format!("node {me} hears from voter {} what it lacks, and marks its disk", voter + 1)
            }
        }
    }
}

/// The names of a set of voters, one bit each.
fn names_of(voters: Voters) -> String {
    let is_in = |voter: &usize| voters.has(*voter);
    let names: Vec<String> = (0..NODES).filter(is_in).map(|voter| format!("voter {}", voter + 1)).collect();
    names.join(" and ")
}

impl fmt::Display for Roster {
    /// Its members, each with a prime for every earlier incarnation, and the node that has left by itself.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let primes = |node: usize| "'".repeat(self.life(node).map_or(0, usize::from));
        let names: Vec<String> = self.members().map(|node| format!("{}{}", node + 1, primes(node))).collect();
        f.write_str(&names.join(", "))?;
        if let Some(node) = self.seats.iter().position(|seat| *seat == Seat::Clean) {
            write!(f, "; {} has left by itself", node + 1)?;
        }
        match self.voting {
            Voting::Old => Ok(()),
            Voting::Joint => f.write_str("; with both voter sets"),
            Voting::New => f.write_str("; with the new voters"),
        }
    }
}
