//! What the daemons of this process write down.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// All that is logged from its beginning on, by whichever test.
#[derive(Clone, Default)]
pub struct Record(Arc<Mutex<Vec<u8>>>);

impl Record {
    /// Begins to keep what is logged. Only one test of a program can.
    pub fn begin() -> Self {
        let record = Self::default();
        let writer = record.clone();
        let log = tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone());
        log.try_init().expect("nobody else keeps a record");
        record
    }

    /// The first line that contains a text.
    pub fn line_with(&self, text: &str) -> String {
        let kept =
            String::from_utf8_lossy(&self.0.lock().unwrap_or_else(PoisonError::into_inner)).into_owned();
        let line = kept.lines().find(|line| line.contains(text));
        line.unwrap_or_else(|| panic!("nothing was written down about {text}")).to_owned()
    }
}

impl io::Write for Record {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
