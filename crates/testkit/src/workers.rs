//! Searches by several processes, which are threads of this one that only know each other by sockets.

use std::net::{Ipv4Addr, TcpListener};
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use quotient::{Error, Membership, Model, Options, Plan, Report};

/// The processes of a search, and the workers of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Crew {
    /// The number of processes.
    pub processes: usize,
    /// The number of workers of each.
    pub workers: u32,
}

/// The ports that hosts may have: below those from which the system takes some for outgoing connections, which could come in
/// between.
const PORTS: Range<u32> = 12_000..32_000;

/// Addresses on this machine with ports that were free a moment ago, and that nobody else here is given soon.
///
/// # Panics
/// If there are none.
pub fn free_hosts(processes: usize) -> Vec<String> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    // Programs that run at the same time begin at different ports.
    let first = std::process::id().wrapping_mul(509);
    let count = PORTS.end - PORTS.start;
    let mut tries = 0..count;
    let mut port = || {
        tries.next().expect("there is a port");
        (PORTS.start + first.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)) % count) as u16
    };
    let mut free = || loop {
        if let Ok(listener) = TcpListener::bind((Ipv4Addr::LOCALHOST, port())) {
            return listener;
        }
    };
    let listeners: Vec<TcpListener> = (0..processes).map(|_| free()).collect();
    listeners.iter().map(|listener| listener.local_addr().expect("it is bound").to_string()).collect()
}

/// The memberships of all processes of a crew.
pub fn memberships(crew: Crew) -> Vec<Membership> {
    let hosts = free_hosts(crew.processes);
    let membership = |process| Membership {
        hosts: hosts.clone(),
        process,
        workers: crew.workers,
        secret: None,
        listen: None,
        patience: Duration::from_secs(60),
    };
    (0..crew.processes).map(membership).collect()
}

/// Has each process of a crew do its part, on a thread of its own. Returns what each of them says.
///
/// # Panics
/// If one of them does.
pub fn together<T: Send>(crew: Crew, work: impl Fn(Membership) -> T + Sync) -> Vec<T> {
    let work = &work;
    thread::scope(|scope| {
        let start = |membership| scope.spawn(move || work(membership));
        let processes: Vec<_> = memberships(crew).into_iter().map(start).collect();
        processes.into_iter().map(|process| process.join().expect("it does not panic")).collect()
    })
}

/// Checks a model by all processes of a crew. Returns what each of them says.
///
/// # Panics
/// If one of them does.
pub fn check_by_workers(model: &Model, options: &Options, crew: Crew) -> Vec<Result<Report, Error>> {
    together(crew, |membership| {
        let options = Options { workers: Some(membership), ..options.clone() };
        Plan::new(model, &options).and_then(|plan| plan.run())
    })
}
