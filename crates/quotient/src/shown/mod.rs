//! States and runs as people see them, for every way in: values by their source names, what a step changes, who takes
//! part in it, and what a violation is.

mod chart;
mod lanes;
mod state;
mod violation;

pub use chart::{ChartMessage, ChartNote, SequenceChart, sequence_chart};
pub use lanes::{Lanes, lanes};
pub use state::{Change, Entry, StateShape, Varying};
pub use violation::{ViolationText, describe_violation, violated_subject};
