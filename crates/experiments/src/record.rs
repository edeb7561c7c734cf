//! A script played from its text and recorded.

use doorway_catalog::{Catalog, Trial, examples};
use doorway_core::{Options, Refusal};
use doorway_simulator::{Script, ScriptError};
use doorway_trace::Recording;

use crate::memory::Replay;

/// Plays a script, of messages or of accesses to shared memory, with all invariants checked, and records it.
///
/// `chosen` overrides the options of the script's heading and brings the texts of its files along. A file that only the heading
/// names must be one of those that ship with Doorway.
///
/// # Errors
/// If the script cannot be read or played, or an expectation in it fails.
pub fn record_script(text: &str, chosen: &Options, catalog: &Catalog) -> Result<Recording, ScriptError> {
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
    Ok(trial.recording(outcome.events()))
}

#[cfg(test)]
mod tests {
    use doorway_core::{Channels, Choice};
    use doorway_picture::space_time;
    use doorway_trace::{Header, What};

    use super::*;

    const STARVED: &str = "algorithm central\nnodes 3\nchannels any\nrequest 2\nlose 2->1\nloop\nrequest 3\n\
                           deliver 3->1\ndeliver 1->3\nrelease 3\ndeliver 3->1\nexpect waiting 2\n";

    fn recorded(text: &str, chosen: &Options) -> Result<Recording, String> {
        let recording = record_script(text, chosen, &Catalog::textbook());
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
        let drawing =
            space_time(&recording.header, &recording.events, &Default::default()).expect("it can be drawn");
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
