//! The possible processes of each type, and their numbers.

use rustc_hash::FxHashSet;

use super::flow::{ElementId, ElementKind, Flow};
use super::program::Program;
use super::symbols::ValueType;

/// The numbers that processes can have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pools {
    /// For each process type the least and the greatest number; none if it is never started.
    pub(super) ranges: Vec<Option<(i64, i64)>>,
    /// All numbers are below this.
    pub(super) processes: i64,
    /// Whether there can never be more.
    pub(super) bounded: bool,
    /// The greatest number of a process that exists from the start and never ends.
    pub(super) lasting: Option<i64>,
    /// Parameters (by process type and position) that no statement changes, of process types of which no process is
    /// created after the start. They keep their initial values, so that nothing distinguishes a process whose argument
    /// is zero from others.
    pub(super) settled: FxHashSet<(usize, usize)>,
    /// Whether processes stay at their ends. Otherwise the youngest is removed first.
    pub(super) stay_at_end: bool,
}

/// The maximum number of processes in SPIN.
pub(super) const MOST: i64 = 255;
/// Room for processes in the search for the ones that are created at the start.
const ROOM_AT_START: i64 = 60;
/// Room for more processes if nothing bounds their number.
const ROOM: i64 = 12;

/// A process that exists at some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Living {
    pub(super) pid: i64,
    pub(super) process: usize,
    /// The number of its control point.
    pub(super) point: i64,
}

/// The control points that can be reached from one, itself included.
pub(super) fn reachable(flow: &Flow, from: ElementId) -> FxHashSet<ElementId> {
    let mut seen = FxHashSet::default();
    seen.insert(from);
    let mut pending = vec![from];
    while let Some(point) = pending.pop() {
        for exit in flow.exits(point) {
            if let Some(target) = flow.target(exit.element)
                && seen.insert(target)
            {
                pending.push(target);
            }
        }
    }
    seen
}

/// The processes that exist at the start.
pub(super) fn initially(program: &Program<'_>) -> Vec<Living> {
    let mut living = Vec::new();
    for (process, entry) in program.processes.iter().enumerate() {
        for _ in 0..entry.active {
            let point = entry.flow.number(entry.flow.first);
            living.push(Living { pid: living.len() as i64, process, point });
        }
    }
    living
}

/// What a process can create from a control point on: process types, and whether repeatedly.
pub(super) fn creations_from(program: &Program<'_>, process: usize, point: ElementId) -> Vec<(usize, bool)> {
    let flow = &program.processes[process].flow;
    let sites = program.run_sites(process);
    if sites.is_empty() {
        return Vec::new();
    }
    let points = reachable(flow, point);
    let mut creations = Vec::new();
    for &point in &points {
        for exit in flow.exits(point) {
            let inside: Vec<ElementId> = match flow.elements[exit.element].kind {
                ElementKind::DeterministicStep => flow.elements_of_step(exit.element),
                _ => vec![exit.element],
            };
            let again = match flow.target(exit.element) {
                Some(target) => reachable(flow, target).contains(&point),
                None => false,
            };
            for site in sites.iter().filter(|site| inside.contains(&site.element)) {
                // A step may go round a loop of its own.
                creations.push((site.creates, again || inside.len() > 1));
            }
        }
    }
    creations
}

/// The numbers that processes can have from a time on when some exist. `others` are the processes of earlier times that
/// need room as well. There is room for `limit` processes, if given, should that many exist.
pub(super) fn pools_from(
    program: &Program<'_>,
    living: &[Living],
    others: &[Living],
    at_start: bool,
    limit: Option<i64>,
) -> Pools {
    let count = program.processes.len();
    let many = MOST + 1;
    let mut created = vec![0i64; count];
    let own: Vec<(usize, bool)> = living
        .iter()
        .flat_map(|it| creations_from(program, it.process, program.processes[it.process].flow.point(it.point)))
        .collect();
    let by_type: Vec<Vec<(usize, bool)>> =
        (0..count).map(|process| creations_from(program, process, program.processes[process].flow.first)).collect();
    // Each round adds one generation; more generations than numbers means that creation never ends.
    for _ in 0..=many {
        let mut next = vec![0i64; count];
        for &(creates, again) in &own {
            next[creates] += if again { many } else { 1 };
        }
        for (process, creations) in by_type.iter().enumerate() {
            for &(creates, again) in creations {
                if created[process] > 0 {
                    next[creates] += if again { many } else { created[process] };
                }
            }
        }
        for value in &mut next {
            *value = (*value).min(many);
        }
        if next == created {
            break;
        }
        created = next;
    }
    let now = living.len() as i64;
    let most = now + created.iter().sum::<i64>();
    let room = (now + if at_start { ROOM_AT_START } else { ROOM }).min(MOST);
    let (greatest, room) = match limit {
        Some(limit) => (limit, limit),
        None => (if at_start { room } else { MOST }, room),
    };
    let (processes, bounded) = if most <= greatest { (most, true) } else { (room, false) };
    let earlier = living.iter().chain(others).map(|it| it.pid + 1).max().unwrap_or(0);
    let processes = processes.max(earlier);
    // A new process is younger than its creator and than every process that never ends.
    let mut base = 1;
    if let Some(creator) = living
        .iter()
        .filter(|it| {
            let flow = &program.processes[it.process].flow;
            !creations_from(program, it.process, flow.point(it.point)).is_empty()
        })
        .map(|it| it.pid + 1)
        .min()
    {
        base = base.max(creator);
    }
    let mut lasting = None;
    for it in living {
        let flow = &program.processes[it.process].flow;
        let ends = reachable(flow, flow.point(it.point)).iter().any(|&point| {
            flow.exits(point).iter().any(|exit| matches!(flow.elements[exit.element].kind, ElementKind::End))
        });
        if !ends {
            base = base.max(it.pid + 1);
            lasting = lasting.max(Some(it.pid));
        }
    }
    let mut ranges: Vec<Option<(i64, i64)>> = vec![None; count];
    let mut cover = |process: usize, low: i64, high: i64| {
        let range = &mut ranges[process];
        *range = Some(range.map_or((low, high), |(least, greatest)| (least.min(low), greatest.max(high))));
    };
    for it in living.iter().chain(others) {
        cover(it.process, it.pid, it.pid);
    }
    for (process, &number) in created.iter().enumerate() {
        if number > 0 && base < processes {
            cover(process, base, processes - 1);
        }
    }
    let mut settled = FxHashSet::default();
    for (process, entry) in program.processes.iter().enumerate().filter(|&(process, _)| created[process] == 0) {
        let parameters = entry.symbols.variables[..entry.symbols.parameters].iter().enumerate();
        let plain = parameters.filter(|(_, info)| !info.assigned && matches!(info.ty, ValueType::Scalar(_)));
        settled.extend(plain.map(|(position, _)| (process, position)));
    }
    Pools { ranges, processes, bounded, lasting, settled, stay_at_end: false }
}

impl Pools {
    /// The same numbers, without the information about processes that never end.
    pub(super) fn unsettled(self) -> Self {
        Self { lasting: None, settled: FxHashSet::default(), ..self }
    }
}
