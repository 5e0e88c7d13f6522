//! A run from a file, shown as a whole.

use quotient_ir::{Diagnostic, Interpreter, Trace};

use crate::arguments::Format;
use crate::failure::{Failure, HOLDS, VIOLATED};
use crate::render::json;
use crate::render::trace::{StateDetail, TraceRenderer};
use crate::terminal::{Palette, print, print_with};

/// Shows a run.
pub(super) fn run(
    interpreter: &Interpreter<'_>,
    trace: Trace,
    format: Format,
    detail: StateDetail,
    warnings: &[Diagnostic],
) -> Result<(Trace, u8), Failure> {
    match format {
        Format::Human => {
            let palette = Palette::for_stdout();
            let renderer = TraceRenderer::new(interpreter.model(), interpreter.layout(), palette).showing(detail);
            print(&renderer.trace(&trace))?;
        }
        Format::Json => {
            let stop_reason = if trace.violation.is_some() { "violation" } else { "end-of-run" };
            print_with(|writer| json::simulation(writer, interpreter, None, stop_reason, &trace, warnings))?;
        }
    }
    let status = if trace.violation.is_some() { VIOLATED } else { HOLDS };
    Ok((trace, status))
}
