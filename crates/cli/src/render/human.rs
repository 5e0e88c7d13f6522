//! Text output of results: the verdict first, then the evidence, then the figures.

use std::fmt::Write;
use std::time::Duration;

use num_bigint::BigUint;
use quotient::{
    AdaptiveUse, CrossCheck, Extent, FairnessMode, Model, NetCounts, Optimum, PartialOrderReport, ProofReport,
    PropertyReport, Report, SetsReport, SliceReport, StopReason, Subject, SymmetryReport, UnsupportedProperty,
    UsedSymmetry, Verdict,
};
use quotient_ir::{FaultKind, RuleId, SourceStatement, Trace, Unexecuted, Violation};

use crate::render::diagnostics::Lines;
use crate::render::quantity;
use crate::render::trace::{StateDetail, TraceRenderer};
use crate::terminal::{Palette, visible};
use quotient::names::{RuleGroup, kind_title, property_name, property_title, rule_groups, rule_name, subject_title};

/// The rate of a shorter search is dominated by noise.
const MEASURABLE: Duration = Duration::from_millis(20);
/// The maximum number of never executed statements or rules that are listed.
const LISTED_UNREACHED: usize = 12;
/// The maximum number of parts of the state that are listed as left out.
const LISTED_PARTS: usize = 12;
/// The maximum number of levels whose states are listed.
const LISTED_LEVELS: usize = 24;
/// With fewer states the store is mostly empty, and its size per state is meaningless.
const MANY_STATES: u64 = 10_000;

/// The word shown in place of a verdict for what cannot be checked.
const UNSUPPORTED: &str = "unsupported";

/// The results about a model.
pub(crate) struct Outcome<'a> {
    /// The model.
    pub(crate) model: &'a Model,
    /// The report of the search.
    pub(crate) report: &'a Report,
    /// Counts that only `explore` provides.
    pub(crate) counts: Option<GraphCounts<'a>>,
    /// How much of the states of runs is shown.
    pub(crate) detail: StateDetail,
}

/// Counts that only `explore` provides.
pub(crate) struct GraphCounts<'a> {
    /// Initial states; unknown if a part of the steps was taken.
    pub(crate) initial: Option<u64>,
    /// States without successors; unknown if the search did not finish.
    pub(crate) deadlocks: Option<u64>,
    /// The numbers of a Petri net.
    pub(crate) net: Option<&'a NetCounts>,
}

/// A command that was stopped before there was anything to report.
pub(crate) fn stopped(reason: &StopReason, palette: Palette) -> String {
    format!("{}: {}\n", palette.open("inconclusive"), visible(&stop_text(reason)))
}

/// The result of `check`.
pub(crate) fn check(outcome: &Outcome<'_>, palette: Palette) -> String {
    let mut text = verdict_lines(outcome, palette);
    text.push_str(&evidence(outcome, palette));
    text.push_str(&cover_runs(outcome, palette));
    text.push_str(&property_lines(outcome, palette));
    text.push_str(&remark_lines(outcome, palette));
    text.push('\n');
    text.push_str(&figures(outcome));
    text
}

/// The result of `explore`.
pub(crate) fn explore(outcome: &Outcome<'_>, palette: Palette) -> String {
    let mut text = verdict_lines(outcome, palette);
    text.push_str(&evidence(outcome, palette));
    text.push('\n');
    text.push_str(&figures(outcome));
    text.push_str(&net_lines(outcome));
    text
}

/// The numbers of a Petri net, in the words of the Model Checking Contest.
fn net_lines(outcome: &Outcome<'_>) -> String {
    let Some(net) = outcome.counts.as_ref().and_then(|counts| counts.net) else { return String::new() };
    let NetCounts { states, transitions, most_in_place, most_in_marking } = net;
    format!(
        "\nSTATE_SPACE STATES {states}\nSTATE_SPACE TRANSITIONS {transitions}\n\
         STATE_SPACE MAX_TOKEN_PER_MARKING {most_in_marking}\nSTATE_SPACE MAX_TOKEN_IN_PLACE {most_in_place}\n"
    )
}

/// The verdict and its subject, in one line.
pub(crate) fn summary(outcome: &Outcome<'_>) -> String {
    verdict_lines(outcome, Palette::PLAIN).lines().next().unwrap_or_default().to_owned()
}

/// The verdict and its subject.
fn verdict_lines(outcome: &Outcome<'_>, palette: Palette) -> String {
    match outcome.report.verdict {
        Verdict::Holds if outcome.counts.is_some() => format!("{}\n", palette.good("complete")),
        Verdict::Holds if searches_states(outcome.report) && outcome.report.states == 0 => {
            format!("{}, but no state is reachable\n", palette.open("holds"))
        }
        Verdict::Holds => format!("{}\n", palette.good("holds")),
        Verdict::Violated => violated_line(outcome, palette),
        Verdict::Inconclusive => inconclusive_line(outcome, palette),
    }
}

/// Whether states were counted.
fn searches_states(report: &Report) -> bool {
    report.proof.is_none() && !report.needed_no_search()
}

fn violated_line(outcome: &Outcome<'_>, palette: Palette) -> String {
    let titles: Vec<String> = violations(outcome).iter().map(|shown| shown.title(outcome.model.ir())).collect();
    format!("{}: {}\n", palette.bad("violated"), titles.join(", "))
}

fn inconclusive_line(outcome: &Outcome<'_>, palette: Palette) -> String {
    let reason = match &outcome.report.stop_reason {
        Some(reason) => visible(&stop_text(reason)),
        None if !outcome.report.unsupported.is_empty() => {
            let title = |it: &UnsupportedProperty| format!("{} \"{}\"", it.kind, it.name);
            let titles: Vec<String> = outcome.report.unsupported.iter().map(title).collect();
            format!("{} cannot be checked", titles.join(", "))
        }
        None => "no verdict".into(),
    };
    let mut text = format!("{}: {reason}\n", palette.open("inconclusive"));
    // If there is a run, its end says the same.
    if let Some(StopReason::Exhausted(fault)) = &outcome.report.stop_reason {
        text.push_str(&Lines::new(outcome.model.source()).quotation(fault.span, "  ", palette));
    }
    text
}

/// Why a search stopped, with formatted numbers.
pub(crate) fn stop_text(reason: &StopReason) -> String {
    match reason {
        StopReason::StateLimit(limit) => format!("the limit of {} states was reached", quantity::count(*limit)),
        StopReason::Constraint(states) => {
            let (states, noun) = (quantity::count(*states), if *states == 1 { "state was" } else { "states were" });
            format!("nothing is violated within the constraint; {states} {noun} not expanded")
        }
        StopReason::DepthLimit(limit) => format!("the limit of {} steps was reached", quantity::count(*limit)),
        StopReason::MemoryLimit(limit) => format!("the limit of {} of memory was reached", quantity::bytes(*limit)),
        StopReason::DiskLimit(limit) => format!("the limit of {} of disk space was reached", quantity::bytes(*limit)),
        StopReason::TimeLimit(limit) => format!("the limit of {} was reached", quantity::duration(*limit)),
        other => other.to_string(),
    }
}

/// A trace for each violation that has one, and a note for each that has none; the run to the run-time error that ended
/// the search although errors were not selected.
fn evidence(outcome: &Outcome<'_>, palette: Palette) -> String {
    let violated = violations(outcome);
    let renderer = TraceRenderer::new(outcome.model.ir(), outcome.model.layout(), palette).showing(outcome.detail);
    let mut text = String::new();
    for shown in &violated {
        text.push('\n');
        if violated.len() > 1 {
            let _ = writeln!(text, "{}", palette.strong(&shown.title(outcome.model.ir())));
        }
        match (shown.trace, shown.subject) {
            (Some(trace), subject) => {
                text.push_str(&renderer.trace(trace));
                // If processes have valid end states, stopping there is not a deadlock.
                if subject == Subject::Deadlock && outcome.model.ir().presentation.is_none() {
                    text.push_str("\nIf the model is meant to end here, add --deadlock off\n");
                }
            }
            (None, Subject::Property(id)) => {
                let lines = Lines::new(outcome.model.source());
                let _ = writeln!(text, "  {}", palette.bad("no reachable state satisfies it"));
                text.push_str(&lines.quotation(outcome.model.ir().properties[id].span, "  ", palette));
            }
            (None, _) => {}
        }
    }
    if let Some(trace) = &outcome.report.fault {
        let _ = write!(text, "\n{}\n", renderer.trace(trace));
        let kind = trace.violation.as_ref().and_then(Violation::fault).map(|fault| fault.kind);
        if let Some(FaultKind::Invariant(property)) = kind {
            text.push_str(
                "A value beyond its bounds ends the search, and the invariant that bounds it was not asked for.\n",
            );
            let name = property_name(outcome.model.ir(), property);
            let _ = writeln!(text, "To have it judged as a violation, add --property '{name}'");
        } else {
            let (words, more) = match outcome.report.all_errors {
                true => ("What comes after an error is not known", ""),
                false => ("An error ends the search", "; to continue past it, --all-errors"),
            };
            let _ = writeln!(text, "{words}, and no property that was asked for is about errors.");
            let _ = writeln!(text, "To have it judged as a violation, add --property errors{more}");
        }
    }
    text
}

/// The runs to reached cover properties, if requested.
fn cover_runs(outcome: &Outcome<'_>, palette: Palette) -> String {
    let model = outcome.model.ir();
    let renderer = TraceRenderer::new(model, outcome.model.layout(), palette);
    let shown = outcome.report.cover_runs.iter().map(|(cover, trace)| {
        format!(
            "\n{}\n{}",
            palette.strong(&format!("{} is reached", property_title(model, *cover))),
            renderer.trace(trace)
        )
    });
    let optima = outcome.report.optima.iter().map(|optimum| {
        let title = property_title(model, optimum.property);
        let head = format!("{title}: {}", optimum_text(optimum));
        format!("\n{}\n{}", palette.strong(&head), renderer.trace(&optimum.trace))
    });
    optima.chain(shown).collect()
}

/// The value of an optimum, and what is known about it.
fn optimum_text(optimum: &Optimum) -> String {
    let extreme = if optimum.is_least { "least" } else { "greatest" };
    match optimum.is_proved {
        true => format!("the {extreme} value is {}", optimum.value),
        false => format!("the {extreme} value found is {}", optimum.value),
    }
}

/// A violation to show: one for each property, or one for each kind of error.
pub(super) struct ShownViolation<'a> {
    subject: Subject,
    /// The run to it. A cover property that is never reached has none.
    pub(super) trace: Option<&'a Trace>,
}

/// All violations, in the order of the properties.
pub(super) fn violations<'a>(outcome: &Outcome<'a>) -> Vec<ShownViolation<'a>> {
    let mut shown = Vec::new();
    for property in outcome.report.properties.iter().filter(|property| property.verdict == Verdict::Violated) {
        let subject = property.subject;
        shown.push(ShownViolation { subject, trace: property.trace.as_ref() });
        shown.extend(property.other_traces.iter().map(|trace| ShownViolation { subject, trace: Some(trace) }));
    }
    shown
}

impl ShownViolation<'_> {
    /// A short description of what is violated.
    pub(super) fn title(&self, model: &quotient_ir::Model) -> String {
        let violation = self.trace.and_then(|trace| trace.violation.as_ref());
        match (self.subject, violation) {
            (Subject::Property(id), _) => property_title(model, id),
            (Subject::Deadlock, _) => "deadlock".into(),
            (Subject::Errors, Some(Violation::Fault { fault, .. } | Violation::PropertyFault { fault, .. })) => {
                format!("error: {}", visible(&fault.message))
            }
            (Subject::Errors, _) => "error".into(),
        }
    }
}

/// The verdict on each property, and what cannot be checked.
pub(super) fn property_lines(outcome: &Outcome<'_>, palette: Palette) -> String {
    let report = outcome.report;
    let kinds = report.properties.iter().filter_map(|property| match property.subject {
        Subject::Property(id) => Some(kind_title(outcome.model.ir(), id)),
        _ => None,
    });
    let kinds = kinds.chain(report.unsupported.iter().map(|property| property.kind));
    let widths = Widths {
        verdict: if report.unsupported.is_empty() { "undecided".len() } else { UNSUPPORTED.len() },
        kind: kinds.chain(["invariant"]).map(str::len).max().unwrap_or(0),
    };
    let mut lines: Vec<String> =
        report.properties.iter().map(|property| property_line(outcome, property, widths, palette)).collect();
    for UnsupportedProperty { kind, name, span, .. } in &report.unsupported {
        let place =
            span.map_or_else(String::new, |span| palette.faint(&format!(" ({})", outcome.model.source().locate(span))));
        lines.push(format!("{}  {kind:<width$}  {name}{place}\n", palette.open(UNSUPPORTED), width = widths.kind));
    }
    if lines.is_empty() { String::new() } else { format!("\n{}", lines.concat()) }
}

/// Remarks, each with the steps of a run to it.
fn remark_lines(outcome: &Outcome<'_>, palette: Palette) -> String {
    let model = outcome.model.ir();
    let renderer = TraceRenderer::new(model, outcome.model.layout(), Palette::PLAIN);
    let mut text = String::new();
    for remark in &outcome.report.remarks {
        let place = model.source.locate(model.properties[remark.property].span);
        let name = property_name(model, remark.property);
        let _ = writeln!(text, "{} {name} {}", palette.open("note:"), palette.faint(&format!("({place})")));
        if let Some(trace) = &remark.trace {
            let steps: Vec<String> =
                trace.steps.iter().map(|step| renderer.instance(step.action, &step.arguments)).collect();
            let _ = writeln!(text, "      after {}", steps.join("; "));
        }
    }
    if text.is_empty() {
        return text;
    }
    format!(
        "\n{text}      A condition of an operation without a value counts as false; \
         --well-definedness error makes it a violation\n"
    )
}

/// The widths of columns of the list of properties.
#[derive(Clone, Copy)]
struct Widths {
    verdict: usize,
    kind: usize,
}

fn property_line(outcome: &Outcome<'_>, property: &PropertyReport, widths: Widths, palette: Palette) -> String {
    let model = outcome.model.ir();
    // Padded before painting: escape sequences have no width.
    let padded = |word: &str| format!("{word:<width$}", width = widths.verdict);
    let verdict = match property.verdict {
        Verdict::Holds => palette.good(&padded("holds")),
        Verdict::Violated => palette.bad(&padded("violated")),
        Verdict::Inconclusive => palette.open(&padded("undecided")),
    };
    match property.subject {
        Subject::Property(id) => {
            let entry = &model.properties[id];
            let place = match &entry.name {
                Some(_) => String::new(),
                None => palette.faint(&format!(" ({})", model.source.locate(entry.span))),
            };
            let instances = match outcome.report.judged_instances(id) {
                None => String::new(),
                Some((judged, symmetric)) => {
                    palette.faint(&format!(" (checked for {judged} of {symmetric} symmetric instances)"))
                }
            };
            let width = widths.kind;
            format!("{verdict}  {:<width$}  {}{place}{instances}\n", kind_title(model, id), property_name(model, id))
        }
        subject @ (Subject::Deadlock | Subject::Errors) => format!("{verdict}  {}\n", subject_title(model, subject)),
    }
}

/// The symmetries, their cost and how they are used.
fn symmetry_rows(outcome: &Outcome<'_>, symmetry: &SymmetryReport) -> Vec<(&'static str, String)> {
    let (model, report) = (outcome.model.ir(), outcome.report);
    let elapsed = quantity::duration(symmetry.elapsed);
    if let Some(adaptive) = &report.adaptive {
        let mut rows = match &symmetry.group {
            Ok(group) => vec![("symmetries", quantity::digits(&group.order.to_string()))],
            Err(_) => Vec::new(),
        };
        rows.extend(adaptive_rows(adaptive));
        return rows;
    }
    let group = match &symmetry.group {
        Ok(group) => group,
        Err(unknown) => {
            let after =
                if symmetry.elapsed < MEASURABLE { String::new() } else { format!(" (searched for {elapsed})") };
            return vec![("symmetries", format!("{unknown}{after}"))];
        }
    };
    let mut rows = Vec::new();
    let order = quantity::digits(&group.order.to_string());
    if group.order == BigUint::from(1u32) {
        rows.push(("symmetries", format!("none found ({elapsed}); quotient detect --why-not says why")));
    } else {
        // The structure of an unnamed group only repeats its order.
        let structure = Some(&group.structure).filter(|structure| !structure.starts_with('['));
        let structure = structure.map_or_else(String::new, |structure| format!(", {structure}"));
        rows.push(("symmetries", format!("{order}{structure}; found in {elapsed}")));
    }
    if !group.complete {
        rows.push(("", "the search for symmetries was not finished: there may be more".to_owned()));
    }
    for refused in &group.refused {
        let (first, second) =
            (model.value_name(refused.ty, refused.first), model.value_name(refused.ty, refused.second));
        rows.push(("", format!("{first} and {second} are declared to be interchangeable, and are not")));
    }
    if let Some((whole, properties)) = &group.behaviour {
        let properties: Vec<String> = properties.iter().map(|&id| property_title(model, id)).collect();
        let verb = if properties.len() == 1 { "leaves" } else { "leave" };
        let all = quantity::digits(&whole.to_string());
        rows.push(("", format!("{} {verb} {order} of the {all} symmetries of the behaviour", properties.join(", "))));
    }
    let reduction = &report.reduction;
    let method = reduction.method.as_deref().unwrap_or_default();
    if reduction.reduces() {
        let mut text = reduction.name.to_owned();
        if reduction.approximate {
            text.push_str(", approximate: states of different orbits may be taken for each other");
        } else if !reduction.exact {
            text.push_str(", not exact: an orbit may be stored several times");
        }
        let _ = write!(text, "; {method}");
        if let Some(collisions) = reduction.marker_collisions {
            let _ = write!(text, "; {collisions} collisions");
        }
        if let Some(time) = reduction.canonicalization {
            // The total time of several threads may exceed the duration of the search.
            let of_threads = if report.threads > 1 { " of processor time" } else { "" };
            let _ = write!(text, "; {}{of_threads} for representatives", quantity::duration(time));
        }
        rows.push(("reduction", text));
    } else if group.order != BigUint::from(1u32) && report.proof.is_none() {
        rows.push(("reduction", format!("none; {method}")));
    }
    for search in &report.liveness_searches {
        let mut properties: Vec<String> =
            search.instances.iter().map(|instance| property_title(model, instance.property)).collect();
        properties.dedup();
        let (states, order) = (quantity::count(search.states), quantity::digits(&search.order.to_string()));
        let symmetries = if order == "1" { "symmetry" } else { "symmetries" };
        rows.push(("liveness", format!("{} by itself: {order} {symmetries}, {states} states", properties.join(", "))));
    }
    rows
}

/// The searches for temporal properties: nodes, automata, symmetries.
fn temporal_rows(outcome: &Outcome<'_>) -> Vec<(&'static str, String)> {
    let (model, report) = (outcome.model.ir(), outcome.report);
    let mut rows = Vec::new();
    for temporal in &report.temporal {
        let fairness = match temporal.fairness {
            FairnessMode::None => "",
            FairnessMode::Weak => ", weak fairness",
            FairnessMode::Strong => ", strong fairness",
            FairnessMode::WeakEvent => ", weak fairness of events",
            FairnessMode::StrongEvent => ", strong fairness of events",
            FairnessMode::WeakProcess => ", weak fairness of processes",
            FairnessMode::StrongProcess => ", strong fairness of processes",
            FairnessMode::Global => ", global fairness",
        };
        let title = property_title(model, temporal.property);
        let Some(last) = temporal.searches.last() else { continue };
        let nodes: u64 = temporal.searches.iter().map(|search| search.states).sum();
        let searches = match temporal.searches.len() {
            1 => String::new(),
            count => format!(" in {count} searches"),
        };
        let symmetry = match &last.symmetry {
            UsedSymmetry::None => "no symmetry".to_owned(),
            UsedSymmetry::Whole(order) => format!("{} symmetries", quantity::digits(&order.to_string())),
            UsedSymmetry::Counted(sizes) => {
                let sizes: Vec<String> = sizes.iter().map(|&size| quantity::count(size)).collect();
                format!("{} values counted", sizes.join(" and "))
            }
            UsedSymmetry::Annotated { most, least } => {
                let (most, least) = (quantity::digits(&most.to_string()), quantity::digits(&least.to_string()));
                format!("{most} symmetries where nothing is tracked, {least} elsewhere")
            }
        };
        let instances = match last.instances.len() {
            0 | 1 => String::new(),
            count => format!(", one of {count} symmetric instances"),
        };
        let parts: u64 = temporal.searches.iter().filter_map(|search| search.parts).map(|parts| parts.states).sum();
        let parts = match last.parts {
            Some(_) => format!(", partial order with {} states", quantity::count(parts)),
            None => String::new(),
        };
        let nodes = quantity::count(nodes);
        let text = format!("{title}: {nodes} nodes{searches}, {symmetry}{instances}{parts}{fairness}");
        rows.push((if rows.is_empty() { "temporal" } else { "" }, text));
        rows.extend(temporal.all_steps.iter().map(|reason| ("", format!("without partial order: {reason}"))));
        rows.extend(temporal.remarks.iter().map(|remark| ("", remark.clone())));
    }
    rows
}

/// What is not part of the state.
fn slice_rows(slice: &SliceReport) -> Vec<(&'static str, String)> {
    let mut rows = Vec::new();
    for (what, names) in [
        ("not read by anything", &slice.unread),
        ("only read for being defined", &slice.only_definedness),
        ("dead where written before read", &slice.dead),
    ] {
        if names.is_empty() {
            continue;
        }
        let omitted = names.len().saturating_sub(LISTED_PARTS);
        let shown = names.len() - if omitted > 1 { omitted } else { 0 };
        let mut list = names[..shown].iter().map(|name| visible(name)).collect::<Vec<_>>().join(", ");
        if omitted > 1 {
            let _ = write!(list, " and {omitted} more: --format json lists all");
        }
        rows.push((if rows.is_empty() { "slice" } else { "" }, format!("{what}: {list}")));
    }
    rows
}

/// Notes on an approximate store.
fn store_row(report: &Report) -> Option<(&'static str, String)> {
    let probability = report.approximation?.omission_probability;
    Some(("store", format!("approximate: a state is missed with a probability of up to {probability:.1e}")))
}

/// What rules distinguish, and the effect of adaptive reduction.
fn adaptive_rows(adaptive: &AdaptiveUse) -> Vec<(&'static str, String)> {
    let mut rows = Vec::new();
    let mut text = format!(
        "adaptive; {}, {} partition{}",
        adaptive.families.join(", "),
        adaptive.partitions,
        if adaptive.partitions == 1 { "" } else { "s" }
    );
    if adaptive.removed > 0 {
        let _ = write!(text, ", {} states dropped for larger ones", quantity::count(adaptive.removed));
    }
    rows.push(("reduction", text));
    if let Some(reason) = &adaptive.reason {
        rows.push(("", reason.clone()));
    }
    for rule in &adaptive.rules {
        match (&rule.partition, &rule.cause) {
            (None, _) => rows.push(("", format!("{} never comes into question", rule.name))),
            (Some(partition), cause) if rule.tells_apart => {
                let cause = cause.as_ref().map_or_else(String::new, |cause| format!(", because of {cause}"));
                rows.push(("", format!("{} distinguishes {partition}{cause}", rule.name)));
            }
            _ => {}
        }
    }
    rows
}

/// Statements of processes, or rules, that are never executed.
fn unreached_rows(outcome: &Outcome<'_>) -> Vec<(&'static str, String)> {
    let (model, report) = (outcome.model.ir(), outcome.report);
    let is_approximate = report.approximation.is_some() || report.stop_reason == Some(StopReason::Approximate);
    // Unsupported properties do not make a search unfinished.
    let is_finished = report.stop_reason.is_none() && report.verdict != Verdict::Violated;
    let is_wanted = is_finished || is_approximate && report.verdict == Verdict::Inconclusive;
    let Some(never_fired) = report.never_fired.as_deref().filter(|_| is_wanted) else {
        return Vec::new();
    };
    let (never, in_what) =
        if is_approximate { ("not executed", " in the states that were seen") } else { ("never executed", "") };
    let (mut rows, texts): (Vec<(&str, String)>, Vec<String>) = match &model.presentation {
        Some(presentation) => {
            let unexecuted = presentation.unexecuted(never_fired);
            let (count, all) = (unexecuted.len(), presentation.statements.len());
            let verb = if count == 1 { "is" } else { "are" };
            let text = |it: &Unexecuted<'_>| {
                let SourceStatement { process, span, line, text, .. } = it.statement;
                let remark = if it.is_reached { ": reached, but never possible" } else { "" };
                format!("{process} {}:{line} [{}]{remark}", model.source.short_name(span.start), visible(text))
            };
            let row = ("unreached", format!("{count} of {all} statements {verb} {never}{in_what}"));
            (vec![row], unexecuted.iter().map(text).collect())
        }
        None => {
            let lines = Lines::new(&model.source);
            let groups = rule_groups(model, never_fired);
            let never: Vec<&RuleGroup> = groups.iter().filter(|group| group.is_never_fired).collect();
            let text = |group: &&RuleGroup| {
                format!("{} (line {})", group.name, lines.place(model.rules[group.first].span).line)
            };
            let (title, what) = match model.operations {
                Some(_) => ("never enabled", "operations"),
                None => ("never fired", "rules"),
            };
            let row = (title, format!("{} of {} {what}{in_what}", never.len(), groups.len()));
            (vec![row], never.iter().map(text).collect())
        }
    };
    if texts.is_empty() {
        return Vec::new();
    }
    let omitted = texts.len().saturating_sub(LISTED_UNREACHED);
    let shown = texts.len() - if omitted > 1 { omitted } else { 0 };
    rows.extend(texts.into_iter().take(shown).map(|text| ("", text)));
    if omitted > 1 {
        rows.push(("", format!("and {omitted} more: --format json lists all")));
    }
    rows
}

/// How often rules fire, and the number of states on each level, if requested.
fn firing_rows(outcome: &Outcome<'_>) -> Vec<(&'static str, String)> {
    let (model, report) = (outcome.model.ir(), outcome.report);
    let Some(firings) = &report.firings else { return Vec::new() };
    let lines = Lines::new(&model.source);
    let times: Vec<String> = firings.iter().map(|firing| quantity::digits(&firing.times.to_string())).collect();
    let width = times.iter().map(String::len).max().unwrap_or(0);
    let mut rows: Vec<(&str, String)> = Vec::new();
    for (firing, times) in firings.iter().zip(&times) {
        let name =
            |&rule: &RuleId| format!("{} (line {})", rule_name(model, rule), lines.place(model.rules[rule].span).line);
        let names = match &firing.rules[..] {
            [first, _, ..] => format!("{} and {} symmetric to it", name(first), firing.rules.len() - 1),
            rules => rules.iter().map(name).collect(),
        };
        rows.push((if rows.is_empty() { "fired" } else { "" }, format!("{times:>width$}  {names}")));
    }
    if let Some(levels) = &report.levels {
        let shown: Vec<String> = levels.iter().take(LISTED_LEVELS).map(|&states| quantity::count(states)).collect();
        let more = levels.len() - shown.len();
        let more = if more > 0 { format!(" … and {more} more: --format json lists all") } else { String::new() };
        rows.push(("levels", format!("{}{more}", shown.join(" "))));
    }
    rows
}

/// The duration, and the number of states found per second.
fn time(states: u64, resumed_states: u64, elapsed: Duration) -> String {
    let mut text = quantity::duration(elapsed);
    if resumed_states > 0 {
        let _ = write!(text, " since the checkpoint of {} states", quantity::count(resumed_states));
    }
    if elapsed >= MEASURABLE && states > 0 {
        let _ = write!(text, ", {} states/s", quantity::rate(states.saturating_sub(resumed_states), elapsed));
    }
    text
}

/// The diagrams of a symbolic search.
fn sets_row(sets: &SetsReport) -> (&'static str, String) {
    let SetsReport { nodes, peak_nodes, images, bits, order, .. } = sets;
    let [nodes, peak, images, bits] =
        [*nodes as u64, *peak_nodes as u64, *images, u64::from(*bits)].map(quantity::count);
    let several = match &sets.orbits {
        Some(orbits) if *orbits != sets.states => {
            format!("; {} representatives", quantity::digits(&sets.states.to_string()))
        }
        _ => String::new(),
    };
    let text = format!("{nodes} nodes, {peak} at peak, {images} images; {bits} bits, {order}{several}");
    ("diagrams", text)
}

/// What a solver did.
fn proof_row(proof: &ProofReport) -> (&'static str, String) {
    let ProofReport { method, gates, queries, clauses, depth, invariant } = proof;
    let [gates, queries, clauses, depth] = [*gates as u64, *queries, *clauses, *depth].map(quantity::count);
    let shown = match invariant {
        Some(lines) => format!("; proved by {} clauses", quantity::count(lines.len() as u64)),
        None => String::new(),
    };
    let text = format!("{method}: {gates} gates, {queries} questions, {clauses} clauses, {depth} levels{shown}");
    ("solver", text)
}

/// The figures of a search: names and values.
pub(super) fn figure_rows(outcome: &Outcome<'_>) -> Vec<(&'static str, String)> {
    let report = outcome.report;
    let mut rows: Vec<(&'static str, String)> = Vec::new();
    if let Some(symmetry) = &report.symmetry {
        rows.extend(symmetry_rows(outcome, symmetry));
    }
    rows.extend(report.slice.iter().flat_map(slice_rows));
    for optimum in &report.optima {
        let text = format!("{}: {}", property_title(outcome.model.ir(), optimum.property), optimum_text(optimum));
        rows.push(("optimum", text));
    }
    rows.extend(temporal_rows(outcome));
    let mut states = quantity::digits(&report.all_states().to_string());
    let is_partial = report.partial_order.as_ref().is_some_and(|partial_order| partial_order.unused.is_none());
    let of_slice = if report.slice.is_some() { " of the slice" } else { "" };
    if report.reduction.reduces() {
        match &report.represented {
            None if is_partial => {}
            None => states.push_str(", representing an unknown number of states"),
            Some(represented) => {
                let _ = write!(states, ", representing {}{of_slice}", quantity::digits(&represented.to_string()));
                if let Some(factor) = report.reduction_factor() {
                    let _ = write!(states, " ({}× reduction)", quantity::factor(factor));
                }
            }
        }
    }
    if searches_states(report) {
        rows.push(("states", states));
    }
    rows.extend(report.proof.as_ref().map(proof_row));
    rows.extend(report.sets.as_ref().map(sets_row));
    if let Some(presentation) = &outcome.model.ir().presentation {
        let created = "processes are created before any of them moves";
        let staying = "processes stay at their ends";
        let private = "steps that concern one process are taken at once";
        let merged = [
            (presentation.is_creation_first, created),
            (presentation.stay_at_end, staying),
            (presentation.is_private_first, private),
        ];
        let merged: Vec<&str> = merged.iter().filter(|(is_merged, _)| *is_merged).map(|(_, words)| *words).collect();
        if !merged.is_empty() {
            rows.push(("orders", format!("{}; --exact-counts takes all", merged.join(", "))));
        }
    }
    if let Some(PartialOrderReport { unused }) = &report.partial_order {
        let words = match unused {
            None => "the states represented are not counted".to_owned(),
            Some(reason) => format!("not used: {reason}"),
        };
        rows.push(("partial order", words));
    }
    rows.extend(store_row(report));
    if let Some(counts) = &outcome.counts {
        rows.extend(counts.initial.map(|initial| ("initial", quantity::count(initial))));
        if let Some(deadlocks) = counts.deadlocks {
            rows.push(("deadlocks", quantity::count(deadlocks)));
        }
    }
    if searches_states(report) {
        rows.push(("transitions", quantity::digits(&report.all_transitions().to_string())));
    }
    // Products have no depth that means anything, and sets need not be found step by step.
    if report.depth > 0 || report.temporal.is_empty() && report.sets.is_none() && searches_states(report) {
        rows.push(("depth", quantity::count(report.depth)));
    }
    let counted = if report.sets.is_some() { 0 } else { report.states };
    rows.push(("time", time(counted, report.resumed_states, report.elapsed)));
    let mut memory: Vec<String> = Vec::new();
    if !report.needed_no_search() {
        let mut states = format!("{} for states", quantity::bytes(report.store_bytes));
        if counted >= MANY_STATES {
            let _ = write!(states, ", {:.1} bytes each", report.store_bytes as f64 / report.states as f64);
        }
        memory.push(states);
    }
    memory.extend(report.peak_memory.map(|peak| format!("{} at peak", quantity::bytes(peak))));
    if !memory.is_empty() {
        rows.push(("memory", memory.join("; ")));
    }
    if report.disk_bytes > 0 {
        rows.push((
            "disk",
            format!("{} at peak, for states that did not fit into memory", quantity::bytes(report.disk_bytes)),
        ));
    }
    if let Some(CrossCheck { states, extent, .. }) = &report.cross_check {
        let states = quantity::count(*states);
        rows.push((
            "cross-check",
            match extent {
                Extent::Everything => format!("agrees with the unreduced search in verdicts and all {states} states"),
                Extent::Verdicts => {
                    format!("agrees with the unreduced search, which is violated after {states} states")
                }
                Extent::Nothing(reason) => format!("nothing compared: {}", stop_text(reason)),
            },
        ));
    }
    rows.extend(unreached_rows(outcome));
    rows.extend(firing_rows(outcome));
    rows
}

fn figures(outcome: &Outcome<'_>) -> String {
    let rows = figure_rows(outcome);
    rows.iter().map(|(name, value)| format!("{name:<11}  {value}\n")).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::time;

    #[test]
    fn states_of_a_checkpoint_are_not_found_in_the_time_of_another_run() {
        let elapsed = Duration::from_secs(2);
        assert_eq!(time(1000, 0, elapsed), "2 s, 500 states/s");
        assert_eq!(time(1000, 900, elapsed), "2 s since the checkpoint of 900 states, 50 states/s");
        assert_eq!(time(1000, 900, Duration::from_micros(1500)), "1.5 ms since the checkpoint of 900 states");
    }
}
