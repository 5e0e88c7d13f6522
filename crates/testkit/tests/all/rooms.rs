//! The rooms have walls: which crate may use which, which foreign crates are known in one room only, how large a crate
//! may be, that its modules form no cycles, and what a user of the library can leave out. Reads `cargo metadata`,
//! `cargo tree` and the text of the crates.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// For each crate, the crates of this workspace that it may use. Dependencies for tests do not count.
const EDGES: &[(&str, &[&str])] = &[
    // Models and mathematics.
    ("temporal", &[]),
    ("groups", &[]),
    ("covering", &[]),
    ("ir", &["covering", "temporal"]),
    ("functions", &["ir"]),
    ("symmetry", &["functions", "groups", "ir"]),
    ("representatives", &["groups", "ir", "symmetry"]),
    // Languages.
    ("kit", &["ir", "temporal"]),
    ("murphi", &["ir", "kit", "temporal"]),
    ("b", &["ir", "kit", "temporal"]),
    ("promela", &["ir", "kit", "temporal"]),
    ("dve", &["ir", "kit", "temporal"]),
    ("csp", &["ir", "kit", "temporal"]),
    ("pnml", &["covering", "ir", "kit", "temporal"]),
    ("language-testkit", &["ir", "kit", "temporal"]),
    // What engines share.
    ("search", &["functions", "groups", "ir"]),
    ("systems", &["groups", "ir", "representatives", "search", "symmetry"]),
    ("relations", &["functions", "ir", "search"]),
    ("states", &["ir", "representatives", "search", "symmetry", "systems"]),
    ("graphs", &["groups", "ir", "search", "symmetry", "temporal"]),
    ("booleans", &["functions", "ir"]),
    // Engines. None knows another.
    ("explicit", &["ir", "search", "states", "symmetry", "systems"]),
    ("distributed", &["ir", "representatives", "search", "states", "symmetry", "systems"]),
    (
        "runs",
        &[
            "functions",
            "graphs",
            "groups",
            "ir",
            "relations",
            "representatives",
            "search",
            "states",
            "symmetry",
            "systems",
            "temporal",
        ],
    ),
    ("sets", &["booleans", "functions", "graphs", "groups", "ir", "search", "symmetry", "systems", "temporal"]),
    ("proofs", &["booleans", "functions", "groups", "ir", "search", "symmetry"]),
    ("counters", &["graphs", "ir", "search", "symmetry", "temporal"]),
    ("every", &["ir", "search", "symmetry", "systems"]),
    ("nets", &["covering", "ir", "search"]),
    // The facade, and the ways in.
    (
        "quotient",
        &[
            "b",
            "counters",
            "csp",
            "distributed",
            "dve",
            "every",
            "explicit",
            "functions",
            "graphs",
            "groups",
            "ir",
            "kit",
            "murphi",
            "nets",
            "pnml",
            "promela",
            "proofs",
            "relations",
            "representatives",
            "runs",
            "search",
            "sets",
            "symmetry",
            "systems",
        ],
    ),
    ("explorer", &["quotient"]),
    ("language-server", &["quotient"]),
    ("cli", &["explorer", "ir", "language-server", "quotient"]),
    (
        "testkit",
        &[
            "counters",
            "distributed",
            "explicit",
            "functions",
            "graphs",
            "groups",
            "ir",
            "language-testkit",
            "proofs",
            "quotient",
            "relations",
            "representatives",
            "runs",
            "search",
            "sets",
            "symmetry",
            "systems",
            "temporal",
        ],
    ),
];

/// Foreign crates that one room knows: by the beginning of their names.
const ONLY_IN: &[(&str, &str)] = &[
    ("cranelift", "systems"),
    ("timely", "distributed"),
    ("socket2", "distributed"),
    ("oxidd", "sets"),
    ("rustsat", "proofs"),
];

/// The most lines of a crate.
const LINES: usize = 20_000;

/// A crate of the workspace.
struct Room {
    name: String,
    /// The names of the crates it depends on.
    dependencies: BTreeSet<String>,
    /// The folder of its text.
    source: PathBuf,
}

/// The crates of the workspace, by their names without the prefix. The binary and the library with the plain name are
/// `cli` and `quotient`.
fn rooms() -> Vec<Room> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("cargo metadata is JSON");
    let packages = metadata["packages"].as_array().expect("there are packages");
    let room = |package: &serde_json::Value| {
        let dependencies = package["dependencies"].as_array().expect("a package has dependencies");
        let needed = dependencies.iter().filter(|dependency| dependency["kind"].is_null());
        let names = needed.map(|dependency| short(dependency["name"].as_str().expect("a name")).to_owned());
        let manifest = Path::new(package["manifest_path"].as_str().expect("a path"));
        Room {
            name: short(package["name"].as_str().expect("a name")).to_owned(),
            dependencies: names.collect(),
            source: manifest.parent().expect("a manifest is in a folder").join("src"),
        }
    };
    packages.iter().map(room).collect()
}

/// The name of a room, or of a foreign crate.
fn short(name: &str) -> &str {
    name.strip_prefix("quotient-").unwrap_or(name)
}

#[test]
fn crates_use_only_those_below() {
    let rooms = rooms();
    let names: BTreeSet<&str> = rooms.iter().map(|room| room.name.as_str()).collect();
    let table: BTreeMap<&str, BTreeSet<&str>> =
        EDGES.iter().map(|&(name, allowed)| (name, allowed.iter().copied().collect())).collect();
    let mut wrong = Vec::new();
    for room in &rooms {
        let Some(allowed) = table.get(room.name.as_str()) else {
            wrong.push(format!("`{}` is not in the table of rooms", room.name));
            continue;
        };
        let used = room.dependencies.iter().map(String::as_str).filter(|name| names.contains(name));
        for name in used.filter(|name| !allowed.contains(name)) {
            wrong.push(format!("`{}` uses `{name}`, which the table of rooms does not allow", room.name));
        }
        for (foreign, owner) in ONLY_IN.iter().filter(|(_, owner)| *owner != room.name) {
            if let Some(name) = room.dependencies.iter().find(|name| name.starts_with(foreign)) {
                wrong.push(format!("`{}` uses `{name}`, which only `{owner}` may", room.name));
            }
        }
    }
    // A table with a cycle would allow anything.
    let mut below: BTreeSet<&str> = BTreeSet::new();
    loop {
        let more: Vec<&str> = table
            .iter()
            .filter(|(name, allowed)| !below.contains(*name) && allowed.is_subset(&below))
            .map(|(name, _)| *name)
            .collect();
        if more.is_empty() {
            break;
        }
        below.extend(more);
    }
    wrong.extend(
        table.keys().filter(|name| !below.contains(*name)).map(|name| format!("`{name}` is on or above a cycle")),
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Rooms that a user of the library can leave out by Cargo features.
const OPTIONAL: &[&str] = &["murphi", "b", "promela", "dve", "csp", "pnml", "sets", "proofs", "distributed"];

#[test]
fn languages_and_engines_can_be_left_out() {
    let tree = |options: &[&str]| {
        let output = Command::new(env!("CARGO"))
            .args(["tree", "-p", "quotient", "--edges", "normal", "--prefix", "none", "--offline"])
            .args(options)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .expect("cargo runs");
        assert!(output.status.success(), "cargo tree: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("names are UTF-8")
    };
    let (all, least) = (tree(&[]), tree(&["--no-default-features"]));
    let has = |tree: &str, wanted: &dyn Fn(&str) -> bool| tree.lines().any(|line| wanted(package_of(line)));
    for room in OPTIONAL {
        let is_room = |name: &str| name.strip_prefix("quotient-") == Some(room);
        assert!(has(&all, &is_room), "`{room}` is part of quotient");
        assert!(!has(&least, &is_room), "`{room}` cannot be left out");
    }
    for foreign in ["oxidd", "timely", "rustsat", "cranelift"] {
        let is_foreign = |name: &str| name.starts_with(foreign);
        assert!(has(&all, &is_foreign), "`{foreign}` is used by quotient");
        assert!(!has(&least, &is_foreign), "`{foreign}` cannot be left out");
    }
}

/// The name of the package in a line of `cargo tree`.
fn package_of(line: &str) -> &str {
    line.split_whitespace().next().unwrap_or_default()
}

/// The files of Rust in a folder and the folders in it.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = fs::read_dir(folder) else { return found };
    for path in entries.map(|entry| entry.expect("a folder can be read").path()) {
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

#[test]
fn no_crate_is_large() {
    let mut wrong = Vec::new();
    for room in rooms() {
        let lines = |path: &PathBuf| fs::read_to_string(path).expect("a text").lines().count();
        let lines: usize = files(&room.source).iter().map(lines).sum();
        if lines > LINES {
            wrong.push(format!("`{}` has {lines} lines, more than {LINES}", room.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// For each top-level module of a crate, those that it names, outside tests.
fn uses(source: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let top = |path: &Path| {
        let inside = path.strip_prefix(source).expect("a file of the crate");
        let first = inside.components().next().expect("a name").as_os_str().to_string_lossy().into_owned();
        first.strip_suffix(".rs").map(str::to_owned).unwrap_or(first)
    };
    let files = files(source);
    let modules: BTreeSet<String> =
        files.iter().map(|path| top(path)).filter(|name| !["lib", "main"].contains(&name.as_str())).collect();
    let mut graph: BTreeMap<String, BTreeSet<String>> =
        modules.iter().map(|name| (name.clone(), BTreeSet::new())).collect();
    for path in &files {
        let inside = path.strip_prefix(source).expect("a file of the crate").with_extension("");
        let parts: Vec<_> = inside.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        if parts.iter().any(|part| part == "tests") {
            continue;
        }
        let Some(named) = graph.get_mut(&top(path)) else { continue };
        let text = fs::read_to_string(path).expect("a text");
        // How many `super` lead from the module to the crate.
        let depth = parts.len() - usize::from(parts.last().is_some_and(|part| part == "mod"));
        named.extend(
            named_in(without_tests(&text), depth).into_iter().filter(|name| modules.contains(*name)).map(str::to_owned),
        );
        named.remove(&top(path));
    }
    graph
}

/// The text before the tests at its end.
fn without_tests(text: &str) -> &str {
    let begins = |&(at, _): &(usize, &str)| {
        let rest = text[at..].trim_start_matches("#[cfg(test)]").trim_start();
        rest.strip_prefix("mod ").is_some_and(|rest| rest[word(rest).len()..].starts_with(" {"))
    };
    let tests = text.match_indices("#[cfg(test)]").find(begins);
    tests.map_or(text, |(at, _)| &text[..at])
}

/// The word at the beginning of a text.
fn word(text: &str) -> &str {
    let end = text.find(|it: char| !it.is_alphanumeric() && it != '_').unwrap_or(text.len());
    &text[..end]
}

/// The names that follow the path of the crate: `crate::name`, each of `crate::{…}`, and as many `super::` as lead there.
fn named_in(text: &str, depth: usize) -> Vec<&str> {
    let mut names = Vec::new();
    for (at, path) in text.match_indices("crate::") {
        if text[..at].ends_with(|it: char| it.is_alphanumeric() || it == '_') {
            continue;
        }
        let rest = &text[at + path.len()..];
        match rest.strip_prefix('{') {
            Some(list) => names.extend(listed(list)),
            None => names.push(word(rest)),
        }
    }
    let mut rest = text;
    while let Some(at) = rest.find("super::") {
        let mut count = 0;
        let starts_word = !rest[..at].ends_with(|it: char| it.is_alphanumeric() || it == '_');
        rest = &rest[at..];
        while let Some(inner) = rest.strip_prefix("super::") {
            (rest, count) = (inner, count + 1);
        }
        if starts_word && count == depth {
            names.push(word(rest));
        }
    }
    names
}

/// The first words of the entries of a list in braces, whose opening brace is left out.
fn listed(list: &str) -> Vec<&str> {
    let (mut names, mut depth, mut is_first) = (Vec::new(), 0usize, true);
    for (at, it) in list.char_indices() {
        match it {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => is_first = true,
            _ if is_first && !it.is_whitespace() => {
                names.push(word(&list[at..]));
                is_first = false;
            }
            _ => {}
        }
    }
    names
}

/// The largest set of modules that all lead to each other.
fn largest_cycle(graph: &BTreeMap<String, BTreeSet<String>>) -> Vec<&String> {
    let reached = |from: &String| {
        let (mut known, mut waiting) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(next) = waiting.pop() {
            waiting.extend(graph[&next].iter().filter(|name| known.insert((*name).clone())).cloned());
        }
        known
    };
    let reached: BTreeMap<&String, BTreeSet<String>> = graph.keys().map(|name| (name, reached(name))).collect();
    let cycle = |name: &String| -> Vec<&String> {
        graph.keys().filter(|other| reached[name].contains(*other) && reached[other].contains(name)).collect()
    };
    graph.keys().map(cycle).max_by_key(Vec::len).unwrap_or_default()
}

#[test]
fn modules_form_no_cycles() {
    let mut wrong = Vec::new();
    for room in rooms() {
        let graph = uses(&room.source);
        let cycle = largest_cycle(&graph);
        if cycle.len() > 1 {
            wrong.push(format!("`{}` has a cycle of {} modules: {cycle:?}", room.name, cycle.len()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn paths_to_modules_are_found() {
    let text = "use crate::{a::{b, c}, d as e};\nuse super::super::f;\nuse super::g; mycrate::h; crate::i()\n\
                #[cfg(test)]\nmod tests {\n use crate::j;\n}";
    assert_eq!(named_in(without_tests(text), 2), ["a", "d", "i", "f"]);
}
