//! The list of all algorithms: a new one is its file and one line here.

use doorway_core::{Catalog, Empty};

use crate::message::{
    cao_singhal, carvalho_roucairol, central, lamport, maekawa, naimi_trehel, raymond, ricart_agrawala,
    sanders, singhal, suzuki_kasami, token_ring,
};
use crate::shared::{
    bakery, bakery_one_word, black_white_bakery, black_white_one_word, lamport_fast, peterson,
    peterson_unless_alone, simple_bakery, tournament,
};
use crate::specimens;

/// Every algorithm of the textbook, in the order in which one would teach them, and after them the specimens; first those
/// over messages, then those over shared memory.
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
        .with(specimens::lamport_stamp_per_copy::entry())
        .with(specimens::lamport_stamped_early::entry())
        .with(specimens::lamport_equal_stamps::entry())
        .with(specimens::ricart_agrawala::deferred_not_cleared_entry())
        .with(specimens::ricart_agrawala::stamped_early_entry())
        .with(specimens::ricart_agrawala_equal_stamps::entry())
        .with(specimens::carvalho_roucairol_no_asking_back::entry())
        .with(specimens::carvalho_roucairol_permission_kept::entry())
        .with(specimens::maekawa::basic::entry())
        .with(specimens::maekawa::no_failed_when_overtaken::entry())
        .with(specimens::maekawa::failed_remembered::entry())
        .with(specimens::maekawa::inquire_answered_inside::entry())
        .with(specimens::maekawa::inquire_before_locked::entry())
        .with(specimens::maekawa::unnamed_requests::entry())
        .with(specimens::maekawa::never_free::entry())
        .with(specimens::maekawa::one_inquire_answered::entry())
        .with(specimens::maekawa::inquired_for_ever::entry())
        .with(specimens::maekawa::node_first::entry())
        .with(specimens::sanders::no_remedy::entry())
        .with(specimens::sanders::own_request_travels::entry())
        .with(specimens::sanders::clocks_not_merged::entry())
        .with(specimens::sanders::unchecked_structure::entry())
        .with(specimens::suzuki_kasami_own_entry::entry())
        .with(specimens::singhal_idle_while_inside::entry())
        .with(specimens::singhal_no_chase::entry())
        .with(specimens::raymond_token_away_while_inside::entry())
        .with_program(peterson::entry())
        .with_program(peterson_unless_alone::entry())
        .with_program(tournament::entry())
        .with_program(lamport_fast::entry())
        .with_program(simple_bakery::entry())
        .with_program(bakery::entry())
        .with_program(bakery_one_word::entry())
        .with_program(black_white_bakery::entry())
        .with_program(black_white_one_word::entry())
        .with_program(specimens::shared::peterson_no_turn::entry())
        .with_program(specimens::shared::tournament_leaf_first::entry())
        .with_program(specimens::shared::tournament_missing_barrier::entry())
        .with_program(specimens::shared::simple_bakery_two_steps::entry())
        .with_program(specimens::shared::bakery_maximum_by_position::entry())
        .with_program(specimens::shared::black_white_two_registers::entry())
        .with_program(specimens::shared::black_white_number_first::entry())
}
