//! From the tree of a text to a formula: the caller reads the atoms and says how many values a quantifier ranges over.

use super::tree::{Binary, Quantified, Quantifier, SyntaxId, SyntaxKind, SyntaxTree, Unary};
use super::{Dialect, Span, SyntaxError, parse};
use crate::formula::{Atom, Formula, Formulas};
use rustc_hash::FxHashMap;

/// A bound variable with one of its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The name of the variable.
    pub variable: Span,
    /// The text of its type.
    pub domain: Span,
    /// The position of the value in the type.
    pub value: usize,
}

/// What the caller knows about atoms and types.
pub trait AtomReader {
    /// What is wrong with an atom or a type.
    type Error;
    /// The formula that an atom stands for; the bindings are from the outside to the inside.
    ///
    /// # Errors
    /// If the text of the span is not a condition of the language.
    fn atom(&mut self, pool: &mut Formulas, span: Span, bindings: &[Binding]) -> Result<Formula, Self::Error>;
    /// How many values a quantifier ranges over.
    ///
    /// # Errors
    /// If its domain is not one of the language.
    fn domain_size(&mut self, quantified: &Quantified, bindings: &[Binding]) -> Result<usize, Self::Error>;
}

/// The formula of a tree, with quantifiers expanded.
///
/// # Errors
/// All errors of the reader.
pub fn lower<Reader: AtomReader>(
    tree: &SyntaxTree,
    pool: &mut Formulas,
    reader: &mut Reader,
) -> Result<Formula, Vec<Reader::Error>> {
    lower_from(tree, tree.root(), &[], pool, reader)
}

/// The formula of a part of a tree, with given values of the variables around it.
///
/// # Errors
/// All errors of the reader.
pub fn lower_from<Reader: AtomReader>(
    tree: &SyntaxTree,
    part: SyntaxId,
    bindings: &[Binding],
    pool: &mut Formulas,
    reader: &mut Reader,
) -> Result<Formula, Vec<Reader::Error>> {
    let mut lowering = Lowering { tree, pool, reader, bindings: bindings.to_vec(), errors: Vec::new() };
    let formula = lowering.formula(part);
    if lowering.errors.is_empty() { Ok(formula) } else { Err(lowering.errors) }
}

struct Lowering<'a, Reader: AtomReader> {
    tree: &'a SyntaxTree,
    pool: &'a mut Formulas,
    reader: &'a mut Reader,
    bindings: Vec<Binding>,
    errors: Vec<Reader::Error>,
}

impl<Reader: AtomReader> Lowering<'_, Reader> {
    fn checked<Value>(&mut self, result: Result<Value, Reader::Error>, otherwise: Value) -> Value {
        result.unwrap_or_else(|error| {
            self.errors.push(error);
            otherwise
        })
    }
    // The parser limits how deeply trees are nested, apart from chains.
    fn formula(&mut self, id: SyntaxId) -> Formula {
        let node = self.tree.node(id);
        match &node.kind {
            SyntaxKind::Constant(value) => self.pool.constant(*value),
            SyntaxKind::Atom => {
                let atom = self.reader.atom(self.pool, node.span, &self.bindings);
                self.checked(atom, Formula::TRUE)
            }
            SyntaxKind::Unary(operator, operand) => {
                let a = self.formula(*operand);
                match operator {
                    Unary::Not => self.pool.not(a),
                    Unary::Next => self.pool.next(a),
                    Unary::Eventually => self.pool.eventually(a),
                    Unary::Always => self.pool.always(a),
                    Unary::Yesterday => self.pool.yesterday(a),
                    Unary::WeakYesterday => self.pool.weak_yesterday(a),
                    Unary::Once => self.pool.once(a),
                    Unary::Historically => self.pool.historically(a),
                }
            }
            SyntaxKind::Binary(operator @ (Binary::And | Binary::Or), ..) => {
                let operands: Vec<Formula> = self.chain(id).into_iter().map(|operand| self.formula(operand)).collect();
                if *operator == Binary::And { self.pool.and(operands) } else { self.pool.or(operands) }
            }
            SyntaxKind::Binary(operator, left, right) => {
                let (a, b) = (self.formula(*left), self.formula(*right));
                match operator {
                    Binary::And => self.pool.and([a, b]),
                    Binary::Or => self.pool.or([a, b]),
                    Binary::Implies => self.pool.implies(a, b),
                    Binary::Equivalent => self.pool.equivalent(a, b),
                    Binary::Until => self.pool.until(a, b),
                    Binary::WeakUntil => self.pool.weak_until(a, b),
                    Binary::Release => self.pool.release(a, b),
                    Binary::StrongRelease => self.pool.strong_release(a, b),
                    Binary::Since => self.pool.since(a, b),
                    Binary::Triggered => self.pool.triggered(a, b),
                }
            }
            SyntaxKind::Path(quantifier, operand) => {
                let a = self.formula(*operand);
                self.pool.path(*quantifier, a)
            }
            SyntaxKind::Quantified(quantified) => {
                let size = self.reader.domain_size(quantified, &self.bindings);
                let size = self.checked(size, 0);
                let mut instances = Vec::with_capacity(size);
                for value in 0..size {
                    let (variable, domain) = (quantified.variable, quantified.domain);
                    self.bindings.push(Binding { variable, domain, value });
                    let errors = self.errors.len();
                    instances.push(self.formula(quantified.body));
                    self.bindings.pop();
                    // The other values would have the same errors.
                    if self.errors.len() > errors {
                        break;
                    }
                }
                match quantified.quantifier {
                    Quantifier::ForAll => self.pool.and(instances),
                    Quantifier::Exists => self.pool.or(instances),
                }
            }
        }
    }
    /// The operands of a chain of one connective, from left to right.
    fn chain(&self, id: SyntaxId) -> Vec<SyntaxId> {
        let mut operands = Vec::new();
        let mut current = id;
        let SyntaxKind::Binary(operator, ..) = self.tree.node(id).kind else { return vec![id] };
        loop {
            match &self.tree.node(current).kind {
                SyntaxKind::Binary(inner, left, right) if *inner == operator => {
                    operands.push(*right);
                    current = *left;
                }
                _ => {
                    operands.push(current);
                    operands.reverse();
                    return operands;
                }
            }
        }
    }
}

/// Atoms by their text, numbered in the order in which they are first met.
#[derive(Clone, Debug, Default)]
pub struct AtomTable {
    names: Vec<String>,
    numbers: FxHashMap<String, Atom>,
}

impl AtomTable {
    /// The atom of a text.
    pub fn atom(&mut self, name: &str) -> Atom {
        if let Some(&atom) = self.numbers.get(name) {
            return atom;
        }
        let atom = Atom(self.names.len() as u32);
        self.names.push(name.to_owned());
        self.numbers.insert(name.to_owned(), atom);
        atom
    }
    /// The texts of the atoms, by number.
    pub fn names(&self) -> &[String] {
        &self.names
    }
    /// Parses a formula whose atoms are their texts.
    ///
    /// # Errors
    /// Everything that is wrong with the text; quantifiers have no meaning here.
    pub fn parse(
        &mut self,
        pool: &mut Formulas,
        text: &str,
        dialect: &Dialect<'_>,
    ) -> Result<Formula, Vec<SyntaxError>> {
        let tree = parse(text, dialect)?;
        lower(&tree, pool, &mut TextReader { text, table: self })
    }
}

struct TextReader<'a> {
    text: &'a str,
    table: &'a mut AtomTable,
}

impl AtomReader for TextReader<'_> {
    type Error = SyntaxError;
    fn atom(&mut self, pool: &mut Formulas, span: Span, _: &[Binding]) -> Result<Formula, SyntaxError> {
        let atom = self.table.atom(span.of(self.text));
        Ok(pool.atom(atom))
    }
    fn domain_size(&mut self, quantified: &Quantified, _: &[Binding]) -> Result<usize, SyntaxError> {
        Err(SyntaxError::new("quantifier", "there are no types here to quantify over", quantified.domain))
    }
}

/// Parses a formula over the atoms `p0`, `p1`, …, as [`crate::print`] writes them.
///
/// # Errors
/// Everything that is wrong with the text, including other atoms.
pub fn parse_plain(pool: &mut Formulas, text: &str) -> Result<Formula, Vec<SyntaxError>> {
    struct Numbered<'a>(&'a str);
    impl AtomReader for Numbered<'_> {
        type Error = SyntaxError;
        fn atom(&mut self, pool: &mut Formulas, span: Span, _: &[Binding]) -> Result<Formula, SyntaxError> {
            let name = span.of(self.0);
            match name.strip_prefix('p').and_then(|number| number.parse().ok()) {
                Some(number) => Ok(pool.atom(Atom(number))),
                None => Err(SyntaxError::new("unknown-atom", format!("`{name}` is not an atom"), span)
                    .with_help("atoms are `p0`, `p1`, …")),
            }
        }
        fn domain_size(&mut self, quantified: &Quantified, _: &[Binding]) -> Result<usize, SyntaxError> {
            Err(SyntaxError::new("quantifier", "there are no types here to quantify over", quantified.domain))
        }
    }
    lower(&parse(text, &Dialect::plain())?, pool, &mut Numbered(text))
}
