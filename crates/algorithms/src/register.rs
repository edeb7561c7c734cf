//! The list of all algorithms: a new one is its file and one line here.

use doorway_core::Registrar;

use crate::message::{
    cao_singhal, carvalho_roucairol, central, lamport, maekawa, naimi_trehel, raymond, replicated,
    ricart_agrawala, sanders, singhal, suzuki_kasami, token_ring,
};
use crate::shared::{
    bakery, bakery_one_word, black_white_bakery, black_white_one_word, lamport_fast, peterson,
    peterson_unless_alone, simple_bakery, tournament,
};
use crate::specimens;

/// Registers every algorithm of the textbook, in the order in which one would teach them, and after them the specimens;
/// first those over messages, then those over shared memory.
pub fn register(to: &mut impl Registrar) {
    to.algorithm(central::entry());
    to.algorithm(replicated::entry());
    to.algorithm(token_ring::entry());
    to.algorithm(lamport::entry());
    to.algorithm(ricart_agrawala::entry());
    to.algorithm(carvalho_roucairol::entry());
    to.algorithm(maekawa::entry());
    to.algorithm(sanders::entry());
    to.algorithm(suzuki_kasami::entry());
    to.algorithm(singhal::entry());
    to.algorithm(raymond::entry());
    to.algorithm(naimi_trehel::entry());
    to.algorithm(cao_singhal::entry());
    to.algorithm(specimens::replicated_grant_before_ack::entry());
    to.algorithm(specimens::lamport::entry());
    to.algorithm(specimens::lamport_stamp_per_copy::entry());
    to.algorithm(specimens::lamport_stamped_early::entry());
    to.algorithm(specimens::lamport_equal_stamps::entry());
    to.algorithm(specimens::lamport_double_stamps::entry());
    to.algorithm(specimens::lamport_stamp_before_tick::entry());
    to.algorithm(specimens::ricart_agrawala::deferred_not_cleared_entry());
    to.algorithm(specimens::ricart_agrawala::stamped_early_entry());
    to.algorithm(specimens::ricart_agrawala_equal_stamps::entry());
    to.algorithm(specimens::ricart_agrawala_double_stamps::entry());
    to.algorithm(specimens::carvalho_roucairol_no_asking_back::entry());
    to.algorithm(specimens::carvalho_roucairol_permission_kept::entry());
    to.algorithm(specimens::maekawa::basic::entry());
    to.algorithm(specimens::maekawa::no_failed_when_overtaken::entry());
    to.algorithm(specimens::maekawa::failed_remembered::entry());
    to.algorithm(specimens::maekawa::inquire_answered_inside::entry());
    to.algorithm(specimens::maekawa::inquire_before_locked::entry());
    to.algorithm(specimens::maekawa::unnamed_requests::entry());
    to.algorithm(specimens::maekawa::never_free::entry());
    to.algorithm(specimens::maekawa::one_inquire_answered::entry());
    to.algorithm(specimens::maekawa::inquired_for_ever::entry());
    to.algorithm(specimens::maekawa::node_first::entry());
    to.algorithm(specimens::sanders::no_remedy::entry());
    to.algorithm(specimens::sanders::own_request_travels::entry());
    to.algorithm(specimens::sanders::clocks_not_merged::entry());
    to.algorithm(specimens::sanders::unchecked_structure::entry());
    to.algorithm(specimens::suzuki_kasami_own_entry::entry());
    to.algorithm(specimens::singhal_idle_while_inside::entry());
    to.algorithm(specimens::singhal_no_chase::entry());
    to.algorithm(specimens::raymond_token_away_while_inside::entry());
    programs(to);
}

/// The programs over shared memory, and after them their specimens.
fn programs(to: &mut impl Registrar) {
    to.program(peterson::entry());
    to.program(peterson_unless_alone::entry());
    to.program(tournament::entry());
    to.program(lamport_fast::entry());
    to.program(simple_bakery::entry());
    to.program(bakery::entry());
    to.program(bakery_one_word::entry());
    to.program(black_white_bakery::entry());
    to.program(black_white_one_word::entry());
    to.program(specimens::shared::peterson_no_turn::entry());
    to.program(specimens::shared::tournament_leaf_first::entry());
    to.program(specimens::shared::tournament_missing_barrier::entry());
    to.program(specimens::shared::simple_bakery_two_steps::entry());
    to.program(specimens::shared::simple_bakery_maximum_first::entry());
    to.program(specimens::shared::bakery_maximum_by_position::entry());
    to.program(specimens::shared::bakery_maxpos_loop::entry());
    to.program(specimens::shared::black_white_two_registers::entry());
    to.program(specimens::shared::black_white_number_first::entry());
}
