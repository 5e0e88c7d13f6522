//! PNML: Petri nets in the XML form of ISO/IEC 15909-2, as the Model Checking Contest distributes them, read into a
//! [`Model`](quotient_ir::Model). Further files of the source are property sets of the contest.
//!
//! * `xml` and `reader` read the text into a `net`, which knows no XML.
//! * `lower` makes the model: a place is a counter, a transition a rule (`rules`), a claim in XML a property
//!   (`formulas`).
//! * How many tokens a place holds: `lower/weights.rs` finds sums that no transition increases ([why
//!   so](../../../docs/adr/0056-bounds-near-a-place.md)), `lower/bounds.rs` solves projections of the marking equation
//!   ([why so](../../../docs/adr/0041-petri-nets.md)). For the other places, `lower/unfolding.rs` makes a vector net,
//!   and the crate `covering` finds its coverability set, with a certificate that is checked.
//! * `lower/goals.rs` reads claims about unbounded nets as goals ([why so](../../../docs/adr/0055-coverability-answers.md)),
//!   and `lower/description.rs` describes the net beside the model. What follows from it is for an engine.
//!
//! `outline` is for editors. Knows nothing of other languages, symmetry or engines.

mod lower;
mod net;
mod outline;
mod reader;
mod xml;

use quotient_ir::{Diagnostic, Source, Span};
use quotient_kit::conditions::Conditions;
use quotient_kit::outline::Builder;
use quotient_kit::{FrontEnd, LoadOptions, Loaded, Words, first_errors};

use self::xml::Element;

/// The name of the bound that is assumed for places without one.
const BOUND: &str = "tokens";

/// The front end of PNML.
pub static LANGUAGE: FrontEnd = FrontEnd {
    name: "PNML",
    read: load,
    files: |_| Vec::new(),
    parse: syntax_errors,
    definitions: outline,
    words: Words { keywords: Vec::new, any_case: false, may_begin_with_underscore: true },
    numbers: None,
    conditions: Conditions::Refused {
        message: "there are no expressions about nets",
        help: "give formulas in the XML form of the Model Checking Contest, with --properties",
    },
    layout: None,
};

/// Parses and lowers a net.
fn load(source: Source, options: &LoadOptions) -> Result<Loaded, Vec<Diagnostic>> {
    let assumed = assumed_bound(options)?;
    let starts = std::iter::once(0).chain(source.files.iter().map(|(start, _)| *start));
    let files: Vec<Result<Element, Box<Diagnostic>>> =
        starts.map(|start| xml::read(&source, source.file_at(start).1)).collect();
    let mut diagnostics = Vec::new();
    let mut elements = Vec::new();
    for file in files {
        match file {
            Ok(element) => elements.push(element),
            Err(error) => diagnostics.push(*error),
        }
    }
    if !diagnostics.is_empty() {
        return Err(first_errors(diagnostics));
    }
    let Some((root, properties)) = elements.split_first() else { return Err(Vec::new()) };
    let (net, problems) = reader::read(root);
    if problems.iter().any(Diagnostic::is_error) {
        return Err(first_errors(problems));
    }
    let assumed = assumed.unwrap_or(if net.is_said_safe { 1 } else { lower::ASSUMED_BOUND });
    let (model, problems) = lower::lower(&source, &net, properties, assumed);
    match model {
        Some(model) => Ok(Loaded { model, warnings: problems }),
        None => Err(first_errors(problems)),
    }
}

/// The bound that is assumed where none follows, if it is given.
fn assumed_bound(options: &LoadOptions) -> Result<Option<i64>, Vec<Diagnostic>> {
    let mut assumed = None;
    for (name, value) in &options.constants {
        let whole_file = |code, message: String, help: &str| {
            let error = Diagnostic::error(code, message, Span::default()).with_help(help);
            vec![Diagnostic { primary: None, ..error }]
        };
        if name != BOUND {
            let message = format!("`{name}` cannot be set: nets have no constants");
            let help = "`-D tokens=N` sets the bound that is assumed for places where none follows from the net";
            return Err(whole_file("no-such-constant", message, help));
        }
        assumed = match value.trim().parse::<i64>() {
            Ok(number) if (1..=i64::from(u32::MAX)).contains(&number) => Some(number),
            _ => {
                let message = format!("`{value}` is not a number of tokens");
                return Err(whole_file("constant-value", message, "give a number from 1 on"));
            }
        };
    }
    Ok(assumed)
}

/// The definitions of a text and their uses.
fn outline(source: &Source) -> Builder<'_> {
    outline::outline(source, xml::read(source, source.file_at(0).1).ok().as_ref())
}

/// The errors that the parser finds.
fn syntax_errors(source: &Source) -> Vec<Diagnostic> {
    xml::read(source, source.file_at(0).1).err().map(|error| *error).into_iter().collect()
}
