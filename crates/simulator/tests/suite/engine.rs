//! The engine runs any machine: messages, commands, timers and a disk, in one deterministic order.

use doorway_core::{Effects, Machine, NodeId, NodeSet, Ticks};
use doorway_simulator::{Engine, Latency, Settings};
use serde::{Deserialize, Serialize};

use crate::typed;

/// A machine that writes to disk before it answers, and answers late.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
struct Scribe {
    me: NodeId,
    /// Its events with their times.
    log: Vec<(u64, String)>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
enum Note {
    Question(u32),
    Answer(u32),
}

impl Scribe {
    fn log(&mut self, now: Ticks, what: String) {
        self.log.push((now.0, what));
    }
}

impl Machine for Scribe {
    type Header = u8;
    type Msg = Note;
    type Command = u32;
    type Notice = String;
    type Timer = (NodeId, u32);
    type Write = (NodeId, u32);

    fn on_start(&mut self, now: Ticks, effects: &mut Effects<Self>) {
        effects.header = 0;
        self.log(now, "start".to_owned());
    }

    fn on_command(&mut self, now: Ticks, question: u32, effects: &mut Effects<Self>) {
        effects.header = 7;
        self.log(now, format!("command {question}"));
        effects.out.multicast(&NodeSet::first(3).without(self.me), Note::Question(question));
    }

    fn on_message(&mut self, now: Ticks, from: NodeId, header: u8, msg: Note, effects: &mut Effects<Self>) {
        effects.header = header + 1;
        self.log(now, format!("{msg:?} from {from} with {header}"));
        match msg {
            Note::Question(question) => effects.writes.push((from, question)),
            Note::Answer(answer) => effects.notices.push(format!("answer {answer}")),
        }
    }

    fn on_written(&mut self, now: Ticks, (to, question): (NodeId, u32), effects: &mut Effects<Self>) {
        self.log(now, format!("written {question}"));
        effects.timers.push((Ticks(u64::from(question)), (to, question)));
    }

    fn on_timer(&mut self, now: Ticks, (to, question): (NodeId, u32), effects: &mut Effects<Self>) {
        effects.header = 9;
        self.log(now, format!("timer {question}"));
        effects.out.send(to, Note::Answer(question));
    }
}

fn settings() -> Settings {
    Settings { nodes: 3, disk_latency: Ticks(4), latency: Latency::Span(typed("10")), ..Settings::default() }
}

fn scribes(settings: &Settings) -> Engine<Scribe> {
    let machines = NodeId::first(3).map(|me| Scribe { me, log: Vec::new() }).collect();
    let mut engine = Engine::new(machines, settings);
    NodeId::first(3).for_each(|node| engine.start(node));
    engine
}

fn log(engine: &Engine<Scribe>, index: usize) -> Vec<(u64, &str)> {
    engine.machines()[index].log.iter().map(|(time, what)| (*time, what.as_str())).collect()
}

#[test]
fn commands_messages_writes_and_timers_arrive_on_time() {
    let mut engine = scribes(&settings());
    engine.command(NodeId::new(0), 100);
    let mut notices = Vec::new();
    while engine.next_time().is_some() {
        engine.advance();
        notices.extend(engine.effects().notices.iter().cloned());
    }
    let expected =
        [(0, "start"), (10, "Question(100) from 1 with 7"), (14, "written 100"), (114, "timer 100")];
    assert_eq!(log(&engine, 1), expected);
    let first = [
        (0, "start"),
        (0, "command 100"),
        (124, "Answer(100) from 2 with 9"),
        (124, "Answer(100) from 3 with 9"),
    ];
    assert_eq!(log(&engine, 0), first);
    assert_eq!(notices, ["answer 100", "answer 100"]);
}

#[test]
fn a_crash_ends_messages_timers_and_writes() {
    for (crash, survives) in [("2@10", 1), ("2@12", 2), ("2@50", 3), ("2@114", 3), ("2@115", 4)] {
        let mut settings = settings();
        settings.faults.crashes = vec![typed(crash)];
        let mut engine = scribes(&settings);
        engine.command(NodeId::new(0), 100);
        while engine.next_time().is_some() {
            engine.advance();
        }
        assert_eq!(log(&engine, 1).len(), survives, "crash at {crash}");
        assert_eq!(log(&engine, 2).len(), 4, "the others go on");
    }
}
