//! The settings of a check.

use doorway_checker::{
    Barriers, FaultBudget, MemoryModel, MemorySetting, Property, RegisterModel, SchedulerFairness, Setting,
};
use doorway_core::{Channels, NodeId, Refusal};

use super::{Readable, Requests, SettingKind};

const MESSAGES: &str = "Algorithms that send messages";
const MEMORY: &str = "Programs over shared memory";

crate::settings! {
    /// A check as it is typed: the small system to explore, and the properties to decide.
    pub struct CheckSpec {
        /// Number of nodes, 3 unless --requests has more numbers, or the program is for two
        nodes: usize { value: "N", kind: SettingKind::Count, caption: "Nodes" }
        /// Requests of each node: one number for all, or one for each; `unbounded` is again and again, which is what programs over
        /// shared memory do unless told otherwise
        requests: Requests { value: "R,…", usual: "1", kind: SettingKind::Commas, caption: "Requests of each" }
        /// Properties to decide: `lock` (all that a lock must have), `all`, or some of mutual-exclusion, deadlock-freedom,
        /// starvation-freedom, one-token, invariants, fence, happened-before-order, fifo, bounded-waiting
        property: Wanted { value: "lock|all|NAME,…", usual: "lock", kind: SettingKind::Commas, hidden: true }
        /// Fairness that the scheduler guarantees to waiting nodes; the least that is needed is found unless given
        fairness: SchedulerFairness { value: "none|weak|strong", caption: "Scheduler", offers: &["none", "weak", "strong"] }
        /// Delivery order of a channel, the weakest that the algorithm needs unless given
        channels: Channels {
            value: "fifo|any|causal", part: MESSAGES, caption: "Channels", offers: &["any", "fifo", "causal"],
        }
        /// Start with this node inside instead of none
        start_inside: NodeId { value: "NODE", kind: SettingKind::Count, part: MESSAGES, caption: "Inside at the start" }
        /// Most messages that may be lost
        lose: u8 { value: "N", usual: "0", kind: SettingKind::Count, part: MESSAGES, caption: "Losses" }
        /// Most messages that may arrive twice
        duplicate: u8 { value: "N", usual: "0", kind: SettingKind::Count, part: MESSAGES, caption: "Duplicates" }
        /// Most nodes that may stop for good
        crash: u8 { value: "N", usual: "0", kind: SettingKind::Count, part: MESSAGES, caption: "Crashes" }
        /// Most reports of a crash that did not happen, to nodes of an algorithm that watches crashes
        suspect: u8 { value: "N", usual: "0", kind: SettingKind::Count, part: MESSAGES, caption: "Wrong suspicions" }
        /// Leave out interleavings that, as the algorithm promises, make no difference
        reduction: bool { value: "on|off", usual: "on", part: MESSAGES, offers: &["on", "off"] }
        /// Value of a read that overlaps a write: the one before or after it with regular registers, any value with safe ones.
        /// Of writes that overlap each other the last wins; with safe-any they leave any value
        registers: RegisterModel {
            value: "atomic|regular|safe|safe-any", usual: "atomic", part: MEMORY, caption: "Registers",
            offers: &["atomic", "regular", "safe", "safe-any"],
        }
        /// When other processes see a write: at once, later in order (tso, as on x86), or later in any order (pso)
        memory: MemoryModel {
            value: "sequential|tso|pso", usual: "sequential", part: MEMORY, caption: "Memory",
            offers: &["sequential", "tso", "pso"],
        }
        /// Barriers of the program under tso and pso: on, off, or the numbers of those to keep
        barrier: Barriers { value: "on|off|NUMBER,…", usual: "on", part: MEMORY, caption: "Barriers" }
        /// Most writes of a process in its buffer under tso and pso
        buffer: usize { value: "N", usual: "8", kind: SettingKind::Count, part: MEMORY }
        /// Largest ticket of the bakeries: runs are explored up to there
        tickets: u32 { value: "N", usual: "4", kind: SettingKind::Count, part: MEMORY, caption: "Largest ticket" }
        /// Most states to visit
        max_states: u64 { value: "N", kind: SettingKind::Count, hidden: true }
    }
}

impl CheckSpec {
    /// The names of the settings that concern messages, or shared memory, alone.
    pub fn names_of(is_memory: bool) -> impl Iterator<Item = &'static str> {
        let part = if is_memory { MEMORY } else { MESSAGES };
        let of_part =
            <Self as super::Spec>::SETTINGS.iter().filter(move |definition| definition.part == part);
        of_part.map(|definition| definition.name)
    }

    /// How often each node asks; `usual` if that was not given.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn asked(&self, usual: u32) -> Result<Vec<u32>, Refusal> {
        let all: Vec<u32> = self.requests.all()?.into_iter().map(|Requests(count)| count).collect();
        Ok(if all.is_empty() { vec![usual] } else { all })
    }

    /// The faults that may happen.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn faults(&self) -> Result<FaultBudget, Refusal> {
        Ok(FaultBudget {
            losses: self.lose.one_or(0)?,
            duplicates: self.duplicate.one_or(0)?,
            crashes: self.crash.one_or(0)?,
            suspicions: self.suspect.one_or(0)?,
        })
    }

    /// The shared memory, with these requests.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn shared_memory(&self, requests: Option<Vec<u32>>) -> Result<MemorySetting, Refusal> {
        let usual = MemorySetting::default();
        Ok(MemorySetting {
            requests,
            registers: self.registers.one_or(usual.registers)?,
            memory: self.memory.one_or(usual.memory)?,
            barriers: self.barrier.one_or(usual.barriers)?,
            capacity: self.buffer.one_or(usual.capacity)?,
            tickets: self.tickets.one_or(usual.tickets)?,
            invariants: usual.invariants,
        })
    }

    /// The properties to decide: of `all` that can be, those `of_a_lock` unless others were given.
    ///
    /// # Errors
    /// If one is unknown.
    pub fn properties(&self, all: &[Property], of_a_lock: &[Property]) -> Result<Vec<Property>, Refusal> {
        let wanted = self.property.all()?;
        let is_wanted = |property: &Property| {
            wanted.iter().any(|wanted| match wanted {
                Wanted::All => all.contains(property),
                Wanted::Lock => of_a_lock.contains(property),
                Wanted::One(one) => one == property,
            })
        };
        let properties = Property::ALL.into_iter();
        Ok(match wanted.is_empty() {
            true => of_a_lock.to_vec(),
            false => properties.filter(is_wanted).collect(),
        })
    }

    /// How often a node asks that does so again and again.
    pub const UNBOUNDED: u32 = Setting::UNBOUNDED;
}

/// A property, all of them, or those of a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// All that can be decided.
    All,
    /// All that a lock must have.
    Lock,
    /// One.
    One(Property),
}

impl Readable for Wanted {
    fn read(word: &str) -> Result<Self, Refusal> {
        let found = Property::ALL.into_iter().find(|property| property.name() == word);
        match (word, found) {
            ("all", _) => Ok(Wanted::All),
            ("lock", _) => Ok(Wanted::Lock),
            ("exclusion", _) => Ok(Wanted::One(Property::MutualExclusion)),
            (_, Some(property)) => Ok(Wanted::One(property)),
            _ => {
                let names: Vec<&str> = Property::ALL.iter().map(|property| property.name()).collect();
                Err(Refusal::new(format!("{word:?} cannot be decided: lock, all, {}", names.join(", "))))
            }
        }
    }

    fn word(&self) -> String {
        match self {
            Wanted::All => "all".to_owned(),
            Wanted::Lock => "lock".to_owned(),
            Wanted::One(property) => property.name().to_owned(),
        }
    }
}
