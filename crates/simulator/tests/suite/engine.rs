//! The engine runs any machine: messages, commands, timers and a disk, in one order, the same for ever.

use crate::laboratory::{correct, run_plain, typed};
use doorway_core::{Effects, Machine, NodeId, NodeSet, Ticks};
use doorway_simulator::{Engine, Latency, Load, Settings};
use doorway_trace::{Log, What};
use serde::{Deserialize, Serialize};

/// A machine that writes before it answers, and answers late.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
struct Scribe {
    me: NodeId,
    /// What happened to it, and when.
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
fn recording_changes_nothing_but_the_record() {
    for name in correct() {
        for faults in ["", "crash", "loss"] {
            let mut settings = Settings { nodes: 5, entries: 60, ..Settings::default() };
            match faults {
                "crash" => settings.faults.crashes = vec![typed("3@95")],
                "loss" => settings.faults.loss = typed("0.01"),
                _ => {}
            }
            let plain = run_plain(name, &settings);
            let mut recorded = run_plain(name, &Settings { trace: true, ..settings });
            assert_eq!((plain.log.len(), recorded.log.is_empty()), (0, false), "{name}");
            let sent = recorded.log.iter().filter(|event| matches!(event.what, What::Send { .. }));
            assert_eq!(sent.count() as u64, plain.measures.traffic.messages, "{name}");
            recorded.log = Log::default();
            assert_eq!(format!("{plain:?}"), format!("{recorded:?}"), "{name}, {faults}");
        }
    }
}

#[test]
fn a_recorded_event_takes_about_a_word() {
    let settings = Settings { nodes: 25, entries: 250, trace: true, ..Settings::default() };
    let bytes = ["ricart-agrawala", "maekawa", "suzuki-kasami"].map(|name| {
        let log = run_plain(name, &settings).log;
        (log.len(), log.event_bytes(), log.message_bytes())
    });
    // 25 starts, 250 requests, entries and releases, and 12,000 messages that are sent and arrive, by Ricart and Agrawala.
    assert_eq!(bytes, [(24_775, 128_104, 23_877), (10_727, 59_820, 10_116), (13_125, 58_464, 12_815)]);
}

#[test]
fn commands_messages_writes_and_timers_reach_a_machine_when_they_are_due() {
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
fn a_crash_ends_the_messages_timers_and_writes_of_a_machine() {
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

/// Numbers that were seen once and must be seen for ever: a run is a seed, on every machine.
#[test]
fn a_run_is_a_seed_for_ever() {
    let settings = Settings {
        nodes: 7,
        entries: 500,
        load: Load::Light(300),
        latency: Latency::Span(typed("exponential:20")),
        hold: typed("uniform:1:9"),
        seed: 2_026,
        ..Settings::default()
    };
    let seen = |name: &str| {
        let measures = run_plain(name, &settings).measures;
        (measures.traffic.messages, measures.traffic.bytes, measures.time, measures.waiting_time.max())
    };
    assert_eq!(seen("ricart-agrawala"), (6_000, 34_548, 29_624, Some(246)));
    assert_eq!(seen("maekawa"), (3_403, 17_576, 29_507, Some(374)));
    assert_eq!(seen("naimi-trehel"), (1_275, 4_331, 26_924, Some(268)));
}
