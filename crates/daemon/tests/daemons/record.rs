//! What the daemons of this process write down.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

/// All that is logged, by whichever test.
#[derive(Clone, Default)]
pub struct Record(Arc<Mutex<Vec<u8>>>);

impl Record {
    /// The one record of this program, which is kept from the first call on.
    pub fn kept() -> Self {
        static KEPT: OnceLock<Record> = OnceLock::new();
        let begin = || {
            let record = Self::default();
            let writer = record.clone();
            let log = tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone());
            log.try_init().expect("nobody else keeps a record");
            record
        };
        KEPT.get_or_init(begin).clone()
    }

    /// A thread that logs a line with this text waits until the returned value is dropped.
    pub fn hold(&self, text: &'static str) -> Held {
        lock(held()).push(text);
        Held(text)
    }

    /// The first line that contains a text.
    pub fn line_with(&self, text: &str) -> String {
        self.lines_with(text)
            .into_iter()
            .next()
            .unwrap_or_else(|| panic!("nothing was written down about {text}"))
    }

    /// The lines that contain a text.
    pub fn lines_with(&self, text: &str) -> Vec<String> {
        let kept =
            String::from_utf8_lossy(&self.0.lock().unwrap_or_else(PoisonError::into_inner)).into_owned();
        kept.lines().filter(|line| line.contains(text)).map(str::to_owned).collect()
    }
}

/// Holds up threads that log a text.
pub struct Held(&'static str);

impl Drop for Held {
    fn drop(&mut self) {
        lock(held()).retain(|text| *text != self.0);
    }
}

fn held() -> &'static Mutex<Vec<&'static str>> {
    static HELD: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());
    &HELD
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl io::Write for Record {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let line = String::from_utf8_lossy(bytes);
        while lock(held()).iter().any(|text| line.contains(text)) {
            thread::sleep(Duration::from_millis(1));
        }
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
