//! Tests of the server of the page as one test program.

mod interface;
mod support;
