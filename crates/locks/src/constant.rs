//! What is constant outside loom: there words, and what is made of them, can be made at compile time, and loom's cannot.

/// A function that is `const` outside loom.
macro_rules! at_rest_fn {
    ($(#[$meta:meta])* $visibility:vis fn $($rest:tt)*) => {
        $(#[$meta])*
        #[cfg(not(doorway_loom))]
        $visibility const fn $($rest)*

        $(#[$meta])*
        #[cfg(doorway_loom)]
        $visibility fn $($rest)*
    };
}

/// A protocol at rest: the constant `AT_REST`, and under loom a function.
macro_rules! at_rest {
    ($value:expr) => {
        #[cfg(not(doorway_loom))]
        #[allow(clippy::declare_interior_mutable_const)]
        const AT_REST: Self = $value;

        #[cfg(doorway_loom)]
        fn at_rest() -> Self {
            $value
        }
    };
}

/// An array with as many values of one expression as its type says.
macro_rules! array {
    ($value:expr) => {{
        #[cfg(not(doorway_loom))]
        let array = [const { $value }; _];
        #[cfg(doorway_loom)]
        let array = core::array::from_fn(|_| $value);
        array
    }};
}
