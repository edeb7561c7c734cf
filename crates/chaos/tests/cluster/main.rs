//! What a cluster promises, as scenarios in virtual time: whole nodes, one fault at a time, and how long everybody waits.
//!
//! The numbers are those of the default times: lease 1 s, margin 0.1 s, heartbeat 0.2 s, detection 1.2 s, barrier 1 s, election
//! 0.5 s; W = 1.03 s. Messages take up to 2 ms, a write 3 ms, clocks drift by up to one percent.

mod crash_loops;
mod cuts;
mod damage;
mod epochs;
mod founding;
mod leaders;
mod majorities;
mod membership;
mod messages;
mod operator;
mod restarts;
mod scene;
mod set_back;
mod takeovers;
mod voters;
