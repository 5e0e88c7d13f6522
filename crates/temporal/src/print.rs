//! Formulas as text: in the operators of textbooks (also ProB's), in those of SPIN, and in the prefix form of lbt.
//!
//! `F`, `G`, `O` and `H` are written where a formula has their form.

use crate::formula::{Atom, Formula, Formulas, Node, PathQuantifier};

/// Which operators are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// `G (!p0 | F p1)`: parentheses around all operators with two operands.
    Plain,
    /// `[] ((! p0) || (<> p1))`: parentheses around everything, since SPIN's command line and its `ltl` blocks differ in
    /// which operators bind more tightly.
    Spin,
    /// Prefix form: `G | ! p0 F p1`.
    Lbt,
}

/// A piece of text that is still to be written.
enum Pending {
    Text(&'static str),
    Operand(Formula),
}

/// A formula as text. The function gives the text of each atom.
pub fn print(pool: &Formulas, formula: Formula, notation: Notation, atom: &dyn Fn(Atom) -> String) -> String {
    let mut text = String::new();
    let mut pending = vec![Pending::Operand(formula)];
    let mut top = true;
    while let Some(piece) = pending.pop() {
        let formula = match piece {
            Pending::Text(piece) => {
                text.push_str(piece);
                continue;
            }
            Pending::Operand(formula) => formula,
        };
        let shape = shape(pool, formula);
        let enclosed = !top
            && match (&shape, notation) {
                (_, Notation::Lbt) | (Shape::Constant(_) | Shape::Atom(_), _) => false,
                (Shape::Chain(..), _) | (_, Notation::Spin) => true,
                // `E p U q` is `E (p U q)`.
                (Shape::Unary(operator, _), Notation::Plain) => {
                    matches!(operator, Operator::AllPaths | Operator::SomePath)
                }
            };
        top = false;
        if enclosed {
            text.push('(');
            pending.push(Pending::Text(")"));
        }
        match shape {
            Shape::Constant(value) => text.push_str(match (notation, value) {
                (Notation::Lbt, true) => "t",
                (Notation::Lbt, false) => "f",
                (_, true) => "true",
                (_, false) => "false",
            }),
            Shape::Atom(number) => text.push_str(&atom(number)),
            Shape::Unary(operator, operand) => {
                text.push_str(operator.spelling(notation));
                if operator != Operator::Not || notation != Notation::Plain {
                    text.push(' ');
                }
                pending.push(Pending::Operand(operand));
            }
            Shape::Chain(operator, operands) => {
                let last = operands.len() - 1;
                for (position, operand) in operands.into_iter().enumerate().rev() {
                    match notation {
                        Notation::Lbt => {
                            if position < last {
                                pending.push(Pending::Text(" "));
                            }
                            pending.push(Pending::Operand(operand));
                            if position < last {
                                pending.extend([Pending::Text(" "), Pending::Text(operator.spelling(notation))]);
                            }
                        }
                        _ => {
                            pending.push(Pending::Operand(operand));
                            if position > 0 {
                                pending.extend([
                                    Pending::Text(" "),
                                    Pending::Text(operator.spelling(notation)),
                                    Pending::Text(" "),
                                ]);
                            }
                        }
                    }
                }
            }
        }
    }
    text
}

/// A formula with atoms written `p0`, `p1`, …; `syntax::parse_plain` reads it.
pub fn plain(pool: &Formulas, formula: Formula) -> String {
    print(pool, formula, Notation::Plain, &|Atom(number)| format!("p{number}"))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Operator {
    Not,
    And,
    Or,
    Next,
    Until,
    Release,
    Eventually,
    Always,
    Yesterday,
    WeakYesterday,
    Once,
    Historically,
    Since,
    Triggered,
    AllPaths,
    SomePath,
}

impl Operator {
    fn spelling(self, notation: Notation) -> &'static str {
        let [plain, spin, lbt] = match self {
            Self::Not => ["!", "!", "!"],
            Self::And => ["&", "&&", "&"],
            Self::Or => ["|", "||", "|"],
            Self::Next => ["X", "X", "X"],
            Self::Until => ["U", "U", "U"],
            Self::Release => ["R", "V", "V"],
            Self::Eventually => ["F", "<>", "F"],
            Self::Always => ["G", "[]", "G"],
            Self::Yesterday => ["Y", "yesterday", "Y"],
            Self::WeakYesterday => ["Z", "Z", "Z"],
            Self::Once => ["O", "once", "O"],
            Self::Historically => ["H", "historically", "H"],
            Self::Since => ["S", "since", "S"],
            Self::Triggered => ["T", "triggered", "T"],
            Self::AllPaths => ["A", "A", "A"],
            Self::SomePath => ["E", "E", "E"],
        };
        match notation {
            Notation::Plain => plain,
            Notation::Spin => spin,
            Notation::Lbt => lbt,
        }
    }
}

enum Shape {
    Constant(bool),
    Atom(Atom),
    Unary(Operator, Formula),
    Chain(Operator, Vec<Formula>),
}

/// The operator to write, with abbreviations recognised.
fn shape(pool: &Formulas, formula: Formula) -> Shape {
    use Operator as O;
    match pool.node(formula) {
        Node::True => Shape::Constant(true),
        Node::False => Shape::Constant(false),
        Node::Atom(atom) => Shape::Atom(*atom),
        Node::Not(a) => Shape::Unary(O::Not, *a),
        Node::And(operands) => Shape::Chain(O::And, operands.to_vec()),
        Node::Or(operands) => Shape::Chain(O::Or, operands.to_vec()),
        Node::Next(a) => Shape::Unary(O::Next, *a),
        Node::Until(Formula::TRUE, b) => Shape::Unary(O::Eventually, *b),
        Node::Until(a, b) => Shape::Chain(O::Until, vec![*a, *b]),
        Node::Release(Formula::FALSE, b) => Shape::Unary(O::Always, *b),
        Node::Release(a, b) => Shape::Chain(O::Release, vec![*a, *b]),
        Node::Yesterday(a) => Shape::Unary(O::Yesterday, *a),
        Node::WeakYesterday(a) => Shape::Unary(O::WeakYesterday, *a),
        Node::Since(Formula::TRUE, b) => Shape::Unary(O::Once, *b),
        Node::Since(a, b) => Shape::Chain(O::Since, vec![*a, *b]),
        Node::Triggered(Formula::FALSE, b) => Shape::Unary(O::Historically, *b),
        Node::Triggered(a, b) => Shape::Chain(O::Triggered, vec![*a, *b]),
        Node::Path(PathQuantifier::All, a) => Shape::Unary(O::AllPaths, *a),
        Node::Path(PathQuantifier::Some, a) => Shape::Unary(O::SomePath, *a),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{FormulaShape, Random, random_formula};
    use crate::syntax::parse_plain;

    #[test]
    fn what_is_written_is_read_again() {
        let mut random = Random::new(7);
        let mut pool = Formulas::new();
        let shape = FormulaShape { paths: true, ..FormulaShape::with_past(4, 14) };
        for _ in 0..1000 {
            let formula = random_formula(&mut pool, &mut random, &shape);
            let text = plain(&pool, formula);
            assert_eq!(parse_plain(&mut pool, &text), Ok(formula), "{text}");
        }
    }

    #[test]
    fn notations() {
        let mut pool = Formulas::new();
        let formula = parse_plain(&mut pool, "G (p0 -> F p1) & !(p0 R p1)").expect("a formula");
        let name = |Atom(number)| format!("p{number}");
        let written = |notation| print(&pool, formula, notation, &name);
        assert_eq!(written(Notation::Plain), "G (F p1 | !p0) & !(p0 R p1)");
        assert_eq!(written(Notation::Spin), "([] ((<> p1) || (! p0))) && (! (p0 V p1))");
        assert_eq!(written(Notation::Lbt), "& G | F p1 ! p0 ! V p0 p1");
    }
}
