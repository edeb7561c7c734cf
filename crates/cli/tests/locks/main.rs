//! The verbs of the lock, as one types them: with daemons that the tests start, and with one that says what the test wants.

#[path = "../../../daemon/tests/addresses/mod.rs"]
mod addresses;
mod bank_real;
mod cluster;
mod crash_loops;
mod descriptors;
mod disks;
mod fleet;
mod lock;
mod lock_alone;
mod lock_escape;
mod lock_inherited;
mod lock_margin;
mod lock_signs;
mod lock_silent;
mod lock_systemd;
mod lock_terminal;
mod node;
#[path = "../../../daemon/tests/ports/mod.rs"]
mod ports;
mod removal;
mod reports;
mod rights;
mod scripted;
mod shell;
mod slack;
#[path = "../terminal/mod.rs"]
mod terminal;
