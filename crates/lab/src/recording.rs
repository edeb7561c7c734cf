//! A run written down, to be kept as a trace or looked at as a picture.

use std::io::{self, Write};

use doorway_catalog::states::{Recorded, States};
use doorway_catalog::{Catalog, Trial, examples};
use doorway_core::{Options, Refusal, Stop};
use doorway_simulator::{Script, ScriptError};
use doorway_trace::draw::{self, Drawing, space_time};
use doorway_trace::{Event, Header};

use crate::memory::Replay;

/// What run it was, and what happened in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    /// What run it was.
    pub header: Header,
    /// What happened.
    pub events: Vec<Event>,
}

impl Recording {
    /// What happened in the run of a trial.
    #[must_use]
    pub fn new(trial: &Trial, events: Vec<Event>) -> Self {
        Self { header: trial.header(), events }
    }

    /// Plays a script from its text, with all invariants tested, and writes down what happens.
    ///
    /// What is `chosen` here counts more than what its heading says, and brings the texts of its files along. Of the files
    /// that only the heading names, those are known that ship with Doorway.
    ///
    /// # Errors
    /// If it cannot be read or played, or does not come as it says.
    pub fn of_script(text: &str, chosen: &Options, catalog: &Catalog) -> Result<Self, ScriptError> {
        if Replay::is_for(text, catalog) {
            return Ok(Replay::of_script(text, chosen, catalog)?.recording());
        }
        let refused = |refusal: Refusal| ScriptError::Impossible { line: 0, what: refusal.to_string() };
        let mut script = Script::parse(text)?;
        let is_chosen = |name: &str| chosen.iter().any(|(chosen, _)| chosen == name);
        script.heading.options.retain(|(name, _)| !is_chosen(name));
        let mut options = examples::choices(&script.heading).map_err(refused)?;
        chosen.iter().for_each(|(name, choice)| options.set(name, choice.clone()));
        let trial = Trial::of_script(&script.heading, options);
        let outcome = trial.run_script(catalog, &script)?;
        Ok(Self::new(&trial, outcome.events()))
    }

    /// What every node knew after every event: every step is made again. What cannot be followed has no states.
    #[must_use]
    pub fn states(&self, catalog: &Catalog) -> States {
        self.states_unless(None, catalog)
    }

    /// The same, unless it is cancelled on the way.
    #[must_use]
    pub fn states_unless(&self, cancelled: Option<&Stop>, catalog: &Catalog) -> States {
        States::of(&Recorded { header: &self.header, events: &self.events, cancelled }, catalog)
    }

    /// Draws it as a space-time diagram.
    ///
    /// # Errors
    /// If it is longer, or has more nodes, than one could look at.
    pub fn drawing(&self, looks: &draw::Options) -> Result<Drawing, Refusal> {
        space_time(&self.header, &self.events, looks)
    }

    /// Writes it as JSON lines.
    ///
    /// # Errors
    /// If the writer fails.
    pub fn write(&self, to: impl Write) -> io::Result<()> {
        Ok(doorway_trace::write(to, &self.header, &self.events)?)
    }
}

#[cfg(test)]
mod tests {
    use doorway_core::{Channels, Choice};
    use doorway_trace::What;

    use super::*;

    const STARVED: &str = "algorithm central\nnodes 3\nchannels any\nrequest 2\nlose 2->1\nloop\nrequest 3\n\
                           deliver 3->1\ndeliver 1->3\nrelease 3\ndeliver 3->1\nexpect waiting 2\n";

    fn recorded(text: &str, chosen: &Options) -> Result<Recording, String> {
        let recording = Recording::of_script(text, chosen, &Catalog::textbook());
        recording.map_err(|error| error.to_string())
    }

    #[test]
    fn a_script_is_recorded_with_its_heading_and_read_again_as_it_was() {
        let recording = recorded(STARVED, &Options::none()).expect("it can be played");
        let header = Header { channels: Channels::Any, ..Header::new("central", 3, 1) };
        assert_eq!(recording.header, header);
        let loops = recording.events.iter().filter(|event| event.what == What::Loop);
        assert_eq!(loops.map(|event| event.time.0).collect::<Vec<_>>(), [2]);
        let mut text = Vec::new();
        recording.write(&mut text).expect("memory does not fail");
        let (header, events) = doorway_trace::read(text.as_slice()).expect("a header");
        let events = events.collect::<Result<Vec<_>, _>>().expect("events");
        assert_eq!(Recording { header, events }, recording);
    }

    #[test]
    fn a_script_is_drawn_with_its_loop() {
        let recording = recorded(STARVED, &Options::none()).expect("it can be played");
        let drawing = recording.drawing(&draw::Options::default()).expect("it can be drawn");
        assert_eq!(drawing.svg.matches("class=\"repetition\"").count(), 1);
        assert!(drawing.overlaps().is_empty() && drawing.clipped().is_empty());
    }

    #[test]
    fn what_is_chosen_brings_its_file_along() {
        let text = "algorithm maekawa\nnodes 2\nset quorum file:nowhere.quorums\nrequest 1\n";
        let refusal = recorded(text, &Options::none()).expect_err("the file is not there");
        assert!(refusal.starts_with("no file \"nowhere.quorums\" ships with Doorway"), "{refusal}");
        let file = Some("1: 1 2\n2: 1 2\n".to_owned());
        let mut chosen = Options::none();
        chosen.set("quorum", Choice { word: "file:nowhere.quorums".to_owned(), file });
        let recording = recorded(text, &chosen).expect("it can be played");
        assert_eq!(recording.header.options["quorum"], "file:nowhere.quorums");
    }

    #[test]
    fn what_does_not_come_as_the_script_says_is_not_recorded() {
        assert_eq!(
            recorded(&STARVED.replace("waiting 2", "waiting nobody"), &Options::none()),
            Err("line 12 of the script: who is waiting is expected to be {} and is {2}".to_owned())
        );
        assert_eq!(
            recorded("algorithm nothing\nrequest 1\n", &Options::none()),
            Err("there is no algorithm \"nothing\"".to_owned())
        );
    }
}
