//! `quotient detect`: the symmetries of a model, and why an expected one is absent.

use std::fs::File;
use std::io::BufWriter;
use std::process::ExitCode;

use quotient::{Control, DetectOptions, Limits, Lowering, Preserve, Question, Silent, SymmetryFormat, detect};

use crate::arguments::{DetectArguments, Format, ModelArguments, ResourceArguments, SymmetryExport, SymmetryName};
use crate::commands::{family, load_model, partial, show_warnings, symmetry};
use crate::failure::{Failure, HOLDS};
use crate::invocation::Invocation;
use crate::render::symmetry::{human, json};
use crate::terminal::{Palette, print, print_with};

/// Runs the command.
pub(crate) fn run(arguments: &DetectArguments, invocation: &Invocation) -> Result<ExitCode, Failure> {
    let (model_arguments, question) = split_request(arguments)?;
    let ResourceArguments { max_memory, timeout } = arguments.resources;
    let control = Control::start(&Limits { max_memory, timeout, ..Limits::default() });
    let preserve = if arguments.no_properties {
        Preserve::Behaviour
    } else if arguments.properties.is_empty() {
        Preserve::All
    } else {
        Preserve::Named(arguments.properties.clone())
    };
    if arguments.symmetry != SymmetryName::Auto {
        if arguments.text {
            return Err(Failure::Usage("--text does not use --symmetry".into()));
        }
        if arguments.family {
            return Err(Failure::Usage("--family does not use --symmetry: it reads the text".into()));
        }
        if arguments.partial {
            return Err(Failure::Usage("--partial does not use --symmetry: it looks at each rule by itself".into()));
        }
        if arguments.export.as_ref().is_some_and(|export| export.format != SymmetryFormat::Gap) {
            return Err(Failure::Usage("only --symmetry auto makes a graph to export".into()));
        }
    }
    let model = load_model(&model_arguments, Lowering::for_detection(), &control)?;
    if arguments.family {
        show_warnings(&model);
        return family::run(&model, &preserve, &control, arguments.format, invocation);
    }
    if arguments.partial {
        show_warnings(&model);
        return partial::run(&model, &preserve, &control, arguments.format, invocation);
    }
    // Created first, so that a long detection does not fail at the end for lack of an output file.
    let export = arguments.export.as_ref().map(|export| create(export).map(|file| (export, file))).transpose()?;
    let certificate = arguments.certificate.as_ref().map(|path| match File::create(path) {
        Ok(file) => Ok((path, file)),
        Err(error) => Err(Failure::file("write", path, &error)),
    });
    let certificate = certificate.transpose()?;
    show_warnings(&model);
    let options =
        DetectOptions { symmetry: symmetry(arguments.symmetry), preserve, question, only_text: arguments.text };
    let found = detect(&model, &options, &control, &mut Silent)?;
    if let Some((export, file)) = export {
        found
            .export(export.format, BufWriter::new(file))
            .map_err(|error| Failure::file("write", &export.path, &error))?;
    }
    if let Some((path, file)) = certificate {
        let certificate = found.certificate();
        let written = serde_json::to_writer_pretty(BufWriter::new(file), &certificate);
        written.map_err(|error| Failure::file("write", path, &error.into()))?;
    }
    match arguments.format {
        Format::Human => print(&human::detection(&found, Palette::for_stdout()))?,
        Format::Json => print_with(|writer| json::detection(writer, &found, invocation))?,
    };
    Ok(ExitCode::from(HOLDS))
}

/// `--why-not MODEL` parses as a request without a model; it means a model without a request.
fn split_request(arguments: &DetectArguments) -> Result<(ModelArguments, Option<Question>), Failure> {
    let model = &arguments.model;
    let (path, question) = match (&model.path, &arguments.why_not) {
        (Some(path), None) => (path.clone(), None),
        (Some(path), Some(None)) => (path.clone(), Some(Question::Families)),
        (Some(path), Some(Some(text))) => (path.clone(), Some(Question::WhyNot(text.clone()))),
        (None, Some(Some(text))) => (text.into(), Some(Question::Families)),
        (None, _) => return Err(Failure::Usage("which model? Usage: quotient detect [OPTIONS] <MODEL>".into())),
    };
    let (definitions, language, max_processes) = (model.definitions.clone(), model.language, model.max_processes);
    Ok((
        ModelArguments {
            path,
            definitions,
            language,
            no_extra_nodes: false,
            max_processes,
            well_definedness: None,
            property_files: Vec::new(),
        },
        question,
    ))
}

fn create(export: &SymmetryExport) -> Result<File, Failure> {
    File::create(&export.path).map_err(|error| Failure::file("write", &export.path, &error))
}
