//! What front ends share. A front end translates text in one language into a [`Model`](quotient_ir::Model) or into
//! located diagnostics, all of a file at once; it exports one [`FrontEnd`]. The kit knows no language, and front ends know
//! nothing of engines and symmetry.

pub mod conditions;
mod constants;
mod front_end;
mod joined;
mod limits;
mod loading;
pub mod outline;
mod rename;
pub mod watched;

pub use constants::NamedNumber;
pub use front_end::{FrontEnd, Numbers, Words};
pub use joined::joined;
pub use limits::{MAXIMUM_ERRORS, MAXIMUM_SOURCE_BYTES, first_errors, source_from_bytes};
pub use loading::{LabelChecks, LoadOptions, Loaded, UNSUPPORTED_PROPERTY, WellDefinedness};
pub use rename::RenameRefusal;
