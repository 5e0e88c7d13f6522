//! Defects of the program itself: panics are caught, located and turned into values. A panic is never reported as a
//! verdict on a model.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::{Mutex, Once, PoisonError};

/// A defect of this program: something supposedly impossible happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Defect {
    /// The message.
    pub message: String,
    /// The location in the program's own source, as `file:line:column`, if [`record_panics`] was called.
    pub location: Option<String>,
}

impl Defect {
    /// A defect detected without a panic.
    pub fn noticed(message: impl Into<String>) -> Self {
        Self { message: message.into(), location: None }
    }
}

impl fmt::Display for Defect {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { message, location } = self;
        // Engine errors that are defects say so themselves.
        let message = message.strip_prefix("internal error: ").unwrap_or(message);
        match location {
            Some(location) => write!(formatter, "internal error: {message} (at {location})"),
            None => write!(formatter, "internal error: {message}"),
        }
    }
}

impl std::error::Error for Defect {}

/// The first panic that has not been taken yet.
static RECORDED: Mutex<Option<Defect>> = Mutex::new(None);

/// Records panics of this process with their locations from now on, instead of printing them. Intended for programs
/// that only call this library and report a [`Defect`] themselves; it replaces the panic hook of the process.
pub fn record_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| std::panic::set_hook(Box::new(record)));
}

fn record(panic: &PanicHookInfo<'_>) {
    let location = panic.location().map(ToString::to_string);
    let defect = Defect { message: text_of(panic.payload()), location };
    // Later panics, on threads that waited for the first one, carry no information.
    RECORDED.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(defect);
}

/// Takes the recorded panic.
fn take_recorded() -> Option<Defect> {
    RECORDED.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// Whether a panic was recorded and not yet taken.
pub fn is_recorded() -> bool {
    RECORDED.lock().unwrap_or_else(PoisonError::into_inner).is_some()
}

/// The recorded panic, for a thread that would wait forever because of it.
pub fn recorded() -> Defect {
    take_recorded().unwrap_or_else(|| Defect::noticed("a thread ended without a reason"))
}

/// Runs a closure, and turns a panic into a value.
///
/// # Errors
/// The panic, as a [`Defect`].
pub fn catch<T>(work: impl FnOnce() -> T) -> Result<T, Defect> {
    // Half-changed data is dropped with the panic and never seen again.
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
