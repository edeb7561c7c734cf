//! The API of the studio, asked over real sockets: what it answers, what it refuses, and that nobody can bring it down.

mod client;
mod guard;
mod jobs;
mod layouts;
mod refusals;
mod results;
