//! One honest example of every kind of message, kept as a file in `corpus/`, from which hostile ones are made.
//!
//! The files are also the memory of the format: a change of the bytes of a message fails here, and requires a higher
//! `wire::VERSION`. `DOORWAY_WRITE_CORPUS=1 cargo test -p doorway-node --test hostile corpus` writes them anew.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use doorway_core::{Fence, NodeId, SectionName, Ticks};
use doorway_node::disk::Founders;
use doorway_node::{
    Ack, Ballot, BallotEntry, Body, BreakTarget, DiskId, DiskState, Electorate, Epoch, Founding, Greeting,
    Heartbeat, Hello, IdleSection, Idleness, Incarnation, LogSnapshot, Msg, Nonce, Parcel, Position,
    ReportPart, Revocation, Timing, View, Welcome, wire,
};
use serde::de::{DeserializeOwned, Deserializer, Error, Visitor};

/// The epoch of the examples.
const EPOCH: u128 = 0x00e9_0c00_0000_0000_0000_0000_0000_0001;

/// The node with this index.
pub const fn node(index: usize) -> NodeId {
    NodeId::new(index)
}

/// The disk of the node with this index.
pub const fn disk(index: usize) -> DiskId {
    DiskId(0x0d15_c000_0000_0001 + index as u64)
}

/// What the node with this index draws at its start.
pub const fn nonce(index: usize) -> Nonce {
    Nonce(0x0123_4567_89ab_cdef_0000_0000_0000_0001 + index as u128)
}

/// How far the disk of the node with this index has come when it has synced this many writes in its first life.
pub const fn state(index: usize, synced: u64) -> DiskState {
    DiskState { boot: 1, nonce: nonce(index), synced }
}

/// The first life of the node with this index.
pub const fn life(index: usize) -> Incarnation {
    Incarnation { disk: disk(index), boot: 1, tenure: 0, nonce: nonce(index) }
}

/// A message of the consensus from the first life of the node with this index.
pub fn ballot(from: usize, term: u64, body: Body) -> Msg {
    Msg::Ballot(Ballot { from: disk(from), state: state(from, 1), epoch: None, term, body })
}

/// The same message, as if the disk of its sender had synced this many writes: with fewer it would be taken for late.
pub fn with_synced(mut msg: Msg, of: DiskId, synced: u64) -> Msg {
    match &mut msg {
        Msg::Ballot(ballot) if ballot.from == of => ballot.state.synced = synced,
        Msg::Ack(ack) if ack.voter == of => ack.state.synced = synced,
        Msg::Heartbeat(heartbeat) if heartbeat.incarnation.disk == of => heartbeat.synced = synced,
        Msg::Hello(hello) if hello.incarnation.disk == of => hello.synced = synced,
        _ => {}
    }
    msg
}

/// A section of this name.
pub fn section(name: &str) -> SectionName {
    SectionName::new(name).expect("a good name")
}

/// Every example with the name of its file.
pub fn examples() -> BTreeMap<&'static str, Msg> {
    let parcel = |parcel| Msg::Parcel { view: 3, seq: 7, ack: 5, parcel };
    let ballot = |body| {
        Msg::Ballot(Ballot { from: disk(1), state: state(1, 17), epoch: Some(Epoch(EPOCH)), term: 4, body })
    };
    let mut all = BTreeMap::from([
        ("heartbeat", Msg::Heartbeat(heartbeat())),
        ("ack", Msg::Ack(ack())),
        ("hello", Msg::Hello(hello())),
        ("welcome", Msg::Welcome(welcome())),
        ("leave", Msg::Leave(Incarnation { tenure: 2, ..life(1) })),
        ("report", Msg::Report(report())),
        ("heard", Msg::Heard { view: 3, reporter: life(0), part: 1 }),
        ("got", Msg::Got { view: 3, ack: 300 }),
        ("greeting", Msg::Greeting(Box::new(greeting()))),
        ("founding", Msg::Founding(founding())),
    ]);
    all.extend(parcels().map(|(name, body)| (name, parcel(body))));
    all.extend(bodies().map(|(name, body)| (name, ballot(body))));
    all
}

fn heartbeat() -> Heartbeat {
    Heartbeat {
        incarnation: life(1),
        view: 3,
        is_active: true,
        synced: 17,
        seq: 1_000,
        answered: 999,
        unreachable: vec![node(2)],
        is_running_out: false,
    }
}

fn ack() -> Ack {
    Ack {
        voter: disk(1),
        state: state(1, 17),
        incarnation: life(0),
        seq: 1_000,
        is_granted: false,
        left_out_by: Some(4),
    }
}

fn hello() -> Hello {
    Hello {
        incarnation: Incarnation { boot: 2, ..life(1) },
        algorithm: "central".to_owned(),
        timing: Timing::default(),
        newest: 2,
        synced: 17,
        seq: 12,
        heard: vec![node(0), node(2)],
    }
}

fn greeting() -> Greeting {
    Greeting {
        incarnation: life(1),
        synced: 17,
        epoch: Some(Epoch(EPOCH)),
        is_set_back: false,
        yours: Some((disk(0), state(0, 300))),
        found: Some(state(1, 16)),
        asks: true,
    }
}

fn founding() -> Founding {
    let list = [0, 1, 2].map(|index| (node(index), (disk(index), nonce(10 + index))));
    Founding { disk: disk(1), share: nonce(11), list: Some(Founders(list.into())), waits: true }
}

fn welcome() -> Welcome {
    Welcome {
        incarnation: life(2),
        seq: 9,
        algorithm: "central".to_owned(),
        timing: Timing::default(),
        is_removed: true,
    }
}

fn report() -> ReportPart {
    let inside = vec![section("acct-1"), section("acct-2")];
    ReportPart { view: 3, incarnation: life(1), age: Some(Ticks(1_020_203)), number: 1, count: 3, inside }
}

fn parcels() -> [(&'static str, Parcel); 9] {
    let (names, wanted) = (vec![section("a"), section("b")], section("acct-1"));
    let still = IdleSection { clock: 8, sent: vec![(node(0), 6), (node(2), 4)] };
    let idleness = Idleness {
        answers: vec![(section("a"), Some(still)), (section("b"), None)],
        arrived: vec![(node(0), 6), (node(2), 5)],
    };
    [
        ("parcel-section", Parcel::Section { section: wanted.clone(), clock: 41, bytes: vec![0, 17, 2] }),
        ("parcel-open", Parcel::Open(wanted.clone())),
        ("parcel-wanted", Parcel::Wanted(wanted)),
        ("parcel-idle", Parcel::Idle(names.clone())),
        ("parcel-may-forget", Parcel::MayForget(names.clone())),
        ("parcel-idleness", Parcel::Idleness(idleness)),
        ("parcel-verdict", Parcel::Verdict { forget: names, clock: 8, keep: vec![section("c")] }),
        (
            "parcel-break",
            Parcel::Break(BreakTarget { section: section("acct-1"), fence: Some(Fence(68_719_476_737)) }),
        ),
        (
            "parcel-broken",
            Parcel::Broken {
                target: BreakTarget { section: section("acct-1"), fence: None },
                was_inside: true,
            },
        ),
    ]
}

fn bodies() -> [(&'static str, Body); 9] {
    let last = Position { index: 12, term: 3 };
    let entries =
        vec![BallotEntry::Term(4), BallotEntry::Config(config()), BallotEntry::View(Box::new(view()))];
    let snapshot = LogSnapshot {
        position: last,
        config: config(),
        view: Some(view()),
        lives: [(disk(0), life(0)), (disk(1), Incarnation { boot: 2, tenure: 1, ..life(1) })].into(),
        forgotten_to: 1,
    };
    [
        ("ballot-sound", Body::Sound { round: 2, last }),
        ("ballot-support", Body::Support { round: 2 }),
        ("ballot-ask-vote", Body::AskVote { last }),
        ("ballot-vote", Body::Vote { is_granted: true }),
        ("ballot-append", Body::Append { decided: 12, after: last, entries }),
        ("ballot-append-nothing", Body::Append { decided: 12, after: last, entries: Vec::new() }),
        ("ballot-appended", Body::Appended { last }),
        ("ballot-snapshot", Body::Snapshot(Box::new(snapshot))),
        ("ballot-lead", Body::Lead { last }),
    ]
}

fn config() -> Electorate {
    let at = |indices: &[usize]| indices.iter().map(|&index| (disk(index), node(index))).collect();
    Electorate { voters: at(&[0, 1, 2]), new_voters: at(&[0, 1, 3]), listeners: at(&[4]) }
}

fn view() -> View {
    View {
        number: 3,
        members: [0, 1, 3].map(|index| (node(index), life(index))).into(),
        voters: config().voters,
        next_voters: Some(config().new_voters),
        voters_since: 3,
        clean: BTreeSet::from([life(2)]),
        appointed: Some([0, 1, 3].map(node).into()),
        removed: BTreeSet::from([disk(2)]),
        revoked: [("c".to_owned(), Revocation { node: node(2), until: 1_800_000_000_000_000 })].into(),
        failures: [(node(3), 2)].into(),
    }
}

/// The examples as bytes.
pub fn bytes() -> Vec<Vec<u8>> {
    examples().values().map(wire::encode).collect()
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

/// The names of the variants of an enum, as its deserialisation tells them.
fn variants_of<T: DeserializeOwned>() -> BTreeSet<String> {
    let mut names: &[&str] = &[];
    assert!(T::deserialize(Asking(&mut names)).is_err(), "nothing was there to be read");
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// A deserializer that has nothing, and remembers what was asked for.
struct Asking<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for Asking<'_> {
    type Error = serde::de::value::Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
        Err(Error::custom("this is no enum"))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Self::Error> {
        *self.0 = variants;
        Err(Error::custom("there is nothing"))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

/// Every name in a value: of variants and of fields.
fn names_in(value: &serde_json::Value, names: &mut BTreeSet<String>) {
    match value {
        serde_json::Value::Object(fields) => fields.iter().for_each(|(name, value)| {
            names.insert(name.clone());
            names_in(value, names);
        }),
        serde_json::Value::Array(values) => values.iter().for_each(|value| names_in(value, names)),
        _ => {}
    }
}

#[test]
fn every_kind_of_message_parcel_ballot_and_entry_has_an_example() {
    let mut names = BTreeSet::new();
    for msg in examples().values() {
        names_in(&serde_json::to_value(msg).expect("it can be written down"), &mut names);
    }
    let kinds =
        [variants_of::<Msg>(), variants_of::<Parcel>(), variants_of::<Body>(), variants_of::<BallotEntry>()];
    assert_eq!(kinds.each_ref().map(BTreeSet::len), [12, 9, 8, 3]);
    for kind in kinds.iter().flatten() {
        assert!(names.contains(kind), "there is no example of {kind} in tests/hostile/corpus.rs");
    }
}

#[test]
fn the_corpus_is_what_the_code_writes_and_reads() {
    if std::env::var_os("DOORWAY_WRITE_CORPUS").is_some() {
        write_corpus();
    }
    for (name, msg) in examples() {
        let kept = std::fs::read(folder().join(name)).unwrap_or_default();
        let bytes = wire::encode(&msg);
        assert_eq!(kept, bytes, "corpus/{name} is not what the code writes: is this another version?");
        assert_eq!(wire::decode(&kept).as_ref(), Ok(&msg), "corpus/{name} is not read as it was written");
    }
}

fn write_corpus() {
    for (name, msg) in examples() {
        std::fs::write(folder().join(name), wire::encode(&msg)).expect("the folder can be written");
    }
}

#[test]
fn the_corpus_has_no_file_that_no_example_is_kept_in() {
    let files = std::fs::read_dir(folder()).expect("the corpus is there").flatten();
    let names: BTreeSet<String> = files.map(|file| file.file_name().to_string_lossy().into_owned()).collect();
    let expected: BTreeSet<String> = examples().keys().map(|name| (*name).to_owned()).collect();
    assert_eq!(names, expected);
}
