//! Tests of the program `quotient`, as one test program: each that is linked costs seconds. What measures memory and time, or kills
//! processes, has programs of its own beside this one.

mod adaptive;
mod b_properties;
mod build_servers;
mod check;
mod checkpoint;
mod csp;
mod detect;
mod dve;
mod engines;
mod every;
mod explore;
mod explorer;
mod failures;
mod family;
mod language_server;
mod partial_order;
mod peers;
mod printing;
mod promela;
mod readme;
mod runs;
mod schema;
mod simulate;
mod symmetry;
mod trails;
mod transcript;
mod transcripts;
mod usage;
mod verify;
mod watch;
mod ways_in;
