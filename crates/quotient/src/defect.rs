//! Defects of the program itself: panics are caught, located and turned into values. A panic is never an
//! answer about a model.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::{Mutex, Once, PoisonError};

/// A defect of this program: something that cannot happen did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Defect {
    /// What went wrong.
    pub message: String,
    /// Where in the program's own text, as `file:line:column`, if [`record_panics`] was called.
    pub location: Option<String>,
}

impl Defect {
    /// One that was noticed without a panic.
    pub(crate) fn noticed(message: impl Into<String>) -> Self {
        Self { message: message.into(), location: None }
    }
}

impl fmt::Display for Defect {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { message, location } = self;
        // Errors of engines that are defects say so themselves.
        let message = message.strip_prefix("internal error: ").unwrap_or(message);
        match location {
            Some(location) => write!(formatter, "internal error: {message} (at {location})"),
            None => write!(formatter, "internal error: {message}"),
        }
    }
}

impl std::error::Error for Defect {}

/// The first panic that nobody has asked about yet.
static RECORDED: Mutex<Option<Defect>> = Mutex::new(None);

/// From now on panics of this process are recorded with their places and not printed. For programs that do
/// nothing but call this library, and report a [`Defect`] themselves; it replaces the hook of the process.
pub fn record_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| std::panic::set_hook(Box::new(record)));
}

fn record(panic: &PanicHookInfo<'_>) {
    let location = panic.location().map(ToString::to_string);
    let defect = Defect { message: text_of(panic.payload()), location };
    // Panics that follow from the first one, on threads that waited for it, tell nothing.
    RECORDED.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(defect);
}

/// The panic that was recorded and not taken yet.
fn take_recorded() -> Option<Defect> {
    RECORDED.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// Whether a panic was recorded that nobody has taken yet.
pub(crate) fn is_recorded() -> bool {
    RECORDED.lock().unwrap_or_else(PoisonError::into_inner).is_some()
}

/// The recorded panic, for a thread that is never going to end because of it.
pub(crate) fn recorded() -> Defect {
    take_recorded().unwrap_or_else(|| Defect::noticed("a thread ended without a reason"))
}

/// Runs something, and turns a panic into a value.
///
/// # Errors
/// The panic, as a [`Defect`].
pub fn catch<T>(work: impl FnOnce() -> T) -> Result<T, Defect> {
    // Whatever was changed halfway is dropped with the panic: nobody sees it again.
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let message = text_of(&*payload);
        take_recorded().unwrap_or(Defect { message, location: None })
    })
}

fn text_of(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a panic without a message").to_owned()
}

#[cfg(test)]
mod tests {
    use super::{Defect, catch};

    #[test]
    fn panics_become_defects() {
        assert_eq!(catch(|| 3), Ok(3));
        let defect = catch(|| -> i32 { panic!("number {}", 7) }).expect_err("it panics");
        assert_eq!(defect.message, "number 7");
        assert_eq!(Defect::noticed("internal error: odd").to_string(), "internal error: odd");
    }
}
