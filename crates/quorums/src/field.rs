//! E. Galois: "Sur la théorie des nombres", Bulletin de Férussac 13, 1830.
//!
//! Finite fields: q elements that can be added, multiplied and divided. For a prime q they are the integers
//! modulo q; for a power p^m they are the polynomials of degree below m over the integers modulo p, modulo an
//! irreducible polynomial. An element is one number whose base-p digits are the coefficients, so 0 is zero
//! and 1 is one. Both operations are table lookups.

/// A finite field.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    order: usize,
    sums: Vec<u8>,
    products: Vec<u8>,
}

/// An element of a field: below its order, which is at most 32.
pub(crate) type Element = u8;

/// How the field of one order is made.
struct Recipe {
    order: usize,
    prime: usize,
    /// The coefficients of an irreducible polynomial, the constant first; for a prime just x.
    modulus: &'static [usize],
}

const fn recipe(order: usize, prime: usize, modulus: &'static [usize]) -> Recipe {
    Recipe { order, prime, modulus }
}

const RECIPES: [Recipe; 18] = [
    recipe(2, 2, &[0, 1]),
    recipe(3, 3, &[0, 1]),
    recipe(4, 2, &[1, 1, 1]),
    recipe(5, 5, &[0, 1]),
    recipe(7, 7, &[0, 1]),
    recipe(8, 2, &[1, 1, 0, 1]),
    recipe(9, 3, &[1, 0, 1]),
    recipe(11, 11, &[0, 1]),
    recipe(13, 13, &[0, 1]),
    recipe(16, 2, &[1, 1, 0, 0, 1]),
    recipe(17, 17, &[0, 1]),
    recipe(19, 19, &[0, 1]),
    recipe(23, 23, &[0, 1]),
    recipe(25, 5, &[2, 0, 1]),
    recipe(27, 3, &[1, 2, 0, 1]),
    recipe(29, 29, &[0, 1]),
    recipe(31, 31, &[0, 1]),
    recipe(32, 2, &[1, 0, 1, 0, 0, 1]),
];

/// Every order for which there is a field here: the prime powers up to 32.
pub(crate) fn orders() -> impl DoubleEndedIterator<Item = usize> {
    RECIPES.iter().map(|recipe| recipe.order)
}

impl Field {
    /// The field with `order` elements.
    pub(crate) fn new(order: usize) -> Option<Self> {
        let recipe = RECIPES.iter().find(|recipe| recipe.order == order)?;
        let table = |operation: fn(&Recipe, usize, usize) -> usize| {
            let pairs = (0..order).flat_map(|a| (0..order).map(move |b| (a, b)));
            pairs.map(|(a, b)| operation(recipe, a, b) as Element).collect()
        };
        Some(Self { order, sums: table(Recipe::sum), products: table(Recipe::product) })
    }

    pub(crate) fn elements(&self) -> impl Iterator<Item = Element> + Clone + use<> {
        0..self.order as Element
    }

    pub(crate) fn sum(&self, a: Element, b: Element) -> Element {
        self.sums[self.place(a, b)]
    }

    pub(crate) fn product(&self, a: Element, b: Element) -> Element {
        self.products[self.place(a, b)]
    }

    fn place(&self, a: Element, b: Element) -> usize {
        usize::from(a) * self.order + usize::from(b)
    }
}

impl Recipe {
    fn sum(&self, a: usize, b: usize) -> usize {
        let coefficients = self.digits(a).into_iter().zip(self.digits(b));
        self.number(&coefficients.map(|(a, b)| (a + b) % self.prime).collect::<Vec<_>>())
    }

    fn product(&self, a: usize, b: usize) -> usize {
        let degree = self.degree();
        let mut product = vec![0; 2 * degree - 1];
        for (i, a) in self.digits(a).into_iter().enumerate() {
            for (j, b) in self.digits(b).into_iter().enumerate() {
                product[i + j] = (product[i + j] + a * b) % self.prime;
            }
        }
        self.reduce(&mut product);
        self.number(&product[..degree])
    }

    /// Subtracts multiples of the modulus, whose leading coefficient is 1, until the degree is below its own.
    fn reduce(&self, polynomial: &mut [usize]) {
        for top in (self.degree()..polynomial.len()).rev() {
            let factor = polynomial[top];
            for (power, coefficient) in self.modulus.iter().enumerate() {
                let place = top - self.degree() + power;
                polynomial[place] = (polynomial[place] + (self.prime - factor) * coefficient) % self.prime;
            }
        }
    }

    fn degree(&self) -> usize {
        self.modulus.len() - 1
    }

    fn digits(&self, element: usize) -> Vec<usize> {
        (0..self.degree()).map(|power| element / self.prime.pow(power as u32) % self.prime).collect()
    }

    fn number(&self, digits: &[usize]) -> usize {
        digits.iter().rev().fold(0, |number, digit| number * self.prime + digit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields() -> impl Iterator<Item = Field> {
        orders().map(|order| Field::new(order).expect("listed"))
    }

    #[test]
    fn fields_exist_for_exactly_the_prime_powers_up_to_32() {
        let primes: Vec<usize> = (2..=32).filter(|p| (2..*p).all(|divisor| p % divisor != 0)).collect();
        let is_power = |q: usize| primes.iter().any(|p| (1..6).any(|m| p.pow(m) == q));
        for order in 0..=40 {
            assert_eq!(Field::new(order).is_some(), order <= 32 && is_power(order), "{order}");
        }
    }

    #[test]
    fn every_element_but_zero_has_exactly_one_inverse() {
        for field in fields() {
            for a in field.elements().skip(1) {
                let inverses = field.elements().filter(|&b| field.product(a, b) == 1).count();
                assert_eq!(inverses, 1, "{a} of {}", field.order);
            }
        }
    }

    #[test]
    fn zero_and_one_are_neutral_and_both_operations_commute() {
        for field in fields() {
            for a in field.elements() {
                assert_eq!((field.sum(a, 0), field.product(a, 1), field.product(a, 0)), (a, a, 0));
                assert_eq!(field.elements().filter(|&b| field.sum(a, b) == 0).count(), 1);
                for b in field.elements() {
                    assert_eq!(field.sum(a, b), field.sum(b, a));
                    assert_eq!(field.product(a, b), field.product(b, a));
                }
            }
        }
    }

    #[test]
    fn sums_and_products_are_associative_and_distributive() {
        for field in fields() {
            let (sum, product) = (|a, b| field.sum(a, b), |a, b| field.product(a, b));
            for a in field.elements() {
                for b in field.elements() {
                    for c in field.elements() {
                        assert_eq!(product(a, sum(b, c)), sum(product(a, b), product(a, c)));
                        assert_eq!(product(a, product(b, c)), product(product(a, b), c));
                        assert_eq!(sum(a, sum(b, c)), sum(sum(a, b), c));
                    }
                }
            }
        }
    }
}
