//! One node: the library and a disk, driven as the lock's node drives them. It writes before it sends and does nothing while
//! it writes, so a step is either whole, or a crash tears what it writes and nothing was sent.

use super::engine::{Config, Disk, Engine, Head, Id, Image, Position, RaftMsg, Record, Role};

/// A node between two steps: all that it has written is synced.
#[derive(Clone)]
pub struct Local<E> {
    pub me: Id,
    pub engine: E,
    pub disk: Disk,
    /// Whether the library refused a message as one that contradicts what was decided.
    pub is_corrupt: bool,
}

/// A message between nodes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Mail<M> {
    /// One of the library's.
    Message(M),
    /// The beginning of the sender's log.
    Snapshot { from: Id, term: u64, base: Position, config: Config },
}

/// What can happen to a node.
#[derive(Clone, Debug)]
pub enum Event<'a, M> {
    Receive(&'a Mail<M>),
    /// It stands for election; a leader says that it leads.
    Stand,
    Propose,
    Change(&'a Config),
    /// It cuts its log where it is decided.
    Compact,
    /// It follows from now on, from the log in its memory.
    StepBack,
    /// It is killed and started again from its disk.
    Restart,
}

/// What came of an event.
pub struct Outcome<E: Engine> {
    pub local: Local<E>,
    pub sends: Vec<(Id, Mail<E::Message>)>,
    /// The node as it comes back if it is killed while it writes, one for each part of the records that can be on its disk.
    pub torn: Vec<Local<E>>,
}

impl<M> Mail<M> {
    pub fn head<E: Engine<Message = M>>(&self) -> Head {
        match self {
            Mail::Message(message) => E::head(message),
            Mail::Snapshot { from, term, .. } => Head { letter: RaftMsg::Snapshot, from: *from, term: *term },
        }
    }
}

impl<E: Engine> Local<E> {
    pub fn new(me: Id, disk: Disk) -> Self {
        let mut engine = E::start(me, &disk);
        engine.take_wants();
        Self { me, engine, disk, is_corrupt: false }
    }

    /// What happens at an event, if anything can.
    pub fn handle(&self, event: &Event<'_, E::Message>) -> Option<Outcome<E>> {
        let image = self.engine.image();
        let leads = image.role == Role::Leader;
        let mut next = self.clone();
        match event {
            Event::Receive(mail) => next.receive(mail, &image),
            Event::Stand if leads => next.engine.say_that_it_leads(),
            Event::Stand => next.engine.stand_for_election(),
            Event::Propose if leads => next.engine.propose(),
            Event::Change(config) if leads && image.log.config_at(u64::MAX).1.next_voters.is_empty() => {
                next.engine.propose_config(config);
            }
            Event::Compact if image.commit > image.log.base.index => {
                let (position, config) = image.log.config_at(image.commit);
                next.begin_log_at(position, config);
            }
            Event::StepBack if leads => {
                let memory = Disk { log: image.log, ..self.disk.clone() };
                next.engine = Self::new(self.me, memory).engine;
            }
            Event::Restart => next = Self::new(self.me, self.disk.clone()),
            Event::Propose | Event::Change(_) | Event::Compact | Event::StepBack => return None,
        }
        Some(next.carry_out(&self.disk))
    }

    fn receive(&mut self, mail: &Mail<E::Message>, image: &Image) {
        let Head { letter, from, .. } = mail.head::<E>();
        match mail {
            Mail::Snapshot { term, base, config, .. } => {
                if base.index > image.commit && *term == image.term {
                    self.begin_log_at(*base, config);
                }
            }
            Mail::Message(_)
                if matches!(letter, RaftMsg::Vote | RaftMsg::Appended)
                    && !image.log.config_at(u64::MAX).1.contains(from) => {}
            Mail::Message(message) => self.is_corrupt |= !self.engine.receive(message),
        }
    }

    /// Begins the log later, in memory and on the disk, which is replaced as a whole.
    fn begin_log_at(&mut self, position: Position, config: &Config) {
        if self.engine.begin_log_at(position, config) {
            self.disk.log = self.engine.image().log;
        }
    }

    /// Writes and sends what the library wants. The disk before is what a crash in between begins with.
    fn carry_out(mut self, before: &Disk) -> Outcome<E> {
        let wants = self.engine.take_wants();
        let parts: Vec<Record> = wants.records.iter().flat_map(parts).collect();
        let mut torn = Vec::new();
        let mut disk = before.clone();
        for part in parts.split_last().map_or(&[][..], |(_, others)| others) {
            disk.write(part);
            torn.push(Self::new(self.me, disk.clone()));
        }
        wants.records.iter().for_each(|record| self.disk.write(record));
        let mut sends: Vec<(Id, Mail<E::Message>)> =
            wants.sends.into_iter().map(|(to, message)| (to, Mail::Message(message))).collect();
        let Image { term, log, .. } = self.engine.image();
        let snapshot = Mail::Snapshot { from: self.me, term, base: log.base, config: log.base_config };
        sends.extend(wants.snapshots.into_iter().map(|to| (to, snapshot.clone())));
        Outcome { local: self, sends, torn }
    }
}

/// What of a record can be on a disk without the rest: entries come one by one.
fn parts(record: &Record) -> Vec<Record> {
    let Record::Entries { after, entries } = record else { return vec![record.clone()] };
    let part = |end: usize| Record::Entries { after: *after, entries: entries[..end].to_vec() };
    (1..=entries.len()).map(part).collect()
}

impl Config {
    pub fn contains(&self, id: Id) -> bool {
        [&self.voters, &self.next_voters, &self.listeners].iter().any(|set| set.contains(&id))
    }
}

/// Whether a node can never again do anything with a message but answer that it is late. Terms never go back, and a node that neither
/// stands for election nor leads in a term does neither later in that term.
pub fn is_late(head: Head, image: &Image) -> bool {
    let is_over = match head.letter {
        RaftMsg::Vote => image.role != Role::Candidate,
        RaftMsg::Appended => image.role == Role::Follower,
        RaftMsg::Snapshot | RaftMsg::AskVote | RaftMsg::Append => false,
    };
    head.term < image.term || head.term == image.term && is_over
}

/// Whether a message may be answered with the news that it is late.
pub fn asks(head: Head) -> bool {
    matches!(head.letter, RaftMsg::AskVote | RaftMsg::Append)
}
