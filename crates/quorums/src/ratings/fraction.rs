//! Exact fractions.

use std::cmp::Ordering;
use std::fmt;

/// A non-negative fraction in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fraction {
    numerator: u128,
    denominator: u128,
}

impl Fraction {
    /// The fraction in lowest terms.
    ///
    /// # Panics
    /// If the denominator is 0.
    #[must_use]
    pub fn new(numerator: u128, denominator: u128) -> Self {
        assert!(denominator > 0, "the denominator must not be 0");
        let divisor = greatest_common_divisor(numerator, denominator);
        Self { numerator: numerator / divisor, denominator: denominator / divisor }
    }

    /// The numerator.
    #[must_use]
    pub fn numerator(self) -> u128 {
        self.numerator
    }

    /// The denominator.
    #[must_use]
    pub fn denominator(self) -> u128 {
        self.denominator
    }

    /// The value in floating point, up to rounding.
    #[must_use]
    pub fn value(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }

    /// One divided by this, unless this is 0.
    #[must_use]
    pub fn inverse(self) -> Option<Self> {
        (self.numerator > 0).then_some(Self { numerator: self.denominator, denominator: self.numerator })
    }

    /// The smallest integer that is not less.
    #[must_use]
    pub fn ceiling(self) -> u128 {
        self.numerator.div_ceil(self.denominator)
    }

    /// The sum, unless it needs too many digits.
    pub(crate) fn plus(self, other: Self) -> Option<Self> {
        let common = greatest_common_divisor(self.denominator, other.denominator);
        let (mine, theirs) = (other.denominator / common, self.denominator / common);
        let numerator =
            self.numerator.checked_mul(mine)?.checked_add(other.numerator.checked_mul(theirs)?)?;
        Some(Self::new(numerator, self.denominator.checked_mul(mine)?))
    }

    /// The product, unless it needs too many digits.
    pub(crate) fn times(self, other: Self) -> Option<Self> {
        let (one, two) =
            (Self::new(self.numerator, other.denominator), Self::new(other.numerator, self.denominator));
        Some(Self {
            numerator: one.numerator.checked_mul(two.numerator)?,
            denominator: one.denominator.checked_mul(two.denominator)?,
        })
    }
}

/// A whole number as a fraction.
impl From<usize> for Fraction {
    fn from(whole: usize) -> Self {
        Self { numerator: whole as u128, denominator: 1 }
    }
}

/// Euclid's algorithm: compares the whole parts, then the inverses of the remainders. Nothing is multiplied,
/// so nothing can overflow.
impl Ord for Fraction {
    fn cmp(&self, other: &Self) -> Ordering {
        let (whole, rest) = (self.numerator / self.denominator, self.numerator % self.denominator);
        let (others_whole, others_rest) =
            (other.numerator / other.denominator, other.numerator % other.denominator);
        whole.cmp(&others_whole).then_with(|| match (rest, others_rest) {
            (0, _) | (_, 0) => rest.cmp(&others_rest),
            _ => Self { numerator: other.denominator, denominator: others_rest }
                .cmp(&Self { numerator: self.denominator, denominator: rest }),
        })
    }
}

impl PartialOrd for Fraction {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.denominator {
            1 => write!(f, "{}", self.numerator),
            _ => write!(f, "{}/{}", self.numerator, self.denominator),
        }
    }
}

/// The largest number that divides both; with 0 the other number.
pub(crate) fn greatest_common_divisor(mut one: u128, mut other: u128) -> u128 {
    while other > 0 {
        (one, other) = (other, one % other);
    }
    one
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fraction(numerator: u128, denominator: u128) -> Fraction {
        Fraction::new(numerator, denominator)
    }

    #[test]
    fn fractions_are_kept_in_lowest_terms() {
        assert_eq!(fraction(6, 14).to_string(), "3/7");
        assert_eq!(fraction(6, 3).to_string(), "2");
        assert_eq!(fraction(0, 5).to_string(), "0");
        assert_eq!((fraction(7, 2).ceiling(), fraction(6, 2).ceiling()), (4, 3));
        assert_eq!((fraction(2, 3).inverse(), fraction(0, 3).inverse()), (Some(fraction(3, 2)), None));
    }

    #[test]
    fn sums_and_products_are_exact_or_refused() {
        assert_eq!(fraction(1, 6).plus(fraction(1, 10)), Some(fraction(4, 15)));
        assert_eq!(fraction(2, 3).times(fraction(9, 4)), Some(fraction(3, 2)));
        assert_eq!(fraction(u128::MAX, 2).plus(fraction(1, 3)), None);
        assert_eq!(fraction(u128::MAX, 2).times(fraction(5, 3)), None);
        assert_eq!(fraction(u128::MAX, 2).times(fraction(2, u128::MAX)), Some(fraction(1, 1)));
    }

    #[test]
    fn order_is_right_where_a_product_would_overflow() {
        let close = |numerator| fraction(numerator, u128::MAX);
        assert!(close(u128::MAX - 2) < close(u128::MAX - 1) && close(u128::MAX - 1) < fraction(1, 1));
        assert!(fraction(u128::MAX - 2, u128::MAX - 1) < fraction(u128::MAX - 1, u128::MAX));
        for (a, b, c, d) in [(1, 2, 2, 3), (3, 7, 4, 9), (5, 1, 11, 2), (0, 1, 1, 9)] {
            assert!(fraction(a, b) < fraction(c, d) && fraction(c, d) > fraction(a, b));
        }
        assert_eq!(fraction(2, 4).cmp(&fraction(1, 2)), Ordering::Equal);
    }
}
