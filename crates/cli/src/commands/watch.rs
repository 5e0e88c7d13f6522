//! `quotient watch`: checks a model again whenever its files change.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use quotient::Control;

use crate::arguments::CheckArguments;
use crate::commands::check::{Hooks, check, options};
use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::terminal::complain;

/// How often files are looked at.
const INTERVAL: Duration = Duration::from_millis(200);

/// When a file was changed, and how long it is; nothing if it is not there.
type Stamp = Option<(SystemTime, u64)>;

/// Runs the command until it is interrupted.
pub(crate) fn run(arguments: &CheckArguments, invocation: &Invocation) -> Result<ExitCode, Failure> {
    if arguments.workers.workers.is_some() {
        return Err(Failure::Usage("`watch` is for a search on this machine: --workers is for `check`".into()));
    }
    if arguments.page.serve || arguments.model.path.as_os_str() == "-" {
        return Err(Failure::Usage("`watch` follows files: it does not use --serve or standard input".into()));
    }
    let options = options(arguments)?;
    let mut files = vec![arguments.model.path.clone()];
    loop {
        let (known, seen) = (files.clone(), stamps(&files));
        let control = Control::start(&options.limits);
        let (is_stale, is_done) = (AtomicBool::new(false), AtomicBool::new(false));
        let result = std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_done.load(Ordering::Relaxed) {
                    if stamps(&known) != seen {
                        is_stale.store(true, Ordering::Relaxed);
                        control.cancel();
                        return;
                    }
                    std::thread::sleep(INTERVAL);
                }
            });
            let mut loaded = |model: &quotient::Model| {
                files = model.files().iter().map(|file| PathBuf::from(&file.name)).collect();
            };
            let hooks = Hooks { loaded: &mut loaded, is_stale: &|| is_stale.load(Ordering::Relaxed) };
            let result = check(arguments, invocation, &options, &control, hooks);
            is_done.store(true, Ordering::Relaxed);
            result
        });
        match result {
            _ if is_stale.load(Ordering::Relaxed) => {}
            Err(failure @ Failure::Usage(_)) => return Err(failure),
            Err(failure) => {
                let about = ("check", arguments.output.format, Some(arguments.model.path.as_path()));
                crate::report(&failure, about, invocation);
            }
            Ok(_) => {}
        }
        // Files that were not known before are looked at from now on.
        let now = stamps(&files);
        while stamps(&known) == seen && stamps(&files) == now {
            std::thread::sleep(INTERVAL);
        }
        complain(&format!("\n`{}` has changed\n", arguments.model.path.display()));
    }
}

fn stamps(files: &[PathBuf]) -> Vec<Stamp> {
    let stamp = |path: &PathBuf| {
        let metadata = fs::metadata(path).ok()?;
        Some((metadata.modified().ok()?, metadata.len()))
    };
    files.iter().map(stamp).collect()
}
