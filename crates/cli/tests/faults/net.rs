//! Several hosts on one machine: network namespaces joined by a switch, which is a namespace as well. Nothing of it touches the
//! machine's own network, and it is gone when the test is.

use std::net::Ipv4Addr;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// Hosts on one switch.
#[derive(Debug)]
pub struct Net {
    prefix: String,
    hosts: usize,
}

static MADE: AtomicU32 = AtomicU32::new(0);

impl Net {
    /// Makes `n` hosts, or says why that cannot be done here.
    pub fn new(hosts: usize) -> Result<Self, String> {
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let net = Self { prefix: format!("doorway-{}-{number}", std::process::id()), hosts };
        let switch = net.switch();
        try_ip(&["netns", "add", &switch])
            .map_err(|why| format!("skipped, because network namespaces cannot be made here: {why}"))?;
        net.in_switch(&["link", "add", "bridge", "type", "bridge"]);
        net.in_switch(&["link", "set", "bridge", "up"]);
        for host in 0..hosts {
            let (name, port) = (net.host(host), format!("port{host}"));
            ip(&["netns", "add", &name]);
            let ends = ["link", "add", "wire", "netns", &name, "type", "veth", "peer", "name", &port];
            ip(&[ends.as_slice(), &["netns", &switch]].concat());
            net.in_switch(&["link", "set", &port, "master", "bridge", "up"]);
            net.inside(host, &["link", "set", "lo", "up"]);
            net.inside(host, &["address", "add", &format!("{}/24", net.address(host)), "dev", "wire"]);
            net.inside(host, &["link", "set", "wire", "up"]);
        }
        Ok(net)
    }

    /// How many there are.
    pub fn hosts(&self) -> usize {
        self.hosts
    }

    /// The namespace of a host.
    pub fn host(&self, host: usize) -> String {
        format!("{}-{host}", self.prefix)
    }

    /// Its address.
    pub fn address(&self, host: usize) -> Ipv4Addr {
        Ipv4Addr::new(10, 77, 0, 1 + u8::try_from(host).expect("few hosts"))
    }

    /// From now on nothing that one host sends reaches the other.
    pub fn cut_one_way(&self, from: usize, to: usize) {
        self.inside(from, &["route", "replace", "blackhole", &format!("{}/32", self.address(to))]);
    }

    /// From now on nothing passes between two hosts.
    pub fn cut(&self, one: usize, other: usize) {
        self.cut_one_way(one, other);
        self.cut_one_way(other, one);
    }

    /// Cuts the hosts into two groups.
    pub fn split(&self, group: &[usize]) {
        let (ours, theirs): (Vec<usize>, Vec<usize>) = (0..self.hosts).partition(|host| group.contains(host));
        ours.iter().for_each(|one| theirs.iter().for_each(|other| self.cut(*one, *other)));
    }

    /// Takes a host's wire out.
    pub fn unplug(&self, host: usize) {
        self.in_switch(&["link", "set", &format!("port{host}"), "down"]);
    }

    /// From now on a host sends no more than this, as `tc` writes it: `500kbit`. Tells whether that can be done here.
    pub fn slow_down(&self, host: usize, rate: &str) -> bool {
        let mut tc = Command::new("tc");
        tc.args(["-n", &self.host(host), "qdisc", "add", "dev", "wire", "root"]);
        tc.args(["tbf", "rate", rate, "burst", "16kb", "latency", "60s"]).stdin(Stdio::null());
        match tc.output() {
            Ok(ended) if ended.status.success() => true,
            Ok(ended) => {
                eprintln!("skipped: no slow link here: {}", String::from_utf8_lossy(&ended.stderr).trim());
                false
            }
            Err(error) => {
                eprintln!("skipped: there is no tc here: {error}");
                false
            }
        }
    }

    /// How many bytes a host has sent.
    pub fn sent_bytes(&self, host: usize) -> u64 {
        let told = self.command(host, "cat").arg("/sys/class/net/wire/statistics/tx_bytes").output();
        let told = told.expect("ip runs");
        String::from_utf8_lossy(&told.stdout).trim().parse().expect("a number")
    }

    /// All wires are in and all hosts reach each other.
    pub fn heal(&self) {
        for host in 0..self.hosts {
            self.in_switch(&["link", "set", &format!("port{host}"), "up"]);
            for other in 0..self.hosts {
                let route =
                    ["route", "del", "blackhole", &format!("{}/32", self.address(other))].map(str::to_owned);
                let route: Vec<&str> = route.iter().map(String::as_str).collect();
                // Most of them are not there.
                let _ = try_ip(&[&["-n", &self.host(host)], route.as_slice()].concat());
            }
        }
    }

    /// A command that will run on a host.
    pub fn command(&self, host: usize, program: &str) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.host(host), program]);
        command
    }

    fn switch(&self) -> String {
        format!("{}-switch", self.prefix)
    }

    fn inside(&self, host: usize, arguments: &[&str]) {
        ip(&[&["-n", &self.host(host)], arguments].concat());
    }

    fn in_switch(&self, arguments: &[&str]) {
        ip(&[&["-n", &self.switch()], arguments].concat());
    }
}

impl Drop for Net {
    fn drop(&mut self) {
        for name in (0..self.hosts).map(|host| self.host(host)).chain([self.switch()]) {
            let _ = try_ip(&["netns", "delete", &name]);
        }
    }
}

fn ip(arguments: &[&str]) {
    try_ip(arguments).unwrap_or_else(|why| panic!("ip {}: {why}", arguments.join(" ")));
}

fn try_ip(arguments: &[&str]) -> Result<(), String> {
    let ended = Command::new("ip")
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    if ended.status.success() {
        return Ok(());
    }
    Err(String::from_utf8_lossy(&ended.stderr).trim().to_owned())
}
