//! Checks of a configuration that do not depend on the machine.

use std::path::Path;

use doorway_core::Refusal;
use doorway_node::MOST_REQUESTS;
use doorway_node::wire::{MOST_INSIDE, MOST_NODES};
use toml::Spanned;

use super::fault::{ConfigFault, NodeFault};
use super::{Config, Peer, Tls, times};
use crate::address;
use crate::identity::check_name;

impl Config {
    /// Checks it as far as possible without looking at this machine. [`crate::Daemon::check`] checks that, too.
    ///
    /// # Errors
    /// What is wrong, with the file and the line if it was read from one.
    pub fn check(&self) -> Result<(), Refusal> {
        let found = self.fault();
        found.map_err(|fault| self.refuse(&fault.key(), &fault))
    }

    /// A refusal with the file and line of the key that it is about, if it was read from a file.
    #[must_use]
    pub fn refuse(&self, key: &str, sentence: &dyn std::fmt::Display) -> Refusal {
        told(self.source.as_deref(), self.lines.line(key), sentence)
    }

    fn fault(&self) -> Result<(), ConfigFault> {
        let at = |key: &'static str| move |refusal: Refusal| ConfigFault::Value { key, refusal };
        check_name("cluster", &self.cluster).map_err(at("cluster"))?;
        let peers: Vec<&Peer> = self.nodes.iter().map(Spanned::get_ref).collect();
        check_peers(&peers)?;
        let node = self.node.get_ref();
        if self.peer(node).is_none() {
            return Err(ConfigFault::UnknownNode(node.clone()));
        }
        self.listen.as_deref().map_or(Ok(()), address::check_listen).map_err(at("listen"))?;
        if self.health.is_some_and(|place| place.port() == 0) {
            return Err(ConfigFault::NoHealthPort);
        }
        let address = self.listen.as_ref().unwrap_or(&self.me().address);
        if self.health.is_some_and(|place| address::is_in_the_way(address, place)) {
            return Err(ConfigFault::HealthPortTaken { address: address.clone() });
        }
        self.check_paths()?;
        check_mode(self.socket_mode).map_err(at("socket_mode"))?;
        if self.socket_group.is_some() && self.socket_mode & 0o060 != 0o060 {
            return Err(ConfigFault::GroupShutOut);
        }
        self.check_limits()?;
        let timing = self.timing.timing();
        times::fault(&timing).or_else(|| timing.fault()).map_or(Ok(()), |(names, sentence)| {
            let mut keys = names.iter().map(|name| format!("timing.{name}"));
            let key = keys.find(|key| self.lines.has(key));
            Err(ConfigFault::Timing { key: key.unwrap_or_else(|| "timing".to_owned()), sentence })
        })
    }

    fn check_limits(&self) -> Result<(), ConfigFault> {
        let limits = &self.limits;
        let connections = [
            ("limits.clients", limits.clients),
            ("limits.connections", limits.connections),
            ("limits.clients_per_uid", limits.clients_per_uid.unwrap_or(1)),
        ];
        let locks = [
            ("limits.names_per_uid", limits.names_per_uid),
            ("limits.requests_per_uid", limits.requests_per_uid),
        ];
        let is_zero = |(_, limit): &(&str, usize)| *limit == 0;
        if let Some((key, _)) = connections.into_iter().find(is_zero) {
            return Err(ConfigFault::NoConnections { key });
        }
        if let Some((key, _)) = locks.into_iter().find(is_zero) {
            return Err(ConfigFault::NoLocks { key });
        }
        let parts = [
            ("limits.clients_per_uid", limits.clients_per_uid.unwrap_or(1), limits.clients, "clients"),
            ("limits.names_per_uid", limits.names_per_uid, MOST_INSIDE, "sections in use"),
            ("limits.requests_per_uid", limits.requests_per_uid, MOST_REQUESTS, "requests"),
        ];
        match parts.into_iter().find(|(_, part, whole, _)| part > whole) {
            Some((key, _, whole, what)) => Err(ConfigFault::ShareTooLarge { key, whole, what }),
            None => Ok(()),
        }
    }

    /// A cluster is founded by nodes that know each other, this one among them. It is asked only of a node that has no cluster yet: later the
    /// founders may be gone.
    ///
    /// # Errors
    /// A mistake in the founders.
    pub(crate) fn check_founders(&self) -> Result<(), Refusal> {
        let node = self.node.get_ref();
        let stranger = self.founders.iter().find(|name| self.peer(name).is_none());
        let twice = self.founders.iter().enumerate().find(|(at, name)| self.founders[..*at].contains(name));
        let refuse = |sentence: String| Err(self.refuse("founders", &sentence));
        match (stranger, twice) {
            (Some(name), _) => refuse(format!(
                "there is no node {name:?} among the nodes: leave `founders` out if the cluster exists already, and this node joins it"
            )),
            (None, Some((_, name))) => refuse(format!("node {name:?} is named twice")),
            (None, None) if !self.founders.is_empty() && !self.founders.contains(node) => refuse(format!(
                "node {node:?} is not among the founders: leave them out, and it joins the cluster that they found"
            )),
            (None, None) => Ok(()),
        }
    }

    /// An empty path would be the folder of the configuration itself.
    fn check_paths(&self) -> Result<(), ConfigFault> {
        let Tls { authority, certificate, key } = &self.tls;
        let mut paths = [
            ("data", Some(&self.data)),
            ("socket", self.socket.as_ref()),
            ("tls.authority", Some(authority)),
            ("tls.certificate", Some(certificate)),
            ("tls.key", Some(key)),
        ]
        .into_iter();
        match paths.find(|(_, path)| path.is_some_and(|path| path.as_os_str().is_empty())) {
            Some((key, _)) => Err(ConfigFault::EmptyPath { key }),
            None => Ok(()),
        }
    }
}

/// Looks whether these can be the nodes of a cluster.
///
/// # Errors
/// The first mistake.
pub(crate) fn check_peers(peers: &[&Peer]) -> Result<(), ConfigFault> {
    if peers.len() > MOST_NODES {
        return Err(ConfigFault::TooManyNodes);
    }
    for (place, peer) in peers.iter().enumerate() {
        check_peer(peer, &peers[..place]).map_err(|fault| ConfigFault::Node { place, fault })?;
    }
    Ok(())
}

fn check_peer(peer: &Peer, earlier: &[&Peer]) -> Result<(), NodeFault> {
    let Peer { name, number, address } = peer;
    check_name("node", name).map_err(NodeFault::Name)?;
    if *number == 0 || *number > MOST_NODES {
        return Err(NodeFault::Number);
    }
    address::check(address).map_err(NodeFault::Address)?;
    for other in earlier {
        if other.name == *name {
            return Err(NodeFault::SameName(name.clone()));
        }
        if other.number == *number {
            return Err(NodeFault::SameNumber(*number));
        }
        if address::is_same(&other.address, address) {
            return Err(NodeFault::SameAddress([other.name.clone(), name.clone()]));
        }
    }
    Ok(())
}

/// The bits of a file's mode that its owner needs, and all that there are.
const OWNER: u32 = 0o600;
const ALL: u32 = 0o777;

fn check_mode(mode: u32) -> Result<(), Refusal> {
    if mode & !ALL == 0 && mode & OWNER == OWNER {
        return Ok(());
    }
    // 660 almost certainly means 0o660; TOML reads it as a decimal number.
    let digits = mode.to_string();
    let meant =
        u32::from_str_radix(&digits, 8).ok().filter(|meant| meant & !ALL == 0 && meant & OWNER == OWNER);
    let right = meant.map_or_else(|| "0o600 or 0o660".to_owned(), |_| format!("0o{digits}"));
    Err(Refusal::new(format!(
        "socket_mode must be the bits of a file that its owner may read and write: write it as {right}"
    )))
}

/// A sentence with the file and the line that it is about.
pub(super) fn told(file: Option<&Path>, line: Option<usize>, sentence: &dyn std::fmt::Display) -> Refusal {
    Refusal::new(match (file.map(Path::display), line) {
        (Some(file), Some(line)) => format!("{file}, line {line}: {sentence}"),
        (Some(file), None) => format!("{file}: {sentence}"),
        (None, Some(line)) => format!("line {line}: {sentence}"),
        (None, None) => sentence.to_string(),
    })
}

/// What the reader of TOML says, for people who do not know how programs call their numbers.
pub(super) fn plain(message: &str) -> String {
    const WORDS: [(&str, &str); 14] = [
        ("expected usize", "expected a whole number from 0 on"),
        ("expected u64", "expected a whole number from 0 on"),
        ("expected u32", "expected a whole number from 0 on"),
        ("expected path string", "expected a path in quotes"),
        ("expected a string", "expected a text in quotes"),
        ("expected a map", "expected a table"),
        ("expected a sequence", "expected a list"),
        ("expected struct Config", "expected a table"),
        ("expected struct Peer", "expected a table"),
        ("expected struct Times", "expected a table"),
        ("expected struct NodeLimits", "expected a table"),
        ("expected struct Tls", "expected a table"),
        (
            "unexpected leading zero, expected nothing",
            "write numbers without a leading 0, and file permissions with 0o, as in 0o600",
        ),
        ("invalid socket address syntax", "expected an address and a port, as in 127.0.0.1:7778"),
    ];
    let mut text = message.replace('\n', ", ");
    for (word, plain) in WORDS {
        text = text.replace(word, plain);
    }
    if let Some(rest) = text.strip_prefix("missing field ") {
        return format!("{rest} is missing");
    }
    text.replacen("unknown field", "there is no key", 1)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use doorway_node::Recipes;

    use super::*;

    /// A configuration that is right, with one line in place of another.
    fn changed(from: &str, to: &str) -> String {
        const RIGHT: &str = "cluster = \"lab\"\nnode = \"a\"\n#top\n[limits]\n#limit\n[timing]\n#time\n\n\
            [[nodes]]\nname = \"a\"\nnumber = 1\naddress = \"n1:7700\"\n\n\
            [[nodes]]\nname = \"b\"\nnumber = 2\naddress = \"n2:7700\"\n";
        assert!(RIGHT.contains(from), "{from}");
        RIGHT.replacen(from, to, 1)
    }

    #[test]
    fn every_mistake_is_reported_with_its_line() {
        Config::parse(&changed("lab", "lab")).expect("it is right");
        for (from, to, told) in [
            ("lab", "L.B", "line 1: \"L.B\" is not a name for a cluster"),
            ("node = \"a\"", "node = \"z\"", "line 2: there is no node \"z\""),
            ("#top", "listen = \"7777\"", "line 3: \"7777\" is not a node's address: write host:port"),
            ("#top", "health = \"7777\"", "line 3: expected an address and a port, as in 127.0.0.1:7778"),
            ("#top", "health = \"127.0.0.1:0\"", "line 3: its port must be"),
            (
                "#top",
                "socket_mode = 600",
                "line 3: socket_mode must be the bits of a file that its owner may read and write: write it as 0o600",
            ),
            ("#top", "socket_mode = 660", "write it as 0o660"),
            ("#top", "socket_mode = 0o066", "write it as 0o600 or 0o660"),
            ("#top", "socket_mode = 0o1600", "write it as 0o600 or 0o660"),
            (
                "#top",
                "socket_mode = 0600",
                "line 3: write numbers without a leading 0, and file permissions with 0o",
            ),
            ("#top", "socket_mode = -1", "line 3: invalid value: integer `-1`, expected a whole number"),
            ("#top", "socket_mode = \"rw\"", "line 3: invalid type: string \"rw\", expected a whole number"),
            ("#top", "socket_group = \"lock\"", "line 3: the group of the socket may not use it"),
            ("#top", "socket_group = 1.5", "line 3: invalid type: floating point `1.5`, expected a group"),
            ("#top", "socket_group = -7", "line 3: a group's number is from 0 to 4294967294"),
            ("#top", "socket_group = \"\"", "line 3: a group has a name"),
            ("#top", "data = 1", "line 3: invalid type: integer `1`, expected a path in quotes"),
            ("#top", "options = 1", "expected a table"),
            ("#top", "tls = 1", "expected a table"),
            ("#top", "dota = \"x\"", "line 3: there is no key `dota`, expected one of `cluster`, "),
            ("node = \"a\"\n", "", "`node` is missing"),
            ("#limit", "clients = 0", "line 5: nobody could connect"),
            ("#limit", "connections = 0", "line 5: nobody could connect"),
            ("#limit", "clients_per_uid = 0", "line 5: nobody could connect"),
            ("#limit", "names_per_uid = 0", "line 5: nobody could lock anything"),
            ("#limit", "requests_per_uid = 0", "line 5: nobody could lock anything"),
            (
                "#limit",
                "clients = \"many\"",
                "line 5: invalid type: string \"many\", expected a whole number",
            ),
            (
                "#time",
                "drift_ppm = 0.5",
                "line 7: invalid type: floating point `0.5`, expected a whole number",
            ),
            ("#time", "lease = 1", "line 7: invalid type: integer `1`, expected a text in quotes"),
            ("name = \"b\"", "name = \"B\"", "line 15: \"B\" is not a name for a node: write 1 to 63"),
            ("name = \"b\"", "name = \"a\"", "line 15: two nodes are named \"a\""),
            ("number = 2", "number = 1", "line 16: two nodes have number 1"),
            ("number = 2", "number = 0", "line 16: nodes are numbered from 1 to 128"),
            ("n2:7700", "n1:7700", "line 17: the nodes \"a\" and \"b\" have the same address"),
            ("n2:7700", "0.0.0.0:7700", "line 17: other nodes cannot dial \"0.0.0.0:7700\""),
        ] {
            let refused = Config::parse(&changed(from, to)).expect_err(to).to_string();
            assert!(refused.contains(told), "{to}: {refused}");
        }
    }

    #[test]
    fn a_share_of_one_user_may_be_the_whole_and_not_more() {
        for (key, whole, what) in [
            ("clients_per_uid", 10_000, "clients"),
            ("names_per_uid", 10_000, "sections in use"),
            ("requests_per_uid", 100_000, "requests"),
        ] {
            let with = |share: usize| Config::parse(&changed("#limit", &format!("{key} = {share}")));
            with(whole).expect("no quota");
            let refused = with(whole + 1).expect_err(key).to_string();
            let told = format!("line 5: this node has room for {whole} {what} of all users together");
            assert!(refused.contains(&told), "{refused}");
        }
    }

    #[test]
    fn bad_times_and_paths_are_reported_with_their_line() {
        for (from, to, told) in [
            ("#time", "lease = \"300ms\"", "line 7: the lease must be at least 600ms"),
            (
                "#time",
                "lease = \"500ms\"",
                "line 7: the lease must be at least 600ms, two margins and two heartbeats",
            ),
            ("#time", "idle = \"9s\"\nheartbeat = \"600ms\"", "line 8: the lease must be at least 1400ms"),
            (
                "#time",
                "idle = \"9s\"\nmargin = \"9ms\"",
                "line 8: `margin` must be at least 10ms, as timers may be 10ms late",
            ),
            ("#time", "election = \"10ms\"", "line 7: `election` must be at least 50ms"),
            ("#time", "idle = \"9s\"\nlease = \"2s\"", "line 8: the detection time must not be shorter"),
            ("#time", "lease = \"1s\"\nidle = \"0s\"", "line 8: `idle` must be longer than zero"),
            ("#time", "idle = \"2h\"", "line 7: `idle` must not be longer than an hour"),
            ("#time", "drift_ppm = 500000", "line 7: the drift must be less"),
            ("#top", "data = \"\"", "line 3: `data` is an empty path: write a path, or leave `data` out"),
            ("#top", "socket = \"\"", "line 3: `socket` is an empty path"),
            ("#top", "tls.key = \"\"", "line 3: `tls.key` is an empty path"),
            (
                "#top",
                "listen = \"127.0.0.1:7700\"\nhealth = \"0.0.0.0:7700\"",
                "line 4: the node listens for other nodes at 127.0.0.1:7700: take another port",
            ),
        ] {
            let refused = Config::parse(&changed(from, to)).expect_err(to).to_string();
            assert!(refused.contains(told), "{to}: {refused}");
        }
    }

    #[test]
    fn a_bad_algorithm_is_reported_with_its_line() {
        let mut recipes = Recipes::default();
        doorway_algorithms::register(&mut recipes);
        for (to, told) in [
            ("algorithm = \"naimi\"", "line 3: there is no algorithm \"naimi\""),
            ("algorithm = \"maekawa/basic\"", "line 3: maekawa/basic is a specimen"),
            (
                "algorithm = \"maekawa\"\noptions.quorum = \"file:no-such-file\"",
                "line 4: no-such-file cannot be read",
            ),
        ] {
            let config = Config::parse(&changed("#top", to)).expect("a name is a name");
            let refused = config.recipe(&recipes).expect_err(to).to_string();
            assert!(refused.contains(told), "{to}: {refused}");
        }
        let config = Config::parse(&changed("#limit", "[options]\nquorum = \"grid\"")).expect("right so far");
        let refused = config.recipe(&recipes).expect_err("there is no such choice").to_string();
        assert_eq!(refused, "line 5: naimi-trehel has no quorum to choose");
        let config = Config::new("lab", "a", &[("a", "n1:1")]).expect("good").with_algorithm("naimi");
        let refused = config.recipe(&recipes).expect_err("there is none").to_string();
        assert_eq!(refused, "there is no algorithm \"naimi\"", "there is no file that has a line");
    }

    /// The keys that the reader of a table knows, as it tells them itself.
    fn keys(text: &str, table: &str) -> BTreeSet<String> {
        let told = toml::from_str::<Config>(text).expect_err("there is no such key");
        let known = told.message().split_once(", expected ").expect("it tells them").1.split('`');
        known.skip(1).step_by(2).map(|key| format!("{table}{key}")).collect()
    }

    #[test]
    fn the_book_lists_every_key_with_its_default() {
        let text = include_str!("../../../../docs/node.md");
        let rows = text.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` | "));
        let rows: Vec<(&str, &str)> =
            rows.map(|(key, rest)| (key, rest.split(" |").next().unwrap_or_default())).collect();
        let mut known = keys("nothing = 1", "");
        for (table, text) in [
            ("tls.", "tls.nothing = 1"),
            ("timing.", "timing.nothing = 1"),
            ("limits.", "limits.nothing = 1"),
            ("nodes.", "[[nodes]]\nnothing = 1"),
        ] {
            assert!(known.remove(table.trim_end_matches('.')), "{table}");
            known.extend(keys(text, table));
        }
        assert!(known.remove("options") && known.insert("options.NAME".to_owned()));
        assert_eq!(rows.iter().map(|(key, _)| (*key).to_owned()).collect::<BTreeSet<_>>(), known);
        let written = |text: &str| {
            let mut config = Config::parse(text).expect("it is right");
            let times = std::mem::take(&mut config.timing).timing();
            (toml::to_string(&config).expect("it can be written"), times)
        };
        let usual = written(&changed("#top", ""));
        for (key, value) in rows {
            if let Some(value) = value.strip_prefix('`').and_then(|value| value.strip_suffix('`')) {
                let line = format!("{key} = {value}");
                let spelled = match key.split_once('.') {
                    Some(("limits", key)) => changed("#limit", &format!("{key} = {value}")),
                    Some(("timing", key)) => changed("#time", &format!("{key} = {value}")),
                    _ => changed("#top", &line),
                };
                assert_eq!(written(&spelled), usual, "{line}");
            }
        }
    }
}
