//! `doorway status`: locks, holders, waiters, and the state of the nodes.

mod page;

use doorway_core::{Refusal, SectionName, Ticks};
use doorway_protocol::{NodeStatus, Status};
use serde_json::{Value, json};

use crate::line::Where;
use crate::{Answer, Exit};

pub(crate) use page::{silent, spoken};

/// Show the locks, their holders and waiters, and the state of the nodes
///
/// Asks the daemon on this machine, which asks the others. Shows the members and their leases and, for each lock in use, its
/// holder, since when it holds, and the waiters.
///
/// Exits 1 if no daemon runs here or the daemon does not answer.
///
/// With --ready, only says whether this node can grant locks: it is a member and holds a lease. Exits 0 if so, 1 if not.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  doorway status                 all nodes and all locks in use
  doorway status nightly         one lock
  doorway status --ready         for scripts: exit status 0 or 1
  doorway status --json          for programs")]
pub(crate) struct Arguments {
    /// Only this lock
    #[arg(value_name = "NAME", value_parser = SectionName::new)]
    section: Option<SectionName>,
    /// Only say whether this node can grant locks
    #[arg(long, conflicts_with = "section")]
    ready: bool,
    /// Print JSON: times in microseconds, memory in bytes, fences as strings
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    daemon: Where,
}

pub(crate) fn answer(arguments: &Arguments) -> Result<Answer, Refusal> {
    if arguments.ready {
        return Ok(readiness(arguments));
    }
    let section = arguments.section.as_ref().map(SectionName::as_str);
    let asked = arguments.daemon.look(|client| client.status(section, true));
    let status = match asked {
        Ok(status) => status,
        Err(refusal) => return Ok(Answer::failed(refusal.to_string())),
    };
    let text = match arguments.json {
        true => format!("{:#}\n", as_json(&status)),
        false => page::page(&status, arguments.section.as_ref()),
    };
    Ok(Answer::holds(text))
}

/// A daemon that does not answer is not ready.
fn readiness(arguments: &Arguments) -> Answer {
    let asked = arguments.daemon.look(|client| client.status(None, false));
    let (is_ready, sentence) = match asked {
        Ok(status) => (is_ready(&status), page::readiness(&status)),
        Err(refusal) => (false, refusal.to_string()),
    };
    let text = match arguments.json {
        true => format!("{:#}\n", json!({ "version": 1, "ready": is_ready, "why": sentence })),
        false => format!("{sentence}\n"),
    };
    let exit = if is_ready { Exit::Holds } else { Exit::Fails };
    Answer { text, notes: Vec::new(), exit }
}

/// The node that answers.
fn answering(status: &Status) -> Option<&NodeStatus> {
    status.nodes.iter().find(|node| node.name == status.node)
}

/// Whether the answering node can grant locks.
pub(crate) fn is_ready(status: &Status) -> bool {
    let node = answering(status);
    let own = node.and_then(|node| node.own.as_ref());
    node.is_some_and(|node| node.is_member)
        && own.is_some_and(|own| own.standing == "active" && own.lease_left > Ticks(0))
}

/// As programs want it: times in microseconds, fences as strings, since not every program has whole numbers of 64 bits.
fn as_json(status: &Status) -> Value {
    let told = serde_json::to_value(status).unwrap_or_default();
    let mut all = serde_json::Map::from_iter([("version".to_owned(), json!(1))]);
    if let Value::Object(told) = told {
        all.extend(told);
    }
    Value::Object(all)
}
