//! The process of an account: a balance in its memory, reached at a Unix socket.

use std::io::{self, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use doorway_bank::{Account, Answer, BankOutcome, Order, Pass};
use doorway_client::clock;

use super::words::{AccountMsg, AccountReply, Assignment, Extract, ProcessMsg, hear, say, socket_of};

/// An account and what it has seen.
struct Books {
    account: Account,
    seen: Extract,
}

/// Serves until it is ended.
pub(super) fn serve(assignment: &Assignment, out: &mut impl Write) -> io::Result<()> {
    let listener = UnixListener::bind(socket_of(&assignment.folder, assignment.process))?;
    let account = Account::new(assignment.balance as i64, assignment.fencing);
    let books = Arc::new(Mutex::new(Books { account, seen: Extract::default() }));
    say(out, &ProcessMsg::Ready)?;
    for stream in listener.incoming() {
        let (stream, books) = (stream?, Arc::clone(&books));
        thread::spawn(move || serve_one(stream, &books));
    }
    Ok(())
}

/// A client that disconnects or sends nonsense is dropped.
fn serve_one(stream: UnixStream, books: &Mutex<Books>) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    while let Some(letter) = hear(&mut stream)? {
        let reply = {
            let mut books = books.lock().unwrap_or_else(PoisonError::into_inner);
            match letter {
                AccountMsg::Order(pass, order) => AccountReply::Answer(books.serve(pass, order)),
                AccountMsg::Close => AccountReply::Closed(books.extract()),
            }
        };
        say(stream.get_mut(), &reply)?;
    }
    Ok(())
}

impl Books {
    fn serve(&mut self, pass: Pass, order: Order) -> Answer {
        let served = self.account.serve(pass, order);
        self.seen.fenced += u64::from(served.is_stale);
        if let Some(balance) = served.overdrawn {
            self.seen.overdrawn += 1;
            if self.seen.overdrawn <= BankOutcome::MOST_VIOLATIONS {
                self.seen.first_overdrawn.push((clock::now(), balance));
            }
        }
        served.answer
    }

    fn extract(&self) -> Extract {
        Extract { balance: self.account.balance, ..self.seen.clone() }
    }
}
