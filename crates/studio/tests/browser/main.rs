//! The studio's pages in a real browser: headless Chromium, steered by chromedriver. What is compared is the page itself, its words and its
//! SVG, never pixels, and nothing depends on how fast the machine is.

mod charts;
mod check;
mod clocks;
mod keys;
mod layouts;
mod machine;
mod page;
mod pages;
mod panning;
mod run;
mod settings;
mod tour;
