//! The settings of a simulated run.

use doorway_core::{Channels, Members, NodeId, Refusal, Start, Ticks};
use doorway_simulator::{Crash, Faults, Intervention, Latency, Load, Partition, Probability, Settings, Span};

use super::{Delay, SettingKind, SweepRole};

const NETWORK: &str = "Network and faults";
const RUNS: &str = "Runs and checks";

crate::settings! {
    /// A run as it is typed: what [`Settings`] is made from.
    pub struct RunSpec {
        /// Number of nodes
        nodes: usize {
            value: "N", usual: "5", kind: SettingKind::Count, caption: "Nodes", always: true, unit: "nodes",
            sweep: SweepRole::Axis { name: "nodes", column: "nodes" },
        }
        /// Number of requests in a run
        entries: u64 {
            value: "E", usual: "1000", kind: SettingKind::Count, caption: "Entries", unit: "requests",
            sweep: SweepRole::Common { column: "requests" },
        }
        /// When nodes request the section
        ///
        /// saturated: each node requests again as soon as it has left. isolated: one request at a time, the next when the system is
        /// quiet. light:MEAN: each node thinks for an exponentially distributed time. active:K: only the first K nodes request,
        /// saturated. only:NODE+…: only these nodes request, saturated.
        load: Load {
            value: "saturated|isolated|light:MEAN|active:K|only:NODE+…", usual: "saturated", caption: "Load",
            offers: &["saturated", "isolated", "light:50", "light:200", "active:2", "active:3"],
            sweep: SweepRole::Axis { name: "loads", column: "load" },
        }
        /// Ticks that a node stays inside: TICKS, uniform:FROM:TO or exponential:MEAN
        hold: Span {
            value: "TICKS", usual: "5", caption: "Hold", unit: "ticks",
            offers: &["5", "1", "20", "uniform:2:20", "exponential:10"],
            sweep: SweepRole::Axis { name: "holds", column: "hold" },
        }
        /// Message latency in ticks
        ///
        /// A fixed number, a random one with uniform:FROM:TO or exponential:MEAN, senders:TICKS,… with a number per sending node,
        /// or matrix:FILE with a line per sending and a number per receiving node.
        latency: Delay {
            value: "TICKS|uniform:FROM:TO|exponential:MEAN|senders:…|matrix:FILE", usual: "10", part: NETWORK,
            caption: "Latency", offers: &["10", "uniform:5:15", "uniform:1:40", "exponential:10"], unit: "ticks",
            sweep: SweepRole::Axis { name: "latencies", column: "latency" },
        }
        /// Latency in ticks between an application and its node
        local_latency: u64 { value: "TICKS", usual: "0", kind: SettingKind::Number, part: NETWORK, unit: "ticks" }
        /// Delivery order of a channel
        channels: Channels {
            value: "fifo|any|causal", usual: "fifo", part: NETWORK, caption: "Channels",
            offers: &["fifo", "any", "causal"], sweep: SweepRole::Axis { name: "channels", column: "channels" },
        }
        /// Number of entries before measuring begins
        warmup: u64 {
            value: "W", usual: "0", kind: SettingKind::Count, unit: "entries", sweep: SweepRole::Common { column: "warmup" },
        }
        /// Share of messages that are lost, from 0 to 1
        loss: Probability {
            value: "P", usual: "0", part: NETWORK, caption: "Loss", unit: "probability",
            sweep: SweepRole::Axis { name: "loss", column: "loss" },
        }
        /// Share of messages that arrive twice, from 0 to 1
        duplicate: Probability {
            value: "P", usual: "0", part: NETWORK, caption: "Duplicate", unit: "probability",
            sweep: SweepRole::Axis { name: "duplicate", column: "duplicate" },
        }
        /// Add a layer below the algorithm that resends lost messages and drops duplicates
        retransmit: bool {
            usual: "off", kind: SettingKind::Switch, part: NETWORK, caption: "retransmit",
            sweep: SweepRole::Axis { name: "retransmit", column: "retransmit" },
        }
        /// Stop a node for good at a time
        crash: Crash {
            value: "NODE@TIME", kind: SettingKind::Repeated, part: NETWORK, caption: "Crashes", unit: "node@ticks",
            sweep: SweepRole::Axis { name: "crashes", column: "crashes" },
        }
        /// Ticks from a crash until a node is told of it, if its algorithm watches crashes: TICKS, uniform:FROM:TO or
        /// exponential:MEAN
        detection: Span {
            value: "TICKS", usual: "30", part: NETWORK, caption: "Detection", unit: "ticks",
            offers: &["30", "uniform:1:100"],
        }
        /// Tell all other nodes at a time that a node has crashed although it has not, if the algorithm watches crashes
        suspect: Crash {
            value: "NODE@TIME", kind: SettingKind::Repeated, part: NETWORK, caption: "Wrong suspicions", unit: "node@ticks",
        }
        /// Separate groups of nodes for a time
        partition: Partition {
            value: "1,2|3,4,5@FROM..UNTIL", kind: SettingKind::Repeated, part: NETWORK, caption: "Partitions",
            unit: "nodes@ticks", sweep: SweepRole::Axis { name: "partitions", column: "partitions" },
        }
        /// Decide the fate of one message
        ///
        /// Messages count from 1 in the order of sending, as in a trace. 12@40: the twelfth arrives at time 40. 12:lost: it never
        /// arrives. 12:twice@60: a second copy arrives at time 60. Up to there the run is the same as without; channels keep their
        /// order, so that on fifo channels messages sent after a late one wait for it.
        message: Intervention {
            value: "K@TIME|K:lost|K:twice@TIME", kind: SettingKind::Repeated, part: NETWORK, hidden: true,
        }
        /// Start with this node inside instead of none
        start_inside: NodeId { value: "NODE", kind: SettingKind::Count, caption: "Inside at the start" }
        /// Seed of the random numbers
        seed: u64 {
            value: "S", usual: "1", kind: SettingKind::Number, part: RUNS, caption: "Seed", always: true,
            sweep: SweepRole::Axis { name: "seeds", column: "seed" },
        }
        /// Test the algorithm's own invariants after every step
        invariants: bool {
            usual: "off", kind: SettingKind::Switch, part: RUNS, sweep: SweepRole::Common { column: "" },
        }
        /// Count entries out of happened-before order, for at most 64 nodes
        order: bool { usual: "off", kind: SettingKind::Switch, part: RUNS, sweep: SweepRole::Common { column: "" } }
    }
}

impl RunSpec {
    /// The heading of the settings that come last in a printed command, after the choices for the algorithm.
    pub const LAST_PART: &'static str = RUNS;

    /// The settings of these words; what was not given is as the simulator has it. `matrix` reads the file of a latency.
    ///
    /// # Errors
    /// With the name of the setting and what would be right.
    pub fn settings(
        &self,
        matrix: impl FnOnce(&str) -> Result<Latency, Refusal>,
    ) -> Result<Settings, Refusal> {
        // tidy: allow length, because every setting is named, so that the compiler refuses one that has no effect.
        let Self {
            nodes,
            entries,
            load,
            hold,
            latency,
            local_latency,
            channels,
            warmup,
            loss,
            duplicate,
            retransmit,
            crash,
            detection,
            suspect,
            partition,
            message,
            start_inside,
            seed,
            invariants,
            order,
        } = self;
        let usual = Settings::default();
        let latency = match latency.one()? {
            None => usual.latency,
            Some(Delay::Plain(latency)) => latency,
            Some(Delay::Matrix(file)) => matrix(&file)?,
        };
        let nodes = nodes.one_or(usual.nodes)?;
        Ok(Settings {
            // The caller refuses too many nodes: the studio's limit is lower.
            nodes: if nodes > Settings::MOST_NODES { nodes } else { Members::new(nodes)?.n() },
            entries: entries.one_or(usual.entries)?,
            load: load.one_or(usual.load)?,
            hold: hold.one_or(usual.hold)?,
            latency,
            local_latency: Ticks(local_latency.one_or(usual.local_latency.0)?),
            channels: channels.one_or(usual.channels)?,
            faults: Faults {
                loss: loss.one_or(usual.faults.loss)?,
                duplicate: duplicate.one_or(usual.faults.duplicate)?,
                retransmit: retransmit.one_or(usual.faults.retransmit)?,
                crashes: crash.all()?,
                detection: detection.one_or(usual.faults.detection)?,
                suspicions: suspect.all()?,
                partitions: partition.all()?,
            },
            messages: message.all()?,
            start: start_inside.one()?.map_or(usual.start, Start::Inside),
            warmup: warmup.one_or(usual.warmup)?,
            seed: seed.one_or(usual.seed)?,
            invariants: invariants.one_or(usual.invariants)?,
            order: order.one_or(usual.order)?,
            ..Settings::default()
        })
    }

    /// The words of these settings, all of them given. A matrix of latencies has no name here: its word is `matrix`.
    #[must_use]
    pub fn of(settings: &Settings) -> Self {
        let Settings { faults, .. } = settings;
        let mut spec = Self::default();
        let Self {
            nodes,
            entries,
            load,
            hold,
            latency,
            local_latency,
            channels,
            warmup,
            loss,
            duplicate,
            retransmit,
            crash,
            detection,
            suspect,
            partition,
            message,
            start_inside,
            seed,
            invariants,
            order,
        } = &mut spec;
        nodes.put([settings.nodes]);
        entries.put([settings.entries]);
        load.put([settings.load.clone()]);
        hold.put([settings.hold]);
        latency.put([Delay::Plain(settings.latency.clone())]);
        local_latency.put([settings.local_latency.0]);
        channels.put([settings.channels]);
        loss.put([faults.loss]);
        duplicate.put([faults.duplicate]);
        retransmit.put([faults.retransmit]);
        crash.put(faults.crashes.iter().copied());
        detection.put([faults.detection]);
        suspect.put(faults.suspicions.iter().copied());
        partition.put(faults.partitions.iter().cloned());
        message.put(settings.messages.iter().copied());
        start_inside.put(settings.start.holder());
        warmup.put([settings.warmup]);
        seed.put([settings.seed]);
        invariants.put([settings.invariants]);
        order.put([settings.order]);
        spec
    }
}
