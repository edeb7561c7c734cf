//! A run as a file to take away.

use std::str::FromStr;

use doorway_catalog::Catalog;
use doorway_core::Refusal;
use doorway_picture::{self as picture, Spacing, Theme, space_time};
use doorway_trace::Recording;
use doorway_trace::export::{self, ExportFormat};

use crate::page::Page;

/// In which form a run is taken away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportForm {
    /// The space-time diagram, to be scaled.
    Svg,
    /// The same as a picture of pixels.
    Png,
    /// Doorway's own trace.
    JsonLines,
    /// The log that ShiViz draws.
    Shiviz,
    /// What Perfetto shows.
    Perfetto,
    /// A page to step through.
    Html,
}

impl ExportForm {
    /// All of them by their names, each with the ending of its files and its media type.
    pub const LIST: [(&'static str, ExportForm, &'static str, &'static str); 6] = [
        ("svg", ExportForm::Svg, "svg", "image/svg+xml"),
        ("png", ExportForm::Png, "png", "image/png"),
        ("jsonl", ExportForm::JsonLines, "jsonl", "application/jsonl"),
        ("shiviz", ExportForm::Shiviz, "log", "text/plain; charset=utf-8"),
        ("perfetto", ExportForm::Perfetto, "json", "application/json"),
        ("html", ExportForm::Html, "html", "text/html; charset=utf-8"),
    ];

    /// The ending of a file of this form.
    #[must_use]
    pub fn ending(self) -> &'static str {
        Self::LIST.iter().find(|(_, form, ..)| *form == self).map_or("", |(_, _, ending, _)| ending)
    }

    /// The media type of this form.
    #[must_use]
    pub fn media_type(self) -> &'static str {
        Self::LIST.iter().find(|(_, form, ..)| *form == self).map_or("", |(_, _, _, media)| media)
    }

    /// A run in this form.
    ///
    /// # Errors
    /// If it is longer, or has more nodes, than one could look at.
    pub fn bytes(
        self,
        recording: &Recording,
        catalog: &Catalog,
        looks: &picture::DiagramOptions,
    ) -> Result<Vec<u8>, Refusal> {
        let exported = |form: ExportFormat| {
            let mut bytes = Vec::new();
            let written = export::export(form, &recording.header, &recording.events, &mut bytes);
            written.map(|()| bytes).map_err(|error| Refusal::new(error.to_string()))
        };
        match self {
            ExportForm::Svg => space_time(&recording.header, &recording.events, looks)
                .map(|drawing| drawing.svg.into_bytes()),
            ExportForm::Png => {
                let theme = if looks.theme == Theme::Auto { Theme::Light } else { looks.theme };
                space_time(
                    &recording.header,
                    &recording.events,
                    &picture::DiagramOptions { theme, ..*looks },
                )?
                .png()
            }
            ExportForm::JsonLines => exported(ExportFormat::JsonLines),
            ExportForm::Shiviz => exported(ExportFormat::ShiViz),
            ExportForm::Perfetto => exported(ExportFormat::Perfetto),
            ExportForm::Html => Page::new(recording, catalog, looks).map(|page| page.html.into_bytes()),
        }
    }
}

impl FromStr for ExportForm {
    type Err = Refusal;

    fn from_str(word: &str) -> Result<Self, Refusal> {
        let found = Self::LIST.iter().find(|(name, ..)| *name == word).map(|(_, form, ..)| *form);
        found.ok_or_else(|| {
            let names = Self::LIST.map(|(name, ..)| name);
            Refusal::new(format!("{word:?} is no form of a run: {}", names.join(", ")))
        })
    }
}

/// How a diagram looks, from three words.
///
/// # Errors
/// If one of them is not known.
pub fn looks(
    spacing: Option<&str>,
    theme: Option<&str>,
    clocks: Option<&str>,
) -> Result<picture::DiagramOptions, Refusal> {
    let spacing = spacing.map_or(Ok(Spacing::default()), str::parse)?;
    let theme = theme.map_or(Ok(Theme::default()), str::parse)?;
    let clocks = clocks.map(str::parse).transpose()?;
    Ok(picture::DiagramOptions { spacing, theme, clocks })
}
