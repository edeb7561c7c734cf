//! Trees: from the leaves to the root. With both children a node is one of three, itself and two subtrees, of which
//! any two are a quorum; with one child both are needed.

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

    /// Let the subtrees have the capacities l and r. Quorums with the node take at most 1, and from one subtree each;
    /// those without it take from both. In all at most (l + r + 1)/2, and at most 1 with the node and all of the
    /// lesser subtree without it; and so much can be had. The denominators are powers of two that the depth bounds.
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

    /// Two of three systems that are not dominated are not dominated. A node with a single child is: alive alone, it
    /// is no quorum, and without it there is none.
    fn is_nondominated(&self) -> Option<bool> {
        Some(self.fold(true, &|below| matches!(below, Below::Two(true, true))))
    }
}

/// What is known of the subtrees of a node.
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
    /// Computes something of the whole tree from that of a leaf and how that of a node follows from its children's.
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
