//! Message sequence charts as SVG: a line for each process, an arrow for each message from its send to its receive, time
//! going down. A message that is never received ends at a circle. Other statements and events are written beside the lines
//! of their processes.

use std::fmt::Write;

use quotient::shown::{ChartMessage, ChartNote, SequenceChart};

/// Distances in the picture.
const COLUMN: usize = 190;
const ROW: usize = 30;
const TOP: usize = 50;
/// The maximum length of a text beside a line.
const LABEL_LENGTH: usize = 30;

/// The chart of a run with this many steps, drawn.
pub(crate) fn draw(chart: &SequenceChart, steps: usize) -> String {
    let column = |process: usize| COLUMN / 2 + process * COLUMN;
    let at = |step: usize| TOP + ROW * step;
    let end = at(steps + 1);
    let (width, height) = (COLUMN * chart.processes.len().max(1), end + ROW);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"11\">\n\
         <defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" \
         orient=\"auto\"><path d=\"M0,0 L8,4 L0,8 z\"/></marker></defs>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    for (position, process) in chart.processes.iter().enumerate() {
        let (x, name) = (column(position), escaped(process));
        let _ = writeln!(
            text,
            "<text x=\"{x}\" y=\"{}\" text-anchor=\"middle\" font-weight=\"bold\">{name}</text>",
            TOP - 20
        );
        let _ = writeln!(text, "<line x1=\"{x}\" y1=\"{}\" x2=\"{x}\" y2=\"{}\" stroke=\"#999\"/>", TOP - 10, end);
    }
    for ChartNote { process, step, text: statement } in &chart.notes {
        let (x, y) = (column(*process), at(*step));
        let statement = match statement.char_indices().nth(LABEL_LENGTH) {
            Some((end, _)) => &format!("{}…", &statement[..end]),
            None => statement,
        };
        let _ = writeln!(text, "<circle cx=\"{x}\" cy=\"{y}\" r=\"2\"/>");
        let _ = writeln!(text, "<text x=\"{}\" y=\"{}\" fill=\"#666\">{}</text>", x + 6, y + 4, escaped(statement));
    }
    for ChartMessage { from, sent, to: receipt, text: message } in &chart.messages {
        let (from, y1) = (column(*from), at(*sent));
        let (to, y2) = match receipt {
            Some((process, step)) => (column(*process), at(*step)),
            None => (from + COLUMN / 3, y1),
        };
        // A message from a process to itself is drawn as a loop at its side.
        let path = if to == from {
            format!("M{from},{y1} L{x},{y1} L{x},{y2} L{from},{y2}", x = from + COLUMN / 4)
        } else {
            format!("M{from},{y1} L{to},{y2}")
        };
        let _ = writeln!(text, "<path d=\"{path}\" fill=\"none\" stroke=\"black\" marker-end=\"url(#head)\"/>");
        if receipt.is_none() {
            let _ = writeln!(text, "<circle cx=\"{}\" cy=\"{y2}\" r=\"4\" fill=\"none\" stroke=\"black\"/>", to + 4);
        }
        let anchor = if to < from { "end" } else { "start" };
        let x = if to < from { from - 6 } else { from + 6 };
        let statement = escaped(message);
        let _ = writeln!(text, "<text x=\"{x}\" y=\"{}\" text-anchor=\"{anchor}\">{statement}</text>", y1 - 4);
    }
    text.push_str("</svg>\n");
    text
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
