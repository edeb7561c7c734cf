//! What a log gives back is what was written down, whatever happened in which order.

use doorway_core::{Fence, NodeId, NodeSet, Ticks, To};
use doorway_trace::{Event, Log, What};
use proptest::collection::vec;
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum Msg {
    Request { counter: u64 },
    Token(Vec<u64>),
    Release,
}

/// Something that happens; numbers choose among what there is.
#[derive(Clone, Debug)]
enum Act {
    Step(u8, usize, u8),
    Wait(u64),
    Multicast(Msg, u8, Vec<usize>),
    Deliver(usize),
    Lose(usize),
    Enter(u64),
    /// It stands still, goes on or crashes: no step.
    Host(u8, usize),
    Violate(usize),
}

fn act() -> impl Strategy<Value = Act> {
    let msg = prop_oneof![
        any::<u64>().prop_map(|counter| Msg::Request { counter }),
        vec(any::<u64>(), 0..40).prop_map(Msg::Token),
        Just(Msg::Release),
    ];
    let wait = prop_oneof![0..3_u64, Just((1 << 29) - 2), Just((1 << 29) - 1), Just(1 << 40)];
    prop_oneof![
        (0..5_u8, 0..5_usize, 0..3_u8).prop_map(|(what, node, rule)| Act::Step(what, node, rule)),
        wait.prop_map(Act::Wait),
        (msg, 0..3_u8, vec(0..5_usize, 1..5)).prop_map(|(msg, rule, to)| Act::Multicast(msg, rule, to)),
        any::<usize>().prop_map(Act::Deliver),
        any::<usize>().prop_map(Act::Deliver),
        any::<usize>().prop_map(Act::Lose),
        any::<u64>().prop_map(Act::Enter),
        (0..3_u8, 0..5_usize).prop_map(|(what, node)| Act::Host(what, node)),
        (0..5_usize).prop_map(Act::Violate),
    ]
}

/// The log, and the events written out as they happen.
struct Both {
    log: Log,
    events: Vec<Event>,
    now: Ticks,
    step: Event,
    sendings: Vec<Event>,
}

const RULES: [&str; 3] = ["", "ask", "pass on"];

impl Both {
    fn new() -> Self {
        let node = NodeId::new(0);
        let step = Event { id: 1, time: Ticks(0), node, what: What::Start, rule: None, cause: None };
        let mut log = Log::of::<Msg>();
        assert_eq!(log.push(Ticks(0), node, What::Start, "", None), 1);
        Self { log, events: vec![step.clone()], now: Ticks(0), step, sendings: Vec::new() }
    }

    /// Writes the event out in full; tells its number.
    fn tell(&mut self, node: NodeId, what: What, rule: &'static str, cause: Option<u64>) -> Event {
        let id = self.events.len() as u64 + 1;
        let rule = (!rule.is_empty()).then_some(rule.into());
        self.events.push(Event { id, time: self.now, node, what, rule, cause });
        self.events[self.events.len() - 1].clone()
    }

    fn act(&mut self, act: &Act) {
        match act {
            Act::Wait(ticks) => self.now = self.now + Ticks(*ticks),
            Act::Step(what, node, rule) => {
                let rule = RULES[usize::from(*rule)];
                let steps = [What::Start, What::Request, What::Release, What::Timer, What::Written];
                let what = steps[usize::from(*what)].clone();
                self.step = self.tell(NodeId::new(*node), what.clone(), rule, None);
                assert_eq!(self.log.push(self.now, self.step.node, what, rule, None), self.step.id);
            }
            Act::Multicast(msg, rule, to) => self.multicast(msg, RULES[usize::from(*rule)], to),
            Act::Deliver(which) => self.deliver(*which),
            Act::Lose(which) => self.lose(*which),
            Act::Enter(fence) if self.step.time == self.now => {
                let (what, fence) = (What::Enter { fence: Fence(*fence) }, Fence(*fence));
                self.tell(self.step.node, what, "ask", Some(self.step.id));
                self.log.enter(fence, "ask");
            }
            Act::Enter(_) => {}
            Act::Host(what, node) => {
                let what = [What::Crash, What::Pause, What::Resume][usize::from(*what)].clone();
                let told = self.tell(NodeId::new(*node), what.clone(), "", None);
                self.log.push(self.now, told.node, what, "", None);
            }
            Act::Violate(node) => {
                let what = What::Violation { what: format!("{node} is inside") };
                let wrong = self.tell(NodeId::new(*node), what.clone(), "", Some(self.step.id));
                self.log.push(self.now, wrong.node, what, "", self.log.step());
            }
        }
    }

    /// Sends in the time of the last step only, as nodes do.
    fn multicast(&mut self, msg: &Msg, rule: &'static str, to: &[usize]) {
        if self.step.time != self.now {
            return;
        }
        let (kind, message) = (doorway_core::kind(msg).name, serde_json::to_value(msg).expect("it is data"));
        let nodes: NodeSet = to.iter().map(|to| NodeId::new(*to)).collect();
        for to in &nodes {
            let what = What::Send { to, kind: kind.into(), message: message.clone() };
            let sending = self.tell(self.step.node, what, rule, Some(self.step.id));
            self.sendings.push(sending);
        }
        self.log.seal(kind, rule, msg);
        match to {
            [to] => self.log.send_to(&To::One(NodeId::new(*to))),
            _ => self.log.send_to(&To::Set(nodes)),
        }
    }

    fn sending(&self, which: usize) -> Option<(u64, NodeId, NodeId, String, Value)> {
        let event = self.sendings.get(which % self.sendings.len().max(1))?;
        match &event.what {
            What::Send { to, kind, message } => {
                Some((event.id, event.node, *to, kind.to_string(), message.clone()))
            }
            _ => None,
        }
    }

    fn deliver(&mut self, which: usize) {
        let Some((id, from, to, kind, message)) = self.sending(which) else { return };
        self.step = self.tell(to, What::Deliver { from, kind: kind.into(), message }, "", Some(id));
        assert_eq!(self.log.deliver(self.now, id), self.step.id);
    }

    fn lose(&mut self, which: usize) {
        let Some((id, from, to, kind, _)) = self.sending(which) else { return };
        self.tell(from, What::Lost { to, kind: kind.into(), why: "drawn by lot".into() }, "", Some(id));
        self.log.lose(self.now, id, "drawn by lot");
    }
}

proptest! {
    #[test]
    fn a_log_gives_back_what_was_written_down_in_few_bytes(acts in vec(act(), 0..200)) {
        let mut both = Both::new();
        acts.iter().for_each(|act| both.act(act));
        let read: Vec<Event> = both.log.iter().collect();
        prop_assert_eq!(&read, &both.events);
        prop_assert_eq!(both.log.iter().len(), read.len());
        let is_step = |event: &Event| event.cause.is_none() && event.rule.is_some();
        let whole = |event: &&Event| matches!(event.what, What::Violation { .. }) || is_step(event);
        let whole = read.iter().filter(whole).count() * size_of::<Event>();
        prop_assert!(both.log.event_bytes() - whole <= Log::MOST_BYTES_PER_EVENT * read.len());
    }
}

#[test]
fn an_event_is_mostly_one_word_and_a_message_is_kept_once() {
    let mut log = Log::of::<Msg>();
    log.push(Ticks(5), NodeId::new(0), What::Request, "", None);
    log.seal("REQUEST", "ask", &Msg::Request { counter: 300 });
    log.send_to(&To::Set(NodeSet::first(25)));
    for sending in 2..=26 {
        log.deliver(Ticks(15), sending);
    }
    assert_eq!(log.len(), 51);
    // 51 events, two times and a seal; a variant and two bytes for 300.
    assert_eq!((log.event_bytes(), log.message_bytes()), (4 * 54, 3));
    let mut empty = Log::of::<()>();
    empty.push(Ticks(0), NodeId::new(0), What::Start, "", None);
    empty.seal("MESSAGE", "", &());
    assert_eq!((empty.event_bytes(), empty.message_bytes()), (8, 0));
}

#[test]
fn a_message_longer_than_a_seal_can_tell_is_read_as_it_was() {
    let mut log = Log::of::<String>();
    log.push(Ticks(0), NodeId::new(0), What::Start, "", None);
    let lengths = [0, 131_060, 131_067, 131_068, 131_069, 131_080, 1_000_000];
    for length in lengths {
        log.seal("MESSAGE", "", &"x".repeat(length));
        log.send(NodeId::new(1));
    }
    let told = log.iter().skip(1).map(|event| match event.what {
        What::Send { message, .. } => message.as_str().map(str::len),
        _ => None,
    });
    assert_eq!(told.collect::<Option<Vec<_>>>(), Some(lengths.to_vec()));
}

/// Data that `postcard` cannot read again, as it does not say what it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
enum Untagged {
    Number(u64),
    Word(String),
}

#[test]
fn of_a_message_that_is_lost_on_every_wire_the_kind_is_known() {
    let mut log = Log::of::<Untagged>();
    log.push(Ticks(0), NodeId::new(0), What::Start, "", None);
    for msg in [Untagged::Number(7), Untagged::Word("seven".to_owned())] {
        log.seal("MESSAGE", "", &msg);
        log.send(NodeId::new(1));
    }
    let what = What::Send { to: NodeId::new(1), kind: "MESSAGE".into(), message: json!(null) };
    assert_eq!(log.iter().skip(1).map(|event| event.what).collect::<Vec<_>>(), [what.clone(), what]);
}

#[test]
fn the_largest_node_and_the_latest_time_fit() {
    let mut log = Log::of::<()>();
    let last = NodeId::new(Log::MOST_NODES - 1);
    log.push(Ticks(u64::MAX), last, What::Crash, "", None);
    log.push(Ticks(u64::MAX), last, What::Release, "", None);
    log.seal("MESSAGE", "", &());
    log.send(last);
    log.enter(Fence(u64::MAX), "");
    let places = log.iter().map(|event| (event.time, event.node));
    assert_eq!(places.collect::<Vec<_>>(), [(Ticks(u64::MAX), last); 4]);
    assert_eq!(log.iter().nth(3).map(|event| event.what), Some(What::Enter { fence: Fence(u64::MAX) }));
}
