//! `doorway lock` in the cgroups that systemd delegates to an ordinary user.
//!
//! The systemd is a real one, in namespaces of its own: it sees no process, mount or cgroup of this machine but its own, and ends with the
//! test. It runs no unit but those of the test.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, test_kill_process};

use crate::fleet::until;
use crate::lock_escape::{LOST, Place, STUBBORN, leaves_by_word, lose, own_cgroup};
use crate::scripted::{BINARY, process};

/// Where distributions install systemd.
const SYSTEMD: [&str; 2] = ["/usr/lib/systemd/systemd", "/lib/systemd/systemd"];

/// Prepares the namespaces and becomes systemd, whose path is the first argument; the second is the folder of the test.
const BECOME_SYSTEMD: &str = "set -e
mount --make-rprivate /
umount -l /sys/fs/cgroup
mount -t cgroup2 none /sys/fs/cgroup
mount -t proc proc /proc
mount -t tmpfs none /run
mount -t tmpfs none /etc/systemd
[ ! -d /usr/lib/systemd/system-generators ] || mount -t tmpfs none /usr/lib/systemd/system-generators
mkdir -p /etc/systemd/system /run/systemd/system /run/user-manager/systemd/user
cp \"$2\"/system.service /etc/systemd/system/test.service
cp \"$2\"/user.service /run/user-manager/systemd/user/test.service
chown -R nobody /run/user-manager
export container=test
exec \"$1\" --system --unit=test.service --log-target=console --show-status=no";

/// The manager whose service `doorway lock` is.
#[derive(Clone, Copy)]
enum Manager {
    /// That of the machine, which gives a service with `User=` and `Delegate=yes` its cgroup.
    System,
    /// That of a user, whose services are in cgroups that this user made.
    User,
}

/// A systemd that runs one service, in a cgroup of its own; ends with its owner.
struct Systemd {
    cgroup: PathBuf,
    folder: PathBuf,
    process: Child,
}

impl Systemd {
    /// Starts a systemd and with it `doorway lock` with a command. None where that cannot be done.
    fn start(place: &Place, manager: Manager, command: &str) -> Option<Self> {
        let Some(path) = SYSTEMD.iter().find(|path| Path::new(path).exists()) else {
            eprintln!("skipped: there is no systemd here");
            return None;
        };
        let cgroup = own_cgroup()?.join(format!("dw-{}-systemd-{}", std::process::id(), manager as u8));
        if fs::create_dir(&cgroup).is_err() || !cgroup.join("cgroup.kill").exists() {
            let _ = fs::remove_dir(&cgroup);
            eprintln!("skipped: no cgroup can be made here, or none with cgroup.kill");
            return None;
        }
        let folder = place.folder.0.join("units");
        write_units(&folder, place, manager, (path, command));
        let process = start_in(&cgroup, path, &folder);
        let mut systemd = Self { cgroup, folder, process };
        let is_started = systemd.has_started();
        if !is_started {
            eprintln!("skipped: systemd cannot run in namespaces here: {}", systemd.text("console"));
        }
        is_started.then_some(systemd)
    }

    /// Waits until the service is about to start, or systemd has ended.
    fn has_started(&mut self) -> bool {
        until("systemd starts the service, or ends", || {
            !self.text("out").is_empty() || self.process.try_wait().expect("it can be asked").is_some()
        });
        !self.text("out").is_empty()
    }

    /// What was written into a file of the service.
    fn text(&self, file: &str) -> String {
        fs::read_to_string(self.folder.join(file)).unwrap_or_default()
    }

    /// The cgroup that `doorway lock` made for its command.
    fn of_command(&self) -> Option<PathBuf> {
        let is_it = |folder: &PathBuf| {
            folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with("doorway-lock-"))
        };
        below(&self.cgroup).into_iter().find(is_it)
    }
}

impl Drop for Systemd {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs::write(self.cgroup.join("cgroup.kill"), "1");
        // A killed process is counted in its cgroup until it has ended.
        for _ in 0..100 {
            below(&self.cgroup).iter().rev().for_each(|folder| drop(fs::remove_dir(folder)));
            if !self.cgroup.exists() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }
}

/// Writes the units: one for the system's manager, and one for that of the user.
fn write_units(folder: &Path, place: &Place, manager: Manager, (systemd, command): (&str, &str)) {
    fs::create_dir(folder).expect("room");
    // The user's manager writes there as that user.
    fs::set_permissions(folder, fs::Permissions::from_mode(0o777)).expect("it is ours");
    let (name, socket) = (folder.display(), place.daemon.socket.display());
    fs::write(folder.join("command"), command).expect("room");
    let lock = format!(
        "Environment=DOORWAY_SOCKET={socket}\nStandardOutput=append:{name}/out\nStandardError=append:{name}/said\n\
         ExecStartPre=/bin/echo ready\nExecStart={BINARY} lock x -- sh {name}/command\n\
         ExecStopPost=/bin/sh -c 'echo ended with $$EXIT_STATUS'\n"
    );
    let home = "/run/user-manager";
    let user_manager = format!(
        "Environment=XDG_RUNTIME_DIR={home} XDG_CONFIG_HOME={home} HOME={home}\n\
         ExecStart={systemd} --user --unit=test.service --log-target=console\n"
    );
    let head = "[Unit]\nDefaultDependencies=no\n[Service]\n";
    let own = match manager {
        Manager::System => &lock,
        Manager::User => &user_manager,
    };
    let system = format!("{head}User=nobody\nDelegate=yes\n{own}");
    fs::write(folder.join("system.service"), system).expect("room");
    fs::write(folder.join("user.service"), format!("{head}{lock}")).expect("room");
}

/// Starts systemd in a cgroup and in namespaces of its own.
fn start_in(cgroup: &Path, systemd: &str, folder: &Path) -> Child {
    let enter = format!("echo 0 > '{}/cgroup.procs' && exec \"$@\"", cgroup.display());
    let console = fs::File::create(folder.join("console")).expect("room");
    let mut command = Command::new("sh");
    command.args(["-c", &enter, "sh", "unshare", "--pid", "--fork", "--kill-child", "--mount", "--cgroup"]);
    command.args(["--uts", "--ipc", "sh", "-c", BECOME_SYSTEMD, "sh", systemd]).arg(folder);
    command.stdin(Stdio::null()).stdout(console.try_clone().expect("a file")).stderr(console);
    command.spawn().expect("sh starts")
}

/// A cgroup and all below it, each before those in it.
fn below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let inner = folders.flat_map(|entry| below(&entry.path()));
    std::iter::once(folder.to_owned()).chain(inner).collect()
}

/// The processes of root in a cgroup and below it.
fn of_root(cgroup: &Path) -> Vec<Pid> {
    let lists =
        below(cgroup).into_iter().filter_map(|folder| fs::read_to_string(folder.join("cgroup.procs")).ok());
    let numbers: Vec<String> =
        lists.flat_map(|list| list.lines().map(str::to_owned).collect::<Vec<_>>()).collect();
    let is_of_root =
        |number: &&String| fs::metadata(format!("/proc/{number}")).is_ok_and(|process| process.uid() == 0);
    numbers.iter().filter(is_of_root).map(|number| process(number)).collect()
}

/// A command that becomes root twice, once in a session of its own whose parent has ended, is stopped whole.
fn is_stopped_in_a_cgroup_of(test: &str, manager: Manager) {
    let Some(place) = Place::new(test) else { return };
    let stubborn = place.folder.0.join("stubborn");
    fs::write(&stubborn, STUBBORN).expect("room");
    let as_root = place.as_root(&["sh", &stubborn.to_string_lossy()]).join(" ");
    let command = format!("setsid sh -c '{as_root} &' & {as_root}");
    let Some(systemd) = Systemd::start(&place, manager, &command) else { return };
    let (mut client, request) = place.daemon.granted(60_000);
    until("both processes run", || systemd.text("out").lines().count() == 3);
    let cgroup = systemd.of_command().expect("the command has a cgroup of its own");
    let escaping = of_root(&cgroup);
    assert!(escaping.len() >= 2, "{escaping:?}");
    lose(&mut client, &request);
    assert!(leaves_by_word(&mut client));
    let left: Vec<&Pid> = escaping.iter().filter(|process| test_kill_process(**process).is_ok()).collect();
    assert!(left.is_empty(), "{left:?} of {escaping:?} are left");
    until("the service has ended", || systemd.text("out").ends_with("ended with 122\n"));
    assert_eq!(systemd.text("said"), format!("{LOST} the command was stopped\n"));
    until("the cgroup is removed", || !cgroup.exists());
}

#[test]
fn a_service_to_which_systemd_delegates_its_cgroup_is_stopped() {
    is_stopped_in_a_cgroup_of("systemd-system", Manager::System);
}

#[test]
fn a_service_of_a_users_systemd_is_stopped() {
    is_stopped_in_a_cgroup_of("systemd-user", Manager::User);
}
