//! The SQL for PostgreSQL, on a server that the test starts for itself in a folder of its own, reachable by no network.
//! Where there is no PostgreSQL it is skipped.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A server with an empty database, gone when it is dropped.
struct Server {
    programs: PathBuf,
    folder: PathBuf,
    /// Whom it runs as, if we are who it refuses to run as.
    user: Option<u32>,
}

impl Server {
    /// None if there is no PostgreSQL here.
    fn start() -> Option<Self> {
        let programs = programs()?;
        let folder = std::env::temp_dir().join(format!("doorway-sql-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let is_root = fs::metadata(&folder).expect("it is there").uid() == 0;
        let user = is_root.then_some(65_534);
        chown(&folder, user, None).expect("it is ours");
        let server = Self { programs, folder, user };
        let data = server.folder.join("data");
        server.must("initdb", |it| it.args(["--no-sync", "-A", "trust", "-U", "doorway", "-D"]).arg(&data));
        let options = format!("-c listen_addresses= -c fsync=off -k {}", server.folder.display());
        let log = server.folder.join("log");
        server.must("pg_ctl", |it| {
            it.args(["start", "--wait", "--silent", "-o", &options, "-l"]).arg(&log).arg("-D").arg(&data)
        });
        Some(server)
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.programs.join(program));
        command.current_dir(&self.folder).stdin(Stdio::null());
        self.user.into_iter().for_each(|user| {
            command.uid(user);
        });
        command
    }

    fn must(&self, program: &str, arguments: impl FnOnce(&mut Command) -> &mut Command) {
        let mut command = self.command(program);
        let status = arguments(&mut command).stdout(Stdio::null()).status().expect("it starts");
        assert!(status.success(), "{program} failed");
    }

    fn psql(&self) -> Command {
        let mut command = self.command("psql");
        command.args([
            "-X",
            "-q",
            "-A",
            "-t",
            "-v",
            "ON_ERROR_STOP=1",
            "-U",
            "doorway",
            "-d",
            "postgres",
            "-h",
        ]);
        command.arg(&self.folder);
        command
    }

    /// The result of each of these statements.
    fn run(&self, sql: &str) -> Result<String, String> {
        let Output { status, stdout, stderr } =
            self.psql().args(["-v", "VERBOSITY=verbose", "-c", sql]).output().expect("psql starts");
        let text = |bytes| String::from_utf8(bytes).expect("text").trim().to_owned();
        if status.success() { Ok(text(stdout)) } else { Err(text(stderr)) }
    }

    /// A session to which statements can be sent one by one.
    fn session(&self) -> Child {
        self.psql().stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("psql starts")
    }

    /// Asks until the answer is this one.
    fn until(&self, sql: &str, answer: &str) {
        let end = Instant::now() + Duration::from_secs(60);
        while self.run(sql).expect("it can be asked") != answer {
            assert!(Instant::now() < end, "{sql} never said {answer}");
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let data = self.folder.join("data");
        let _ = self.command("pg_ctl").args(["stop", "--silent", "-m", "immediate", "-D"]).arg(data).status();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// The folder of the server's programs, of which Debian puts only some where commands are looked for.
fn programs() -> Option<PathBuf> {
    let searched = std::env::var_os("PATH").unwrap_or_default();
    let places = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().filter_map(Result::ok);
    let debian = places.map(|version| version.path().join("bin"));
    let has_all =
        |folder: &PathBuf| ["initdb", "pg_ctl", "psql"].iter().all(|program| is_there(folder, program));
    std::env::split_paths(&searched).chain(debian).find(has_all)
}

fn is_there(folder: &Path, program: &str) -> bool {
    folder.join(program).is_file()
}

fn send(session: &mut Child, sql: &str) {
    let input = session.stdin.as_mut().expect("it has one");
    input.write_all(sql.as_bytes()).expect("it reads");
}

#[test]
fn postgresql_refuses_old_fences() {
    let Some(server) = Server::start() else {
        println!("skipped: there is no PostgreSQL here (initdb, pg_ctl and psql are needed)");
        return;
    };
    let is_fine = |sql: &str| assert_eq!(server.run(sql), Ok(String::new()), "{sql}");
    is_fine(doorway::POSTGRESQL);
    is_fine(&format!("SET client_min_messages = warning; {}", doorway::POSTGRESQL));

    is_fine("SELECT doorway_pass('a', 5)");
    is_fine("SELECT doorway_pass('a', 5)");
    is_fine("SELECT doorway_pass('a', 9223372036854775807)");
    is_fine("SELECT doorway_pass('b', 1)");
    let refused = server.run("SELECT doorway_pass('a', 6)").expect_err("it is old");
    assert!(refused.contains("DW001: fence 6 of a is too old: the lock was lost meanwhile"), "{refused}");
    a_late_transaction_cannot_end_after_a_newer_one(&server);
    a_column_of_its_own_is_enough(&server);
}

fn a_late_transaction_cannot_end_after_a_newer_one(server: &Server) {
    server.run("CREATE TABLE written (fence bigint, place bigserial)").expect("a table");
    let (mut older, mut newer) = (server.session(), server.session());
    let write =
        |fence| format!("BEGIN; SELECT doorway_pass('c', {fence}); INSERT INTO written VALUES ({fence});\n");
    send(&mut older, &write(5));
    // It has passed when its row is locked; nobody else sees the row yet.
    server.until("SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction'", "1");
    send(&mut newer, &write(7));
    server.until("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'", "1");
    send(&mut older, "COMMIT;\n");
    send(&mut newer, "COMMIT;\n");
    for mut session in [older, newer] {
        drop(session.stdin.take());
        assert!(session.wait().expect("it ends").success());
    }
    assert_eq!(server.run("SELECT fence FROM written ORDER BY place"), Ok("5\n7".to_owned()));
    let late = server.run("BEGIN; SELECT doorway_pass('c', 5); INSERT INTO written VALUES (5); COMMIT");
    assert!(late.expect_err("it is old").contains("DW001"));
    assert_eq!(server.run("SELECT count(*) FROM written"), Ok("2".to_owned()));
}

fn a_column_of_its_own_is_enough(server: &Server) {
    server
        .run("CREATE TABLE accounts (id int, balance int, fence bigint NOT NULL DEFAULT 0)")
        .expect("a table");
    server.run("INSERT INTO accounts VALUES (1, 100)").expect("a row");
    let update = |balance, fence| {
        let sql = format!(
            "UPDATE accounts SET balance = {balance}, fence = {fence} WHERE id = 1 AND fence <= {fence} RETURNING balance"
        );
        server.run(&sql)
    };
    assert_eq!(update(80, 8), Ok("80".to_owned()));
    assert_eq!(update(90, 7), Ok(String::new()), "no row is changed");
    assert_eq!(server.run("SELECT balance FROM accounts"), Ok("80".to_owned()));
}
