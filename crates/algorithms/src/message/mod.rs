//! Algorithms for nodes that send each other messages, one file each.

pub mod cao_singhal;
pub mod carvalho_roucairol;
pub mod central;
pub mod lamport;
pub mod maekawa;
pub mod naimi_trehel;
pub mod raymond;
pub mod replicated;
pub mod ricart_agrawala;
pub mod sanders;
pub mod singhal;
pub mod suzuki_kasami;
pub mod token_ring;
