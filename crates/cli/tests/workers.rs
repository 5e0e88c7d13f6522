//! Searches by several processes: what the first one prints, processes that are killed, and others that do not belong
//! to the search. `QUOTIENT_WORKER_KILLS` is how often each process is killed. A program of its own, because
//! processes are killed at measured times, which other tests would shift.

use std::io::Write;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use quotient_testkit::workers::free_hosts;

/// Enough levels and states for processes to be killed in the midst of them.
const MODEL: &str = "
    const N: 7; type id: 1..N;
    var c: array[id] of 0..3;
    startstate begin for i: id do c[i] := 0; end; end;
    ruleset i: id do rule \"up\" c[i] < 3 ==> begin c[i] := c[i] + 1; end; end;
    rule \"again\" forall i: id do c[i] = 3 end ==> begin for i: id do c[i] := 0; end; end;
";

/// The same with something wrong after some steps.
const BROKEN: &str = "invariant \"few\" !(c[1] = 3 & c[2] = 3 & c[3] = 2);";

/// How long processes wait for each other.
const USUAL: &str = "30s";

/// How long a process may take to notice that another one is gone.
const NOTICE: Duration = Duration::from_secs(2);

/// A search by some processes on this machine.
struct Search {
    folder: tempfile::TempDir,
    processes: usize,
    /// How long each waits for the others.
    wait: &'static str,
}

impl Search {
    fn new(text: &str, processes: usize, wait: &'static str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("model.m"), text).expect("the model can be written");
        let search = Self { folder, processes, wait };
        search.choose_ports();
        search
    }

    /// Ports that were free a moment ago. Others than before: those may still be closing.
    fn choose_ports(&self) {
        std::fs::write(self.hosts(), free_hosts(self.processes).join("\n")).expect("the hosts can be written");
    }

    fn hosts(&self) -> PathBuf {
        self.folder.path().join("hosts")
    }

    fn model(&self) -> PathBuf {
        self.folder.path().join("model.m")
    }

    fn command(&self, process: usize, more: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_quotient"));
        command.arg("check").arg(self.model()).args(["--symmetry", "off", "--format", "json", "--workers", "1"]);
        command.arg("--hosts").arg(self.hosts()).args(["--process", &process.to_string(), "--wait", self.wait]);
        command.args(more).env_remove("QUOTIENT_SECRET");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn start(&self, more: &[&str]) -> Vec<Child> {
        (0..self.processes).map(|process| self.command(process, more).spawn().expect("it starts")).collect()
    }

    /// What all processes say.
    fn run(&self, more: &[&str]) -> Vec<Output> {
        self.start(more).into_iter().map(end).collect()
    }

    /// What one process alone says.
    fn alone(&self) -> serde_json::Value {
        let mut command = Command::new(env!("CARGO_BIN_EXE_quotient"));
        command.arg("check").arg(self.model()).args([
            "--symmetry",
            "off",
            "--partial-order",
            "off",
            "--format",
            "json",
        ]);
        json(&command.output().expect("it runs"))
    }
}

/// Waits for a process, which must not hang.
fn end(mut child: Child) -> Output {
    if !ends_within(&mut child, Duration::from_secs(120)) {
        let _ = child.kill();
        panic!("a process hangs");
    }
    child.wait_with_output().expect("its output can be read")
}

/// Whether a process ends before a time is over.
fn ends_within(child: &mut Child, time: Duration) -> bool {
    let deadline = Instant::now() + time;
    while child.try_wait().expect("it can be waited for").is_none() {
        if Instant::now() > deadline {
            return false;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    true
}

fn json(output: &Output) -> serde_json::Value {
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text).unwrap_or_else(|_| panic!("no JSON: {text}{}", said(output)))
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn figures(report: &serde_json::Value) -> Vec<String> {
    ["verdict", "states", "transitions", "depth"].map(|key| report[key].to_string()).to_vec()
}

#[test]
fn the_first_process_reports() {
    let search = Search::new(MODEL, 2, USUAL);
    let outputs = search.run(&[]);
    assert_eq!(figures(&json(&outputs[0])), figures(&search.alone()));
    assert!(said(&outputs[0]).starts_with("note: 2 processes of 1 worker; this one sent "), "{}", said(&outputs[0]));
    assert_eq!((outputs[1].stdout.len(), said(&outputs[1]).as_str()), (0, ""));
    assert!(outputs.iter().all(|output| output.status.code() == Some(0)));
    let search = Search::new(&format!("{MODEL}{BROKEN}"), 2, USUAL);
    let outputs = search.run(&[]);
    assert!(outputs.iter().all(|output| output.status.code() == Some(1)));
    let (several, alone) = (json(&outputs[0]), search.alone());
    let length = |report: &serde_json::Value| {
        let properties = report["properties"].as_array().expect("a list");
        let few = properties.iter().find(|property| property["name"] == "few").expect("the invariant");
        few["trace"].as_array().map(Vec::len)
    };
    assert!(length(&alone).is_some_and(|length| length > 0), "{alone}");
    assert_eq!(length(&several), length(&alone));
}

/// How a search went on of which a process was to be killed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sequel {
    /// It was over before.
    Finished,
    /// The process was killed before the other one knew it, and was started again.
    Joined,
    /// Nothing was saved yet.
    Repeated,
    /// It was resumed from a level.
    Resumed,
}

/// Kills a process at a moment, and searches the rest.
fn kill_and_resume(search: &Search, victim: usize, after: Duration, expected: &[String]) -> Sequel {
    let folder = search.folder.path().join(format!("saved-{victim}-{}", after.as_micros()));
    let folder = folder.to_str().expect("a plain path");
    let saving = ["--checkpoint", folder, "--checkpoint-every", "0s"];
    let mut children = search.start(&saving);
    std::thread::sleep(after);
    let is_killed = children[victim].try_wait().expect("it can be waited for").is_none();
    let _ = children[victim].kill();
    if !is_killed {
        children.into_iter().for_each(|child| drop(end(child)));
        return Sequel::Finished;
    }
    let other = 1 - victim;
    if !ends_within(&mut children[other], NOTICE) {
        // It was killed before they knew each other: the other one waits until it is started again (or is slow to
        // notice, and then nobody answers).
        let again = search.command(victim, &saving).spawn().expect("it starts");
        end(std::mem::replace(&mut children[victim], again));
    }
    let outputs: Vec<Output> = children.into_iter().map(end).collect();
    if outputs.iter().all(|output| output.status.success()) {
        assert_eq!(figures(&json(&outputs[0])), expected, "{}", said(&outputs[0]));
        return Sequel::Joined;
    }
    for (process, output) in outputs.iter().enumerate().filter(|&(process, _)| process != victim) {
        match output.status.code() {
            // It was done before, or after: all that it needed was there.
            Some(0) => {}
            Some(4) => {
                let said = said(output);
                let lost = format!("error: the connection to process {victim} ");
                assert!(said.starts_with(&lost) || said.contains("--resume"), "{said}");
                assert!(
                    said.contains(&format!("--process {process} ")) && said.contains(&format!("--resume {folder}"))
                );
            }
            other => panic!("{other:?}: {}", said(output)),
        }
    }
    search.choose_ports();
    let has_saved =
        (0..search.processes).all(|worker| Path::new(folder).join(format!("worker-{worker}.levels")).exists());
    let resuming: Vec<&str> = saving.into_iter().chain(["--resume", folder]).collect();
    let outputs = search.run(if has_saved { &resuming } else { &saving });
    // Nothing was saved if all that exists are the files of an empty list of levels.
    if has_saved && said(&outputs[0]).contains("there is no level that all workers have saved") {
        return Sequel::Repeated;
    }
    assert_eq!(figures(&json(&outputs[0])), expected, "{}", said(&outputs[0]));
    if has_saved { Sequel::Resumed } else { Sequel::Repeated }
}

#[test]
fn a_killed_search_is_resumed() {
    let search = Search::new(MODEL, 2, USUAL);
    let expected = figures(&search.alone());
    let kills: u32 = std::env::var("QUOTIENT_WORKER_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let mut sequels = Vec::new();
    for victim in 0..search.processes {
        // Moments are spread over the time of a search that saves as often as those that are killed.
        let unharmed = search.folder.path().join(format!("unharmed-{victim}"));
        search.choose_ports();
        let begun = Instant::now();
        search.run(&["--checkpoint", unharmed.to_str().expect("a plain path"), "--checkpoint-every", "0s"]);
        let mut whole = begun.elapsed();
        let mut killed = 0;
        while killed < kills {
            search.choose_ports();
            match kill_and_resume(&search, victim, whole * (killed + 1) / (kills + 1), &expected) {
                // The machine has less to do now than it had then.
                Sequel::Finished => whole = whole * 19 / 20,
                sequel => {
                    killed += 1;
                    sequels.push(sequel);
                }
            }
        }
    }
    let count = |sequel: Sequel| sequels.iter().filter(|&&other| other == sequel).count();
    #[expect(clippy::print_stderr, reason = "what is recorded of a long run")]
    {
        eprintln!(
            "{} kills: {} resumed from a level, {} before a level was saved, {} before the processes knew each other",
            sequels.len(),
            count(Sequel::Resumed),
            count(Sequel::Repeated),
            count(Sequel::Joined),
        );
    }
}

/// Stops a process for a while, as if its machine were slow.
#[cfg(unix)]
#[test]
fn all_wait_for_a_slow_worker() {
    let search = Search::new(MODEL, 3, USUAL);
    let signal = |child: &Child, name: &str| {
        let sent = Command::new("kill").args([name, &child.id().to_string()]).status();
        assert!(sent.expect("there is a command to send signals").success());
    };
    let children = search.start(&[]);
    for _ in 0..4 {
        std::thread::sleep(Duration::from_millis(60));
        signal(&children[1], "-STOP");
        std::thread::sleep(Duration::from_millis(400));
        signal(&children[1], "-CONT");
    }
    let outputs: Vec<Output> = children.into_iter().map(end).collect();
    assert_eq!(figures(&json(&outputs[0])), figures(&search.alone()), "{}", said(&outputs[0]));
}

/// What a worker saves does not fit on its disk.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_ends_the_search_clearly() {
    let search = Search::new(MODEL, 2, USUAL);
    let expected = figures(&search.alone());
    let folder = search.folder.path().join("saved");
    let path = folder.to_str().expect("a plain path");
    std::fs::create_dir(&folder).expect("it can be made");
    let states = folder.join("worker-1.states");
    std::os::unix::fs::symlink("/dev/full", &states).expect("there can be links");
    let saving = ["--checkpoint", path, "--checkpoint-every", "0s"];
    let outputs = search.run(&saving);
    assert!(outputs.iter().all(|output| output.status.code() == Some(4)), "{}", said(&outputs[1]));
    let report = json(&outputs[0]);
    assert_eq!(report["verdict"], "inconclusive");
    let why = report["stop_message"].as_str().expect("a reason");
    assert!(why.starts_with("the checkpoint could not be written: "), "{why}");
    // With room, the search succeeds.
    std::fs::remove_file(&states).expect("it can be removed");
    search.choose_ports();
    let outputs = search.run(&saving);
    assert_eq!(figures(&json(&outputs[0])), expected, "{}", said(&outputs[0]));
}

#[test]
fn others_are_kept_out() {
    let search = Search::new(MODEL, 2, "4s");
    let folder = search.folder.path();
    let secret = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).expect("the secret can be written");
        path.to_str().expect("a plain path").to_owned()
    };
    let (right, wrong) = (secret("right", "correct horse battery\n"), secret("wrong", "incorrect horse battery\n"));
    let (first, second) = (["--secret", right.as_str()], ["--secret", wrong.as_str()]);
    let mut commands = [search.command(0, &first), search.command(1, &second)];
    let outputs = commands.each_mut().map(|command| command.spawn().expect("it starts")).map(end);
    assert!(outputs.iter().all(|output| output.status.code() == Some(2)));
    assert!(said(&outputs[1]).contains("it does not have the same secret"), "{}", said(&outputs[1]));
    let refused = said(&outputs[0]);
    assert!(refused.contains("process 1 did not come within 4s; a connection from 127.0.0.1:"), "{refused}");
    assert!(refused.contains("was refused: it does not have the same secret"), "{refused}");
    let short = end(search.command(0, &["--secret", &secret("short", "abc")]).spawn().expect("it starts"));
    assert!(said(&short).contains("fewer than 16 bytes"), "{}", said(&short));
}

#[test]
fn a_stranger_on_the_port_is_refused_and_the_search_goes_on() {
    let search = Search::new(MODEL, 2, USUAL);
    let first = search.command(0, &[]).spawn().expect("it starts");
    let hosts = std::fs::read_to_string(search.hosts()).expect("the hosts");
    let address = hosts.lines().next().expect("the first").to_owned();
    let deadline = Instant::now() + Duration::from_secs(30);
    let mut strangers = Vec::new();
    while strangers.len() < 2 && Instant::now() < deadline {
        match TcpStream::connect(&address) {
            // One talks, the other is silent.
            Ok(mut stranger) => {
                if strangers.is_empty() {
                    stranger.write_all(&[b'x'; 100]).expect("it can be written");
                }
                strangers.push(stranger);
            }
            Err(_) => std::thread::sleep(Duration::from_millis(20)),
        }
    }
    let second = search.command(1, &[]).spawn().expect("it starts");
    let outputs = [first, second].map(end);
    assert_eq!(figures(&json(&outputs[0])), figures(&search.alone()), "{}", said(&outputs[0]));
}

#[test]
fn processes_that_search_something_else_are_refused() {
    let search = Search::new(MODEL, 2, USUAL);
    let other = Search::new(&format!("{MODEL}{BROKEN}"), 2, USUAL);
    std::fs::copy(search.hosts(), other.hosts()).expect("the same hosts");
    let outputs = [search.command(0, &[]), other.command(1, &[])].map(|mut it| it.spawn().expect("it starts")).map(end);
    for output in &outputs {
        assert_eq!(output.status.code(), Some(2), "{}", said(output));
        assert!(said(output).contains("the text of the model differs"), "{}", said(output));
    }
    search.choose_ports();
    let deadlock: [&[&str]; 2] = [&[], &["--deadlock", "off"]];
    let start = |process: usize| search.command(process, deadlock[process]).spawn().expect("it starts");
    for output in [0, 1].map(start).map(end) {
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(said(&output).contains("--deadlock is "), "{}", said(&output));
    }
}

#[test]
fn a_process_that_does_not_come_is_named() {
    let search = Search::new(MODEL, 3, "1s");
    for process in 0..3 {
        let output = end(search.command(process, &[]).spawn().expect("it starts"));
        assert_eq!(output.status.code(), Some(2));
        let missing =
            if process == 0 { "processes 1, 2 did not come within 1s" } else { "process 0 did not come within 1s" };
        assert!(said(&output).contains(missing), "{}", said(&output));
    }
    let output = end(search.command(3, &[]).spawn().expect("it starts"));
    assert!(said(&output).contains("there is no process 3"), "{}", said(&output));
    std::fs::write(search.hosts(), "192.0.2.1:7000\n192.0.2.2:7000\n").expect("the hosts can be written");
    let output = end(search.command(0, &[]).spawn().expect("it starts"));
    assert!(said(&output).contains("give all of them the same secret"), "{}", said(&output));
}

#[test]
fn wrong_lines_of_hosts_are_shown() {
    let search = Search::new(MODEL, 1, USUAL);
    for line in ["nowhere", ":7000", "127.0.0.1:70000"] {
        std::fs::write(search.hosts(), format!("# all of them\n127.0.0.1:7000\n{line}\n")).expect("it can be written");
        let output = search.command(0, &[]).output().expect("it runs");
        assert_eq!(output.status.code(), Some(2));
        assert!(said(&output).contains(&format!("hosts:3: `{line}` is not the address")), "{}", said(&output));
    }
}
