//! Options of searches on several machines, and what a process does differently when it is one of several.

use std::path::Path;
use std::time::Duration;

use quotient::Membership;

use crate::arguments::WorkerArguments;
use crate::failure::Failure;

/// The environment variable with the secret.
const SECRET: &str = "QUOTIENT_SECRET";
/// Shorter secrets could be guessed.
const LEAST_SECRET: usize = 16;
/// How long to wait for other processes.
const PATIENCE: Duration = Duration::from_secs(60);

/// The membership that the command line specifies.
pub(super) fn membership(arguments: &WorkerArguments) -> Result<Option<Membership>, Failure> {
    let WorkerArguments { workers, hosts, process, secret, listen, wait } = arguments;
    let Some(workers) = *workers else { return Ok(None) };
    let (hosts, process) = match (hosts, process) {
        // Nobody connects to the only process.
        (None, _) => (vec!["127.0.0.1:0".to_owned()], 0),
        (Some(_), None) => {
            return Err(Failure::Usage(
                "--hosts has the addresses of all processes: --process says which is this".into(),
            ));
        }
        (Some(path), Some(process)) => (read_hosts(path)?, *process),
    };
    let secret = match secret {
        Some(path) => Some(std::fs::read(path).map_err(|error| Failure::file("read", path, &error))?),
        None => std::env::var_os(SECRET).map(|text| text.to_string_lossy().into_owned().into_bytes()),
    };
    let secret = secret.map(|mut secret| {
        secret.truncate(secret.trim_ascii_end().len());
        secret
    });
    if secret.as_ref().is_some_and(|secret| secret.len() < LEAST_SECRET) {
        return Err(Failure::Usage(format!("the secret has fewer than {LEAST_SECRET} bytes, and could be guessed")));
    }
    let patience = wait.unwrap_or(PATIENCE);
    Ok(Some(Membership { hosts, process, workers, secret, listen: *listen, patience }))
}

fn read_hosts(path: &Path) -> Result<Vec<String>, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| Failure::file("read", path, &error))?;
    let mut hosts = Vec::new();
    for (number, line) in (1..).zip(text.lines().map(str::trim)) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let port = line.rsplit_once(':').and_then(|(host, port)| (!host.is_empty()).then(|| port.parse::<u16>()));
        if !matches!(port, Some(Ok(_))) {
            let (file, form) = (path.display(), "a line of this file is `host:port`, as in `10.0.0.1:7000`");
            return Err(Failure::Usage(format!("{file}:{number}: `{line}` is not the address of a process: {form}")));
        }
        hosts.push(line.to_owned());
    }
    if hosts.is_empty() {
        return Err(Failure::Usage(format!("there is no address in `{}`", path.display())));
    }
    Ok(hosts)
}

/// The command line that resumes this search from a checkpoint.
pub(crate) fn resume_command(checkpoint: &Path) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut is_replaced = false;
    for word in std::env::args() {
        match word.as_str() {
            "--resume" => is_replaced = true,
            _ if is_replaced => is_replaced = false,
            _ if word.starts_with("--resume=") => {}
            _ => words.push(quoted(&word)),
        }
    }
    words.extend(["--resume".to_owned(), quoted(&checkpoint.display().to_string())]);
    words.join(" ")
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "-_./=:,+@%".contains(character);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn words_are_quoted_for_a_shell() {
        for (word, expected) in [("a-b=3", "a-b=3"), ("x y", "'x y'"), ("", "''"), ("don't", r"'don'\''t'")] {
            assert_eq!(quoted(word), expected);
        }
    }
}
