//! A replay as events of a trace.

use doorway_catalog::states::access_of;
use doorway_core::shared::{Place, Progress};
use doorway_core::{Fence, NodeId, Ticks};
use doorway_trace::{Event, What};

use super::{Replay, ReplayedStep};

/// One step is one tick; an entry is fenced by how many there were.
pub(super) fn of(replay: &Replay) -> Vec<Event> {
    let mut writer = Writer { events: Vec::new(), entries: 0 };
    for (number, played) in replay.steps.iter().enumerate() {
        if replay.loop_start == Some(number) {
            writer.write(number as u64, NodeId::new(0), What::Loop);
        }
        writer.step(number as u64 + 1, played);
        if let Some((at, what)) = &replay.violation
            && *at == number
        {
            let (node, what) = (NodeId::new(played.act.process), what.clone());
            writer.write(number as u64 + 1, node, What::Violation { what });
        }
    }
    writer.events
}

struct Writer {
    events: Vec<Event>,
    entries: u64,
}

impl Writer {
    fn write(&mut self, time: u64, node: NodeId, what: What) {
        let id = self.events.len() as u64 + 1;
        self.events.push(Event { id, time: Ticks(time), node, what, rule: None, cause: None });
    }

    fn step(&mut self, time: u64, ReplayedStep { act, .. }: &ReplayedStep) {
        let node = NodeId::new(act.process);
        match act.before {
            Some(Place::Remainder) => self.write(time, node, What::Request),
            Some(Place::Inside) => self.write(time, node, What::Release),
            _ => {}
        }
        if let Some(access) = access_of(act) {
            self.write(time, node, access);
        }
        if act.progress == Progress::Enter {
            self.entries += 1;
            self.write(time, node, What::Enter { fence: Fence(self.entries) });
        }
    }
}
