//! The list of all algorithms: a new one is its file and one line here.

use doorway_core::{Catalog, Empty};

use crate::message::{
    cao_singhal, carvalho_roucairol, central, lamport, maekawa, naimi_trehel, raymond, ricart_agrawala,
    sanders, singhal, suzuki_kasami, token_ring,
};
use crate::specimens;

/// Every algorithm of the textbook, in the order in which one would teach them, and after them the specimens.
pub fn catalog() -> impl Catalog {
    Empty
        .with(central::entry())
        .with(token_ring::entry())
        .with(lamport::entry())
        .with(ricart_agrawala::entry())
        .with(carvalho_roucairol::entry())
        .with(maekawa::entry())
        .with(sanders::entry())
        .with(suzuki_kasami::entry())
        .with(singhal::entry())
        .with(raymond::entry())
        .with(naimi_trehel::entry())
        .with(cao_singhal::entry())
        .with(specimens::lamport::entry())
        .with(specimens::ricart_agrawala::deferred_not_cleared_entry())
        .with(specimens::ricart_agrawala::stamped_early_entry())
        .with(specimens::maekawa::basic_entry())
        .with(specimens::maekawa::no_failed_when_overtaken_entry())
}
