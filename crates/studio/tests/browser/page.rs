//! The page that a test looks at: where it goes, what it presses and what it waits for. Nothing sleeps: what is waited for is looked at
//! whenever the page has changed.

use serde_json::{Value, json};
use thirtyfour::prelude::*;

use crate::machine::say;

/// Waits in the page until EXPRESSION is true, and hands back what it is. It is looked at after every change of the page, and four times
/// a second because the address is no part of the page.
const UNTIL: &str = "
    const done = arguments[arguments.length - 1];
    const look = () => (EXPRESSION);
    const all = { subtree: true, childList: true, attributes: true, characterData: true };
    let timer = null;
    const check = () => {
      let value = null;
      try { value = look(); } catch (error) { value = null; }
      if (!value) return;
      observer.disconnect();
      clearInterval(timer);
      done(value);
    };
    const observer = new MutationObserver(check);
    observer.observe(document, all);
    timer = setInterval(check, 250);
    check();
";

/// A page of the studio in a browser.
pub struct Page {
    pub browser: WebDriver,
    origin: String,
}

impl Page {
    pub fn new(browser: WebDriver, origin: String) -> Self {
        Self { browser, origin }
    }

    /// Opens the studio anew at `#/…`.
    pub async fn open(&self, hash: &str) {
        self.browser.goto("about:blank").await.expect("an empty page");
        self.browser.goto(self.address(hash)).await.expect("a page of the studio");
    }

    /// The whole address of `#/…`.
    pub fn address(&self, hash: &str) -> String {
        format!("{}{hash}", self.origin)
    }

    /// Waits until an expression of JavaScript is true, and hands back its value.
    pub async fn until(&self, what: &str, expression: &str) -> Value {
        let script = UNTIL.replace("EXPRESSION", expression);
        let value = self.browser.execute_async(script, Vec::new()).await;
        match value {
            Ok(value) => value.json().clone(),
            Err(error) => panic!("waited in vain until {what}: {expression}\n{error}"),
        }
    }

    /// The value of an expression of JavaScript.
    pub async fn value(&self, expression: &str) -> Value {
        let value = self.browser.execute(format!("return ({expression});"), Vec::new()).await;
        value.unwrap_or_else(|error| panic!("{expression}\n{error}")).json().clone()
    }

    /// The text of what a selector finds.
    pub async fn text(&self, selector: &str) -> String {
        let value = self.value(&format!("document.querySelector({selector:?}).textContent")).await;
        value.as_str().unwrap_or_default().to_owned()
    }

    /// Clicks what a selector finds, once it is there.
    pub async fn click(&self, selector: &str) {
        self.until(&format!("{selector} is there"), &format!("!!document.querySelector({selector:?})")).await;
        let element = self.browser.find(By::Css(selector)).await.expect("it was there");
        element.scroll_into_view().await.expect("an element that is shown");
        element.click().await.unwrap_or_else(|error| panic!("{selector} cannot be clicked: {error}"));
    }

    /// Chooses a value in a select box.
    pub async fn choose(&self, selector: &str, value: &str) {
        let option = By::Css(format!("{selector} option[value='{value}']"));
        self.browser.find(option).await.expect("a choice").click().await.expect("it can be chosen");
    }

    /// Presses keys where the focus is.
    pub async fn press(&self, keys: impl Into<TypingData>) {
        self.browser.action_chain().send_keys(keys).perform().await.expect("keys can be pressed");
    }

    /// Gives a screen of this width to the page.
    pub async fn widen(&self, width: u32) {
        let screen = json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600});
        self.devtools("Emulation.setDeviceMetricsOverride", screen).await;
    }

    /// Says what the reader prefers, as in `prefers("prefers-reduced-motion", "reduce")`.
    pub async fn prefer(&self, name: &str, value: &str) {
        let features = json!({"features": [{"name": name, "value": value}]});
        self.devtools("Emulation.setEmulatedMedia", features).await;
    }

    /// Asks the browser's own tools.
    pub async fn devtools(&self, method: &str, parameters: Value) {
        self.browser.cdp().send_raw(method, parameters).await.expect("tools of the browser");
    }

    /// What the console has said since it was asked last that is an error, requests that failed among it.
    pub async fn errors(&self) -> Vec<String> {
        let log = self.browser.browser_log().await.expect("a log");
        log.into_iter().filter(|entry| entry.level == "SEVERE").map(|entry| entry.message).collect()
    }

    /// Tells what the page was like when its test failed.
    pub async fn tell(&self) {
        let address = self.browser.current_url().await.map(|address| address.to_string());
        say(&format!("the page was at {}", address.unwrap_or_default()));
        for entry in self.browser.browser_log().await.unwrap_or_default() {
            say(&format!("  console {}: {}", entry.level, entry.message));
        }
        let picture = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("failed.png");
        if self.browser.screenshot(&picture).await.is_ok() {
            say(&format!("  it looked like {}", picture.display()));
        }
    }
}
