//! A small pool of workers for lists of jobs that each wait for other programs.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Engines walk through expressions of random models, which may be deep; programs give them large stacks, too.
const STACK_BYTES: usize = 64 << 20;

/// Applies `work` to each item on a number of threads; the results are in the order of the items.
///
/// # Panics
/// If `work` panics.
pub fn map_on_workers<Item: Sync, Output: Send>(
    workers: usize,
    items: &[Item],
    work: impl Fn(&Item) -> Output + Sync,
) -> Vec<Output> {
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<Output>>> = items.iter().map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        for _ in 0..workers.clamp(1, items.len().max(1)) {
            let work = || {
                while let Some(position) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&at| at < items.len()) {
                    let result = work(&items[position]);
                    *results[position].lock().expect("only one worker touches a result") = Some(result);
                }
            };
            let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work);
            thread.expect("there are threads");
        }
    });
    let filled = |result: Mutex<Option<Output>>| result.into_inner().expect("no worker panicked");
    results.into_iter().map(|result| filled(result).expect("every item was worked on")).collect()
}

#[cfg(test)]
mod tests {
    use super::map_on_workers;

    #[test]
    fn results_keep_the_order_of_the_items() {
        let items: Vec<u64> = (0..100).collect();
        let squares: Vec<u64> = items.iter().map(|item| item * item).collect();
        for workers in [0, 1, 2, 7, 200] {
            assert_eq!(map_on_workers(workers, &items, |item| item * item), squares);
        }
        assert!(map_on_workers(2, &[0u8; 0], |item| *item).is_empty());
    }
}
