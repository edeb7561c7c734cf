//! `doorway break`: takes a lock away from its holder.

use std::io::{self, IsTerminal};

use doorway_client::clock;
use doorway_core::{Refusal, SectionName, Ticks};
use doorway_protocol::ClientStatus;

use crate::Answer;
use crate::line::Where;
use crate::question::confirmed;
use crate::status::{silent, spoken};

/// Take a lock away from its holder
///
/// Tells the holder to stop, on whichever node it is. The lock is free when the holder confirms that it has stopped, or at its
/// deadline, not before. From then on its fence is old, and a store that checks fences refuses its writes. The nodes log which
/// holder was told to stop, and who asked for it.
///
/// For administrators: it uses the daemon's second socket, NAME.admin.sock beside NAME.sock, which only the daemon's own user
/// and root can open.
///
/// At a terminal it asks for confirmation; scripts pass --yes.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  doorway status nightly        who holds it?
  doorway break nightly         tell the holder to stop
  doorway break nightly --yes   without confirmation")]
pub(crate) struct Arguments {
    /// The lock
    #[arg(value_name = "NAME", value_parser = SectionName::new)]
    section: SectionName,
    /// Do not ask for confirmation
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    daemon: Where,
}

/// How often to check whether the holder has stopped.
const LOOK_AGAIN: Ticks = Ticks(20_000);

/// How long a holder that was told to stop may keep the lock: longer than any lease.
const PATIENCE: Ticks = Ticks(60_000_000);

pub(crate) fn answer(arguments: &Arguments) -> Result<Answer, Refusal> {
    if !arguments.yes && !io::stdin().is_terminal() {
        return Err(Refusal::new(format!(
            "breaking {} needs confirmation, and there is no terminal to ask at: pass --yes",
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
        return Ok(Answer::failed(format!("{section} has no holder")));
    };
    if !arguments.yes
        && !confirmed(&format!("{} holds {section}. Break the lock? [y/N] ", described(&holder)))?
    {
        return Ok(Answer::failed(format!("{section} was not broken")));
    }
    // The lock may have a new holder since the question was asked: that one is not meant.
    arguments.daemon.administer(|client| client.break_section(section.as_str(), holder.fence))?;
    let told = format!("{} was told to stop", described(&holder));
    let is_it = |inside: &Inside| inside.holder.as_ref().is_some_and(|other| other.fence == holder.fence);
    let by = clock::now() + PATIENCE;
    loop {
        if !is_it(&settled(arguments, by, is_it)?) {
            return Ok(Answer::holds(format!("{told} and holds {section} no longer\n")));
        }
        if clock::now() >= by {
            return Ok(Answer::failed(format!("{told} and still holds {section}")));
        }
        std::thread::sleep(clock::span(LOOK_AGAIN));
    }
}

/// The holder, as the answering nodes report it, and the silent nodes.
struct Inside {
    holder: Option<ClientStatus>,
    silent: Vec<String>,
}

/// The holder, once it is certain: this is enough to know, or all members have answered. A silent member is left out after a
/// while, and its holders have stopped by then.
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
                "{} has no known holder, but {} does not answer: try again when it does",
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
