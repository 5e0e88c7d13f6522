//! The result of a check as one page of HTML that needs nothing else: something to attach to a ticket.

use std::fmt::Write;

use quotient::Verdict;

use crate::invocation::Invocation;
use crate::render::human::{Outcome, figure_rows, property_lines, summary, violations};
use crate::render::quantity;
use crate::render::trace::TraceRenderer;
use crate::terminal::Palette;

const STYLE: &str = "
:root { color-scheme: light dark; --page: #fff; --panel: #f6f7f9; --edge: #d5d9e0; --text: #1c2230; --faint: #5b6474;
  --good: #1a7f4b; --bad: #b42318; --open: #8a5a00; --bar: #1756a9; }
@media (prefers-color-scheme: dark) { :root { --page: #14171d; --panel: #1c212a; --edge: #363d4a; --text: #e4e8ef;
  --faint: #9aa4b5; --good: #5fd08f; --bad: #ff8a80; --open: #f2c14e; --bar: #3b7ddd; } }
body { font: 14px/1.5 system-ui, sans-serif; max-width: 980px; margin: 24px auto; padding: 0 16px; background: var(--page);
  color: var(--text); }
pre { font: 12px/1.55 ui-monospace, monospace; background: var(--panel); border: 1px solid var(--edge); border-radius: 8px;
  padding: 10px 14px; overflow: auto; }
table { border-collapse: collapse; } th, td { text-align: left; vertical-align: top; padding: 3px 16px 3px 0; }
th { color: var(--faint); font-weight: 500; white-space: nowrap; }
.holds { color: var(--good); } .violated { color: var(--bad); } .inconclusive { color: var(--open); }
.faint, figcaption, text { color: var(--faint); fill: var(--faint); font-size: 12px; } rect { fill: var(--bar); }
figure { margin: 0; } svg { width: 100%; }
";

/// The page.
pub(crate) fn page(outcome: &Outcome<'_>, invocation: &Invocation) -> String {
    let (model, report) = (outcome.model, outcome.report);
    let verdict = match report.verdict {
        Verdict::Holds => "holds",
        Verdict::Violated => "violated",
        Verdict::Inconclusive => "inconclusive",
    };
    let name = escaped(model.source().short_name(0));
    let mut text = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{name}: {verdict}</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n<h1>{name}</h1>\n<p class=\"{verdict}\"><strong>{}</strong></p>\n",
        escaped(&summary(outcome))
    );
    let hash = model.hash().map(|hash| format!(", sha256 {hash}")).unwrap_or_default();
    let version = env!("CARGO_PKG_VERSION");
    let _ =
        writeln!(text, "<p class=\"faint\">{}, quotient {version}{}</p>", escaped(&invocation.date), escaped(&hash));
    let properties = property_lines(outcome, Palette::PLAIN);
    if !properties.is_empty() {
        let _ = writeln!(text, "<h2>Properties</h2>\n<pre>{}</pre>", escaped(properties.trim_start_matches('\n')));
    }
    let renderer = TraceRenderer::new(model.ir(), model.layout(), Palette::PLAIN).showing(outcome.detail);
    for shown in violations(outcome) {
        let title = escaped(&shown.title(model.ir()));
        let run = shown.trace.map_or_else(|| "no reachable state satisfies it".to_owned(), |it| renderer.trace(it));
        let _ = writeln!(text, "<h2>{title}</h2>\n<pre>{}</pre>", escaped(&run));
    }
    if let Some(trace) = &report.fault {
        let _ = writeln!(
            text,
            "<h2>A run-time error ended the search</h2>\n<pre>{}</pre>",
            escaped(&renderer.trace(trace))
        );
    }
    if let Some(group) = report.symmetry.as_ref().and_then(|symmetry| symmetry.group.as_ref().ok()) {
        let _ = writeln!(
            text,
            "<h2>Symmetry</h2>\n<p>{}, {} symmetries</p>",
            escaped(&group.structure),
            quantity::digits(&group.order.to_string())
        );
        let generators: Vec<String> = group.generators.iter().map(|cycles| escaped(&cycles.join(" "))).collect();
        if !generators.is_empty() {
            let _ = writeln!(text, "<pre>{}</pre>", generators.join("\n"));
        }
    }
    if let Some(levels) = &report.levels {
        let _ = writeln!(text, "<h2>States by level</h2>\n{}", plot(levels));
    }
    text.push_str("<h2>The search</h2>\n<table>\n");
    for (name, value) in figure_rows(outcome) {
        let _ = writeln!(text, "<tr><th>{}</th><td>{}</td></tr>", escaped(name), escaped(&value));
    }
    text.push_str("</table>\n</body>\n</html>\n");
    text
}

/// The number of states at each depth, as bars.
fn plot(levels: &[u64]) -> String {
    const WIDTH: f64 = 920.0;
    const HEIGHT: f64 = 180.0;
    let most = levels.iter().copied().max().unwrap_or(0).max(1);
    let step = WIDTH / levels.len().max(1) as f64;
    let mut text = format!("<figure><svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\">\n");
    for (depth, &states) in levels.iter().enumerate() {
        let height = HEIGHT * states as f64 / most as f64;
        let _ = writeln!(
            text,
            "<rect x=\"{:.2}\" y=\"{:.2}\" width=\"{:.2}\" height=\"{height:.2}\"><title>depth {depth}: {states}</title></rect>",
            depth as f64 * step,
            HEIGHT - height,
            (step * 0.85).max(0.5),
        );
    }
    let last = levels.len().saturating_sub(1);
    let _ = write!(
        text,
        "</svg><figcaption>depth 0 to {last}; at most {} states at one depth</figcaption></figure>",
        quantity::count(most)
    );
    text
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
