//! Interventions on single messages of a run, as typed on the command line.
//!
//! Messages are numbered in the order of sending. The network still draws its random decision for each
//! message before an intervention overrides it, so that up to the first intervention the run is the same as
//! without any.

use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;

use doorway_core::{Refusal, Ticks};

/// Overrides the network's decision on one message.
///
/// It overrides cuts and random loss. Channels still keep their order, no message arrives before it is sent,
/// and a crashed node receives nothing. With a retransmission layer it applies to the message that the layer
/// delivers, not to its attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Intervention {
    /// The number of the message: the first message of the run is 1.
    pub message: NonZeroU64,
    /// What happens to it.
    pub change: Change,
}

/// What an intervention does to its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// It arrives at this time.
    Arrive(Ticks),
    /// It never arrives.
    Lose,
    /// A second copy arrives at this time; if the first is lost, it is the only one.
    Double(Ticks),
}

impl Intervention {
    /// The time that it names.
    pub(crate) fn time(self) -> Option<Ticks> {
        match self.change {
            Change::Arrive(at) | Change::Double(at) => Some(at),
            Change::Lose => None,
        }
    }

    /// # Errors
    /// If two of them contradict each other.
    pub(crate) fn check(all: &[Self]) -> Result<(), Refusal> {
        let mut sorted = all.to_vec();
        sorted.sort_unstable();
        match sorted.windows(2).find(|pair| pair[0].contradicts(pair[1])) {
            Some(pair) => Err(Refusal::new(format!(
                "message {} cannot have two fates: leave out {} or {}",
                pair[0].message, pair[0], pair[1]
            ))),
            None => Ok(()),
        }
    }

    /// A message can arrive at one time and again at another; any other two changes contradict each other.
    fn contradicts(self, later: Self) -> bool {
        let goes_together = matches!((self.change, later.change), (Change::Arrive(_), Change::Double(_)));
        self.message == later.message && self != later && !goes_together
    }
}

impl FromStr for Intervention {
    type Err = Refusal;

    fn from_str(word: &str) -> Result<Self, Refusal> {
        let refusal = || {
            Refusal::new(format!(
                "{word:?} decides nothing about a message: MESSAGE@TIME, MESSAGE:lost or MESSAGE:twice@TIME, \
                 counted from 1, as in 12@40"
            ))
        };
        let (number, what) = word.split_once([':', '@']).ok_or_else(refusal)?;
        let message = number.trim().parse().map_err(|_| refusal())?;
        let time = |digits: &str| digits.trim().parse().map(Ticks).map_err(|_| refusal());
        let change = match what.trim() {
            digits if word[number.len()..].starts_with('@') => Change::Arrive(time(digits)?),
            "lost" => Change::Lose,
            twice => Change::Double(time(twice.strip_prefix("twice@").ok_or_else(refusal)?)?),
        };
        Ok(Self { message, change })
    }
}

/// As typed on the command line.
impl fmt::Display for Intervention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = self.message;
        match self.change {
            Change::Arrive(at) => write!(f, "{message}@{at}"),
            Change::Lose => write!(f, "{message}:lost"),
            Change::Double(at) => write!(f, "{message}:twice@{at}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(word: &str) -> Intervention {
        word.parse().expect(word)
    }

    #[test]
    fn interventions_parse() {
        let twelve = NonZeroU64::new(12).expect("it is not 0");
        let means = |word, change| assert_eq!(typed(word), Intervention { message: twelve, change });
        means("12@40", Change::Arrive(Ticks(40)));
        means(" 12 @ 40 ", Change::Arrive(Ticks(40)));
        means("12:lost", Change::Lose);
        means("12:twice@60", Change::Double(Ticks(60)));
    }

    #[test]
    fn printed_interventions_parse_again() {
        for word in ["12@40", "1:lost", "18446744073709551615:twice@0"] {
            assert_eq!(typed(word).to_string(), word);
        }
    }

    #[test]
    fn errors_show_a_correct_example() {
        let words = [
            "",
            "12",
            "@40",
            "12@",
            "0@40",
            "0:lost",
            "-1@4",
            "12@x",
            "12:gone",
            "12:twice",
            "12:twice@",
            "12@lost",
        ];
        for word in words.into_iter().chain(["12:40", "12:twice:40", "18446744073709551616@1"]) {
            let sentence = word.parse::<Intervention>().expect_err(word).to_string();
            assert!(sentence.starts_with(&format!("{word:?} decides nothing")), "{sentence}");
            assert!(sentence.ends_with("as in 12@40"), "{sentence}");
        }
    }

    #[test]
    fn contradicting_interventions_are_refused() {
        let check = |words: &[&str]| {
            let all: Vec<Intervention> = words.iter().map(|word| typed(word)).collect();
            Intervention::check(&all).map_err(|refusal| refusal.to_string())
        };
        assert_eq!(check(&["2:twice@9", "1:lost", "2@5", "3@5", "1:lost"]), Ok(()));
        let refused = |first: &str, second: &str| {
            Err(format!("message 7 cannot have two fates: leave out {first} or {second}"))
        };
        assert_eq!(check(&["7@5", "7@4"]), refused("7@4", "7@5"));
        assert_eq!(check(&["7:lost", "8@4", "7@4"]), refused("7@4", "7:lost"));
        assert_eq!(check(&["7:lost", "7:twice@4"]), refused("7:lost", "7:twice@4"));
        assert_eq!(check(&["7:twice@5", "7@1", "7:twice@4"]), refused("7:twice@4", "7:twice@5"));
    }
}
