//! Coloured graphs in the formats of other tools: DIMACS for bliss and saucy, dreadnaut for nauty and
//! Traces, DOT for drawing.

use super::ColouredGraph;
use crate::Point;
use std::io::{self, Write};

impl ColouredGraph {
    /// Writes the DIMACS format of bliss and saucy: vertices counted from one, a colour line for each.
    ///
    /// # Errors
    /// If the sink fails.
    pub fn write_dimacs(&self, sink: &mut impl Write) -> io::Result<()> {
        writeln!(sink, "p edge {} {}", self.vertex_count(), self.edge_count())?;
        for (vertex, colour) in self.colours().iter().enumerate() {
            writeln!(sink, "n {} {}", vertex + 1, colour)?;
        }
        for (left, right) in self.edges() {
            writeln!(sink, "e {} {}", left + 1, right + 1)?;
        }
        Ok(())
    }

    /// Writes a dreadnaut script that defines the sparse graph, counted from zero, and its partition. It does not start
    /// the search: append `x` to do so. The mode, `As` for nauty or `At` for Traces, must come before the graph.
    ///
    /// # Errors
    /// If the sink fails.
    pub fn write_dreadnaut(&self, sink: &mut impl Write) -> io::Result<()> {
        writeln!(sink, "n={} $=0 g", self.vertex_count())?;
        let mut width = 0;
        for vertex in 0..self.vertex_count() as Point {
            for &next in self.neighbours(vertex).iter().filter(|&&next| next > vertex) {
                write!(sink, " {next}")?;
                width += 1;
                // dreadnaut reads lines of bounded length.
                if width % 16 == 0 {
                    writeln!(sink)?;
                }
            }
            writeln!(sink, "{}", if vertex as usize + 1 == self.vertex_count() { '.' } else { ';' })?;
        }
        write!(sink, "f=[")?;
        let mut by_colour: Vec<Point> = (0..self.vertex_count() as Point).collect();
        by_colour.sort_by_key(|&vertex| self.colour(vertex));
        let mut index = 0;
        while index < by_colour.len() {
            if index > 0 {
                write!(
                    sink,
                    "{}",
                    if self.colour(by_colour[index]) == self.colour(by_colour[index - 1]) { ' ' } else { '|' }
                )?;
            }
            // A run of consecutive vertices is written as a range.
            let mut end = index + 1;
            while end < by_colour.len()
                && by_colour[end] == by_colour[end - 1] + 1
                && self.colour(by_colour[end]) == self.colour(by_colour[index])
            {
                end += 1;
            }
            if end - index > 1 {
                writeln!(sink, "{}:{}", by_colour[index], by_colour[end - 1])?;
            } else {
                writeln!(sink, "{}", by_colour[index])?;
            }
            index = end;
        }
        writeln!(sink, "]")
    }

    /// Writes a DOT drawing; `label` names each vertex.
    ///
    /// # Errors
    /// If the sink fails.
    pub fn write_dot(&self, sink: &mut impl Write, label: impl Fn(Point) -> String) -> io::Result<()> {
        writeln!(sink, "graph {{\n  node [style=filled, colorscheme=set312];")?;
        for (vertex, colour) in self.colours().iter().enumerate() {
            let label = label(vertex as Point).replace('\\', "\\\\").replace('"', "\\\"");
            writeln!(
                sink,
                "  {vertex} [label=\"{label}\", fillcolor={}, tooltip=\"colour {colour}\"];",
                colour % 12 + 1
            )?;
        }
        for (left, right) in self.edges() {
            writeln!(sink, "  {left} -- {right};")?;
        }
        writeln!(sink, "}}")
    }
}

#[cfg(test)]
mod tests {
    use crate::GraphBuilder;

    fn text(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> String {
        let mut bytes = Vec::new();
        write(&mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn formats() {
        let mut builder = GraphBuilder::new();
        builder.add_vertices(2, 5);
        builder.add_vertex(3);
        builder.add_edge(0, 2);
        builder.add_edge(1, 2);
        let graph = builder.build().unwrap();
        assert_eq!(text(|sink| graph.write_dimacs(sink)), "p edge 3 2\nn 1 5\nn 2 5\nn 3 3\ne 1 3\ne 2 3\n");
        assert_eq!(text(|sink| graph.write_dreadnaut(sink)), "n=3 $=0 g\n 2;\n 2;\n.\nf=[2\n|0:1\n]\n");
        assert_eq!(
            text(|sink| graph.write_dot(sink, |vertex| format!("\"{vertex}\""))),
            "graph {\n  node [style=filled, colorscheme=set312];\n\
             \x20 0 [label=\"\\\"0\\\"\", fillcolor=6, tooltip=\"colour 5\"];\n\
             \x20 1 [label=\"\\\"1\\\"\", fillcolor=6, tooltip=\"colour 5\"];\n\
             \x20 2 [label=\"\\\"2\\\"\", fillcolor=4, tooltip=\"colour 3\"];\n\
             \x20 0 -- 2;\n  1 -- 2;\n}\n"
        );
    }
}
