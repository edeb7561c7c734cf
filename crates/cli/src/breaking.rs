//! `doorway break`: a section taken from whoever is inside.

use std::io::{self, IsTerminal};

use doorway_client::clock;
use doorway_core::{Refusal, SectionName, Ticks};
use doorway_protocol::ClientStatus;

use crate::Answer;
use crate::line::Where;
use crate::question::confirmed;
use crate::status::{silent, spoken};

/// Take a section from whoever is inside
///
/// The holder is told to stop, on whatever node it is; the section is free when it says that it has, or when its time is over, not
/// before. Its fence is then old, and a store that checks fences refuses what it still writes. The nodes write down who was
/// told, and who told them.
///
/// It is for administrators: it asks at the daemon's second socket, NAME.admin.sock beside NAME.sock, which only the daemon's own user and root can
/// open.
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

/// How long somebody may stay who was told: longer than any lease.
const PATIENCE: Ticks = Ticks(60_000_000);

pub(crate) fn answer(arguments: &Arguments) -> Result<Answer, Refusal> {
    if !arguments.yes && !io::stdin().is_terminal() {
        return Err(Refusal::new(format!(
            "nobody can be asked here whether {} is to be broken: --yes says so",
            arguments.section
        )));
    }
    Ok(break_open(arguments).unwrap_or_else(|refusal| Answer::failed(refusal.to_string())))
}

/// # Errors
/// If no daemon answers, or it cannot do what it is asked for.
fn break_open(arguments: &Arguments) -> Result<Answer, Refusal> {
    let section = &arguments.section;
    arguments.daemon.check_administers(|client| client.break_section(section.as_str(), None))?;
    let by = clock::now() + PATIENCE;
    let Inside { holder: Some(holder), .. } = settled(arguments, by, |inside| inside.holder.is_some())?
    else {
        return Ok(Answer::failed(format!("nobody is inside {section}")));
    };
    if !arguments.yes && !confirmed(&format!("{} is inside {section}. Break it? [y/N] ", described(&holder)))?
    {
        return Ok(Answer::failed(format!("{section} was left as it is")));
    }
    // Whoever came in while somebody thought about it is not the one that is meant.
    arguments.daemon.administer(|client| client.break_section(section.as_str(), holder.fence))?;
    let told = format!("{} was told to stop", described(&holder));
    let is_it = |inside: &Inside| inside.holder.as_ref().is_some_and(|other| other.fence == holder.fence);
    let by = clock::now() + PATIENCE;
    loop {
        if !is_it(&settled(arguments, by, is_it)?) {
            return Ok(Answer::holds(format!("{told} and holds {section} no longer\n")));
        }
        if clock::now() >= by {
            return Ok(Answer::failed(format!("{told} and is still inside {section}")));
        }
        std::thread::sleep(clock::span(LOOK_AGAIN));
    }
}

/// Who is inside, as those tell that answer, and who does not.
struct Inside {
    holder: Option<ClientStatus>,
    silent: Vec<String>,
}

/// Who is inside, once that is certain: this is enough to know, or all members have answered. One that is silent is left out after a
/// while, and whoever was inside there has stopped by then.
///
/// # Errors
/// If no daemon answers, or a member is silent for too long.
fn settled(arguments: &Arguments, by: Ticks, is_enough: impl Fn(&Inside) -> bool) -> Result<Inside, Refusal> {
    loop {
        let inside = look(arguments)?;
        if inside.silent.is_empty() || is_enough(&inside) {
            return Ok(inside);
        }
        if clock::now() >= by {
            return Err(Refusal::new(format!(
                "nobody is inside {} as far as is known, but {} does not answer: ask again when it does",
                arguments.section,
                inside.silent.join(", ")
            )));
        }
        std::thread::sleep(clock::span(LOOK_AGAIN));
    }
}

fn look(Arguments { section, daemon, .. }: &Arguments) -> Result<Inside, Refusal> {
    let status = daemon.administer(|client| client.status(Some(section.as_str()), true))?;
    let silent = silent(&status).map(str::to_owned).collect();
    let found = status.sections.into_iter().find(|found| found.name == *section);
    Ok(Inside { holder: found.and_then(|found| found.inside), silent })
}

fn described(holder: &ClientStatus) -> String {
    let ClientStatus { node, label, since, .. } = holder;
    format!("{label} on node {node}, for {},", spoken(*since))
}
