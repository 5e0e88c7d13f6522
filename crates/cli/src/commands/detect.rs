//! `quotient detect`: the symmetries of a model, and why a hoped-for one is absent.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use quotient_groups::{ColouredGraph, PermutationGroup, Structure};
use quotient_ir::{Budget, Layout, Model, PropertyId, Spent, VariableId};
use quotient_symmetry::{CertifiedGroup, Describer, Explainer, Request, declared, detect};

use crate::arguments::{DetectArguments, Format, ModelArguments, SymmetryExport, SymmetryExportFormat, SymmetryName};
use crate::commands::selection::named_properties;
use crate::commands::{partial, show_warnings};
use crate::failure::{Failure, HOLDS};
use crate::load::{LoadedModel, load_model};
use crate::memory::peak_bytes;
use crate::render::symmetry::{Answer, Findings, Phases, human, json};
use crate::terminal::{Palette, print, print_with};

/// Reasons given for one request.
const REASONS: usize = 8;

/// What `--why-not` asks.
enum Question {
    /// Why is this no symmetry?
    Request { text: String, request: Request },
    /// What tells the values of each index type apart?
    Families,
}

/// The symmetries of a model, however they were come by.
struct Found<'m> {
    findings: Findings<'m>,
    group: Option<CertifiedGroup>,
    graph: Option<(ColouredGraph, Vec<String>)>,
}

/// Runs the command.
pub(crate) fn run(arguments: &DetectArguments) -> Result<ExitCode, Failure> {
    let (model_arguments, why_not) = split_request(arguments)?;
    let loaded = load_model(&model_arguments)?;
    let LoadedModel { model, layout, warnings, .. } = &loaded;
    let properties = if arguments.no_properties {
        Vec::new()
    } else if arguments.properties.is_empty() {
        let claims = model.properties.iter_enumerated().filter(|(_, entry)| entry.kind.is_claim());
        claims.map(|(id, _)| id).collect()
    } else {
        named_properties(model, &arguments.properties)?
    };
    if arguments.partial {
        show_warnings(&model.source, warnings);
        return partial::run(&loaded, &properties, arguments.format);
    }
    let question = match why_not {
        None => None,
        Some(None) => Some(Question::Families),
        Some(Some(text)) => {
            let request = Request::parse(model, layout, &text)
                .map_err(|problem| Failure::Usage(format!("--why-not \"{text}\": {problem}")))?;
            Some(Question::Request { text, request })
        }
    };
    if let Some(export) = &arguments.export
        && export.format != SymmetryExportFormat::Gap
        && arguments.symmetry != SymmetryName::Auto
    {
        return Err(Failure::Usage("only --symmetry auto makes a graph to export".into()));
    }
    show_warnings(&model.source, warnings);
    // Created first, so that a long detection does not end with nowhere to write.
    let export = arguments.export.as_ref().map(|export| create(export).map(|file| (export, file))).transpose()?;

    let started = Instant::now();
    // Assumptions and what is passed through decide which states there are, whatever is asked for.
    let assumptions = model.properties.iter_enumerated().filter(|(_, entry)| !entry.kind.is_claim());
    let preserved: Vec<PropertyId> = properties.iter().copied().chain(assumptions.map(|(id, _)| id)).collect();
    let mut found = find(model, layout, &preserved, arguments.symmetry)?;
    found.findings.properties = properties;
    if let Some(question) = question {
        let answer = answer(model, layout, &preserved, found.group.as_ref(), question)
            .map_err(|spent| Failure::Internal(spent.to_string()))?;
        found.findings.answer = Some(answer);
    }
    if let Some((export, file)) = export {
        write_export(model, layout, &found, export.format, BufWriter::new(file))
            .map_err(|error| Failure::file("write", &export.path, &error))?;
    }
    let findings = Findings { elapsed: started.elapsed(), peak_memory: peak_bytes(), ..found.findings };
    match arguments.format {
        Format::Human => print(&human::detection(&findings, Palette::for_stdout()))?,
        Format::Json => print_with(|writer| json::detection(writer, &findings, warnings))?,
    };
    Ok(ExitCode::from(HOLDS))
}

/// `--why-not MODEL` reads as a request without a model: then there is no request.
fn split_request(arguments: &DetectArguments) -> Result<(ModelArguments, Option<Option<String>>), Failure> {
    let model = &arguments.model;
    let (path, why_not) = match (&model.path, &arguments.why_not) {
        (Some(path), why_not) => (path.clone(), why_not.clone()),
        (None, Some(Some(text))) => (text.into(), Some(None)),
        (None, _) => return Err(Failure::Usage("which model? Usage: quotient detect [OPTIONS] <MODEL>".into())),
    };
    Ok((
        ModelArguments {
            path,
            definitions: model.definitions.clone(),
            language: model.language,
            no_extra_nodes: false,
        },
        why_not,
    ))
}

/// Finds the symmetries.
fn find<'m>(
    model: &'m Model,
    layout: &'m Layout,
    properties: &[PropertyId],
    source: SymmetryName,
) -> Result<Found<'m>, Failure> {
    let mut findings = Findings::none(model, source);
    match source {
        SymmetryName::Off => Ok(Found { findings, group: None, graph: None }),
        SymmetryName::Declared => {
            let declared = declared(model, layout, properties, &Budget::unlimited())
                .map_err(|error| Failure::Internal(error.to_string()))?;
            findings.certification = Some(declared.report);
            findings.refused = declared.refused;
            findings.phases = Phases::of(&declared.times);
            describe(layout, &declared.group, &mut findings);
            Ok(Found { findings, group: Some(declared.group), graph: None })
        }
        SymmetryName::Auto => {
            let detection = detect(model, layout, properties, &Budget::unlimited())
                .map_err(|error| Failure::Internal(error.to_string()))?;
            findings.complete = detection.complete;
            findings.certification = Some(detection.report);
            findings.fixed = detection.fixed;
            let mut numbers: Vec<VariableId> =
                detection.numbers.iter().map(|&slot| layout.slots[slot].variable).collect();
            numbers.dedup();
            // What is fixed is said to be so already.
            numbers.retain(|variable| !findings.fixed.iter().any(|fixed| fixed.variable == *variable));
            findings.numbers = numbers;
            findings.graph = Some((detection.graph.vertex_count(), detection.graph.edge_count()));
            findings.phases = Phases::of(&detection.times);
            describe(layout, &detection.group, &mut findings);
            Ok(Found { findings, group: Some(detection.group), graph: Some((detection.graph, detection.labels)) })
        }
    }
}

/// Finds out what group it is, and says it in source terms.
fn describe(layout: &Layout, group: &CertifiedGroup, findings: &mut Findings<'_>) {
    let clock = Instant::now();
    let permutations = PermutationGroup::new(group.literals().degree(), group.generators().to_vec());
    findings.order = permutations.order();
    findings.structure = match permutations.structure() {
        Structure::Trivial => "trivial".to_owned(),
        structure => structure.to_string(),
    };
    findings.phases.structure = clock.elapsed();
    let describer = Describer::new(findings.model, layout, group.literals());
    findings.generators = group.maps().iter().map(|map| describer.describe(map)).collect();
    findings.moved = describer.moved(group);
}

fn answer(
    model: &Model,
    layout: &Layout,
    properties: &[PropertyId],
    group: Option<&CertifiedGroup>,
    question: Question,
) -> Result<Answer, Spent> {
    let mut explainer = Explainer::new(model, layout, properties, &Budget::unlimited())?;
    Ok(match (question, group) {
        (Question::Request { text, request }, _) => {
            Answer::Request { text, reasons: explainer.why_not(&request, REASONS)? }
        }
        (Question::Families, Some(group)) => Answer::Families(explainer.families(group)?),
        (Question::Families, None) => Answer::Families(Vec::new()),
    })
}

fn create(export: &SymmetryExport) -> Result<File, Failure> {
    File::create(&export.path).map_err(|error| Failure::file("write", &export.path, &error))
}

fn write_export(
    model: &Model,
    layout: &Layout,
    found: &Found<'_>,
    format: SymmetryExportFormat,
    mut sink: impl Write,
) -> io::Result<()> {
    match (format, &found.graph) {
        (SymmetryExportFormat::Dimacs, Some((graph, _))) => graph.write_dimacs(&mut sink)?,
        (SymmetryExportFormat::Dreadnaut, Some((graph, _))) => {
            // Sparse nauty, without the generators; `x` starts the search.
            writeln!(sink, "As -a -m")?;
            graph.write_dreadnaut(&mut sink)?;
            writeln!(sink, "x")?;
        }
        (SymmetryExportFormat::Dot, Some((graph, labels))) => {
            graph.write_dot(&mut sink, |vertex| labels[vertex as usize].clone())?;
        }
        (SymmetryExportFormat::Gap, _) => write_gap(model, layout, found.group.as_ref(), &mut sink)?,
        (_, None) => unreachable!("a graph is exported only where one was made"),
    }
    sink.flush()
}

/// The group on the literals, with the literals that it moves in comments.
fn write_gap(model: &Model, layout: &Layout, group: Option<&CertifiedGroup>, sink: &mut impl Write) -> io::Result<()> {
    writeln!(sink, "# The symmetries of {} on the literals that they move:", model.source.name)?;
    let (degree, generators) =
        group.map_or((0, Vec::new()), |group| (group.literals().degree(), group.generators().to_vec()));
    if let Some(group) = group {
        let mut points: Vec<u32> = generators.iter().flat_map(|generator| generator.support().to_vec()).collect();
        points.sort_unstable();
        points.dedup();
        for point in points {
            let literals = group.literals();
            let slot = &layout.slots[literals.slot_of(point)];
            let value = if literals.slots()[literals.slot_of(point)].wide {
                "any value".to_owned()
            } else {
                crate::names::scalar_text(model, slot.ty, literals.value_of(point))
            };
            // GAP counts points from one.
            writeln!(sink, "# {}: {} = {value}", point + 1, slot.name)?;
        }
    }
    write!(sink, "{}", PermutationGroup::new(degree, generators).to_gap("symmetries"))?;
    writeln!(sink, "Print(Size(symmetries), \"\\n\");")
}

impl Phases {
    fn of(times: &quotient_symmetry::PhaseTimes) -> Self {
        Self {
            unfolding: times.unfolding,
            graph: times.encoding,
            automorphisms: times.search,
            certification: times.certification,
            structure: Duration::ZERO,
        }
    }
}
