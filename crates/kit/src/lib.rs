//! What front ends share. A front end translates text in one language into a [`Model`](quotient_ir::Model) or into
//! located diagnostics, all of a file at once; it exports one [`FrontEnd`]. Front ends know nothing of engines and
//! symmetry. The kit knows no language; only [`LoadOptions`] has options that are for one of them.
//!
//! * `front_end` is what a language gives to the tool; `loading`, `limits` and `constants` say how a text is read.
//! * `tokens` and `cursor` are lexers and parsers of texts that look like C, `building` and `joined` what lowerings
//!   build, `similar` the names near an unknown one.
//! * [`conditions`] puts conditions and formulas given separately into a text: their roles are there, their form is in
//!   the `conditions.rs` of each language. [`watched`] does the same for expressions that are only evaluated.
//! * [`outline`] has the definitions of a text and their uses, which each language finds in its own tree ([why
//!   so](../../../docs/adr/0034-names-from-the-front-ends.md)); `rename` renames them.

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
