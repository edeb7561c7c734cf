//! Messages as bytes, with a version and with limits. What comes from outside is checked here, once.

use doorway_core::Refusal;

use crate::consensus::Ballot;
use crate::message::{Idleness, Msg, Parcel};
use crate::view::View;

/// The version of the messages, in the first byte of each.
pub const VERSION: u8 = 1;

/// The longest message in bytes.
pub const LONGEST: usize = 4 << 20;

/// The largest number of nodes of a cluster.
pub const MOST_NODES: usize = 128;

/// The largest number of sections that one node can be inside of at once, which is what one report can tell.
pub const MOST_INSIDE: usize = 10_000;

/// The largest number of sections in one question about forgetting.
pub const MOST_FORGOTTEN: usize = 1_000;

/// The longest name of an algorithm with what was chosen for it.
const LONGEST_ALGORITHM: usize = 16 << 10;

/// The largest counter of a fence: it has 36 bits.
pub const LAST_COUNTER: u64 = (1 << 36) - 1;

/// A message as bytes.
#[must_use]
pub fn encode(msg: &Msg) -> Vec<u8> {
    let bytes = postcard::to_extend(msg, vec![VERSION]);
    // Our own messages have only types that postcard knows.
    bytes.unwrap_or_default()
}

/// A message from bytes.
///
/// # Errors
/// One sentence about what is wrong with them.
pub fn decode(bytes: &[u8]) -> Result<Msg, Refusal> {
    let refuse = |sentence: String| Err(Refusal::new(sentence));
    if bytes.len() > LONGEST {
        return refuse(format!("a message has at most {LONGEST} bytes, not {}", bytes.len()));
    }
    let Some((&version, body)) = bytes.split_first() else {
        return refuse("a message has at least one byte".to_owned());
    };
    if version != VERSION {
        return refuse(format!("this node speaks version {VERSION} of the messages, not {version}"));
    }
    match postcard::take_from_bytes::<Msg>(body) {
        Ok((msg, [])) => check(&msg).map(|()| msg).map_err(Refusal::new),
        Ok((_, rest)) => refuse(format!("{} bytes follow the end of a message", rest.len())),
        Err(_) => refuse("these bytes are no message".to_owned()),
    }
}

/// Whether a message keeps to the limits.
fn check(msg: &Msg) -> Result<(), &'static str> {
    let few = |count: usize, sentence| if count <= MOST_NODES { Ok(()) } else { Err(sentence) };
    match msg {
        Msg::Heartbeat(heartbeat) => few(heartbeat.unreachable.len(), "a heartbeat names too many nodes"),
        Msg::Hello(hello) if hello.algorithm.len() > LONGEST_ALGORITHM => {
            Err("the name of an algorithm is too long")
        }
        Msg::Hello(hello) => few(hello.heard.len(), "a hello names too many nodes"),
        Msg::Welcome(welcome) if welcome.algorithm.len() > LONGEST_ALGORITHM => {
            Err("the name of an algorithm is too long")
        }
        Msg::Report(report) if report.inside.len() > MOST_INSIDE => Err("a report names too many sections"),
        Msg::Parcel { parcel, .. } => check_parcel(parcel),
        Msg::Ballot(ballot) => check_ballot(ballot),
        Msg::Ack(_)
        | Msg::Welcome(_)
        | Msg::Leave(_)
        | Msg::Report(_)
        | Msg::Heard { .. }
        | Msg::Got { .. } => Ok(()),
    }
}

fn check_parcel(parcel: &Parcel) -> Result<(), &'static str> {
    let few =
        |count: usize| if count <= MOST_FORGOTTEN { Ok(()) } else { Err("too many sections in one message") };
    let low = |clock: u64| if clock <= LAST_COUNTER { Ok(()) } else { Err("a fence has at most 36 bits") };
    match parcel {
        Parcel::Section { clock, .. } => low(*clock),
        Parcel::Open(_) | Parcel::Wanted(_) => Ok(()),
        Parcel::Idle(names) | Parcel::MayForget(names) => few(names.len()),
        Parcel::Idleness(Idleness { answers, arrived }) => {
            let still = answers.iter().filter_map(|(_, still)| still.as_ref());
            let is_low = still.clone().all(|still| still.clock <= LAST_COUNTER);
            let is_short = still.chain([]).all(|still| still.sent.len() <= MOST_NODES);
            few(answers.len())?;
            if is_low && is_short && arrived.len() <= MOST_NODES {
                Ok(())
            } else {
                Err("an answer about idle sections is out of bounds")
            }
        }
        Parcel::Verdict { forget, clock, keep } => {
            few(forget.len())?;
            few(keep.len())?;
            low(*clock)
        }
    }
}

fn check_ballot(ballot: &Ballot) -> Result<(), &'static str> {
    let is_small = |view: &View| {
        let sets = view.voter_sets().map(|voters| voters.len());
        let most = sets.chain([view.members.len(), view.clean.len()]).max();
        view.number <= View::LAST && most.is_some_and(|most| most <= MOST_NODES)
    };
    if ballot.views().all(is_small) && ballot.is_in_order() {
        Ok(())
    } else {
        Err("a message of the consensus is out of bounds")
    }
}
