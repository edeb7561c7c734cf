//! What a run, or many, came to see: which faults were in force together, which rules were needed, what was aimed at.

use std::collections::BTreeMap;

use doorway_core::Ticks;
use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::fault::InjectedFault;
use super::moment::Moment;
use super::rule::ObservedRule;

/// What was seen in one run or in many: a campaign's is the sum of its runs'.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// How often a fault began while another was in force, by pairs in their order.
    met: BTreeMap<(InjectedFault, InjectedFault), u64>,
    /// How often each rule was seen.
    fired: BTreeMap<ObservedRule, u64>,
    /// How often a fault struck at a moment that it was aimed at.
    hits: BTreeMap<Moment, u64>,
    /// How long all runs lasted, and for how long of that at least one fault and at least two were in force.
    time: Time,
    /// The faults in force in the present run.
    present: Present,
}

/// Virtual time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Time {
    /// Of all runs.
    pub all: Ticks,
    /// With a fault in force.
    pub under_one: Ticks,
    /// With two or more.
    pub under_two: Ticks,
}

impl Time {
    fn add(&mut self, all: Ticks, under_one: Ticks, under_two: Ticks) {
        self.all = self.all + all;
        self.under_one = self.under_one + under_one;
        self.under_two = self.under_two + under_two;
    }
}

/// What is in force now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Present {
    faults: Vec<(InjectedFault, Ticks)>,
    /// Until when at least one of them is in force, and at least two.
    ends: [Ticks; 2],
}

impl Coverage {
    /// Nothing was seen yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// All pairs of faults that can be in force together; one of them twice is a pair.
    pub fn pairs() -> impl Iterator<Item = (InjectedFault, InjectedFault)> {
        let all = InjectedFault::ALL.into_iter().enumerate();
        let pairs = all
            .flat_map(|(place, first)| InjectedFault::ALL[place..].iter().map(move |other| (first, *other)));
        pairs.filter(|(first, other)| first.can_meet(*other))
    }

    /// A fault begins and is in force until a time. Faults begin in the order of time.
    pub(super) fn begin(&mut self, fault: InjectedFault, now: Ticks, until: Ticks) {
        let Present { faults, ends } = &mut self.present;
        faults.retain(|(_, end)| *end > now);
        for (other, _) in faults.iter().filter(|(other, _)| other.can_meet(fault)) {
            *self.met.entry((fault.min(*other), fault.max(*other))).or_default() += 1;
        }
        faults.push((fault, until));
        let [one, two] = *ends;
        self.time.add(Ticks(0), until - now.max(one), until.min(one) - now.max(two));
        *ends = [one.max(until), two.max(one.min(until))];
    }

    /// A fault struck where it was aimed at.
    pub(super) fn hit(&mut self, moment: Moment) {
        *self.hits.entry(moment).or_default() += 1;
    }

    /// A run is over that lasted so long and in which these rules were seen.
    pub(super) fn end(&mut self, length: Ticks, fired: &BTreeMap<ObservedRule, u64>) {
        self.time.add(length, Ticks(0), Ticks(0));
        add(&mut self.fired, fired);
        self.present = Present::default();
    }

    /// What was seen in other runs as well.
    pub fn merge(&mut self, other: &Coverage) {
        add(&mut self.met, &other.met);
        add(&mut self.fired, &other.fired);
        add(&mut self.hits, &other.hits);
        let Time { all, under_one, under_two } = other.time;
        self.time.add(all, under_one, under_two);
    }

    /// How often two faults met.
    #[must_use]
    pub fn met(&self, one: InjectedFault, other: InjectedFault) -> u64 {
        self.met.get(&(one.min(other), one.max(other))).copied().unwrap_or_default()
    }

    /// The pairs that never met.
    pub fn never_met(&self) -> impl Iterator<Item = (InjectedFault, InjectedFault)> {
        Self::pairs().filter(|(one, other)| self.met(*one, *other) == 0)
    }

    /// How often a rule was seen.
    #[must_use]
    pub fn fired(&self, rule: ObservedRule) -> u64 {
        self.fired.get(&rule).copied().unwrap_or_default()
    }

    /// The rules that were never seen.
    pub fn never_fired(&self) -> impl Iterator<Item = ObservedRule> {
        ObservedRule::ALL.iter().copied().filter(|rule| self.fired(*rule) == 0)
    }

    /// How often a fault struck at such a moment on purpose.
    #[must_use]
    pub fn hits(&self, moment: Moment) -> u64 {
        self.hits.get(&moment).copied().unwrap_or_default()
    }

    /// How long it all lasted.
    #[must_use]
    pub fn time(&self) -> Time {
        self.time
    }
}

fn add<K: Copy + Ord>(sum: &mut BTreeMap<K, u64>, more: &BTreeMap<K, u64>) {
    more.iter().for_each(|(key, count)| *sum.entry(*key).or_default() += count);
}

/// The name of a pair.
fn pair((one, other): (InjectedFault, InjectedFault)) -> String {
    format!("{one} + {other}")
}

/// The name of a rule, with its number.
fn told(rule: ObservedRule) -> String {
    format!("{} {}", rule.number(), rule.about())
}

/// As maps from names to numbers, with what was never seen by name.
impl Serialize for Coverage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut form = serializer.serialize_struct("Coverage", 6)?;
        let time = [
            ("virtual time", self.time.all.0),
            ("under one fault", self.time.under_one.0),
            ("under two faults", self.time.under_two.0),
        ];
        form.serialize_field("microseconds", &BTreeMap::from(time))?;
        let hits = Moment::ALL.map(|moment| (moment.name(), self.hits(moment)));
        form.serialize_field("aimed", &BTreeMap::from(hits))?;
        let met: BTreeMap<String, u64> =
            Self::pairs().map(|(one, other)| (pair((one, other)), self.met(one, other))).collect();
        form.serialize_field("pairs", &met)?;
        form.serialize_field("never_met", &self.never_met().map(pair).collect::<Vec<_>>())?;
        let fired: BTreeMap<String, u64> =
            ObservedRule::ALL.iter().map(|rule| (told(*rule), self.fired(*rule))).collect();
        form.serialize_field("rules", &fired)?;
        form.serialize_field("never_fired", &self.never_fired().map(told).collect::<Vec<_>>())?;
        form.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_meet_if_one_begins_while_the_other_is_in_force() {
        let mut coverage = Coverage::new();
        coverage.begin(InjectedFault::Pause, Ticks(10), Ticks(20));
        coverage.begin(InjectedFault::Crash, Ticks(15), Ticks(30));
        coverage.begin(InjectedFault::Crash, Ticks(20), Ticks(22));
        coverage.begin(InjectedFault::Loss, Ticks(40), Ticks(50));
        coverage.end(Ticks(100), &[(ObservedRule::Decided, 2)].into());
        assert_eq!(coverage.met(InjectedFault::Crash, InjectedFault::Pause), 1);
        assert_eq!(coverage.met(InjectedFault::Pause, InjectedFault::Crash), 1, "in either order");
        assert_eq!(coverage.met(InjectedFault::Crash, InjectedFault::Crash), 1, "one kind twice");
        assert_eq!(coverage.met(InjectedFault::Crash, InjectedFault::Loss), 0);
        let time = Time { all: Ticks(100), under_one: Ticks(30), under_two: Ticks(7) };
        assert_eq!(coverage.time(), time);
        assert_eq!(coverage.never_met().count(), Coverage::pairs().count() - 2);
        assert_eq!(coverage.never_fired().count(), ObservedRule::ALL.len() - 1);
    }

    #[test]
    fn what_many_runs_saw_is_the_sum_of_what_each_saw() {
        let run = |fault, moment| {
            let mut one = Coverage::new();
            one.begin(fault, Ticks(1), Ticks(9));
            one.begin(InjectedFault::Pause, Ticks(2), Ticks(5));
            one.hit(moment);
            one.end(Ticks(10), &[(ObservedRule::Decided, 3)].into());
            one
        };
        let (one, other) =
            (run(InjectedFault::Crash, Moment::Joint), run(InjectedFault::Loss, Moment::Barrier));
        let mut both = one.clone();
        both.merge(&other);
        let met = [
            (InjectedFault::Crash, InjectedFault::Pause),
            (InjectedFault::Loss, InjectedFault::Pause),
            (InjectedFault::Crash, InjectedFault::Loss),
        ];
        assert_eq!(met.map(|(a, b)| both.met(a, b)), [1, 1, 0], "faults of different runs do not meet");
        assert_eq!(both.fired(ObservedRule::Decided), 6);
        assert_eq!(Moment::ALL.map(|moment| both.hits(moment)), [0, 1, 0, 1, 0]);
        assert_eq!(both.time(), Time { all: Ticks(20), under_one: Ticks(16), under_two: Ticks(6) });
    }

    #[test]
    fn of_three_faults_in_force_at_once_the_time_under_two_counts_once() {
        let mut coverage = Coverage::new();
        for (now, until) in [(0, 10), (2, 8), (4, 12), (20, 21)] {
            coverage.begin(InjectedFault::Crash, Ticks(now), Ticks(until));
        }
        assert_eq!(coverage.time(), Time { all: Ticks(0), under_one: Ticks(13), under_two: Ticks(8) });
    }
}
