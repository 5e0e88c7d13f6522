//! Tests of the public library, as one test program. Those of limits have one of their own beside it.

mod expressions;
mod models;
mod refusals;
mod statistics;
