//! Writing runs to files.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use quotient::{Model, RunOrigin, Subject, write_run};
use quotient_ir::Trace;

use crate::arguments::RunDestination;
use crate::failure::Failure;

/// Checks before a long search that the output directory exists.
pub(super) fn check_destination(destination: &RunDestination) -> Result<(), Failure> {
    let path = &destination.path;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::metadata(folder).map(|_| ()).map_err(|error| Failure::file("write", path, &error))
}

/// Writes a run that a command has found.
pub(super) fn write(
    destination: &RunDestination,
    model: &Model,
    command: &str,
    subject: Option<Subject>,
    trace: &Trace,
) -> Result<(), Failure> {
    let origin = RunOrigin::new(command, model, subject, trace);
    let path = &destination.path;
    let file = File::create(path).map_err(|error| Failure::file("write", path, &error))?;
    let mut writer = BufWriter::new(file);
    write_run(&mut writer, destination.format, model, &origin, trace)
        .and_then(|()| writer.flush())
        .map_err(|error| Failure::file("write", path, &error))
}
