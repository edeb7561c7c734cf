//! A cluster of such nodes as a system to explore.
//!
//! Every message that was ever sent may arrive at any time, any number of times, or never: that is loss, disorder and duplication at
//! once, and no step is needed for any of them. A message that its receiver can never again do anything with is forgotten.

use std::collections::HashMap;
use std::hash::Hash;

use doorway_checker::{Property, Step, System};
use doorway_core::Phase;

use super::bounds::Bounds;
use super::engine::{Config, Disk, Engine, Head, Id, Image, Role};
use super::history::{self, Broken, History};
use super::local::{Event, Local, Mail, asks, is_late};

/// A node's state with what is asked of it often.
struct Known<E> {
    local: Local<E>,
    image: Image,
}

/// A message and the node that it is for.
type Addressed<M> = (usize, Mail<M>);

/// The same, with what can be seen of it from outside.
struct Envelope<M> {
    to: usize,
    head: Head,
    mail: Mail<M>,
}

/// What has to be found out before a state's steps are known.
#[derive(Clone, Copy, Debug)]
enum Missing {
    Came { local: u32, event: u32 },
    Noted { history: u32, local: u32 },
}

/// An event at a node, and how much of what it writes is synced: all of it (0), or this many parts until it is killed.
#[derive(Clone, Copy, Debug)]
struct Happened {
    node: usize,
    event: u32,
    part: usize,
}

impl Happened {
    fn step(self, came: &Came, broken: Broken) -> Step {
        Step {
            process: self.node as u32,
            action: self.event << 4 | self.part as u32,
            owed: None,
            lane: self.node as u32,
            sends: came.sends.len() as u32,
            broken: broken.map(|what| (Property::Invariants, what)),
        }
    }
}

/// What came of an event at a node: its number, and what it sends.
#[derive(Clone)]
struct Came {
    local: u32,
    sends: Box<[u32]>,
}

/// Things with the numbers that they have in states.
struct Numbered<K, T> {
    numbers: HashMap<K, u32>,
    things: Vec<T>,
}

impl<K: Eq + Hash, T> Numbered<K, T> {
    fn new() -> Self {
        Self { numbers: HashMap::new(), things: Vec::new() }
    }

    /// The number of a thing, which is new or known by its key.
    fn number(&mut self, key: K, thing: T) -> u32 {
        let next = self.things.len() as u32;
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            self.things.push(thing);
        }
        number
    }

    fn thing(&self, number: u32) -> &T {
        &self.things[number as usize]
    }
}

/// The cluster.
pub struct Cluster<E: Engine> {
    bounds: Bounds,
    joint: Option<Config>,
    locals: Numbered<(String, Disk, bool), Known<E>>,
    mails: Numbered<Addressed<E::Message>, Envelope<E::Message>>,
    histories: Numbered<History, History>,
    came: HashMap<(u32, u32), Box<[Came]>>,
    noted: HashMap<(u32, u32), (u32, Broken)>,
}

/// The events that are not messages, by number; the messages follow.
const STAND: u32 = 0;
const PROPOSE: u32 = 1;
const CHANGE: u32 = 2;
const COMPACT: u32 = 3;
const STEP_BACK: u32 = 4;
const RESTART: u32 = 5;
const MAIL: u32 = 6;

/// Where the counts of each bounded event stand in the word for all of them.
const fn count_of(event: u32) -> Option<u32> {
    match event {
        PROPOSE => Some(0),
        CHANGE => Some(4),
        COMPACT => Some(8),
        STEP_BACK => Some(12),
        RESTART => Some(16),
        _ => None,
    }
}

impl<E: Engine> Cluster<E> {
    pub fn new(bounds: Bounds) -> Self {
        let joint = bounds.joint();
        Self {
            bounds,
            joint,
            locals: Numbered::new(),
            mails: Numbered::new(),
            histories: Numbered::new(),
            came: HashMap::new(),
            noted: HashMap::new(),
        }
    }

    fn local_number(&mut self, local: Local<E>) -> u32 {
        let key = (local.engine.key(), local.disk.clone(), local.is_corrupt);
        let image = local.engine.image();
        self.locals.number(key, Known { local, image })
    }

    fn mail_number(&mut self, to: usize, mail: Mail<E::Message>) -> u32 {
        let envelope = Envelope { to, head: mail.head::<E>(), mail: mail.clone() };
        self.mails.number((to, mail), envelope)
    }

    /// The events that may happen at a node in a state.
    fn events<'a>(&'a self, word: Word<'a>, node: usize) -> impl Iterator<Item = u32> + 'a {
        let image = &self.locals.thing(word.locals()[node]).image;
        let may_stand = image.term < self.bounds.terms && (node == 0 || !self.is_first(word));
        let is_step = if image.role == Role::Leader { !self.bounds.echoes_at_once } else { may_stand };
        let bounded = (PROPOSE..=RESTART).filter(move |event| word.count(*event) < self.most(*event));
        is_step.then_some(STAND).into_iter().chain(bounded).chain(self.mails_to(word, node))
    }

    /// How often an event may happen.
    fn most(&self, event: u32) -> u32 {
        let Bounds { commands, restarts, step_backs, snapshots, .. } = self.bounds;
        u32::from(match event {
            PROPOSE => commands,
            CHANGE => self.joint.is_some().into(),
            COMPACT => snapshots,
            STEP_BACK => step_backs,
            RESTART => restarts,
            _ => 0,
        })
    }

    /// Whether no node has stood for election yet: then nodes differ by their numbers alone, and one represents all.
    fn is_first(&self, word: Word<'_>) -> bool {
        let mut locals = word.locals().iter().map(|local| &self.locals.thing(*local).image);
        self.joint.is_none() && locals.all(|image| image.term == 0)
    }

    fn event(&self, event: u32) -> Option<Event<'_, E::Message>> {
        Some(match event {
            STAND => Event::Stand,
            PROPOSE => Event::Propose,
            CHANGE => Event::Change(self.joint.as_ref()?),
            COMPACT => Event::Compact,
            STEP_BACK => Event::StepBack,
            RESTART => Event::Restart,
            mail => Event::Receive(&self.mails.thing(mail - MAIL).mail),
        })
    }

    /// Finds out what was missing.
    fn find_out(&mut self, missing: Missing) {
        match missing {
            Missing::Came { local, event } => {
                let came = self.let_happen(local, event);
                self.came.insert((local, event), came);
            }
            Missing::Noted { history, local } => {
                let Known { local: Local { me, .. }, image } = &self.locals.thing(local);
                let mut noted = self.histories.thing(history).clone();
                let broken = noted.note(*me, image);
                let number = self.histories.number(noted.clone(), noted);
                self.noted.insert((history, local), (number, broken));
            }
        }
    }

    /// The successors of an event at a node: the whole step first, then what a crash leaves of it.
    fn let_happen(&mut self, local: u32, event: u32) -> Box<[Came]> {
        let known = &self.locals.thing(local).local;
        let (me, disk) = (known.me, known.disk.clone());
        let Some(outcome) = self.event(event).and_then(|event| known.handle(&event)) else {
            return [].into();
        };
        let sends = outcome.sends.into_iter().map(|(to, mail)| self.mail_number(to as usize - 1, mail));
        let mut sends: Vec<u32> = sends.collect();
        sends.sort_unstable();
        sends.dedup();
        let (mut torn, mut early) = (outcome.torn, Vec::new());
        if self.bounds.sends_early {
            torn.push(Local::new(me, disk));
            early.clone_from(&sends);
        }
        let mut came = vec![Came { local: self.local_number(outcome.local), sends: sends.into() }];
        for torn in torn {
            came.push(Came { local: self.local_number(torn), sends: early.clone().into() });
        }
        came.into()
    }

    fn came(&self, local: u32, event: u32) -> Result<&[Came], Missing> {
        let came = self.came.get(&(local, event)).map(AsRef::as_ref);
        came.ok_or(Missing::Came { local, event })
    }

    /// Visits every step of a state, unless something is missing for that.
    fn visit_all(&self, state: &[u32], visit: &mut impl FnMut(Step, &[u32])) -> Result<(), Missing> {
        let word = Word { state, nodes: self.bounds.nodes() };
        let mut after = Vec::with_capacity(state.len() + 16);
        for node in 0..word.nodes {
            for event in self.events(word, node) {
                for (part, came) in self.came(word.locals()[node], event)?.iter().enumerate() {
                    if part > 0 && word.count(RESTART) >= self.bounds.restarts.into() {
                        break;
                    }
                    let noted = self.noted.get(&(word.history(), came.local));
                    let missing = Missing::Noted { history: word.history(), local: came.local };
                    let (history, broken) = noted.ok_or(missing)?;
                    let happened = Happened { node, event, part };
                    self.write_after(word, happened, came, *history, &mut after)?;
                    if after != state || broken.is_some() {
                        visit(happened.step(came, *broken), &after);
                    }
                }
            }
        }
        Ok(())
    }

    /// Writes the state after what came of an event.
    fn write_after(
        &self,
        word: Word<'_>,
        happened: Happened,
        came: &Came,
        history: u32,
        after: &mut Vec<u32>,
    ) -> Result<(), Missing> {
        let (nodes, Happened { node, event, part }) = (word.nodes, happened);
        after.clear();
        after.extend_from_slice(&word.state[..nodes + 2]);
        (after[node], after[nodes]) = (came.local, history);
        let crashes = (part > 0).then_some(RESTART);
        for shift in [Some(event), crashes].into_iter().flatten().filter_map(count_of) {
            after[nodes + 1] += 1 << shift;
        }
        let (locals, kept) = (after[..nodes].to_vec(), after.len());
        after.extend(word.mails().iter().filter(|mail| self.is_live(**mail, &locals)));
        let mut fresh: Vec<u32> = came.sends.to_vec();
        let echoes = self.bounds.echoes_at_once;
        if echoes && came.local != word.locals()[node] {
            let next = Word { state: after, nodes };
            let events: Vec<u32> = self.echoes(next, node).collect();
            for event in events {
                self.echo(locals[node], event, &mut fresh)?;
            }
        }
        while let Some(mail) = fresh.pop() {
            let place = after[kept..].binary_search(&mail);
            if let (Err(place), true) = (place, self.is_live(mail, &locals)) {
                after.insert(kept + place, mail);
                if !echoes {
                    continue;
                }
                self.echo(locals[self.mails.thing(mail).to], MAIL + mail, &mut fresh)?;
            }
        }
        Ok(())
    }

    fn is_live(&self, mail: u32, locals: &[u32]) -> bool {
        let Envelope { to, head, .. } = &self.mails.thing(mail);
        !is_late(*head, &self.locals.thing(locals[*to]).image) || self.bounds.answers_late && asks(*head)
    }

    /// The events that can only make a node send something: messages, and to say that it leads.
    fn echoes<'a>(&'a self, word: Word<'a>, node: usize) -> impl Iterator<Item = u32> + 'a {
        let leads = self.locals.thing(word.locals()[node]).image.role == Role::Leader;
        leads.then_some(STAND).into_iter().chain(self.mails_to(word, node))
    }

    fn mails_to<'a>(&'a self, word: Word<'a>, node: usize) -> impl Iterator<Item = u32> + 'a {
        let mails = word.mails().iter().filter(move |mail| self.mails.thing(**mail).to == node);
        mails.map(|mail| mail + MAIL)
    }

    /// What a node sends at an event that does not change it.
    fn echo(&self, local: u32, event: u32, sends: &mut Vec<u32>) -> Result<(), Missing> {
        if let Some(came) = self.came(local, event)?.first().filter(|came| came.local == local) {
            sends.extend(&came.sends);
        }
        Ok(())
    }
}

/// A state: the nodes, the history, how often each bounded event has happened, the messages.
#[derive(Clone, Copy)]
struct Word<'a> {
    state: &'a [u32],
    nodes: usize,
}

impl<'a> Word<'a> {
    fn locals(self) -> &'a [u32] {
        &self.state[..self.nodes]
    }

    fn history(self) -> u32 {
        self.state[self.nodes]
    }

    fn count(self, event: u32) -> u32 {
        count_of(event).map_or(0, |shift| self.state[self.nodes + 1] >> shift & 15)
    }

    fn mails(self) -> &'a [u32] {
        &self.state[self.nodes + 2..]
    }
}

impl<E: Engine> System for Cluster<E> {
    fn processes(&self) -> usize {
        self.bounds.nodes()
    }

    fn initial(&mut self) -> Vec<Vec<u32>> {
        let disk = self.bounds.first_disk();
        let ids = 1..=self.bounds.nodes() as Id;
        let mut word: Vec<u32> = ids.map(|id| self.local_number(Local::new(id, disk.clone()))).collect();
        word.extend([self.histories.number(History::default(), History::default()), 0]);
        vec![word]
    }

    fn steps(&self, state: &[u32], visit: &mut impl FnMut(Step, &[u32])) -> doorway_checker::StepsKnown {
        match self.visit_all(state, visit) {
            Ok(()) => doorway_checker::StepsKnown::All,
            Err(_) => doorway_checker::StepsKnown::No,
        }
    }

    fn learn(&mut self, state: &[u32]) {
        while let Err(missing) = self.visit_all(state, &mut |_, _| {}) {
            self.find_out(missing);
        }
    }

    fn restart(&mut self) {
        *self = Self::new(self.bounds.clone());
    }

    fn phase(&self, _: &[u32], _: usize) -> Phase {
        Phase::Outside
    }

    fn flaws(&self, state: &[u32]) -> Vec<(Property, String)> {
        let locals = Word { state, nodes: self.bounds.nodes() }.locals();
        let known = |local: &u32| self.locals.thing(*local);
        let is_corrupt = locals.iter().any(|local| known(local).local.is_corrupt);
        let mut pairs = locals
            .iter()
            .enumerate()
            .flat_map(|(place, one)| locals[place + 1..].iter().map(move |other| (one, other)));
        let do_match =
            pairs.all(|(one, other)| history::do_logs_match(&known(one).image.log, &known(other).image.log));
        let flaws = [(is_corrupt, history::CONTRADICTION), (!do_match, history::LOG_MATCHING)];
        let found = flaws.into_iter().filter(|(is_so, _)| *is_so);
        found.map(|(_, what)| (Property::Invariants, what.to_owned())).collect()
    }

    fn describe(&self, step: &Step) -> String {
        let (event, place) = (step.action >> 4, step.action & 15);
        let what = match event {
            STAND => "stands for election, or says that it leads".to_owned(),
            PROPOSE => "proposes a command".to_owned(),
            CHANGE => "proposes other voters".to_owned(),
            COMPACT => "cuts its log".to_owned(),
            STEP_BACK => "leads no more".to_owned(),
            RESTART => "is killed and started again".to_owned(),
            mail => format!("receives {:?}", self.mails.thing(mail - MAIL).mail),
        };
        let torn = if place > 0 {
            format!(", and is killed after {place} parts of what it writes")
        } else {
            String::new()
        };
        format!("node {} {what}{torn}", step.process + 1)
    }
}
