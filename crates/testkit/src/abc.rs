//! ABC (Brayton, Mishchenko 2010), whose `pdr` decides circuits in the AIGER format.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::prerequisites::{Prerequisite, require_or_skip};
use crate::rumur::find_program;

/// The installed ABC.
#[derive(Clone, Debug)]
pub struct Abc {
    program: PathBuf,
}

impl Abc {
    /// The installed ABC; `None` if the test should be skipped.
    ///
    /// # Panics
    /// See [`require_or_skip`].
    pub fn find_or_skip(purpose: &str) -> Option<Self> {
        let program = find_program("berkeley-abc");
        let program = program.ok_or("ABC is not installed (Debian: apt-get install berkeley-abc)");
        Some(Self { program: require_or_skip(Prerequisite::Peer, purpose, program)? })
    }

    /// Whether the output of a circuit stays zero; `None` if that is not decided in time.
    ///
    /// # Errors
    /// If ABC cannot be run, or says something else.
    pub fn holds(&self, circuit: &[u8], seconds: u64) -> Result<Option<bool>, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let path = folder.path().join("model.aig");
        fs::write(&path, circuit).map_err(|error| error.to_string())?;
        let commands = format!("read_aiger {}; pdr -T {seconds}", path.display());
        let done = Command::new(&self.program).current_dir(folder.path()).args(["-q", &commands]).output();
        let done = done.map_err(|error| error.to_string())?;
        let said = String::from_utf8_lossy(&done.stdout);
        match () {
            () if said.contains("Property proved.") => Ok(Some(true)),
            () if said.contains("was asserted in frame") => Ok(Some(false)),
            () if said.contains("Property UNDECIDED") || said.contains("Reached timeout") => Ok(None),
            () => Err(format!("ABC said {said}")),
        }
    }
}
