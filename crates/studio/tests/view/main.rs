//! What pages show, without a server: runs and the page that can be mailed.

mod pages;
mod runs;
