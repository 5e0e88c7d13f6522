//! Calls to compiled code, with `unsafe`.
//!
//! Soundness: the functions come from `translation`, which gives each of them one of the two signatures below and lets
//! it access memory only through its arguments and through tables that live as long as the code. An expansion reads
//! `words` words of the state and writes fewer than `extent` words of the buffer; a check reads `words` words. Both
//! lengths are compared with the slices here, before each call, so no caller can get them wrong. The code is dropped
//! together with the pointers to it, which never leave this module.
#![allow(unsafe_code)]

use std::ops::Range;
use std::sync::Mutex;

use cranelift_jit::JITModule;
use cranelift_module::FuncId;

/// Reads a state, writes records to a buffer, and returns the number of bytes written, or a negative number if the
/// evaluator has to expand the state. The last argument has a bit for each instance to try. If the evaluator has to run
/// one of them, the lowest bit of the result is set, and the number of the instance and the bits of those after it
/// follow the records in the buffer.
type Expansion = unsafe extern "C" fn(*const u64, *mut u64, u64) -> i64;
/// Reads a state and returns a nonzero number if it passes.
type Check = unsafe extern "C" fn(*const u64) -> i64;

/// The outcome of expansions.
pub(super) struct Expanded {
    /// The number of words written.
    pub(super) written: usize,
    /// Why some of them are not done, if so.
    pub(super) halt: Option<Halt>,
}

/// Why an expansion is incomplete.
pub(super) enum Halt {
    /// The evaluator has to run one of the instances; `left` has the bits of those after it.
    Paused { expansion: usize, instance: usize, left: u64 },
    /// The evaluator has to run all of it.
    Refused { expansion: usize },
}

/// Tables that the code reads besides its arguments. It contains their addresses.
pub(super) enum Table {
    /// The bits at which the elements of an array start.
    Bits(#[allow(dead_code)] Box<[u16]>),
    /// The contents of array elements that have no bits.
    Values(#[allow(dead_code)] Box<[i64]>),
    /// Which instances are enabled.
    Masks(#[allow(dead_code)] Box<[u64]>),
}

/// Finished machine code.
pub(super) struct MachineCode {
    /// Taken when the code is dropped. The lock is needed because a module must not be shared between threads; its
    /// functions may be.
    module: Mutex<Option<JITModule>>,
    _tables: Vec<Table>,
    words: usize,
    expansions: Vec<(Expansion, usize)>,
    checks: Vec<Check>,
}

impl MachineCode {
    /// Takes over a module whose functions are all defined. An expansion comes with the number of words that it may
    /// write.
    ///
    /// `None` if the system does not allow executing memory.
    pub(super) fn new(
        mut module: JITModule,
        tables: Vec<Table>,
        words: usize,
        expansions: &[(FuncId, usize)],
        checks: &[FuncId],
    ) -> Option<Self> {
        module.finalize_definitions().ok()?;
        let expansions = expansions
            .iter()
            .map(|&(id, extent)| {
                let code = module.get_finalized_function(id);
                // SAFETY: the function was declared with this signature; see the head of the file.
                (unsafe { std::mem::transmute::<*const u8, Expansion>(code) }, extent)
            })
            .collect();
        let checks = checks
            .iter()
            .map(|&id| {
                let code = module.get_finalized_function(id);
                // SAFETY: as above.
                unsafe { std::mem::transmute::<*const u8, Check>(code) }
            })
            .collect();
        Some(Self { module: Mutex::new(Some(module)), _tables: tables, words, expansions, checks })
    }

    /// Runs expansions one after the other: the first for the instances whose bits are set, the others for all.
    #[inline]
    pub(super) fn expand(&self, expansions: Range<usize>, state: &[u64], buffer: &mut [u64], left: u64) -> Expanded {
        assert!(state.len() == self.words);
        let (mut written, mut left) = (0, left);
        for (expansion, &(function, extent)) in expansions.clone().zip(&self.expansions[expansions]) {
            let buffer = &mut buffer[written..];
            assert!(buffer.len() >= extent);
            // SAFETY: both slices are as long as the function needs; see the head of the file.
            let bytes = unsafe { function(state.as_ptr(), buffer.as_mut_ptr(), left) };
            let Ok(bytes) = usize::try_from(bytes) else {
                return Expanded { written, halt: Some(Halt::Refused { expansion }) };
            };
            let words = bytes / 8;
            written += words;
            if bytes & 1 != 0 {
                let (instance, left) = (buffer[words] as usize, buffer[words + 1]);
                return Expanded { written, halt: Some(Halt::Paused { expansion, instance, left }) };
            }
            left = u64::MAX;
        }
        Expanded { written, halt: None }
    }

    /// Runs a check; false may also mean that it could not be decided.
    #[inline]
    pub(super) fn check(&self, check: usize, state: &[u64]) -> bool {
        assert!(state.len() == self.words);
        // SAFETY: the slice is as long as the function needs; see the head of the file.
        unsafe { self.checks[check](state.as_ptr()) != 0 }
    }
}

impl Drop for MachineCode {
    fn drop(&mut self) {
        if let Some(module) = self.module.get_mut().ok().and_then(Option::take) {
            // SAFETY: the functions are not running and cannot be called later: their pointers are private to this
            // value, which is being dropped.
            unsafe { module.free_memory() }
        }
    }
}

impl std::fmt::Debug for MachineCode {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "MachineCode ({} expansions, {} checks)", self.expansions.len(), self.checks.len())
    }
}
