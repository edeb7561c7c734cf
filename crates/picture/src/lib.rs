//! Pictures of runs, measurements and quorum systems, as SVG and PNG.
//!
//! [`space_time`] draws the events of a run: a lane for each node, an arrow for each message. [`chart`] draws measurements beside
//! formulas, [`quorums`] draws quorum systems, [`relations`] draws structures and trees, [`wait_graph`] draws which node waits for which. All of them are lists of [`Element`]s, plain data that a [`Canvas`] writes as SVG and the studio's
//! pages paint as they are; the palette works without colour too, and the font is embedded, so that the width of a text is known before
//! it is shown.
//!
//! ```
//! use doorway_picture::{DiagramOptions, space_time};
//! use doorway_trace::Header;
//!
//! let drawing = space_time(&Header::new("central", 3, 1), &[], &DiagramOptions::default())?;
//! assert!(drawing.svg.starts_with("<svg"));
//! assert!(drawing.overlaps().is_empty());
//! # Ok::<(), doorway_core::Refusal>(())
//! ```

mod arrow;
pub mod chart;
mod element;
mod font;
mod geometry;
mod palette;
mod png;
pub mod quorums;
pub mod relations;
mod room;
mod space_time;
mod svg;
mod text;
mod waits;

pub use arrow::{Arrow, Path};
pub use element::Element;
pub use font::{Weight, file as font_file, width};
pub use geometry::{Area, Point};
pub use palette::{HUES, Head, Look, Theme, dash, head};
pub use room::Room;
pub use space_time::{
    ArrowPlan, Diagram, DiagramOptions, DiagramPlan, LanePlan, MOST_EVENTS, MOST_NODES, Mark, MessagePlan,
    RibbonHolder, RibbonPlan, Spacing, StayPlan, StepTimes, diagram, plan, space_time, step_times,
};
pub use svg::{Canvas, escaped};
pub use text::{Anchor, Text, shortened, wrapped};
pub use waits::{WaitEdge, WaitLayout, WaitNode, WaitPhase, Waits, wait_graph};

/// A finished picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawing {
    /// The picture as SVG.
    pub svg: String,
    /// How wide it is, in pixels.
    pub width: f64,
    /// How high it is, in pixels.
    pub height: f64,
    /// What it is made of, in the order of painting.
    pub elements: Vec<Element>,
    /// Where its texts stand.
    pub labels: Vec<LabelBox>,
}

/// A text of a picture, and the box that it fills.
#[derive(Clone, Debug, PartialEq)]
pub struct LabelBox {
    /// What it says.
    pub text: String,
    /// Where it stands.
    pub area: Area,
}

impl Drawing {
    /// Every two labels that are in each other's way.
    #[must_use]
    pub fn overlaps(&self) -> Vec<(&LabelBox, &LabelBox)> {
        let pairs = self
            .labels
            .iter()
            .enumerate()
            .flat_map(|(index, label)| self.labels[index + 1..].iter().map(move |other| (label, other)));
        pairs.filter(|(label, other)| label.area.overlaps(&other.area)).collect()
    }

    /// The labels that reach beyond the edge of the picture.
    #[must_use]
    pub fn clipped(&self) -> Vec<&LabelBox> {
        let paper = Area::new(0.0, 0.0, self.width, self.height);
        self.labels.iter().filter(|label| !paper.contains(&label.area)).collect()
    }
}
