//! Commands of `doorway lock` that try to escape: by another user, by another session. With a cgroup, and without.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command};

use doorway_protocol::{ClientMsg, DaemonMsg, Loss};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, getuid, kill_process, test_kill_process};

use crate::fleet::{Folder, until};
use crate::scripted::{BINARY, Client, Daemon, Request, after, end, line, own, process};

/// A user without rights.
const NOBODY: u32 = 65_534;

/// The command as root: it prints its process id and ignores SIGTERM. It ends by itself after a while, because nothing else ends it if a test fails.
pub const STUBBORN: &str =
    "trap '' TERM; echo $$; n=0; while [ $n -lt 10000 ]; do sleep 0.01; n=$((n + 1)); done";

/// A place in which an ordinary user runs `doorway lock`, with a setuid program that makes its caller root.
pub struct Place {
    pub daemon: Daemon,
    pub folder: Folder,
}

impl Place {
    /// `None` where there is no such program, or no second user.
    pub fn new(test: &str) -> Option<Self> {
        if !getuid().is_root() {
            eprintln!("skipped: only root can make a program that changes its uid");
            return None;
        }
        let place = Self { daemon: Daemon::new(test), folder: Folder::new(test) };
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut found = std::env::split_paths(&path).map(|folder| folder.join("setpriv"));
        let setpriv = found.find(|path| path.exists());
        let Some(setpriv) = setpriv else {
            eprintln!("skipped: there is no setpriv here");
            return None;
        };
        // Not by this process: what another test starts meanwhile would have the file open for writing, and the kernel would refuse to run it.
        let copied = Command::new("cp").args([&setpriv, &place.root()]).status().expect("cp starts");
        assert!(copied.success());
        fs::set_permissions(place.root(), fs::Permissions::from_mode(0o4755)).expect("it is ours");
        fs::set_permissions(&place.daemon.socket, fs::Permissions::from_mode(0o777)).expect("it is ours");
        let tried = ["sh", "-c", "\"$0\" --version && \"$@\"", BINARY];
        let tried = place.as_nobody().args(tried).args(place.as_root(&["id", "-u"])).output();
        let is_right = tried.is_ok_and(|tried| tried.stdout.ends_with(b"\n0\n"));
        if !is_right {
            eprintln!("skipped: an ordinary user can run no set-user-ID program here, or not this one");
            return None;
        }
        Some(place)
    }

    fn root(&self) -> PathBuf {
        self.folder.0.join("root")
    }

    fn as_nobody(&self) -> Command {
        let mut command = Command::new("setpriv");
        let user = NOBODY.to_string();
        command.args(["--reuid", &user, "--regid", &user, "--clear-groups"]);
        command
    }

    /// A command that changes its uid to root's, for good.
    pub fn as_root(&self, command: &[&str]) -> Vec<String> {
        let root = self.root().to_string_lossy().into_owned();
        let own = [&root, "--reuid", "0", "--regid", "0", "--clear-groups"];
        own.iter().chain(command).map(ToString::to_string).collect()
    }

    /// `doorway lock` of an ordinary user with these words before and after `--`.
    fn lock(&self, words: &[&str], command: &[String]) -> Child {
        self.daemon.run(self.as_nobody().args([BINARY, "lock", "x"]).args(words).arg("--").args(command))
    }
}

/// The lines that `doorway lock` says.
struct Said(BufReader<ChildStderr>);

impl Said {
    fn of(child: &mut Child) -> Self {
        Self(BufReader::new(child.stderr.take().expect("a pipe")))
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).expect("it speaks");
        line
    }

    fn rest(mut self) -> String {
        let mut text = String::new();
        self.0.read_to_string(&mut text).expect("it speaks");
        text
    }
}

pub fn lose(client: &mut Client, request: &Request) {
    client.say(&DaemonMsg::Lost { number: request.number, why: Loss::Lease });
}

/// The words that a daemon says every moment, until `doorway lock` has seen what it has to say something of.
fn renew_until_said(client: &mut Client, request: &Request, said: &Said) {
    let moment = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
    let is_said = || {
        poll(&mut [PollFd::new(said.0.get_ref(), PollFlags::IN)], Some(&moment)).is_ok_and(|ready| ready > 0)
    };
    until("it says something", || {
        client.say(&DaemonMsg::Renewed { number: request.number, until: after(60_000) });
        is_said()
    });
}

pub const LOST: &str =
    "doorway: the lock on x is lost, as this node has not heard from a majority of the voters for too long:";
const RUNS_ON: &str = "changed its uid, cannot be stopped and runs on without the lock\n";
const WARNING: &str = "changed its uid and cannot be stopped: if the lock on x is lost, it runs on and only its fence protects\n";

/// Whether a client that has lost its lock leaves by word; it does not wait for an answer.
pub fn leaves_by_word(client: &mut Client) -> bool {
    let asks: Vec<ClientMsg> = std::iter::from_fn(|| client.hear()).collect();
    matches!(asks[..], [ClientMsg::Release { .. }, ClientMsg::Status { .. }])
}

/// Until the command has ended by itself, nothing ends and nothing is given back.
fn runs_on_until_it_ends(child: Child, client: &mut Client, command: Pid) {
    let mut child = child;
    assert!(test_kill_process(command).is_ok(), "it runs on");
    assert!(child.try_wait().expect("it can be asked").is_none(), "and so does its watcher");
    assert!(client.has_said_nothing(), "which has given nothing back");
    kill_process(command, Signal::KILL).expect("it lives");
    assert!(leaves_by_word(client));
    assert_eq!(end(child).0, 123);
}

#[test]
fn a_command_that_changed_its_uid_is_reported() {
    let Some(place) = Place::new("uid") else { return };
    let mut child = place.lock(&[], &place.as_root(&["sh", "-c", STUBBORN]));
    let mut said = Said::of(&mut child);
    let (mut client, request) = place.daemon.granted(60_000);
    let command = process(&line(&mut child));
    renew_until_said(&mut client, &request, &said);
    assert_eq!(said.line(), format!("doorway: the command {WARNING}"));
    lose(&mut client, &request);
    assert_eq!(said.line(), format!("{LOST} the command {RUNS_ON}"));
    runs_on_until_it_ends(child, &mut client, command);
    assert_eq!(said.rest(), "");
}

/// A command that runs another one as root is told of at once, and when that runs on without the lock.
fn is_told_of(test: &str, starter: &[&str]) {
    let Some(place) = Place::new(test) else { return };
    let starter: Vec<String> = starter.iter().map(ToString::to_string).collect();
    let command = place.as_root(&["sh", "-c", STUBBORN]);
    let mut child = place.lock(&[], &[starter, command].concat());
    let mut said = Said::of(&mut child);
    let (mut client, request) = place.daemon.granted(60_000);
    let command = process(&line(&mut child));
    renew_until_said(&mut client, &request, &said);
    assert_eq!(said.line(), format!("doorway: a process of the command {WARNING}"));
    lose(&mut client, &request);
    assert_eq!(said.line(), format!("{LOST} a process of the command {RUNS_ON}"));
    runs_on_until_it_ends(child, &mut client, command);
    assert_eq!(said.rest(), "");
}

#[test]
fn a_surviving_child_of_another_user_is_reported() {
    is_told_of("uid-child", &["sh", "-c", "\"$@\" & wait", "sh"]);
}

#[test]
fn an_orphan_of_another_user_in_its_own_session_is_reported() {
    is_told_of("uid-session", &["sh", "-c", "(setsid \"$@\" &); exec sleep 1000", "sh"]);
}

#[test]
fn a_child_of_another_user_started_by_a_thread_is_reported() {
    if !Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: there is no python3 here");
        return;
    }
    let script = "import subprocess, sys, threading\n\
        thread = threading.Thread(target=lambda: subprocess.Popen(sys.argv[1:]).wait())\n\
        thread.start()\n\
        thread.join()";
    is_told_of("uid-thread", &["python3", "-c", script]);
}

#[test]
fn a_signal_that_cannot_be_passed_on_is_reported() {
    let Some(place) = Place::new("uid-signal") else { return };
    // It starts nothing that could outlive it.
    let mut child = place.lock(&[], &place.as_root(&["sh", "-c", "echo $$; exec sleep 20"]));
    let mut said = Said::of(&mut child);
    let (mut client, _) = place.daemon.granted(60_000);
    let command = process(&line(&mut child));
    kill_process(own(&child), Signal::USR1).expect("it lives");
    let sentence = "doorway: SIGUSR1 cannot be passed on: the command changed its uid\n";
    // It may also have said by then that the command cannot be stopped.
    let first = said.line();
    assert!(first == sentence || said.line() == sentence, "{first}");
    kill_process(command, Signal::KILL).expect("it lives");
    assert!(client.hears_release());
    assert_eq!(end(child).0, 137, "it has not lost its lock");
}

/// A cgroup below that of the tests, given to a user; gone with its owner.
struct Delegated(PathBuf);

impl Delegated {
    /// None where there are no such cgroups.
    fn new(test: &str) -> Option<Self> {
        let folder = own_cgroup()?.join(format!("dw-{}-{test}", std::process::id()));
        if fs::create_dir(&folder).is_err() || !folder.join("cgroup.kill").exists() {
            let _ = fs::remove_dir(&folder);
            eprintln!("skipped: no cgroup can be made here, or none with cgroup.kill");
            return None;
        }
        let given = Self(folder);
        for part in ["", "cgroup.procs", "cgroup.threads", "cgroup.subtree_control"] {
            chown(given.0.join(part), Some(NOBODY), Some(NOBODY)).expect("it is ours");
        }
        Some(given)
    }

    fn is_empty(&self) -> bool {
        let entries = fs::read_dir(&self.0).expect("it is there").flatten();
        !entries.into_iter().any(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
    }
}

impl Drop for Delegated {
    fn drop(&mut self) {
        let _ = fs::write(self.0.join("cgroup.kill"), "1");
        // What was killed is counted until it has ended. Nothing is left to be killed unless a test has failed.
        for _ in 0..100 {
            for entry in fs::read_dir(&self.0).into_iter().flatten().flatten() {
                let _ = fs::remove_dir(entry.path());
            }
            if fs::remove_dir(&self.0).is_ok() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }
}

/// The folder of this process's cgroup of version 2.
pub fn own_cgroup() -> Option<PathBuf> {
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let name = own.lines().find_map(|line| line.strip_prefix("0::/"));
    let folder = name.zip(cgroups()).map(|(name, mount)| Path::new(&mount).join(name));
    if folder.is_none() {
        eprintln!("skipped: no cgroups of version 2 are mounted here");
    }
    folder
}

/// Where cgroups of version 2 are mounted.
fn cgroups() -> Option<String> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let mount = mounts.lines().find(|line| line.contains(" - cgroup2 "))?;
    mount.split(' ').nth(4).map(str::to_owned)
}

#[test]
fn a_cgroup_stops_a_command_of_any_uid_and_session() {
    let Some(place) = Place::new("cgroup") else { return };
    let Some(given) = Delegated::new("cgroup") else { return };
    // One as root, and one as root in another session whose parent has ended.
    let stubborn = place.folder.0.join("stubborn");
    fs::write(&stubborn, STUBBORN).expect("a script");
    let command = place.as_root(&["sh", &stubborn.to_string_lossy()]).join(" ");
    let script = format!("setsid sh -c '{command} &' & {command}");
    let enter = format!("echo 0 > {}/cgroup.procs && exec \"$@\"", given.0.display());
    let mut shell = Command::new("sh");
    shell.args(["-c", &enter, "sh"]).arg(place.as_nobody().get_program()).args(place.as_nobody().get_args());
    shell.args([BINARY, "lock", "x", "--", "sh", "-c", &script]);
    let mut child = place.daemon.run(&shell);
    let said = Said::of(&mut child);
    let (mut client, request) = place.daemon.granted(60_000);
    let commands = [process(&line(&mut child)), process(&line(&mut child))];
    assert!(!given.is_empty(), "it has a cgroup of its own");
    client.say(&DaemonMsg::Renewed { number: request.number, until: after(70_000) });
    lose(&mut client, &request);
    assert!(leaves_by_word(&mut client));
    let ended = commands.map(|command| test_kill_process(command).is_err());
    assert_eq!((end(child).0, ended), (122, [true, true]));
    assert_eq!(said.rest(), format!("{LOST} the command was stopped\n"));
    until("the cgroup is removed", || given.is_empty());
}

/// An ordinary user who may have everything done by sudo, as far as those know who are in a mount namespace of their own.
struct Sudoer {
    daemon: Daemon,
    folder: Folder,
}

impl Sudoer {
    /// None where there is no sudo, or it cannot be used.
    fn new(test: &str) -> Option<Self> {
        if !getuid().is_root() {
            eprintln!("skipped: only root can let another user use sudo");
            return None;
        }
        let sudoer = Self { daemon: Daemon::new(test), folder: Folder::new(test) };
        fs::write(sudoer.rules(), "nobody ALL=(ALL:ALL) NOPASSWD: ALL\n").expect("room");
        fs::set_permissions(sudoer.rules(), fs::Permissions::from_mode(0o440)).expect("it is ours");
        fs::set_permissions(&sudoer.daemon.socket, fs::Permissions::from_mode(0o777)).expect("it is ours");
        let tried = ["sh", "-c", "\"$0\" --version && sudo -n id -u", BINARY];
        let tried = sudoer.as_nobody("true").args(tried).output();
        let is_right = tried.is_ok_and(|tried| tried.stdout.ends_with(b"\n0\n"));
        if !is_right {
            eprintln!("skipped: there is no sudo here, or an ordinary user cannot use it");
        }
        is_right.then_some(sudoer)
    }

    fn rules(&self) -> PathBuf {
        self.folder.0.join("sudoers")
    }

    /// A command of that user, begun by root with this line of a shell.
    fn as_nobody(&self, begin: &str) -> Command {
        let script =
            format!("mount --bind '{}' /etc/sudoers && {begin} && exec \"$@\"", self.rules().display());
        let user = NOBODY.to_string();
        let mut command = Command::new("unshare");
        command.args(["-m", "sh", "-c", &script, "sh", "setpriv", "--reuid", &user, "--regid", &user]);
        command.arg("--clear-groups");
        command
    }

    /// `doorway lock` of that user with a command under sudo.
    fn lock(&self, begin: &str) -> Child {
        let words = [BINARY, "lock", "x", "--", "sudo", "-n", "sh", "-c", STUBBORN];
        self.daemon.run(self.as_nobody(begin).args(words))
    }
}

#[test]
fn a_command_under_sudo_is_reported() {
    let Some(sudoer) = Sudoer::new("sudo") else { return };
    let mut child = sudoer.lock("true");
    let mut said = Said::of(&mut child);
    let (mut client, request) = sudoer.daemon.granted(60_000);
    let command = process(&line(&mut child));
    renew_until_said(&mut client, &request, &said);
    // Whether sudo itself can be stopped is up to sudo; what it runs cannot.
    let warned = said.line();
    let who = warned.strip_prefix("doorway: ").and_then(|said| said.strip_suffix(&format!(" {WARNING}")));
    assert!(matches!(who, Some("the command" | "a process of the command")), "{warned}");
    lose(&mut client, &request);
    assert_eq!(said.line(), format!("{LOST} {} {RUNS_ON}", who.unwrap_or_default()));
    runs_on_until_it_ends(child, &mut client, command);
}

#[test]
fn a_command_under_sudo_is_stopped_with_its_cgroup() {
    let Some(sudoer) = Sudoer::new("sudo-cgroup") else { return };
    let Some(given) = Delegated::new("sudo-cgroup") else { return };
    let mut child = sudoer.lock(&format!("echo 0 > {}/cgroup.procs", given.0.display()));
    let said = Said::of(&mut child);
    let (mut client, request) = sudoer.daemon.granted(60_000);
    let command = process(&line(&mut child));
    assert!(!given.is_empty(), "it has a cgroup of its own");
    lose(&mut client, &request);
    assert!(leaves_by_word(&mut client));
    let has_ended = test_kill_process(command).is_err();
    assert_eq!((end(child).0, has_ended), (122, true));
    assert_eq!(said.rest(), format!("{LOST} the command was stopped\n"));
    until("the cgroup is removed", || given.is_empty());
}

#[test]
fn a_process_of_another_user_that_left_the_cgroup_is_reported() {
    let Some(place) = Place::new("cgroup-out") else { return };
    let (Some(given), Some(outside)) = (Delegated::new("cgroup-out"), own_cgroup()) else { return };
    let script = format!("echo 0 > {}/cgroup.procs && {STUBBORN}", outside.display());
    let command = place.as_root(&["sh", "-c", &script]);
    let enter = format!("echo 0 > {}/cgroup.procs && exec \"$@\"", given.0.display());
    let mut shell = Command::new("sh");
    shell.args(["-c", &enter, "sh"]).arg(place.as_nobody().get_program()).args(place.as_nobody().get_args());
    shell.args([BINARY, "lock", "x", "--", "sh", "-c", "\"$@\" & wait", "sh"]).args(command);
    let mut child = place.daemon.run(&shell);
    let mut said = Said::of(&mut child);
    let (mut client, request) = place.daemon.granted(60_000);
    let command = process(&line(&mut child));
    assert!(!given.is_empty(), "it has a cgroup of its own");
    renew_until_said(&mut client, &request, &said);
    assert_eq!(said.line(), format!("doorway: a process of the command {WARNING}"));
    lose(&mut client, &request);
    assert_eq!(said.line(), format!("{LOST} a process of the command {RUNS_ON}"));
    runs_on_until_it_ends(child, &mut client, command);
}

#[test]
fn what_a_killed_watcher_leaves_is_removed_by_the_next() {
    if !getuid().is_root() {
        eprintln!("skipped: only root can make a cgroup for the test");
        return;
    }
    let Some(given) = Delegated::new("left") else { return };
    let daemon = Daemon::new("cgroup-left");
    let enter = format!("echo 0 > {}/cgroup.procs && exec \"$@\"", given.0.display());
    let lock = |script: &str| {
        let mut shell = Command::new("sh");
        shell.args(["-c", &enter, "sh", BINARY, "lock", "x", "--", "sh", "-c", script]);
        daemon.run(&shell)
    };
    let mut child = lock("sleep 1000 >&- 2>&- & echo $!; wait");
    let (mut client, _) = daemon.granted(60_000);
    let grandchild = process(&line(&mut child));
    kill_process(own(&child), Signal::KILL).expect("it lives");
    child.wait().expect("it has ended");
    kill_process(grandchild, Signal::KILL).expect("it lives");
    assert_eq!(client.hear(), None);
    assert!(!given.is_empty(), "nobody was there to remove it");
    until("it is removed", || {
        let child = lock("true");
        let (mut client, _) = daemon.granted(60_000);
        assert!(client.hears_release());
        assert_eq!(end(child).0, 0);
        given.is_empty()
    });
}

#[test]
fn a_cgroup_is_made_where_cgroups_are_mounted() {
    let Some(mount) = cgroups().filter(|_| getuid().is_root()) else {
        eprintln!("skipped: only root can mount cgroups elsewhere, and there must be some");
        return;
    };
    let (daemon, folder) = (Daemon::new("cgroup-mounts"), Folder::new("cgroup mounts"));
    let nowhere = format!("umount -l '{mount}'");
    let elsewhere = format!("{nowhere} && mount -t cgroup2 none '{}'", folder.0.display());
    for (mounts, is_made) in [(elsewhere, true), (nowhere, false)] {
        let mut tried = Command::new("unshare");
        if !tried.args(["-m", "sh", "-c", &mounts]).output().is_ok_and(|tried| tried.status.success()) {
            eprintln!("skipped: nothing can be mounted here");
            continue;
        }
        let script = format!("{mounts}; exec \"$@\"");
        let mut shell = Command::new("unshare");
        shell.args(["-m", "sh", "-c", &script, "sh", BINARY, "lock", "x", "--", "cat", "/proc/self/cgroup"]);
        let child = daemon.run(&shell);
        let (mut client, _) = daemon.granted(60_000);
        assert!(client.hears_release());
        let (status, out, said) = end(child);
        assert_eq!(
            (status, said.as_str(), out.contains("doorway-lock-")),
            (0, "", is_made),
            "{mounts}: {out}"
        );
    }
}
