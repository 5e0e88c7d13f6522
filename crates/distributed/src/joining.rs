//! How the processes of a search find each other: each listens, and connects to those with smaller indices.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use quotient_ir::Interrupt;
use quotient_search::Membership;
use socket2::{SockRef, TcpKeepalive};

use super::handshake::{self, Mismatch, Parties};
use super::network::Network;

/// The shortest and the longest time between two looks for a process that is not there yet. Processes that were started
/// together should not wait for each other's sleep, and the others should not be busy.
const SHORTEST_NAP: Duration = Duration::from_millis(1);
const LONGEST_NAP: Duration = Duration::from_millis(50);
/// How long a single attempt to connect may take.
const ATTEMPT: Duration = Duration::from_secs(2);
/// How long to wait for others when one has gone. It may have met all of them and ended, since its search is refused, and an
/// introduction may still be on its way here.
const GRACE: Duration = Duration::from_secs(3);
/// The number of connections that may introduce themselves at the same time. More are closed at once.
const MOST_STRANGERS: usize = 64;
/// The time without any sign of life after which the system asks the other machine, and how often.
const KEEP_ALIVE: Duration = Duration::from_secs(30);
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(10);

/// Why a process cannot take part.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JoinError {
    /// There is no such process.
    #[error("there is no process {process}: the hosts are those of processes 0 to {}", .processes - 1)]
    Index {
        /// The index.
        process: usize,
        /// The number of processes.
        processes: usize,
    },
    /// There are no workers, or too many.
    #[error("a search has 1 to {MOST_WORKERS} workers, and these are {0}")]
    Size(u64),
    /// An address that cannot be used.
    #[error("`{host}` is not the address of a process: {reason}")]
    Address {
        /// The address.
        host: String,
        /// The reason.
        reason: String,
    },
    /// Another machine, without a secret.
    #[error(
        "process {process} is on another machine (`{host}`), and anybody could pretend to be it: \
         give all of them the same secret"
    )]
    NoSecret {
        /// The process.
        process: usize,
        /// Its address.
        host: String,
    },
    /// Other machines could not reach this one.
    #[error("others are to reach this process at `{0}`, and it listens on loopback: say where to listen")]
    Loopback(String),
    /// This process cannot listen.
    #[error("cannot listen on {address}: {reason}")]
    Listen {
        /// The address.
        address: String,
        /// The reason.
        reason: String,
    },
    /// Another process does not fit.
    #[error("process {process} at `{host}`: {reason}")]
    Other {
        /// Its index.
        process: usize,
        /// Its address.
        host: String,
        /// The reason.
        reason: String,
    },
    /// A process that connects searches something else.
    #[error("the process that connects from {address}: {reason}")]
    Unfit {
        /// Where it connects from.
        address: String,
        /// What differs.
        reason: String,
    },
    /// Processes are missing.
    #[error("{} did not come within {patience:?}{}", names(.processes), refusals(.refused))]
    Missing {
        /// Their indices.
        processes: Vec<usize>,
        /// How long they were waited for.
        patience: Duration,
        /// Connections that were refused, and why.
        refused: Vec<String>,
    },
    /// The wait was interrupted.
    #[error("the search was interrupted before all processes were there")]
    Interrupted,
}

/// The largest number of workers of a search.
pub(super) const MOST_WORKERS: u64 = 1 << 15;

fn names(processes: &[usize]) -> String {
    let list = processes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    if processes.len() == 1 { format!("process {list}") } else { format!("processes {list}") }
}

fn refusals(refused: &[String]) -> String {
    refused.iter().map(|refusal| format!("; {refusal}")).collect()
}

/// Connects this process with all others. `facts` says what it searches, by names and values: that must be the same
/// for all.
///
/// # Errors
/// If an address cannot be used, or a process is missing, or not one of this search.
pub fn join(
    membership: &Membership,
    facts: &[(String, String)],
    interrupt: &Interrupt,
) -> Result<Arc<Network>, JoinError> {
    let Membership { hosts, process, workers, secret, listen, patience } = membership;
    let (processes, index) = (hosts.len(), *process);
    let all = processes as u64 * u64::from(*workers);
    if !(1..=MOST_WORKERS).contains(&all) {
        return Err(JoinError::Size(all));
    }
    if index >= processes {
        return Err(JoinError::Index { process: index, processes });
    }
    let addresses = hosts.iter().map(|host| resolve(host)).collect::<Result<Vec<_>, _>>()?;
    let is_local = |addresses: &[SocketAddr]| addresses.iter().all(|address| address.ip().is_loopback());
    if secret.is_none()
        && let Some(other) = (0..processes).find(|&other| !is_local(&addresses[other]))
    {
        return Err(JoinError::NoSecret { process: other, host: hosts[other].clone() });
    }
    if let (None, Some(address)) = (secret, listen.filter(|address| !address.is_loopback())) {
        return Err(JoinError::NoSecret { process: index, host: address.to_string() });
    }
    if listen.is_none() && index + 1 < processes && !is_local(&addresses[index]) {
        return Err(JoinError::Loopback(hosts[index].clone()));
    }
    let secret = secret.as_deref().unwrap_or_default();
    let (deadline, bereft) = (Instant::now() + *patience, OnceLock::new());
    let joining = Joining { membership, addresses, secret, facts, interrupt, deadline, bereft };
    let sockets = joining.run()?;
    for socket in sockets.iter().flatten() {
        let keep_alive = TcpKeepalive::new().with_time(KEEP_ALIVE).with_interval(KEEP_ALIVE_INTERVAL);
        // A system without it notices later that a machine is gone.
        let _ = SockRef::from(socket).set_tcp_keepalive(&keep_alive);
    }
    Ok(Arc::new(Network::new(membership, sockets)))
}

/// Sleeps for a while that grows with the time that one has waited.
fn nap(begun: Instant) {
    thread::sleep((begun.elapsed() / 8).clamp(SHORTEST_NAP, LONGEST_NAP));
}

/// Whether the other side has closed a connection on which nothing is expected yet.
fn has_closed(socket: &TcpStream) -> bool {
    let peeked = socket.set_nonblocking(true).and_then(|()| socket.peek(&mut [0]));
    match (peeked, socket.set_nonblocking(false)) {
        (Ok(bytes), Ok(())) => bytes == 0,
        (Err(error), Ok(())) => error.kind() != io::ErrorKind::WouldBlock,
        (_, Err(_)) => true,
    }
}

fn resolve(host: &str) -> Result<Vec<SocketAddr>, JoinError> {
    let wrong = |reason: String| JoinError::Address { host: host.to_owned(), reason };
    let addresses: Vec<SocketAddr> = host.to_socket_addrs().map_err(|error| wrong(error.to_string()))?.collect();
    if addresses.is_empty() { Err(wrong("it has no address".to_owned())) } else { Ok(addresses) }
}

/// A process that waits for others.
struct Joining<'a> {
    membership: &'a Membership,
    addresses: Vec<Vec<SocketAddr>>,
    secret: &'a [u8],
    facts: &'a [(String, String)],
    interrupt: &'a Interrupt,
    deadline: Instant,
    /// When another process was seen to have gone.
    bereft: OnceLock<Instant>,
}

/// The result of an introduction: the process and its connection, or who was refused, and whether that ends the search.
type Introduced = Result<(usize, TcpStream), (String, Option<JoinError>)>;

impl Joining<'_> {
    fn run(&self) -> Result<Vec<Option<TcpStream>>, JoinError> {
        let Membership { hosts, process, .. } = self.membership;
        let (processes, index) = (hosts.len(), *process);
        let mut sockets: Vec<Option<TcpStream>> = (0..processes).map(|_| None).collect();
        let listener = if index + 1 < processes { Some(self.listen()?) } else { None };
        let is_over = AtomicBool::new(false);
        let (sender, receiver) = mpsc::channel();
        thread::scope(|scope| {
            if let Some(listener) = &listener {
                scope.spawn(|| self.accept_all(listener, &is_over, &sender));
            }
            let joined = self.gather(&mut sockets, &receiver);
            is_over.store(true, Ordering::Relaxed);
            joined
        })?;
        Ok(sockets)
    }

    fn listen(&self) -> Result<TcpListener, JoinError> {
        let Membership { process, listen, .. } = self.membership;
        let port = self.addresses[*process][0].port();
        let ip = listen.unwrap_or(match self.addresses[*process][0].ip() {
            ip if ip.is_loopback() => ip,
            _ => IpAddr::V4(Ipv4Addr::LOCALHOST),
        });
        let address = SocketAddr::new(ip, port);
        let listener = TcpListener::bind(address).and_then(|listener| {
            listener.set_nonblocking(true)?;
            Ok(listener)
        });
        listener.map_err(|error| JoinError::Listen { address: address.to_string(), reason: error.to_string() })
    }

    /// Connects to the processes before this one, and collects those after it.
    fn gather(&self, sockets: &mut [Option<TcpStream>], receiver: &Receiver<Introduced>) -> Result<(), JoinError> {
        let Membership { process, patience, .. } = self.membership;
        for other in 0..*process {
            sockets[other] = Some(self.connect(other, sockets)?);
        }
        let mut refused = Vec::new();
        loop {
            let missing: Vec<usize> =
                (0..sockets.len()).filter(|&other| other != *process && sockets[other].is_none()).collect();
            if missing.is_empty() {
                return Ok(());
            }
            self.check(sockets)?;
            if Instant::now() >= self.deadline {
                return Err(JoinError::Missing { processes: missing, patience: *patience, refused });
            }
            match receiver.recv_timeout(LONGEST_NAP) {
                Ok(Ok((other, socket))) => sockets[other] = Some(socket),
                Ok(Err((_, Some(error)))) => return Err(error),
                Ok(Err((refusal, None))) => refused.push(refusal),
                Err(_) => {}
            }
        }
    }

    /// Whether it is still worth waiting: the search cannot begin without a process that was there and has gone.
    fn check(&self, sockets: &[Option<TcpStream>]) -> Result<(), JoinError> {
        if self.interrupt.is_raised() {
            return Err(JoinError::Interrupted);
        }
        let Some(process) = sockets.iter().position(|socket| socket.as_ref().is_some_and(has_closed)) else {
            return Ok(());
        };
        if self.bereft.get_or_init(Instant::now).elapsed() < GRACE {
            return Ok(());
        }
        let (host, reason) = (self.membership.hosts[process].clone(), "it ended before all were there".to_owned());
        Err(JoinError::Other { process, host, reason })
    }

    /// Connects to a process, which may not be there yet. Others are connected.
    fn connect(&self, other: usize, sockets: &[Option<TcpStream>]) -> Result<TcpStream, JoinError> {
        let Membership { hosts, process, workers, patience, .. } = self.membership;
        let host = &hosts[other];
        let parties =
            Parties { from: *process as u32, to: other as u32, processes: hosts.len() as u32, workers: *workers };
        let (begun, mut last) = (Instant::now(), None);
        loop {
            self.check(sockets)?;
            if Instant::now() >= self.deadline {
                let refused = last.map(|reason: String| format!("`{host}`: {reason}")).into_iter().collect();
                return Err(JoinError::Missing { processes: vec![other], patience: *patience, refused });
            }
            match self.open(other) {
                Ok(mut stream) => {
                    match handshake::connect(&mut stream, parties, self.secret, self.facts) {
                        Ok(()) => return Ok(stream),
                        // Tunnels accept connections before there is anybody at their other end, and a process may end
                        // and be started again.
                        Err(reason @ (Mismatch::Closed | Mismatch::Connection(_))) => last = Some(reason.to_string()),
                        Err(reason) => {
                            let (host, reason) = (host.clone(), reason.to_string());
                            return Err(JoinError::Other { process: other, host, reason });
                        }
                    };
                }
                Err(error) => last = Some(error.to_string()),
            }
            nap(begun);
        }
    }

    fn open(&self, other: usize) -> io::Result<TcpStream> {
        let mut result = Err(io::ErrorKind::NotFound.into());
        for address in &self.addresses[other] {
            result = TcpStream::connect_timeout(address, ATTEMPT);
            if result.is_ok() {
                break;
            }
        }
        // Messages are small, and each waits for the one before.
        result.inspect(|stream| stream.set_nodelay(true).unwrap_or_default())
    }

    /// Lets those who connect introduce themselves, each on a thread of its own, so that nobody can make others wait.
    fn accept_all(&self, listener: &TcpListener, is_over: &AtomicBool, sender: &Sender<Introduced>) {
        let Membership { hosts, process, workers, .. } = self.membership;
        let own = (*process as u32, hosts.len() as u32, *workers);
        let present = Mutex::new(vec![false; hosts.len()]);
        let strangers = Mutex::new(0usize);
        let begun = Instant::now();
        thread::scope(|scope| {
            while !is_over.load(Ordering::Relaxed) {
                let Ok((mut stream, address)) = listener.accept() else {
                    nap(begun);
                    continue;
                };
                let count = || strangers.lock().unwrap_or_else(PoisonError::into_inner);
                if *count() >= MOST_STRANGERS || stream.set_nonblocking(false).is_err() {
                    continue;
                }
                let _ = stream.set_nodelay(true);
                *count() += 1;
                let (present, strangers) = (&present, &strangers);
                scope.spawn(move || {
                    let set = |other: u32, is_there: bool| {
                        let mut present = present.lock().unwrap_or_else(PoisonError::into_inner);
                        std::mem::replace(&mut present[other as usize], is_there)
                    };
                    let mut claimed = None;
                    let claim = |other: u32| {
                        let is_free = !set(other, true);
                        claimed = is_free.then_some(other);
                        is_free
                    };
                    let result = handshake::accept(&mut stream, own, self.secret, self.facts, claim);
                    if let (Err(_), Some(other)) = (&result, claimed) {
                        // It may be started again.
                        set(other, false);
                    }
                    *strangers.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
                    let refusal = |reason: &Mismatch| format!("a connection from {address} was refused: {reason}");
                    let introduced = match result {
                        Ok(other) => Ok((other as usize, stream)),
                        // It knows the secret: it is a member that cannot take part.
                        Err(reason @ Mismatch::Search(_)) => {
                            let unfit = JoinError::Unfit { address: address.to_string(), reason: reason.to_string() };
                            Err((refusal(&reason), Some(unfit)))
                        }
                        Err(reason) => Err((refusal(&reason), None)),
                    };
                    // Nobody is interested any more if all are there.
                    let _ = sender.send(introduced);
                });
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_connection_is_closed_when_the_other_side_is_gone() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("there is a port");
        let here = TcpStream::connect(listener.local_addr().expect("it is bound")).expect("somebody listens");
        let (mut there, _) = listener.accept().expect("somebody connects");
        assert!(!has_closed(&here));
        there.write_all(b"early").expect("it can be written");
        // What has arrived stays there.
        assert!(!has_closed(&there) && !has_closed(&here));
        let other = TcpStream::connect(listener.local_addr().expect("it is bound")).expect("somebody listens");
        drop(listener.accept().expect("somebody connects"));
        let deadline = Instant::now() + Duration::from_secs(10);
        while !has_closed(&other) {
            assert!(Instant::now() < deadline, "the end is not seen");
            thread::sleep(SHORTEST_NAP);
        }
    }
}
