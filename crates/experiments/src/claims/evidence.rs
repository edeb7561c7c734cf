//! The evidence for and against a claim, and the verdict that follows.

use super::Verdict;

/// One check of a claim: a run, or many of one kind.
#[derive(Clone, Debug)]
pub struct Check {
    /// Whether it was as the claim says.
    pub holds: bool,
    /// What was seen.
    pub measured: String,
    /// The command that reproduces it.
    pub command: String,
}

/// All checks of a claim: where it should hold, and outside its condition.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    inside: Vec<Check>,
    outside: Vec<Check>,
}

impl Evidence {
    /// Evidence of one check.
    #[must_use]
    pub fn of(check: Check) -> Self {
        Self::default().and(check)
    }

    /// With one check more, where the claim should hold.
    #[must_use]
    pub fn and(mut self, check: Check) -> Self {
        self.inside.push(check);
        self
    }

    /// With one check more, outside the condition under which the claim should hold.
    #[must_use]
    pub fn but(mut self, check: Check) -> Self {
        self.outside.push(check);
        self
    }

    /// The verdict. A claim is refuted by any check where it should hold; it holds only under its condition if there are
    /// checks outside and all of them fail.
    #[must_use]
    pub fn verdict(&self, expected: Verdict) -> Verdict {
        let all_hold = |checks: &[Check]| checks.iter().all(|check| check.holds);
        let none_holds = |checks: &[Check]| !checks.is_empty() && checks.iter().all(|check| !check.holds);
        match expected {
            _ if !all_hold(&self.inside) => Verdict::Refuted,
            Verdict::HoldsIf(condition) if none_holds(&self.outside) => Verdict::HoldsIf(condition),
            Verdict::Holds | Verdict::HoldsIf(_) | Verdict::Refuted => Verdict::Holds,
        }
    }

    /// What was seen: the checks that failed if any did, else all.
    #[must_use]
    pub fn measured(&self) -> String {
        let failed: Vec<&str> =
            self.inside.iter().filter(|check| !check.holds).map(|check| check.measured.as_str()).collect();
        if !failed.is_empty() {
            return failed.join("; ");
        }
        let mut told = few(&self.inside);
        told.extend(few(&self.outside).iter().map(|measured| format!("outside: {measured}")));
        told.join("; ")
    }

    /// The command that reproduces it: of the first check that failed, or of the first of all.
    #[must_use]
    pub fn command(&self) -> String {
        let told = self.inside.iter().find(|check| !check.holds).or(self.inside.first());
        told.map(|check| check.command.clone()).unwrap_or_default()
    }

    /// The command that reproduces a run outside the condition, if there is one.
    #[must_use]
    pub fn outside_command(&self) -> Option<String> {
        self.outside.iter().find(|check| !check.holds).map(|check| check.command.clone())
    }
}

/// What was seen; of many checks only the last ones, which are the largest.
fn few(checks: &[Check]) -> Vec<String> {
    const MOST: usize = 8;
    const SHOWN: usize = 2;
    let told = |checks: &[Check]| checks.iter().map(|check| check.measured.clone()).collect::<Vec<_>>();
    if checks.len() <= MOST {
        return told(checks);
    }
    let more = format!("and {} more", checks.len() - SHOWN);
    [told(&checks[checks.len() - SHOWN..]), vec![more]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(holds: bool) -> Check {
        Check { holds, measured: "seen".to_owned(), command: "typed".to_owned() }
    }

    #[test]
    fn the_verdict_follows_from_the_checks_alone() {
        const CONDITION: Verdict = Verdict::HoldsIf("it rains");
        let good = || Evidence::of(check(true));
        for expected in [Verdict::Holds, CONDITION, Verdict::Refuted] {
            assert_eq!(good().verdict(expected), Verdict::Holds, "nothing speaks against it");
            assert_eq!(good().and(check(false)).verdict(expected), Verdict::Refuted);
        }
        assert_eq!(good().but(check(false)).verdict(CONDITION), CONDITION);
        assert_eq!(good().but(check(true)).verdict(CONDITION), Verdict::Holds, "without any condition");
        assert_eq!(
            good().but(check(false)).but(check(true)).verdict(CONDITION),
            Verdict::Holds,
            "another one"
        );
    }
}
