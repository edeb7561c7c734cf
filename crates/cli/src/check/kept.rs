//! What is kept of the run that `doorway check` shows.

use doorway_catalog::Catalog;
use doorway_core::{Options, Refusal};
use doorway_experiments::check::Checked;
use doorway_experiments::record_script;
use doorway_picture::{self as picture, Spacing};
use doorway_terminal::Destination;

use super::Arguments;
use crate::records::Records;

/// The files that were asked for, which are checked before the work begins.
pub(super) struct OutputFiles {
    script: Option<Destination>,
    is_recorded: bool,
    records: Records,
}

impl OutputFiles {
    pub(super) fn new(arguments: &Arguments) -> Result<Self, Refusal> {
        let script = arguments.script.as_deref().map(Destination::new).transpose()?;
        let looks = picture::DiagramOptions { spacing: Spacing::Even, theme: arguments.theme, clocks: None };
        let records = Records::new(arguments.trace.as_deref(), arguments.svg.as_deref(), looks)?;
        Ok(Self { script, is_recorded: arguments.trace.is_some() || arguments.svg.is_some(), records })
    }

    /// Writes the run that is shown, and tells what could not be written.
    pub(super) fn write(
        self,
        catalog: &Catalog,
        options: &Options,
        checked: &Checked,
    ) -> Result<Vec<String>, Refusal> {
        let is_wanted = self.script.is_some() || self.is_recorded;
        let without_file = |note: &str| Ok(is_wanted.then(|| note.to_owned()).into_iter().collect());
        let Some(shown) = checked.shown() else {
            return without_file("there is no run to show, so no file was written");
        };
        if shown.script.is_empty() {
            return without_file(
                "the run was found with the algorithm's promises alone, so no file was written; try --reduction off",
            );
        }
        if let Some(script) = self.script {
            script.write(|file| file.write_all(shown.script.as_bytes()))?;
        }
        if !self.is_recorded {
            return Ok(Vec::new());
        }
        match record_script(&shown.script, options, catalog) {
            Ok(recording) => self.records.write(&recording).map(|()| Vec::new()),
            Err(error) => {
                Ok(vec![format!("the run cannot be replayed, so it was not drawn or traced: {error}")])
            }
        }
    }
}
