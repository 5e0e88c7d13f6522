//! Which processes search together. The search itself, which a build can leave out, is the crate `quotient-distributed`.

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

/// Which process of a search this is, and where the others are.
#[derive(Clone, PartialEq, Eq)]
pub struct Membership {
    /// The addresses of all processes, `host:port`, as this one reaches them.
    pub hosts: Vec<String>,
    /// The index of this process.
    pub process: usize,
    /// The number of workers of each process.
    pub workers: u32,
    /// What only members know. Without it, all of them must be on this machine.
    pub secret: Option<Vec<u8>>,
    /// The address to listen on instead of loopback.
    pub listen: Option<IpAddr>,
    /// How long to wait for the others.
    pub patience: Duration,
}

impl fmt::Debug for Membership {
    /// Without the secret.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { hosts, process, workers, listen, patience, .. } = self;
        let mut fields = formatter.debug_struct("Membership");
        fields.field("hosts", hosts).field("process", process).field("workers", workers);
        fields.field("listen", listen).field("patience", patience).finish_non_exhaustive()
    }
}
