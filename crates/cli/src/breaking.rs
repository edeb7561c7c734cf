//! `doorway break`: a section taken from whoever is inside.

use std::io::{self, IsTerminal};

use doorway_client::clock;
use doorway_client::protocol::ClientStatus;
use doorway_core::{Refusal, SectionName, Ticks};

use crate::line::{Command, Where};
use crate::question::confirmed;
use crate::status::spoken;
use crate::{Answer, Exit};

/// Take a section from whoever is inside
///
/// The holder is told to stop, on whatever node it is; the section is free when it says that it has, or when its time is over, not
/// before. Its fence is then old, and a store that checks fences refuses what it still writes. The nodes write down who was
/// told.
///
/// Asks first if it is typed at a terminal; scripts say --yes.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  doorway status nightly        who is inside?
  doorway break nightly         tell it to stop, and free the section
  doorway break nightly --yes   without a question")]
pub(crate) struct Arguments {
    /// The section
    #[arg(value_name = "NAME", value_parser = SectionName::new)]
    section: SectionName,
    /// Do not ask
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    daemon: Where,
}

/// How often it is looked whether somebody is still inside.
const LOOK_AGAIN: Ticks = Ticks(20_000);

/// The longest lease and the longest patience of a node that has to be asked, and then some.
const PATIENCE: Ticks = Ticks(60_000_000);

pub(crate) fn answer(arguments: &Arguments) -> Result<Answer, Refusal> {
    let section = &arguments.section;
    if !arguments.yes && !io::stdin().is_terminal() {
        return Err(Refusal::new(format!(
            "nobody can be asked here whether {section} is to be broken: --yes says so"
        )));
    }
    let mut line = arguments.daemon.line()?;
    let status = line.status(Some(section.clone()), true)?;
    let inside = status.sections.iter().find(|found| found.name == *section);
    let Some(holder) = inside.and_then(|found| found.inside.as_ref()) else {
        return Ok(failed(format!("nobody is inside {section}")));
    };
    if !arguments.yes && !confirmed(&format!("{} is inside {section}. Break it? [y/N] ", described(holder)))?
    {
        return Ok(failed(format!("{section} was left as it is")));
    }
    line.command(Command::Break(section.clone()), PATIENCE)?;
    let fence = holder.fence;
    let told = format!("{} was told to stop", described(holder));
    let until = clock::now() + PATIENCE;
    while clock::now() < until {
        let status = line.status(Some(section.clone()), true)?;
        let now_inside = status.sections.into_iter().find(|found| found.name == *section);
        if now_inside.and_then(|found| found.inside).is_none_or(|inside| inside.fence != fence) {
            return Ok(Answer::holds(format!("{told} and is out of {section}\n")));
        }
        std::thread::sleep(clock::span(LOOK_AGAIN));
    }
    Ok(failed(format!("{told} and is still inside {section}")))
}

fn failed(note: String) -> Answer {
    Answer { text: String::new(), notes: vec![note], exit: Exit::Fails }
}

fn described(holder: &ClientStatus) -> String {
    let ClientStatus { node, label, since, .. } = holder;
    format!("{label} on node {node}, for {},", spoken(*since))
}
