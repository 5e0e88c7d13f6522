//! What front ends share. A front end translates text in one language into a [`Model`](quotient_ir::Model) or into
//! located diagnostics, all of a file at once; it exports one [`FrontEnd`]. Front ends know nothing of engines and
//! symmetry. The kit knows no language; only [`LoadOptions`] has options that are for one of them.

mod building;
pub mod conditions;
mod constants;
pub mod cursor;
mod front_end;
mod joined;
mod limits;
mod loading;
pub mod outline;
mod rename;
mod similar;
pub mod tokens;
pub mod watched;

pub use building::Building;
pub use constants::NamedNumber;
pub use front_end::{FrontEnd, Numbers, Words};
pub use joined::joined;
pub use limits::{MAXIMUM_ERRORS, MAXIMUM_SOURCE_BYTES, first_errors, source_from_bytes};
pub use loading::{LabelChecks, LoadOptions, Loaded, UNSUPPORTED_PROPERTY, WellDefinedness};
pub use rename::RenameRefusal;
pub use similar::similar;
