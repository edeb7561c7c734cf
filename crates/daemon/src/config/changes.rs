//! The differences between two configurations, by their keys.

use doorway_client::clock;
use doorway_core::Refusal;
use doorway_node::Timing;

use super::{Config, HumanDuration};

/// The times that a configuration can give, each as its key and its value are written there.
fn written(timing: &Timing) -> [(&'static str, String); 8] {
    let span = |time| format!("\"{}\"", HumanDuration(clock::span(time)));
    [
        ("timing.lease", span(timing.lease)),
        ("timing.margin", span(timing.margin)),
        ("timing.drift_ppm", timing.drift_ppm.to_string()),
        ("timing.heartbeat", span(timing.heartbeat)),
        ("timing.detection", span(timing.detection)),
        ("timing.barrier", span(timing.barrier)),
        ("timing.election", span(timing.election)),
        ("timing.idle", span(timing.idle)),
    ]
}

/// Why a node cannot join a cluster with other times, and what to write into its configuration.
pub(crate) fn other_times(own: &Timing, cluster: &Timing) -> Refusal {
    let pairs = written(own).into_iter().zip(written(cluster));
    let others: Vec<String> = pairs
        .filter(|(own, cluster)| own != cluster)
        .map(|(_, (key, value))| format!("{key} = {value}"))
        .collect();
    if others.is_empty() {
        return Refusal::new(
            "the cluster runs with times that this version cannot be configured to: its nodes are of another version",
        );
    }
    Refusal::new(format!(
        "the cluster's times differ from this node's: write {} into its configuration",
        others.join(", ")
    ))
}

impl Config {
    /// The keys whose values another configuration changes and a running node does not.
    pub(crate) fn fixed_changes(&self, other: &Self) -> Vec<&'static str> {
        let times = written(&self.timing.timing()).into_iter().zip(written(&other.timing.timing()));
        let fixed = [
            ("algorithm", self.algorithm.get_ref() == other.algorithm.get_ref()),
            ("founders", self.founders == other.founders),
            ("options", self.options == other.options),
            ("data", self.data == other.data),
            ("socket", self.socket == other.socket),
            ("socket_mode", self.socket_mode == other.socket_mode),
            ("socket_group", self.socket_group == other.socket_group),
            ("listen", self.listen == other.listen),
            ("health", self.health == other.health),
            ("stop_patience", self.stop_patience == other.stop_patience),
            ("limits.clients", self.limits.clients == other.limits.clients),
            ("limits.connections", self.limits.connections == other.limits.connections),
            ("limits.clients_per_uid", self.limits.clients_per_uid == other.limits.clients_per_uid),
            ("limits.names_per_uid", self.limits.names_per_uid == other.limits.names_per_uid),
            ("limits.requests_per_uid", self.limits.requests_per_uid == other.limits.requests_per_uid),
        ];
        let fixed = fixed.into_iter().filter(|(_, is_same)| !is_same).map(|(key, _)| key);
        fixed.chain(times.filter(|(one, two)| one != two).map(|((key, _), _)| key)).collect()
    }
}

#[cfg(test)]
mod tests {
    use doorway_node::timing::milliseconds;

    use super::*;

    #[test]
    fn only_differing_times_are_reported() {
        let own = Timing::default();
        let cluster = Timing { lease: milliseconds(1_500), drift_ppm: 200, ..own };
        assert_eq!(
            other_times(&own, &cluster).to_string(),
            "the cluster's times differ from this node's: write timing.lease = \"1500ms\", \
             timing.drift_ppm = 200 into its configuration"
        );
        let cluster = Timing { rank: milliseconds(1), ..own };
        assert!(other_times(&own, &cluster).to_string().contains("another version"));
    }

    #[test]
    fn changes_that_need_a_restart_are_reported_by_key() {
        let one = Config::new("lab", "a", &[("a", "n1:1")]).expect("good");
        let mut two = one.clone();
        assert!(one.fixed_changes(&two).is_empty());
        two.tls.key = "other.key".into();
        assert!(one.fixed_changes(&two).is_empty(), "it is read again");
        two.timing.lease = "900ms".parse().ok();
        two.timing.idle = "5s".parse().ok();
        two.limits.clients = 7;
        two.socket_mode = 0o660;
        assert_eq!(one.fixed_changes(&two), ["socket_mode", "limits.clients", "timing.lease"]);
    }
}
