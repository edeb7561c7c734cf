//! The studio: pages on which one sees an algorithm run, steps back, breaks it and understands it, and the server behind them.
//!
//! The pages are plain files of `assets/`, which are in the program; what they show comes from a JSON API under `/api/v1`
//! (docs/studio-api.md). Work is done as jobs by a few threads of their own, so that the server always answers; each job has
//! limits, can be cancelled, and cannot take the server with it.
//!
//! Only pages of this server are answered: a strict policy for their content, no request from another origin, and no host
//! name but those under which the studio was started.

mod answer;
mod assets;
mod desk;
mod guard;
mod gzip;
mod job;
mod limits;
pub mod page;
mod progress;
mod routes;
pub mod spec;
pub mod view;
mod work;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread;

use desk::JobQueue;
use doorway_catalog::Catalog;
use guard::KnownHosts;

/// A studio whose address is taken and that waits to be opened.
#[derive(Debug)]
pub struct Studio {
    listener: TcpListener,
    address: SocketAddr,
}

/// A word by which a studio is closed from elsewhere.
#[derive(Clone, Debug, Default)]
pub struct Closing(Arc<tokio::sync::Notify>);

impl Closing {
    /// Closes the studio.
    pub fn close(&self) {
        self.0.notify_one();
    }
}

impl Studio {
    /// The port that is taken unless another is wanted.
    pub const USUAL_PORT: u16 = 8990;

    /// Takes an address; port 0 is any free one.
    ///
    /// # Errors
    /// If it is taken already or is none of this machine.
    pub fn at(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address })
    }

    /// The address that it has.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves pages until somebody closes it or the process is told to stop.
    ///
    /// # Errors
    /// If the machine has no threads or sockets left.
    pub fn open(self, catalog: &Catalog, closing: &Closing) -> io::Result<()> {
        let desk = Arc::new(JobQueue::new(catalog));
        let guard = KnownHosts::new(self.address);
        thread::scope(|scope| {
            let _closed_at_the_end = desk::ClosedAtTheEnd(&desk);
            for _ in 0..limits::WORKERS {
                let desk = Arc::clone(&desk);
                scope.spawn(move || desk.work(catalog));
            }
            self.serve(routes::all(Arc::clone(&desk), guard), closing)
        })
    }

    fn serve(self, routes: axum::Router, closing: &Closing) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let closed = Arc::clone(&closing.0);
        let until = async move {
            tokio::select! {
                () = closed.notified() => {}
                _ = tokio::signal::ctrl_c() => {}
            }
        };
        let served = runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            // Streams of progress would keep a graceful end waiting: whoever closes the studio wants it closed.
            tokio::select! {
                served = async { axum::serve(listener, routes).await } => served,
                () = until => Ok(()),
            }
        });
        runtime.shutdown_background();
        served
    }
}
