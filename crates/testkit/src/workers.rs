//! Searches by several processes, which are threads of this one that only know each other by sockets.

use std::net::{Ipv4Addr, TcpListener};
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

/// Addresses on this machine with ports that were free a moment ago.
///
/// # Panics
/// If there are none.
pub fn free_hosts(processes: usize) -> Vec<String> {
    let bind = |_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("there is a port");
    // All at once, so that they differ.
    let listeners: Vec<TcpListener> = (0..processes).map(bind).collect();
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
