//! The connections of a process to the others, and what becomes of them.
//!
//! Timely's threads end with a panic if a connection ends. So the streams that they are given never fail: they take note
//! of the loss, which workers look at, and the threads wait until the workers have ended.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use quotient_search::Membership;
use timely::communication::Hooks;
use timely::communication::allocator::ProcessBuilder;
use timely::communication::allocator::zero_copy::allocator::TcpBuilder;
use timely::communication::allocator::zero_copy::initialize::{CommsGuard, initialize_networking_from_sockets};
use timely::communication::allocator::zero_copy::stream::Stream;

/// How long a process that is done waits until everything it sent has left, and the others are done.
const PARTING: Duration = Duration::from_secs(10);
/// How long a process that has lost another one stays, so that the others see first who it was.
const MOURNING: Duration = Duration::from_millis(300);

/// The connections of a process to all others. A search uses them up.
pub struct Network {
    hosts: Vec<String>,
    process: usize,
    workers: usize,
    sockets: Mutex<Option<Vec<Option<TcpStream>>>>,
    links: Arc<Links>,
    /// Waits for the threads of timely when it is dropped.
    threads: Mutex<Option<CommsGuard>>,
}

impl std::fmt::Debug for Network {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { hosts, process, workers, .. } = self;
        formatter
            .debug_struct("Network")
            .field("hosts", hosts)
            .field("process", process)
            .field("workers", workers)
            .finish()
    }
}

impl PartialEq for Network {
    /// Each is only equal to itself.
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for Network {}

impl Network {
    pub(super) fn new(membership: &Membership, sockets: Vec<Option<TcpStream>>) -> Self {
        Self {
            hosts: membership.hosts.clone(),
            process: membership.process,
            workers: membership.workers as usize,
            links: Arc::new(Links::new(sockets.len())),
            sockets: Mutex::new(Some(sockets)),
            threads: Mutex::new(None),
        }
    }

    /// The number of processes.
    pub fn processes(&self) -> usize {
        self.hosts.len()
    }

    /// The index of this process.
    pub fn process(&self) -> usize {
        self.process
    }

    /// The number of workers of each process.
    pub fn workers(&self) -> usize {
        self.workers
    }

    /// The bytes that this process has sent to others.
    pub fn bytes_sent(&self) -> u64 {
        self.links.sent.load(Ordering::Relaxed)
    }

    /// The address of a process.
    pub(super) fn host(&self, process: usize) -> &str {
        &self.hosts[process]
    }

    pub(super) fn links(&self) -> &Arc<Links> {
        &self.links
    }

    /// Hands the connections to timely. None if a search has used them.
    pub(super) fn open(&self) -> Option<io::Result<Vec<TcpBuilder>>> {
        let sockets = self.sockets.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        Some(self.hand_over(sockets))
    }

    fn hand_over(&self, sockets: Vec<Option<TcpStream>>) -> io::Result<Vec<TcpBuilder>> {
        let mut wires = Vec::with_capacity(sockets.len());
        for (process, socket) in sockets.into_iter().enumerate() {
            let wire = socket.map(|stream| Wire::new(stream, process, Arc::clone(&self.links)));
            if let Some(wire) = &wire {
                self.links.keep(process, wire.stream.try_clone()?);
            }
            wires.push(wire);
        }
        let hooks = Hooks::default();
        let local = ProcessBuilder::new_typed_vector(self.workers, hooks.refill.clone(), None);
        let (builders, threads) = initialize_networking_from_sockets(local, wires, self.process, self.workers, hooks)?;
        *self.threads.lock().unwrap_or_else(PoisonError::into_inner) = Some(threads);
        Ok(builders)
    }

    /// The workers of this process have ended. If they are done, all they sent reaches the others; if not, all
    /// connections are closed, after a while if there are others.
    pub(super) fn close(&self, is_done: bool) {
        let have_parted = self.links.close(is_done);
        let threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner).take();
        if have_parted {
            drop(threads);
        } else {
            // Threads that are still at work, or end with an unwinding that is not a failure.
            std::mem::forget(threads);
        }
    }
}

/// The state of all connections.
pub(super) struct Links {
    state: Mutex<LinkState>,
    changed: Condvar,
    sent: AtomicU64,
}

#[derive(Default)]
struct LinkState {
    /// A handle to each connection.
    sockets: Vec<Option<TcpStream>>,
    /// Whether nothing else comes from a process, and whether everything has gone to it.
    has_ended: Vec<bool>,
    has_left: Vec<bool>,
    /// The processes whose connections have ended, in this order.
    ended: Vec<usize>,
    /// Whether a connection has ended without notice.
    is_one_lost: bool,
    /// Whether the workers of this process have ended.
    is_over: bool,
}

impl Links {
    fn new(processes: usize) -> Self {
        let state = LinkState {
            sockets: (0..processes).map(|_| None).collect(),
            has_ended: vec![false; processes],
            has_left: vec![false; processes],
            ..LinkState::default()
        };
        Self { state: Mutex::new(state), changed: Condvar::new(), sent: AtomicU64::new(0) }
    }

    fn state(&self) -> MutexGuard<'_, LinkState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, process: usize, socket: TcpStream) {
        self.state().sockets[process] = Some(socket);
    }

    /// The processes whose connections have ended, in this order. All that they sent before has arrived.
    pub(super) fn ended(&self) -> Vec<usize> {
        self.state().ended.clone()
    }

    /// Nothing else comes from a process.
    fn note_end(&self, process: usize) {
        let mut state = self.state();
        if !std::mem::replace(&mut state.has_ended[process], true) {
            state.ended.push(process);
        }
        self.changed.notify_all();
    }

    /// The same, if it did not say so. Returns when the workers of this one have ended.
    fn end(&self, process: usize) {
        // Before the end is known, so that nobody takes it for a leave.
        self.state().is_one_lost = true;
        self.note_end(process);
        let mut state = self.state();
        while !state.is_over {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn leave(&self, process: usize) {
        self.state().has_left[process] = true;
        self.changed.notify_all();
    }

    /// Closes all connections, see [`Network::close`]. Returns whether all processes have taken leave of each other.
    fn close(&self, is_done: bool) -> bool {
        let deadline = Instant::now() + if is_done { PARTING } else { MOURNING };
        let mut state = self.state();
        let is_waiting = |state: &LinkState| {
            let all = |flags: &[bool]| state.sockets.iter().zip(flags).all(|(socket, &flag)| flag || socket.is_none());
            is_done && !all(&state.has_left) || !all(&state.has_ended)
        };
        while is_waiting(&state) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        let have_parted = is_done && !is_waiting(&state) && !state.is_one_lost;
        for socket in state.sockets.iter_mut().filter_map(Option::take) {
            // It may be closed already.
            let _ = socket.shutdown(Shutdown::Both);
        }
        state.is_over = true;
        self.changed.notify_all();
        have_parted
    }
}

/// A connection as timely sees it: it never fails.
struct Wire {
    stream: TcpStream,
    process: usize,
    links: Arc<Links>,
    frames: Frames,
    /// Whether the other side has said that nothing else comes.
    has_ended: bool,
}

impl Wire {
    fn new(stream: TcpStream, process: usize, links: Arc<Links>) -> Self {
        Self { stream, process, links, frames: Frames::default(), has_ended: false }
    }
}

impl Drop for Wire {
    /// Timely drops it when all that came before the end was passed on.
    fn drop(&mut self) {
        if self.has_ended {
            self.links.note_end(self.process);
        }
    }
}

/// Where the messages of timely begin and end: a header of six numbers, of which the fifth is the length of what
/// follows, and is zero at the end of a stream.
#[derive(Default)]
struct Frames {
    header: Vec<u8>,
    /// The bytes of the present message that are still to come.
    rest: usize,
    is_over: bool,
}

impl Frames {
    const HEADER: usize = 48;

    fn pass(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let known = self.rest.min(bytes.len());
            self.rest -= known;
            bytes = &bytes[known..];
            let taken = bytes.len().min(Self::HEADER - self.header.len());
            self.header.extend_from_slice(&bytes[..taken]);
            bytes = &bytes[taken..];
            if self.header.len() == Self::HEADER {
                let length = self.header[32..40].try_into().expect("eight bytes");
                self.rest = u64::from_be_bytes(length) as usize;
                self.is_over = self.rest == 0;
                self.header.clear();
            }
        }
    }
}

impl Read for Wire {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.stream.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(bytes) if bytes > 0 => {
                    self.frames.pass(&buffer[..bytes]);
                    return Ok(bytes);
                }
                // Timely has not passed on yet what came together with the end.
                _ if self.frames.is_over => {
                    self.has_ended = true;
                    return Ok(0);
                }
                _ => {
                    self.links.end(self.process);
                    // Ends the thread without calling the panic hook.
                    resume_unwind(Box::new("the connection has ended"));
                }
            }
        }
    }
}

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.stream.write(bytes) {
            Ok(written) => {
                self.links.sent.fetch_add(written as u64, Ordering::Relaxed);
                Ok(written)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            // The thread that reads notices the end.
            Err(_) => Ok(bytes.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Stream for Wire {
    fn try_clone(&self) -> io::Result<Self> {
        Ok(Self::new(self.stream.try_clone()?, self.process, Arc::clone(&self.links)))
    }

    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        self.stream.set_nonblocking(nonblocking)
    }

    fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        // Only the sending thread does this, at its end.
        let _ = self.stream.shutdown(how);
        self.links.leave(self.process);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Frames;

    fn message(length: u64) -> Vec<u8> {
        let header = [3, 0, 1, 2, length, 7].into_iter().flat_map(u64::to_be_bytes);
        header.chain((0..length).map(|_| 0)).collect()
    }

    #[test]
    fn the_end_of_a_stream_is_seen_however_it_is_cut() {
        let bytes = [message(5), message(100), message(48), message(0)].concat();
        for size in [1, 7, 47, 48, 49, bytes.len()] {
            let mut frames = Frames::default();
            for (position, part) in bytes.chunks(size).enumerate() {
                frames.pass(part);
                assert_eq!(frames.is_over, (position + 1) * size >= bytes.len());
            }
        }
    }
}
