//! A test machine that executes commands and records its events.

use doorway_core::{Effects, Machine, NodeId, NodeSet, Ticks};
use doorway_simulator::{Engine, Settings};
use serde::{Deserialize, Serialize};

/// Recorded events with their local times.
pub type Seen = Vec<(u64, String)>;

/// Neither data nor printable, like the largest machines.
pub struct Probe {
    pub seen: Seen,
    /// What it does on start.
    birth: Box<dyn Fn() -> Vec<Do> + Send>,
}

/// The commands of a probe, all executed in one step.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum Do {
    /// Sends a number to a node.
    Send(usize, u32),
    /// Sends a number to the nodes 1 and 2.
    SendBoth(u32),
    /// Sets a timer.
    Remind(u64, u32),
    /// Writes a number.
    Write(u32),
}

/// The messages of probes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Number(pub u32);

impl Probe {
    pub fn new(birth: impl Fn() -> Vec<Do> + Send + 'static) -> Self {
        Self { seen: Vec::new(), birth: Box::new(birth) }
    }

    fn see(&mut self, now: Ticks, what: String) {
        self.seen.push((now.0, what));
    }
}

fn act(what: Vec<Do>, effects: &mut Effects<Probe>) {
    for one in what {
        match one {
            Do::Send(to, number) => effects.out.send(NodeId::new(to), Number(number)),
            Do::SendBoth(number) => {
                let both: NodeSet = [1, 2].map(NodeId::new).into_iter().collect();
                effects.out.multicast(&both, Number(number));
            }
            Do::Remind(span, number) => effects.timers.push((Ticks(span), number)),
            Do::Write(number) => effects.writes.push(number),
        }
    }
}

impl Machine for Probe {
    type Header = ();
    type Msg = Number;
    type Command = Vec<Do>;
    type Notice = ();
    type Timer = u32;
    type Write = u32;

    fn on_start(&mut self, now: Ticks, effects: &mut Effects<Self>) {
        self.see(now, "start".to_owned());
        act((self.birth)(), effects);
    }

    fn on_command(&mut self, _: Ticks, what: Vec<Do>, effects: &mut Effects<Self>) {
        act(what, effects);
    }

    fn on_message(
        &mut self,
        now: Ticks,
        from: NodeId,
        (): (),
        Number(number): Number,
        _: &mut Effects<Self>,
    ) {
        self.see(now, format!("{number} from {from}"));
    }

    fn on_timer(&mut self, now: Ticks, number: u32, effects: &mut Effects<Self>) {
        self.see(now, format!("timer {number}"));
        // Timers of a hundred and more send a message.
        if number >= 100 {
            effects.out.send(NodeId::new(0), Number(number));
        }
    }

    fn on_written(&mut self, now: Ticks, number: u32, _: &mut Effects<Self>) {
        self.see(now, format!("written {number}"));
    }
}

pub const A: NodeId = NodeId::new(0);
pub const B: NodeId = NodeId::new(1);
pub const C: NodeId = NodeId::new(2);

/// Three started probes; a message takes 10 ticks and a write 4, unless the settings differ.
pub fn probes(change: impl Fn(&mut Settings)) -> Engine<Probe> {
    let mut settings = Settings { nodes: 3, disk_latency: Ticks(4), ..Settings::default() };
    change(&mut settings);
    settings.check().expect("it fits together");
    let mut engine = Engine::new((0..3).map(|_| Probe::new(Vec::new)).collect(), &settings);
    for node in [A, B, C] {
        engine.start(node);
        engine.machine_mut(node).seen.clear();
    }
    engine
}

/// Processes all events up to this time and advances to it.
pub fn run_to(engine: &mut Engine<Probe>, time: u64) {
    while engine.next_time().is_some_and(|due| due <= Ticks(time)) {
        engine.advance();
    }
    engine.advance_to(Ticks(time));
}

pub fn seen(engine: &Engine<Probe>, node: NodeId) -> Vec<(u64, &str)> {
    engine.machines()[node.index()].seen.iter().map(|(time, what)| (*time, what.as_str())).collect()
}
