//! Messages as bytes, with a version and with limits. What comes from outside is checked here, once.
//!
//! Reading takes no more memory than a small multiple of the bytes that are there. A list says first how long it is: one that
//! says more than it may is refused at that word. No room is made for what was only announced: a list grows as its elements are
//! read, and text and bytes are measured against what is left of the message.

use std::fmt;
use std::marker::PhantomData;

use doorway_core::{Refusal, SectionName};
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};

use crate::message::{Idleness, Msg, Parcel};

/// The version of the messages, in the first byte of each.
pub const VERSION: u8 = 4;

/// The longest message in bytes.
pub const LONGEST: usize = 4 << 20;

/// The largest number of nodes of a cluster.
pub const MOST_NODES: usize = 128;

/// The largest number of sections that one node can be inside of at once, which is what one report can tell.
pub const MOST_INSIDE: usize = 10_000;

/// The most bytes of names in one part of a report: 66 ms on a link of 1 Mbit/s, sooner than a part is repeated.
pub const LARGEST_PART: usize = 8 << 10;

/// The most parts of a report: a part is followed by another one only when the next name does not fit.
pub const MOST_PARTS: u16 =
    (MOST_INSIDE * SectionName::LONGEST).div_ceil(LARGEST_PART - SectionName::LONGEST) as u16 + 1;

/// The largest number of sections in one question about forgetting.
pub const MOST_FORGOTTEN: usize = 1_000;

/// The largest number of entries of the log in one message.
pub(crate) const MOST_APPENDED: usize = 4_096;

/// The longest message of an algorithm within a section, in bytes.
pub(crate) const LONGEST_SAYING: usize = 64 << 10;

/// The longest name of an algorithm with what was chosen for it.
const LONGEST_ALGORITHM: usize = 16 << 10;

/// The largest counter of a fence: it has 36 bits.
pub const LAST_COUNTER: u64 = (1 << COUNTER_BITS) - 1;

/// How many bits of a fence are its counter; above them stands the view.
pub const COUNTER_BITS: u32 = 36;

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
        return refuse(format!("a message can have at most {LONGEST} bytes, not {}", bytes.len()));
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
        Err(_) => refuse("these bytes are not a message".to_owned()),
    }
}

/// Whether a message keeps to the limits that are not those of its lists.
fn check(msg: &Msg) -> Result<(), &'static str> {
    let is_long = |algorithm: &String| algorithm.len() > LONGEST_ALGORITHM;
    match msg {
        Msg::Hello(hello) if is_long(&hello.algorithm) => Err("the name of an algorithm is too long"),
        Msg::Welcome(welcome) if is_long(&welcome.algorithm) => Err("the name of an algorithm is too long"),
        Msg::Founding(founding) if founding.list.as_ref().is_some_and(|list| list.0.len() > MOST_NODES) => {
            Err("more founders than a cluster can have nodes")
        }
        Msg::Parcel { parcel, .. } => check_parcel(parcel),
        Msg::Report(part) if !part.is_in_order() => Err("a part of a report is out of bounds"),
        Msg::Ballot(ballot) if !ballot.is_in_order() => Err("a message of the consensus is out of bounds"),
        Msg::Heartbeat(_)
        | Msg::Ack(_)
        | Msg::Hello(_)
        | Msg::Welcome(_)
        | Msg::Leave(_)
        | Msg::Report(_)
        | Msg::Heard { .. }
        | Msg::Got { .. }
        | Msg::Ballot(_)
        | Msg::Greeting(_)
        | Msg::Founding(_) => Ok(()),
    }
}

fn check_parcel(parcel: &Parcel) -> Result<(), &'static str> {
    let low = |clock: u64| if clock <= LAST_COUNTER { Ok(()) } else { Err("a fence has at most 36 bits") };
    match parcel {
        Parcel::Section { clock, .. } | Parcel::Verdict { clock, .. } => low(*clock),
        Parcel::Open(_) | Parcel::Wanted(_) | Parcel::Idle(_) | Parcel::MayForget(_) => Ok(()),
        Parcel::Break(_) | Parcel::Broken { .. } => Ok(()),
        Parcel::Idleness(Idleness { answers, .. }) => {
            let mut clocks = answers.iter().filter_map(|(_, still)| Some(still.as_ref()?.clock));
            clocks.try_for_each(low)
        }
    }
}

/// Reads a list of at most this many elements, and refuses a longer one by its length, before memory is allocated for it.
pub(crate) fn at_most<'de, D, T, const MOST: usize>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    deserializer.deserialize_seq(AtMost::<T, MOST>(PhantomData))
}

struct AtMost<T, const MOST: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const MOST: usize> Visitor<'de> for AtMost<T, MOST> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of at most {MOST}")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Vec<T>, A::Error> {
        let too_long = |length| A::Error::invalid_length(length, &format!("at most {MOST}").as_str());
        if let Some(length) = elements.size_hint().filter(|length| *length > MOST) {
            return Err(too_long(length));
        }
        let mut list = Vec::new();
        while let Some(element) = elements.next_element()? {
            if list.len() == MOST {
                return Err(too_long(MOST + 1));
            }
            list.push(element);
        }
        Ok(list)
    }
}
