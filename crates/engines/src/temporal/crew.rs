//! Threads that expand nodes. They do what takes longest: successors, conditions, representatives, hashes. The search
//! itself, with the store and the components, stays on its own thread, so its verdict does not depend on the threads.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};

use crate::explicit::batch::Batch;
use crate::explicit::store::StateNumber;
use crate::report::StopReason;
use crate::seam::SearchSpace;
use crate::temporal::product::{Product, ProductScratch, Trouble};

/// The number of nodes that a thread expands at a time.
const NODES: usize = 64;
/// The number of jobs that wait for each thread.
const WAITING: usize = 3;

/// Nodes to expand.
#[derive(Debug)]
struct Job {
    nodes: Vec<StateNumber>,
    words: Vec<u64>,
    batch: Batch,
}

/// Nodes that were expanded.
#[derive(Debug)]
pub(crate) struct Expanded {
    /// Their successors, with hashes.
    pub(crate) batch: Batch,
    /// The number of nodes, and of rule instances fired.
    pub(crate) nodes: u64,
    pub(crate) fired: u64,
    pub(crate) trouble: Result<(), Trouble>,
}

/// The way to the threads.
pub(crate) struct Crew {
    jobs: Sender<Job>,
    results: Receiver<Expanded>,
    threads: usize,
    waiting: usize,
    words: usize,
    /// Batches that can be used again.
    spare: Vec<Batch>,
}

impl Crew {
    /// Runs something with a number of threads that expand nodes of a product.
    pub(crate) fn with<S: SearchSpace, R>(
        product: &Product<'_, S>,
        threads: usize,
        run: impl FnOnce(&mut Crew) -> R,
    ) -> R {
        let (jobs, waiting) = channel::<Job>();
        let waiting = Mutex::new(waiting);
        let (done, results) = channel::<Expanded>();
        std::thread::scope(|scope| {
            for _ in 0..threads {
                let (waiting, done) = (&waiting, done.clone());
                scope.spawn(move || work(product, waiting, &done));
            }
            drop(done);
            let words = product.code.words;
            let mut crew = Crew { jobs, results, threads, waiting: 0, words, spare: Vec::new() };
            run(&mut crew)
            // The threads end when nobody can send them jobs any more.
        })
    }

    /// Whether the threads have enough to do.
    pub(crate) fn is_busy(&self) -> bool {
        self.waiting >= WAITING * self.threads
    }

    /// Whether nothing is to be received.
    pub(crate) fn is_idle(&self) -> bool {
        self.waiting == 0
    }

    /// Sends some of the nodes to the threads. `state` appends the words of a node.
    pub(crate) fn send(
        &mut self,
        nodes: &mut impl Iterator<Item = StateNumber>,
        mut state: impl FnMut(StateNumber, &mut Vec<u64>),
    ) {
        let nodes: Vec<StateNumber> = nodes.take(NODES).collect();
        let mut words = Vec::with_capacity(nodes.len() * self.words);
        nodes.iter().for_each(|&node| state(node, &mut words));
        let batch = self.spare.pop().unwrap_or_else(|| Batch::new(self.words));
        self.waiting += 1;
        self.jobs.send(Job { nodes, words, batch }).expect("the threads live as long as the crew");
    }

    /// Waits for nodes that were expanded.
    pub(crate) fn receive(&mut self) -> Expanded {
        self.waiting -= 1;
        self.results.recv().expect("a thread that panics ends the search")
    }

    /// Takes a batch back.
    pub(crate) fn recycle(&mut self, batch: Batch) {
        self.spare.push(batch);
    }
}

fn work<S: SearchSpace>(product: &Product<'_, S>, jobs: &Mutex<Receiver<Job>>, done: &Sender<Expanded>) {
    let mut scratch = product.scratch();
    loop {
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Job { nodes, words, mut batch }) = job else { return };
        let before = scratch.fired;
        let expanded = catch_unwind(AssertUnwindSafe(|| expand_all(product, &mut scratch, &nodes, &words, &mut batch)));
        let (trouble, panic) = match expanded {
            Ok(trouble) => (trouble, None),
            // The search must not wait for this thread.
            Err(panic) => (Err(Trouble::Stop(StopReason::Interrupted)), Some(panic)),
        };
        let fired = scratch.fired - before;
        let sent = done.send(Expanded { batch, nodes: nodes.len() as u64, fired, trouble });
        match panic {
            Some(panic) => resume_unwind(panic),
            None if sent.is_err() => return,
            None => {}
        }
    }
}

fn expand_all<S: SearchSpace>(
    product: &Product<'_, S>,
    scratch: &mut ProductScratch<S>,
    nodes: &[StateNumber],
    words: &[u64],
    batch: &mut Batch,
) -> Result<(), Trouble> {
    batch.clear();
    for (&node, state) in nodes.iter().zip(words.chunks_exact(product.code.words)) {
        product.expand(scratch, state, &mut batch.successors)?;
        batch.close(node);
    }
    batch.hash_all();
    Ok(())
}
