//! Finite permutation groups and the symmetries of coloured graphs.
//!
//! Owns permutations, orbits, stabiliser chains, block systems, the names of groups, coloured graphs and the search
//! for their automorphisms. Knows nothing about models, languages or states: points are plain numbers, and their
//! meaning is up to the caller.
//!
//! * `permutation`, and `action` of a group on points; `chain` has stabiliser chains, `orbits` and `transporter` what
//!   is read from them.
//! * `group`: a group by its generators, with its `order`, `membership` and `structure` (its name). `parts`,
//!   `reduction` and `lifting` find actions on fewer points that determine the rest; `arrangement` recognises groups
//!   that permute objects freely.
//! * `graph` and `automorphism`: coloured graphs, and generators of their automorphisms.
//! * `image`: canonical images of sets of points.
//! * `random` has seeded numbers, `watch` cancels what takes long.
//!
//! Everything here is deterministic and re-entrant: no global state, no clock, no unseeded randomness.

pub mod action;
pub mod arrangement;
pub mod automorphism;
pub mod chain;
pub mod graph;
pub mod group;
pub mod image;
mod lifting;
mod membership;
mod orbits;
mod order;
mod parts;
pub mod permutation;
pub mod random;
mod reduction;
pub mod structure;
mod transporter;
mod watch;

pub use action::{Action, BlockSystem};
pub use automorphism::{AutomorphismGroup, generators, generators_watched};
pub use chain::StabiliserChain;
pub use graph::{ColouredGraph, GraphBuilder, GraphError};
pub use group::{Factor, GroupMembers, PermutationGroup};
pub use image::{ImageScratch, ImageSearch};
pub use lifting::Lifting;
pub use orbits::OrbitPartition;
pub use permutation::{ParseError, Permutation, PermutationError, SparsePermutation};
pub use structure::Structure;
pub use transporter::transporter;
pub use watch::Watch;

/// A point that permutations act on: a vertex of a graph, or anything the caller numbers from zero.
pub type Point = u32;
