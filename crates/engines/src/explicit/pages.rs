//! Large pages for large memory: a table that is read at random places otherwise waits for the addresses of its pages, and
//! memory that is new takes a call of the system for each small page.
#![allow(unsafe_code)]

#[cfg(target_os = "linux")]
use rustix::mm::{Advice, madvise};

/// The size of a large page on common systems. Smaller memory has none.
#[cfg(target_os = "linux")]
const LARGE_PAGE: usize = 1 << 21;

/// Asks the system for large pages for memory that was allocated and not used yet. Nothing else changes, also if there
/// are none.
#[cfg(target_os = "linux")]
pub(crate) fn prefer_large<T>(memory: &mut [T]) {
    let range = memory.as_mut_ptr_range();
    let (first, end) = (range.start.addr().next_multiple_of(LARGE_PAGE), range.end.addr() & !(LARGE_PAGE - 1));
    if first < end {
        let address = range.start.cast::<std::ffi::c_void>().with_addr(first);
        // SAFETY: the pages from `first` to `end` are a part of the slice, which this function may write to, and this
        // advice changes neither what they contain nor whether they can be accessed.
        let _ = unsafe { madvise(address, end - first, Advice::LinuxHugepage) };
    }
}

/// Does nothing: other systems decide on their own.
#[cfg(not(target_os = "linux"))]
pub(crate) fn prefer_large<T>(_: &mut [T]) {}

#[cfg(test)]
mod tests {
    use super::prefer_large;

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
