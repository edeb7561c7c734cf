//! What a test in a browser needs around it: a studio on a port of its own, a chromedriver on another, and a browser with a fresh
//! profile. All of it ends with the test, also with one that fails.
//!
//! Where there is no browser, a test says so and passes; in continuous integration, where root can install one, it fails.

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use doorway_catalog::Catalog;
use doorway_studio::{Closing, Studio};
use thirtyfour::common::log::LoggingPrefsLogLevel;
use thirtyfour::prelude::*;
use tokio::runtime::Runtime;

use crate::page::Page;

/// Runs a test in a browser of its own, one at a time: the machine has few processors, and frames are measured.
pub fn browse(test: impl AsyncFnOnce(&Page)) {
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(missing) = missing_program() {
        return skip(missing);
    }
    let studio = Served::new();
    let driver = Chromedriver::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let page = runtime.block_on(open(&studio, &driver));
    let outcome = catch_unwind(AssertUnwindSafe(|| runtime.block_on(test(&page))));
    if outcome.is_err() {
        runtime.block_on(page.tell());
    }
    quit(&runtime, page);
    if let Err(panic) = outcome {
        resume_unwind(panic);
    }
}

/// Prints past the harness, which keeps to itself what tests print that pass.
pub fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// The first program that is not there.
fn missing_program() -> Option<&'static str> {
    let is_there = |program: &&str| {
        let mut command = Command::new(program);
        command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    ["chromium", "chromedriver"].into_iter().find(|program| !is_there(program))
}

fn skip(missing: &str) {
    let can_install = env::var("CI").is_ok_and(|word| word == "true") && is_root();
    assert!(
        !can_install,
        "there is no {missing}: `cargo xtask test` installs it where it may, which is here"
    );
    say(&format!("skipped: a test of the pages needs {missing}, which is not on this machine"));
}

fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output();
    output.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

/// A browser on the studio's first page.
async fn open(studio: &Served, driver: &Chromedriver) -> Page {
    let mut wanted = DesiredCapabilities::chrome();
    let profile = format!("--user-data-dir={}", driver.profile.display());
    for word in [
        "--headless=new",
        "--no-sandbox",
        "--disable-dev-shm-usage",
        "--disable-background-networking",
        "--window-size=1440,1000",
        &profile,
    ] {
        wanted.add_arg(word).expect("a word of the command line");
    }
    wanted.set_browser_log_level(LoggingPrefsLogLevel::All).expect("a level of the log");
    let browser = WebDriver::new(driver.address(), wanted).await.expect("a browser");
    browser.set_script_timeout(Duration::from_secs(30)).await.expect("a limit");
    Page::new(browser, format!("http://127.0.0.1:{}/", studio.address.port()))
}

fn quit(runtime: &Runtime, page: Page) {
    if let Err(error) = runtime.block_on(page.browser.quit()) {
        say(&format!("the browser did not quit: {error}"));
    }
}

/// A studio with all algorithms that is served until this is dropped.
struct Served {
    address: SocketAddr,
    closing: Closing,
    thread: Option<JoinHandle<()>>,
}

impl Served {
    fn new() -> Self {
        let studio = Studio::at(SocketAddr::from(([127, 0, 0, 1], 0))).expect("a free port");
        let (address, closing) = (studio.address(), Closing::default());
        let close = closing.clone();
        let serve = move || {
            studio.open(&Catalog::textbook(), &close).expect("a studio that serves");
        };
        Self { address, closing, thread: Some(std::thread::spawn(serve)) }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.closing.close();
        if let Some(Err(_)) = self.thread.take().map(JoinHandle::join) {
            say("the studio broke down");
        }
    }
}

/// The program that steers the browser, and the folder that is the browser's own.
struct Chromedriver {
    process: Child,
    port: u16,
    profile: PathBuf,
}

impl Chromedriver {
    fn new() -> Self {
        let mut command = Command::new("chromedriver");
        command.arg("--port=0").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().expect("chromedriver was there a moment ago");
        let mut lines = BufReader::new(process.stdout.take().expect("its output")).lines();
        let port = lines.by_ref().map_while(Result::ok).find_map(|line| port_in(&line));
        let port = port.expect("chromedriver says its port");
        // Whatever else it says must not fill the pipe.
        std::thread::spawn(move || lines.for_each(drop));
        let name = format!("doorway-browser-{}-{port}", std::process::id());
        Self { process, port, profile: env::temp_dir().join(name) }
    }

    fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

/// The port in "ChromeDriver was started successfully on port 43210."
fn port_in(line: &str) -> Option<u16> {
    let (_, after) = line.split_once("started successfully on port ")?;
    after.trim_end_matches('.').parse().ok()
}

impl Drop for Chromedriver {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.profile);
    }
}
