//! Messages between workers, by a dataflow of timely: states go to the worker that owns them, in letters at the time of
//! their level, and a probe tells when all of a level have arrived everywhere.
//!
//! Timely keeps whatever it is given until it is read. So a worker may have only so many bytes under way to each other
//! one, which tells it what it has read.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::{Duration, Instant};

use timely::WorkerConfig;
use timely::communication::Allocator;
use timely::communication::Push;
use timely::communication::allocator::zero_copy::allocator::TcpBuilder;
use timely::container::CapacityContainerBuilder;
use timely::dataflow::channels::Message;
use timely::dataflow::channels::pact::DistributorPact;
use timely::dataflow::channels::pushers::exchange::Distributor;
use timely::dataflow::operators::core::Input;
use timely::dataflow::operators::generic::Operator;
use timely::dataflow::operators::{Probe, probe};
use timely::worker::Worker;

use super::messages::{Letter, News, Note};

/// The size of a letter in bytes, roughly: large enough for the work on one to outweigh its way.
pub(super) const LETTER_BYTES: usize = 1 << 16;
/// The bytes that may be under way from one worker to all others, roughly, and to each.
const WINDOW_BYTES: u64 = 64 << 20;
const LARGEST_WINDOW: u64 = 8 << 20;
const SMALLEST_WINDOW: u64 = 4 * LETTER_BYTES as u64;

type Inlet<T> = timely::dataflow::operators::core::input::Handle<u64, CapacityContainerBuilder<Vec<T>>>;

/// The end of a worker where messages go out and come in.
pub(super) struct Post {
    worker: Worker,
    letters: Inlet<Letter>,
    notes: Inlet<Note>,
    letters_in: Rc<RefCell<VecDeque<Letter>>>,
    notes_in: Rc<RefCell<VecDeque<Note>>>,
    arrived: probe::Handle<u64>,
    /// The bytes under way to each worker.
    under_way: Vec<u64>,
    window: u64,
}

impl Post {
    pub(super) fn new(builder: TcpBuilder) -> Self {
        // Without a clock it never sleeps.
        let mut worker = Worker::new(WorkerConfig::default(), Allocator::Tcp(builder.build()), Some(Instant::now()));
        let letters_in = Rc::new(RefCell::new(VecDeque::new()));
        let notes_in = Rc::new(RefCell::new(VecDeque::new()));
        let (letter_box, note_box) = (Rc::clone(&letters_in), Rc::clone(&notes_in));
        let (letters, notes, arrived) = worker.dataflow::<u64, _, _>(|scope| {
            let (letters, sent) = scope.new_input::<Vec<Letter>>();
            let to = DistributorPact(|_| Direct(|letter: &Letter| letter.to));
            let taken = sent.unary::<CapacityContainerBuilder<Vec<()>>, _, _, _>(to, "letters", |_, _| {
                move |input, _| {
                    input.for_each(|_, data: &mut Vec<Letter>| letter_box.borrow_mut().extend(data.drain(..)))
                }
            });
            let (arrived, _) = taken.probe();
            let (notes, sent) = scope.new_input::<Vec<Note>>();
            let to = DistributorPact(|_| Direct(|note: &Note| note.to));
            sent.sink(to, "notes", move |(input, _)| {
                input.for_each(|_, data: &mut Vec<Note>| note_box.borrow_mut().extend(data.drain(..)));
            });
            (letters, notes, arrived)
        });
        let peers = worker.peers();
        let window = (WINDOW_BYTES / peers as u64).clamp(SMALLEST_WINDOW, LARGEST_WINDOW);
        let under_way = vec![0; peers];
        Self { worker, letters, notes, letters_in, notes_in, arrived, under_way, window }
    }

    /// The number of this worker.
    pub(super) fn index(&self) -> usize {
        self.worker.index()
    }

    /// The number of workers.
    pub(super) fn peers(&self) -> usize {
        self.worker.peers()
    }

    /// Sends states to another worker.
    pub(super) fn send(&mut self, letter: Letter) {
        self.under_way[letter.to as usize] += letter.bytes();
        self.letters.send(letter);
    }

    /// Whether more states may be sent to every other worker.
    pub(super) fn has_room(&self) -> bool {
        self.under_way.iter().all(|&bytes| bytes < self.window)
    }

    /// Another worker has read what this one sent.
    pub(super) fn note_read(&mut self, worker: usize, bytes: u64) {
        self.under_way[worker] -= bytes;
    }

    /// Tells another worker something.
    pub(super) fn tell(&mut self, to: usize, news: News) {
        let from = self.index() as u32;
        self.notes.send(Note { from, to: to as u32, news });
    }

    /// Tells all workers something, including this one.
    pub(super) fn tell_all(&mut self, news: &News) {
        for to in 0..self.peers() {
            self.tell(to, news.clone());
        }
    }

    /// Lets messages go out and come in, and waits for some if there is nothing to do.
    pub(super) fn exchange(&mut self, wait: Option<Duration>) {
        self.letters.flush();
        self.notes.flush();
        self.worker.step();
        if let Some(wait) = wait
            && self.letters_in.borrow().is_empty()
            && self.notes_in.borrow().is_empty()
        {
            self.worker.step_or_park(Some(wait));
            self.worker.step();
        }
    }

    /// A letter that has arrived.
    pub(super) fn letter(&mut self) -> Option<Letter> {
        self.letters_in.borrow_mut().pop_front()
    }

    /// Something that another worker tells.
    pub(super) fn note(&mut self) -> Option<Note> {
        self.notes_in.borrow_mut().pop_front()
    }

    /// This worker sends no more letters of a level.
    pub(super) fn close_level(&mut self, level: u64) {
        self.letters.advance_to(level + 1);
    }

    /// Whether all letters of a level have arrived, at every worker.
    pub(super) fn has_arrived(&self, level: u64) -> bool {
        !self.arrived.less_equal(&level)
    }
}

/// Hands each message to the worker that it is for, at once: timely's own exchange keeps messages until a time is over.
struct Direct<F>(F);

impl<M, F: Fn(&M) -> u32> Distributor<Vec<M>> for Direct<F> {
    fn partition<T: Clone, P: Push<Message<T, Vec<M>>>>(&mut self, messages: &mut Vec<M>, time: &T, to: &mut [P]) {
        for message in messages.drain(..) {
            let target = (self.0)(&message) as usize;
            Message::push_at(&mut vec![message], time.clone(), &mut to[target]);
        }
    }

    /// Nothing is kept.
    fn flush<T: Clone, P: Push<Message<T, Vec<M>>>>(&mut self, _: &T, _: &mut [P]) {}
}
