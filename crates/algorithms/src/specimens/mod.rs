//! Deliberately wrong variants, kept because each shows something and proves that tests and checker can fail.
//!
//! The header of each file tells what is wrong, why that fails, and the shortest run that shows it, in which a step is a
//! request, a delivery or a release. Where a correct algorithm can be wrapped, [`spoiled`] does it. [`shared`] has those over
//! shared memory, where a step is an access to a register.

pub mod carvalho_roucairol_no_asking_back;
pub mod carvalho_roucairol_permission_kept;
pub mod double_stamps;
pub mod lamport;
pub mod lamport_double_stamps;
pub mod lamport_equal_stamps;
pub mod lamport_stamp_before_tick;
pub mod lamport_stamp_per_copy;
pub mod lamport_stamped_early;
pub mod maekawa;
pub mod raymond_token_away_while_inside;
pub mod replicated_grant_before_ack;
pub mod ricart_agrawala;
pub mod ricart_agrawala_double_stamps;
pub mod ricart_agrawala_equal_stamps;
pub mod sanders;
pub mod shared;
pub mod singhal_idle_while_inside;
pub mod singhal_no_chase;
pub mod spoiled;
pub mod suzuki_kasami_own_entry;
