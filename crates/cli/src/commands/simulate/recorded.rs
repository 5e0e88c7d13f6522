//! A run from a file, shown as a whole.

use quotient::Model;
use quotient_ir::Trace;

use crate::arguments::Format;
use crate::failure::{Failure, HOLDS, VIOLATED};
use crate::invocation::Invocation;
use crate::render::json;
use crate::render::trace::{StateDetail, TraceRenderer};
use crate::terminal::{Palette, print, print_with};

/// Shows a run.
pub(super) fn run(
    model: &Model,
    trace: Trace,
    format: Format,
    detail: StateDetail,
    invocation: &Invocation,
) -> Result<(Trace, u8), Failure> {
    match format {
        Format::Human => {
            let palette = Palette::for_stdout();
            let renderer = TraceRenderer::new(model.ir(), model.layout(), palette).showing(detail);
            print(&renderer.trace(&trace))?;
        }
        Format::Json => {
            let stop_reason = if trace.violation.is_some() { "violation" } else { "end-of-run" };
            print_with(|writer| json::simulation(writer, model, None, stop_reason, &trace, invocation))?;
        }
    }
    let status = if trace.violation.is_some() { VIOLATED } else { HOLDS };
    Ok((trace, status))
}
