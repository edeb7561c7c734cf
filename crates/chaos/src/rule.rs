//! The rules of the change of members, as far as it can be seen from outside that they were needed.

/// Makes the list of rules: the variant, its number among the rules of the change of members, and what is seen of it.
macro_rules! rules {
    ($($rule:ident = $number:literal, $about:literal;)*) => {
        /// Something that a rule makes happen, or forbids, and that was seen.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum ObservedRule {
            $(#[doc = $about] $rule,)*
        }

        impl ObservedRule {
            /// All of them, in the order of their numbers.
            pub const ALL: &[ObservedRule] = &[$(ObservedRule::$rule),*];

            /// The number of the rule.
            #[must_use]
            pub fn number(self) -> u8 {
                match self { $(ObservedRule::$rule => $number,)* }
            }

            /// What was seen, in a few words.
            #[must_use]
            pub fn about(self) -> &'static str {
                match self { $(ObservedRule::$rule => $about,)* }
            }
        }
    };
}

rules! {
    Heartbeat = 2, "a member sends a heartbeat";
    RefusedOutsider = 3, "a voter refuses a life that its log leaves out";
    RefusedStale = 3, "a voter refuses a member that missed a change of voters";
    JointLease = 4, "a lease grows by majorities of two voter sets";
    KeptLease = 4, "a view is adopted with a lease from before it";
    Decided = 5, "a view is decided";
    Replaced = 6, "a view replaces a life by a later one of its disk";
    TakenIn = 7, "a view takes in a node";
    SeveralTakenIn = 7, "a view takes in several nodes";
    Learned = 8, "a node learns of decided views";
    SkippedView = 9, "a member adopts a view and never adopted the one before";
    ReportedInside = 9, "a member reports a holder";
    LimboRelease = 10, "a holder releases while the reports are awaited";
    Installed = 11, "a member has all reports and acts in a view";
    InstalledHolders = 11, "the same, and a holder is known";
    DroppedOld = 12, "a message of an older view arrives";
    KeptEarly = 12, "a message arrives before its view is installed";
    LeftOut = 13, "a node finds itself left out and begins a new life";
    LeaseLost = 14, "a lease ends, and a holder is told to stop";
    QuietRaised = 15, "the quiet time is prolonged";
    QuietLowered = 16, "the age rule shortens the quiet time";
    AgeWithheld = 16, "the age rule is not used, as voters have just changed";
    QuietEntry = 17, "a reported section is entered in the quiet time";
    Renewed = 18, "a holder is told a later deadline";
    FenceOfNewView = 19, "a section is entered in a later view than before";
    ForgottenAlone = 20, "a node forgets a section that is as at first";
    ForgottenTogether = 20, "all members forget a section together";
    LeftClean = 21, "a node leaves by itself, and the others do not wait";
    JointView = 22, "a view with two voter sets is decided";
    NewVoters = 22, "a view with a new voter set is decided";
    ExcludedByLeader = 23, "the leader leaves out a member";
    SteppedDown = 24, "a leader without a majority stops leading";
    NewDisk = 26, "a node is taken in with another disk than before";
    Restarted = 27, "a node starts again and draws a new nonce";
    SetBack = 28, "a node finds that its disk was set back";
    Founded = 29, "a cluster is founded by nodes with blank disks";
    Stranger = 30, "a node refuses another epoch, or hears of two";
    Freed = 31, "a section is freed a margin after the deadline";
    Silent = 32, "a holder without a sign of life is told to stop";
}

/// The rules of which nothing can be seen here, and why.
pub const UNSEEN: [(u8, &str); 3] =
    [(1, "seen as rule 14"), (25, "judged, not seen"), (33, "clients here are local")];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_is_seen_or_said_to_be_unseen() {
        let mut numbers: Vec<u8> = ObservedRule::ALL.iter().map(|rule| rule.number()).collect();
        assert!(numbers.is_sorted(), "{numbers:?}");
        numbers.dedup();
        numbers.extend(UNSEEN.map(|(number, _)| number));
        numbers.sort_unstable();
        assert_eq!(numbers, (1..=33).collect::<Vec<u8>>());
    }
}
