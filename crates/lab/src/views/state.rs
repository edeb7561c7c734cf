//! A state of the model: three nodes, what is on its way between them, and its word for the checker.

/// How many nodes there are. Each is a voter.
pub(super) const NODES: usize = 3;
/// The most views; the first is there from the beginning.
pub(super) const MOST_VIEWS: u8 = 3;
/// How many numbers a word has.
pub(super) const WORD: usize = 4 * NODES + 2;
/// The number of a word that has what is on its way, and the one after it that has what a set-back disk lost.
const REST: usize = 4 * NODES;

/// Where the bit is, in the first number of a node, that tells whether its client is inside.
const INSIDE_PLACE: u32 = 8;
/// Where the client that a crash left behind begins in the last number.
const ORPHAN_PLACE: u32 = 9;

/// All that is the case at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct State {
    pub(super) nodes: [Node; NODES],
    /// For each view to whom its permission is on its way, if it is.
    pub(super) flights: [Option<u8>; MOST_VIEWS as usize],
    /// The client of a node that crashed or was set back, if it was inside and its deadline has not come.
    pub(super) orphan: Option<Orphan>,
    /// Whether a node has crashed.
    pub(super) has_crashed: bool,
    /// The newest view in which somebody was let in, or that all have learned, so that nobody can be let in in an older one.
    pub(super) fence: u8,
    /// The node whose disk was set back, as long as it has not marked itself.
    pub(super) set_back: Option<SetBack>,
    /// The views from the second on that were decided, and that only the node had learned whose disk was set back.
    pub(super) lost: [Option<Roster>; MOST_VIEWS as usize - 1],
}

/// A node, with its disk and its client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) standing: Standing,
    /// Its incarnation: boot and tenure in one number, which only grows.
    pub(super) life: u8,
    /// The newest view that it has learned; if it has a view, this is it.
    pub(super) learned: u8,
    /// The views from the second on in its log, decided or not.
    pub(super) log: [Option<Roster>; MOST_VIEWS as usize - 1],
    /// What it reported at the beginning of each view from the second on.
    pub(super) reports: [Option<Report>; MOST_VIEWS as usize - 1],
    pub(super) is_inside: bool,
    /// Whether the permission of its view is here.
    pub(super) has_permission: bool,
    /// When the heartbeat was sent that its lease counts from, if it has one.
    pub(super) lease: Option<Sent>,
    /// A heartbeat that one voter has acknowledged: which one, and when it was sent.
    pub(super) heartbeat: Option<(u8, Sent)>,
    /// Whether its quiet time goes on.
    pub(super) is_quiet: bool,
}

/// What an incarnation of a node reports: whether its client is inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Report {
    pub(super) life: u8,
    pub(super) is_inside: bool,
}

/// How a node takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// It crashed, and was not started again.
    Down,
    /// It runs, and has no view.
    Apart,
    /// It has a view, and not all reports.
    Limbo,
    /// Its view is installed.
    Active,
    /// It has said that it leaves; it goes on as a voter.
    Left,
    /// It has marked its disk as set back: it never votes or takes part again.
    Marked,
}

/// In the order of their numbers.
const STANDINGS: [Standing; 6] =
    [Standing::Down, Standing::Apart, Standing::Limbo, Standing::Active, Standing::Left, Standing::Marked];

/// A disk that was set back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SetBack {
    pub(super) node: u8,
    pub(super) evidence: Evidence,
}

/// What shows the other voters that a disk was set back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Evidence {
    /// Its list of lives lacks one that every log names.
    Life,
    /// These voters, one bit each, remember that it had synced more.
    Synced(u8),
}

/// The client of a crashed node: it knows its deadline, and nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Orphan {
    pub(super) node: u8,
    pub(super) life: u8,
    pub(super) lease: Sent,
}

/// When a heartbeat was sent, as far as it matters: the nodes whose quiet time began later, one bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sent(u8);

/// The content of a view: what it has of each disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Roster(pub(super) [Seat; NODES]);

/// What a view has of a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seat {
    /// Nothing.
    Out,
    /// Nothing, and whoever was there in the view before had left by itself.
    Clean,
    /// This incarnation.
    In(u8),
}

impl State {
    /// All are active in the first view with leases; its permission is with node 1.
    pub(super) fn first() -> Self {
        let node = Node {
            standing: Standing::Active,
            life: 0,
            learned: 1,
            log: [None; MOST_VIEWS as usize - 1],
            reports: [None; MOST_VIEWS as usize - 1],
            is_inside: false,
            has_permission: false,
            lease: Some(Sent::NOW),
            heartbeat: None,
            is_quiet: false,
        };
        let mut nodes = [node; NODES];
        nodes[0].has_permission = true;
        let flights = [None; MOST_VIEWS as usize];
        let lost = [None; MOST_VIEWS as usize - 1];
        Self { nodes, flights, orphan: None, has_crashed: false, fence: 1, set_back: None, lost }
    }

    /// The content of a view, if it is decided: a node has learned it, or had before its disk was set back.
    pub(super) fn decided(&self, view: u8) -> Option<Roster> {
        self.learned(view).or_else(|| self.lost(view))
    }

    /// The content of a view, if a node has learned it.
    pub(super) fn learned(&self, view: u8) -> Option<Roster> {
        self.nodes.iter().find(|node| node.learned >= view).and_then(|node| node.view(view))
    }

    /// The content of a view that was decided, and that only a set-back disk had as learned.
    pub(super) fn lost(&self, view: u8) -> Option<Roster> {
        if view == 1 { None } else { self.lost[usize::from(view) - 2] }
    }

    /// Whether the client that a crash left behind at a node is inside.
    pub(super) fn has_orphan(&self, node: usize) -> bool {
        self.orphan.is_some_and(|orphan| usize::from(orphan.node) == node)
    }

    /// What a member reported at the beginning of a view with this content: whether its client is inside. Reports of an incarnation
    /// that the content lacks, or for a content that another majority decided, do not count.
    pub(super) fn reported(&self, view: u8, roster: Roster, member: usize) -> Option<bool> {
        if view == 1 {
            return Some(false);
        }
        let node = &self.nodes[member];
        let is_for = |report: &Report| {
            roster.has(member, report.life) && node.view(view).is_none_or(|own| own == roster)
        };
        node.reports[usize::from(view) - 2].filter(is_for).map(|report| report.is_inside)
    }

    /// The node reported to be inside at the beginning of a view with this content, or several if something is wrong.
    pub(super) fn holders(&self, view: u8, roster: Roster) -> impl Iterator<Item = usize> {
        (0..NODES).filter(move |node| self.reported(view, roster, *node) == Some(true))
    }

    /// Stops a node. Its client goes on until its deadline.
    pub(super) fn stop(&mut self, me: usize) {
        let node = &mut self.nodes[me];
        let orphan = |lease| Orphan { node: me as u8, life: node.life, lease };
        self.orphan = node.lease.filter(|_| node.is_inside).map(orphan).or(self.orphan);
        node.forget(Standing::Down);
        self.forget_quiet(me);
    }

    /// Rule 28: whether two voters count what the other says. They do not if one was set back and the other knows it.
    pub(super) fn is_greeted(&self, one: usize, other: usize) -> bool {
        let Some(SetBack { node, evidence }) = self.set_back else { return true };
        let node = usize::from(node);
        !(node == one && evidence.is_known_to(other) || node == other && evidence.is_known_to(one))
    }

    /// Begins a node's quiet time: every heartbeat so far was sent before it.
    pub(super) fn begin_quiet(&mut self, node: usize) {
        self.nodes[node].is_quiet = true;
        self.each_sent(|sent| *sent = sent.before(node));
    }

    /// Forgets a node's quiet time.
    pub(super) fn forget_quiet(&mut self, node: usize) {
        self.nodes[node].is_quiet = false;
        self.each_sent(|sent| *sent = sent.without(node));
    }

    fn each_sent(&mut self, change: impl Fn(&mut Sent)) {
        let orphan = self.orphan.iter_mut().map(|orphan| &mut orphan.lease);
        let nodes = self
            .nodes
            .iter_mut()
            .flat_map(|node| node.lease.iter_mut().chain(node.heartbeat.iter_mut().map(|(_, sent)| sent)));
        orphan.chain(nodes).for_each(change);
    }

    /// The state as numbers, below 2^16 but for the last if a set-back disk has lost a third view.
    pub(super) fn word(&self) -> [u32; WORD] {
        let mut word = [0; WORD];
        for (node, numbers) in self.nodes.iter().zip(word.chunks_exact_mut(4)) {
            numbers.copy_from_slice(&node.numbers());
        }
        let mut rest = Bits::default();
        self.flights.iter().for_each(|to| rest.push(to.map_or(0, |to| u32::from(to) + 1), 2));
        rest.push(u32::from(self.has_crashed), 1);
        rest.push(u32::from(self.fence), 2);
        let orphan = |orphan: Orphan| {
            1 + u32::from(orphan.node) + 3 * (u32::from(orphan.lease.0) + 8 * u32::from(orphan.life))
        };
        debug_assert_eq!(rest.place, ORPHAN_PLACE);
        rest.push(self.orphan.map_or(0, orphan), 7);
        word[REST] = rest.number;
        let mut disk = Bits::default();
        disk.push(self.set_back.map_or(0, SetBack::code), 5);
        self.lost.iter().for_each(|view| disk.push(view.map_or(0, Roster::code), 9));
        word[REST + 1] = disk.number;
        word
    }

    /// Whether a client of a node is inside in the state of a word, its own or one that a crash left behind.
    pub(super) fn is_inside(word: &[u32], node: usize) -> bool {
        let orphan = word[REST] >> ORPHAN_PLACE;
        word[4 * node] >> INSIDE_PLACE & 1 == 1 || orphan > 0 && (orphan as usize - 1) % NODES == node
    }

    /// The state of a word.
    pub(super) fn of(word: &[u32]) -> Self {
        let mut rest = Bits { number: word[REST], ..Bits::default() };
        let flights = [(); MOST_VIEWS as usize].map(|()| (rest.take(2) as u8).checked_sub(1));
        let (has_crashed, fence) = (rest.take(1) == 1, rest.take(2) as u8);
        let orphan = rest.take(7).checked_sub(1).map(|code| Orphan {
            node: (code % 3) as u8,
            life: (code / 24) as u8,
            lease: Sent((code / 3 % 8) as u8),
        });
        let nodes = std::array::from_fn(|node| Node::of(&word[4 * node..4 * node + 4]));
        let mut disk = Bits { number: word[REST + 1], ..Bits::default() };
        let set_back = disk.take(5).checked_sub(1).map(SetBack::of);
        let lost = [(); MOST_VIEWS as usize - 1].map(|()| Roster::if_any(disk.take(9)));
        Self { nodes, flights, orphan, has_crashed, fence, set_back, lost }
    }
}

impl Node {
    /// Whether it runs, so that it can vote.
    pub(super) fn is_running(&self) -> bool {
        !matches!(self.standing, Standing::Down | Standing::Marked)
    }

    /// Whether it has a view.
    pub(super) fn has_view(&self) -> bool {
        matches!(self.standing, Standing::Limbo | Standing::Active)
    }

    /// A view of its log.
    pub(super) fn view(&self, view: u8) -> Option<Roster> {
        if view == 1 { Some(Roster::FIRST) } else { self.log[usize::from(view) - 2] }
    }

    /// The number of the newest view in its log, decided or not.
    pub(super) fn newest(&self) -> u8 {
        1 + self.log.iter().flatten().count() as u8
    }

    /// Forgets all but its disk, as a node does without a view.
    pub(super) fn forget(&mut self, standing: Standing) {
        self.standing = standing;
        self.is_inside = false;
        self.has_permission = false;
        self.lease = None;
        self.heartbeat = None;
    }

    fn numbers(&self) -> [u32; 4] {
        let mut bits = Bits::default();
        bits.push(self.standing as u32, 3);
        bits.push(u32::from(self.life), 3);
        bits.push(u32::from(self.learned), 2);
        debug_assert_eq!(bits.place, INSIDE_PLACE);
        bits.push(u32::from(self.is_inside), 1);
        bits.push(u32::from(self.has_permission), 1);
        bits.push(u32::from(self.is_quiet), 1);
        let heartbeat =
            self.heartbeat.map_or(0, |(voter, sent)| 1 + u32::from(voter) + 3 * u32::from(sent.0));
        let lease = self.lease.map_or(0, |sent| 1 + u32::from(sent.0));
        let [second, third] = self.log.map(|view| view.map_or(0, Roster::code));
        let mut sent = Bits::default();
        sent.push(lease + 9 * heartbeat, 8);
        self.reports.iter().for_each(|report| sent.push(report.map_or(0, Report::code), 4));
        [bits.number, sent.number, second, third]
    }

    fn of(numbers: &[u32]) -> Self {
        let mut bits = Bits { number: numbers[0], ..Bits::default() };
        let standing = STANDINGS[bits.take(3) as usize];
        let (life, learned) = (bits.take(3) as u8, bits.take(2) as u8);
        let [is_inside, has_permission, is_quiet] = [(); 3].map(|()| bits.take(1) == 1);
        let mut sent = Bits { number: numbers[1], ..Bits::default() };
        let times = sent.take(8);
        let reports = [(); MOST_VIEWS as usize - 1].map(|()| sent.take(4).checked_sub(1).map(Report::of));
        let lease = (times % 9).checked_sub(1).map(|sent| Sent(sent as u8));
        let heartbeat = (times / 9).checked_sub(1).map(|code| ((code % 3) as u8, Sent((code / 3) as u8)));
        let log = [numbers[2], numbers[3]].map(Roster::if_any);
        Self { standing, life, learned, log, reports, is_inside, has_permission, lease, heartbeat, is_quiet }
    }
}

impl Report {
    /// Its number, which is never 0.
    fn code(self) -> u32 {
        1 + u32::from(self.is_inside) + 2 * u32::from(self.life)
    }

    /// The report whose number is one more than this.
    fn of(code: u32) -> Self {
        Self { life: (code / 2) as u8, is_inside: code % 2 == 1 }
    }
}

impl Evidence {
    /// Whether it is known to a voter other than the one whose disk was set back.
    pub(super) fn is_known_to(self, voter: usize) -> bool {
        match self {
            Evidence::Life => true,
            Evidence::Synced(voters) => voters & 1 << voter != 0,
        }
    }

    /// Whether two voters remember it.
    pub(super) fn is_known_to_two(self) -> bool {
        matches!(self, Evidence::Synced(voters) if voters.count_ones() == 2)
    }
}

impl SetBack {
    /// Its number, which is never 0.
    fn code(self) -> u32 {
        let evidence = match self.evidence {
            Evidence::Synced(voters) => voters,
            Evidence::Life => 1 << NODES,
        };
        1 + u32::from(self.node) + NODES as u32 * u32::from(evidence)
    }

    /// The disk whose number is one more than this.
    fn of(code: u32) -> Self {
        let voters = (code / NODES as u32) as u8;
        let evidence = if voters == 1 << NODES { Evidence::Life } else { Evidence::Synced(voters) };
        Self { node: (code % NODES as u32) as u8, evidence }
    }
}

impl Sent {
    /// Just now: no quiet time began later.
    pub(super) const NOW: Self = Self(0);

    /// Whether it was sent before a node's quiet time began.
    pub(super) fn is_before(self, node: usize) -> bool {
        self.0 & 1 << node != 0
    }

    fn before(self, node: usize) -> Self {
        Self(self.0 | 1 << node)
    }

    fn without(self, node: usize) -> Self {
        Self(self.0 & !(1 << node))
    }
}

impl Roster {
    /// The first view has all nodes, as they were first started.
    pub(super) const FIRST: Self = Self([Seat::In(0); NODES]);

    /// Whether it has this incarnation of a node.
    pub(super) fn has(self, node: usize, life: u8) -> bool {
        self.0[node] == Seat::In(life)
    }

    /// Which incarnation of a node it has.
    pub(super) fn life(self, node: usize) -> Option<u8> {
        match self.0[node] {
            Seat::In(life) => Some(life),
            Seat::Out | Seat::Clean => None,
        }
    }

    /// The nodes that it has, in whatever incarnation.
    pub(super) fn members(self) -> impl Iterator<Item = usize> {
        (0..NODES).filter(move |node| self.life(*node).is_some())
    }

    /// Its number, which is never 0 because a view has a member.
    pub(super) fn code(self) -> u32 {
        let mut bits = Bits::default();
        for seat in self.0 {
            let code = match seat {
                Seat::Out => 0,
                Seat::In(life) => 1 + u32::from(life),
                Seat::Clean => 7,
            };
            bits.push(code, 3);
        }
        bits.number
    }

    /// The content with this number, if it is not 0.
    fn if_any(code: u32) -> Option<Self> {
        (code > 0).then(|| Self::of(code))
    }

    /// The content with this number.
    pub(super) fn of(code: u32) -> Self {
        let mut bits = Bits { number: code, ..Bits::default() };
        Self([(); NODES].map(|()| match bits.take(3) {
            0 => Seat::Out,
            7 => Seat::Clean,
            code => Seat::In(code as u8 - 1),
        }))
    }
}

/// Small numbers side by side in one.
#[derive(Default)]
struct Bits {
    number: u32,
    place: u32,
}

impl Bits {
    fn push(&mut self, value: u32, width: u32) {
        debug_assert!(value < 1 << width, "{value} needs more than {width} bits");
        self.number |= value << self.place;
        self.place += width;
    }

    fn take(&mut self, width: u32) -> u32 {
        let value = self.number >> self.place & ((1 << width) - 1);
        self.place += width;
        value
    }
}
