//! Trees: from the leaves to the root. For a node with two children, any two of itself and its two subtrees
//! form a quorum; with one child both are needed.

use super::{Capacity, Structure};
use crate::ratings::Fraction;
use crate::tree::Tree;

impl Structure for Tree {
    fn smallest_quorum(&self) -> usize {
        self.fold(1, &|below| 1 + below.least())
    }

    /// A node and a transversal below it; with one child the node alone.
    fn smallest_transversal(&self) -> usize {
        self.fold(1, &|below| match below {
            Below::One(_) => 1,
            Below::Two(left, right) => 1 + left.min(right),
        })
    }

    /// Let the subtrees have the capacities l and r. Quorums with the node use at most 1, and one subtree
    /// each; those without it use both. The total is at most (l + r + 1)/2, and at most 1 plus the smaller of
    /// l and r; both bounds are attained. The denominators are powers of two, bounded by the depth.
    fn capacity(&self) -> Option<Capacity> {
        let one = Fraction::from(1);
        let sum = |left: Fraction, right: Fraction| left.plus(right)?.plus(one)?.times(Fraction::new(1, 2));
        let capacity = self.fold(Some(one), &|below| match below {
            Below::One(_) => Some(one),
            Below::Two(left, right) => {
                let (left, right) = (left?, right?);
                Some(sum(left, right)?.min(left.min(right).plus(one)?))
            }
        });
        capacity.map(Capacity::from)
    }

    fn failure_probability(&self, crashed: f64) -> Option<f64> {
        let alive = 1.0 - crashed;
        Some(self.fold(crashed, &|below| match below {
            Below::One(child) => crashed + alive * child,
            Below::Two(left, right) => {
                alive * left * right + crashed * (left * (1.0 - right) + right * (1.0 - left) + left * right)
            }
        }))
    }

    /// Two of three nondominated systems are nondominated. A node with a single child is dominated: alone it
    /// is no quorum, and without it there is none.
    fn is_nondominated(&self) -> Option<bool> {
        Some(self.fold(true, &|below| matches!(below, Below::Two(true, true))))
    }
}

/// The values of a node's subtrees.
enum Below<T> {
    One(T),
    Two(T, T),
}

impl Below<usize> {
    fn least(&self) -> usize {
        match *self {
            Self::One(child) => child,
            Self::Two(left, right) => left.min(right),
        }
    }
}

impl Tree {
    /// Computes the value of the whole tree from the value of a leaf and a function from the children's
    /// values to the node's.
    fn fold<T: Copy>(&self, leaf: T, node: &impl Fn(Below<T>) -> T) -> T {
        let mut of: Vec<T> = vec![leaf; self.n()];
        for place in (0..self.n()).rev() {
            let child = |child: Option<usize>| child.map(|child| of[child]);
            of[place] = match (child(self.left(place)), child(self.right(place))) {
                (Some(left), Some(right)) => node(Below::Two(left, right)),
                (Some(only), None) | (None, Some(only)) => node(Below::One(only)),
                (None, None) => leaf,
            };
        }
        of[0]
    }
}
