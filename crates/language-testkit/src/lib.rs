//! What tests of front ends share. It knows no language and no engine, so that a front end is compiled and tested
//! without the rest of the tool. Development only.

pub mod bad_models;
pub mod claims;
pub mod guide;
pub mod prerequisites;
pub mod random;
pub mod robustness;
pub mod switches;

use std::path::{Path, PathBuf};

/// The root folder of the workspace.
pub fn workspace() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
    root.expect("this crate lies two folders below the workspace").to_owned()
}
