//! What the system is told about memory.
//!
//! Large memory should have large pages: a table that is read at random places otherwise waits for the addresses of its
//! pages, and memory that is new takes a call of the system for each small page. Memory that is freed should go back to
//! the system: allocators keep blocks of moderate size for themselves.
#![allow(unsafe_code)]

use bytemuck::Pod;
#[cfg(target_os = "linux")]
use rustix::mm::{Advice, madvise};

/// The size of a large page on common systems. Smaller memory has none.
#[cfg(target_os = "linux")]
const LARGE_PAGE: usize = 1 << 21;

/// A multiple of the size of a small page.
#[cfg(target_os = "linux")]
const SMALL_PAGE: usize = if cfg!(target_arch = "x86_64") { 1 << 12 } else { 1 << 16 };

/// Asks the system for large pages for memory that was allocated and not used yet. Nothing else changes, also if there
/// are none.
#[cfg(target_os = "linux")]
pub fn prefer_large<T>(memory: &mut [T]) {
    if let Some((address, length)) = pages(memory, LARGE_PAGE) {
        // SAFETY: the pages are a part of the slice, which this function may write to, and this advice changes neither what
        // they contain nor whether they can be accessed.
        let _ = unsafe { madvise(address, length, Advice::LinuxHugepage) };
    }
}

/// Frees numbers, and lets the system have their pages at once.
#[cfg(target_os = "linux")]
pub fn give_back<T: Pod>(mut memory: Vec<T>) {
    if let Some((address, length)) = pages(memory.spare_capacity_mut(), SMALL_PAGE) {
        // SAFETY: as below, and nothing is in this part of the memory.
        let _ = unsafe { madvise(address, length, Advice::LinuxDontNeed) };
    }
    if let Some((address, length)) = pages(&mut memory, SMALL_PAGE) {
        // SAFETY: the pages are a part of the slice, which this function owns. They can be accessed as before, and may
        // contain other numbers now: all bits are allowed in them, and nobody reads them.
        let _ = unsafe { madvise(address, length, Advice::LinuxDontNeed) };
    }
}

/// The whole pages of a slice, and their length.
#[cfg(target_os = "linux")]
fn pages<T>(memory: &mut [T], size: usize) -> Option<(*mut std::ffi::c_void, usize)> {
    let range = memory.as_mut_ptr_range();
    let (first, end) = (range.start.addr().next_multiple_of(size), range.end.addr() & !(size - 1));
    (first < end).then(|| (range.start.cast::<std::ffi::c_void>().with_addr(first), end - first))
}

/// Does nothing: other systems decide on their own.
#[cfg(not(target_os = "linux"))]
pub(crate) fn prefer_large<T>(_: &mut [T]) {}

/// Frees numbers.
#[cfg(not(target_os = "linux"))]
pub(crate) fn give_back<T: Pod>(_: Vec<T>) {}

#[cfg(test)]
mod tests {
    use super::{give_back, prefer_large};

    #[test]
    fn memory_that_was_freed_is_used_again() {
        for length in [0, 1, 700, 1 << 16, 3 << 18] {
            let kept: Vec<u64> = vec![5; length];
            for round in 0..4 {
                let mut memory: Vec<u64> = Vec::with_capacity(2 * length);
                memory.resize(length, round);
                give_back(memory);
                assert!(kept.iter().all(|&word| word == 5));
            }
        }
    }

    #[test]
    fn memory_is_what_it_was() {
        for length in [0, 1, 1 << 10, 3 << 18, 5 << 18] {
            let mut memory: Vec<u64> = vec![7; length];
            prefer_large(&mut memory);
            assert!(memory.iter().all(|&word| word == 7));
            memory.fill(9);
            assert!(memory.iter().all(|&word| word == 9));
        }
    }
}
