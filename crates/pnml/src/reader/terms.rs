//! Terms and conditions from XML.

use quotient_ir::Span;

use super::Reader;
use crate::net::{ClassId, Comparison, Condition, DOT, Factor, MOST_CELLS, Term, Value, merged};
use crate::xml::Element;

/// The most tokens that a term names.
const MOST_TOKENS: i64 = 1 << 40;
/// The most summands of a multiset.
const MOST_TERMS: usize = 100_000;

/// What a value is one of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A number that stands alone, of any class that has it.
    Number,
    /// A class.
    Class(ClassId),
    /// The parts of a partition.
    Part(usize),
}

impl Kind {
    fn may_be(self, class: ClassId) -> bool {
        self == Self::Number || self == Self::Class(class)
    }
}

/// A value and what it is one of.
type Typed = (Value, Kind);

impl<'e> Reader<'e> {
    /// The terms in the subterms of an operator.
    fn operands(element: &'e Element) -> Vec<&'e Element> {
        let is_wrapped = |child: &&Element| child.name == "subterm";
        match element.children.iter().any(|child| is_wrapped(&child)) {
            true => element.children.iter().filter(is_wrapped).filter_map(Self::term_in).collect(),
            // Older files have terms without `<subterm>`.
            false => element.children.iter().collect(),
        }
    }

    /// The first term in an element. Some files have `<subterm>` around any term, also twice.
    pub(super) fn term_in(element: &'e Element) -> Option<&'e Element> {
        let mut term = element.children.first()?;
        while term.name == "subterm" {
            term = term.children.first()?;
        }
        Some(term)
    }

    /// A multiset of tokens with components of these classes.
    pub(super) fn multiset(&mut self, element: &'e Element, domain: &[ClassId]) -> Option<Vec<Term>> {
        let terms = match element.name.as_str() {
            "add" => {
                let parts: Vec<_> = Self::operands(element).into_iter().map(|it| self.multiset(it, domain)).collect();
                parts.into_iter().collect::<Option<Vec<_>>>()?.concat()
            }
            "subtract" => {
                let parts: Vec<_> = Self::operands(element).into_iter().map(|it| self.multiset(it, domain)).collect();
                let mut parts = parts.into_iter().collect::<Option<Vec<_>>>()?.into_iter();
                let mut terms = parts.next().unwrap_or_default();
                for part in parts {
                    terms.extend(part.into_iter().map(|term| Term { coefficient: -term.coefficient, ..term }));
                }
                terms
            }
            "numberof" | "scalarproduct" => {
                let operands = Self::operands(element);
                let (factor, rest) = match operands.split_first() {
                    Some((first, rest)) if first.name == "numberconstant" && !rest.is_empty() => {
                        (self.number(first)?, rest)
                    }
                    _ => (1, &operands[..]),
                };
                let parts: Vec<_> = rest.iter().map(|it| self.multiset(it, domain)).collect();
                let mut terms = parts.into_iter().collect::<Option<Vec<_>>>()?.concat();
                for term in &mut terms {
                    term.coefficient = match term.coefficient.checked_mul(factor) {
                        Some(product) if product.abs() <= MOST_TOKENS => product,
                        _ => {
                            let help = format!("at most {MOST_TOKENS} are read");
                            self.report("too-large", "there are too many tokens", element.span, &help);
                            return None;
                        }
                    };
                }
                terms
            }
            "empty" | "emptybag" => Vec::new(),
            "all" => {
                let sort = match element.children.first() {
                    Some(sort) => self.sort(sort, None)?,
                    None => domain.to_vec(),
                };
                self.check_domain(&sort, domain, element.span)?;
                vec![Term { coefficient: 1, factors: self.all_of(&sort) }]
            }
            "tuple" => {
                // A component may itself be a multiset, such as `all`: then the tuple is the product.
                let parts = self.components(element, domain)?;
                let mut product = vec![Term { coefficient: 1, factors: Vec::new() }];
                for part in parts {
                    if product.len().saturating_mul(part.len()) > MOST_TERMS {
                        let help = "use `<all>` where a component is any value";
                        self.report("too-large", "the term has too many summands", element.span, help);
                        return None;
                    }
                    let pairs = product.iter().flat_map(|left| part.iter().map(move |right| (left, right)));
                    product = pairs
                        .map(|(left, right)| Term {
                            coefficient: left.coefficient.saturating_mul(right.coefficient),
                            factors: [&left.factors[..], &right.factors].concat(),
                        })
                        .collect();
                    if product.iter().any(|term| term.coefficient.abs() > MOST_TOKENS) {
                        let help = format!("at most {MOST_TOKENS} are read");
                        self.report("too-large", "there are too many tokens", element.span, &help);
                        return None;
                    }
                }
                product
            }
            "useroperator" if self.parts.contains_key(element.attribute("declaration").unwrap_or_default()) => {
                let (partition, part) = self.parts[element.attribute("declaration").unwrap_or_default()];
                let values = self.net.partitions.get(partition).map(|it| it.parts[part].clone()).unwrap_or_default();
                let one = |value| Term { coefficient: 1, factors: vec![Factor::One(Value::Constant(value))] };
                values.into_iter().map(one).collect()
            }
            _ => {
                let values = self.values(element)?;
                let kinds: Vec<Kind> = values.iter().map(|(_, kind)| *kind).collect();
                self.check_kinds(&kinds, domain, element.span)?;
                let factors = values.into_iter().zip(domain).map(|((value, _), &class)| match value {
                    Value::Constant(number) if !self.is_member(number, class) => None,
                    value => Some(Factor::One(value)),
                });
                let Some(factors) = factors.collect() else {
                    self.report("out-of-range", "the number is not in the class", element.span, "choose another one");
                    return None;
                };
                vec![Term { coefficient: 1, factors }]
            }
        };
        if terms.len() > MOST_TERMS {
            self.report("too-large", "the term has too many summands", element.span, "use `<all>`");
            return None;
        }
        Some(merged(terms))
    }

    /// The components of a tuple, each a multiset.
    fn components(&mut self, element: &'e Element, domain: &[ClassId]) -> Option<Vec<Vec<Term>>> {
        let operands = Self::operands(element);
        let mut rest = domain;
        let mut parts = Vec::new();
        for operand in &operands {
            // Variables may have several components themselves.
            let width = self.width(operand).min(rest.len());
            let (own, others) = rest.split_at(width);
            rest = others;
            parts.push(self.multiset(operand, own));
        }
        if !rest.is_empty() {
            let message = format!("the tuple has too few components: {} are expected", domain.len());
            self.report("components", message, element.span, "give a component for each class of the place");
            return None;
        }
        parts.into_iter().collect()
    }

    /// The number of components of a term.
    fn width(&mut self, element: &'e Element) -> usize {
        match element.name.as_str() {
            "variable" => {
                let id = element.attribute("refvariable").unwrap_or_default();
                self.variables.get(id).map_or(1, |&variable| self.net.variables[variable].classes.len())
            }
            "tuple" => Self::operands(element).into_iter().map(|it| self.width(it)).sum(),
            "all" => element.children.first().and_then(|sort| self.sort(sort, None)).map_or(1, |sort| sort.len()),
            "add" | "subtract" => Self::operands(element).first().map_or(1, |it| self.width(it)),
            "numberof" | "scalarproduct" => Self::operands(element).last().map_or(1, |it| self.width(it)),
            _ => 1,
        }
    }

    fn number(&mut self, element: &'e Element) -> Option<i64> {
        let text = element.attribute("value").unwrap_or_default();
        let number = text.trim().parse::<i64>().ok().filter(|number| (0..=MOST_TOKENS).contains(number));
        if number.is_none() {
            let message = format!("`{text}` is not a number of tokens");
            self.report("no-number", message, element.span, "write a number from 0 on");
        }
        number
    }

    fn all_of(&self, sort: &[ClassId]) -> Vec<Factor> {
        let factor = |&class: &ClassId| match self.net.classes[class].size {
            1 => Factor::One(Value::Constant(self.net.classes[class].first)),
            _ => Factor::All,
        };
        sort.iter().map(factor).collect()
    }

    fn is_member(&self, value: i64, class: ClassId) -> bool {
        let class = &self.net.classes[class];
        (class.first..=class.last()).contains(&value)
    }

    fn check_domain(&mut self, found: &[ClassId], expected: &[ClassId], span: Span) -> Option<()> {
        let found: Vec<Kind> = found.iter().copied().map(Kind::Class).collect();
        self.check_kinds(&found, expected, span)
    }

    fn check_kinds(&mut self, found: &[Kind], expected: &[ClassId], span: Span) -> Option<()> {
        if found.len() == expected.len() && found.iter().zip(expected).all(|(kind, &class)| kind.may_be(class)) {
            return Some(());
        }
        let name = |kind: Kind| match kind {
            Kind::Number => "number",
            Kind::Class(class) => &self.net.classes[class].name,
            Kind::Part(_) => "part",
        };
        let text = |kinds: &[Kind]| kinds.iter().map(|&kind| name(kind)).collect::<Vec<_>>().join(" × ");
        let expected = text(&expected.iter().copied().map(Kind::Class).collect::<Vec<_>>());
        let found = text(found);
        let message = format!("this is of the sort {found}, and {expected} is expected");
        self.report("wrong-sort", message, span, "correct the term, or the sort of the place");
        None
    }

    /// The values that a term of one class stands for, if it has no variable.
    pub(super) fn members(&self, term: &Term, class: ClassId) -> Vec<i64> {
        match &term.factors[..] {
            [Factor::All] => (self.net.classes[class].first..=self.net.classes[class].last()).collect(),
            [Factor::One(Value::Constant(value))] => vec![*value],
            _ => Vec::new(),
        }
    }

    /// A term with a single value for each component.
    fn values(&mut self, element: &'e Element) -> Option<Vec<Typed>> {
        match element.name.as_str() {
            "variable" => {
                let id = element.attribute("refvariable").unwrap_or_default();
                let Some(&variable) = self.variables.get(id) else {
                    let message = format!("there is no variable `{id}`");
                    self.report("unknown-name", message, element.span, "declare it with `<variabledecl>`");
                    return None;
                };
                if !self.mentioned.contains(&variable) {
                    self.mentioned.push(variable);
                }
                let classes = self.net.variables[variable].classes.iter().enumerate();
                Some(
                    classes
                        .map(|(component, &class)| (Value::Variable { variable, component }, Kind::Class(class)))
                        .collect(),
                )
            }
            "useroperator" => {
                let id = element.attribute("declaration").unwrap_or_default();
                if let Some(&(class, value)) = self.constants.get(id) {
                    return Some(vec![(Value::Constant(value), Kind::Class(class))]);
                }
                if let Some(&(partition, part)) = self.parts.get(id) {
                    return Some(vec![(Value::Constant(part as i64), Kind::Part(partition))]);
                }
                // Some files name the token of a sort of dots after the sort.
                if self.is_dot(id, element.span) {
                    return Some(vec![(Value::Constant(0), Kind::Class(DOT))]);
                }
                let message = format!("there is no constant `{id}`");
                self.report("unknown-name", message, element.span, "use the id of a constant of an enumeration");
                None
            }
            "dotconstant" => Some(vec![(Value::Constant(0), Kind::Class(DOT))]),
            "finiteintrangeconstant" | "numberconstant" => {
                let text = element.attribute("value").unwrap_or_default();
                let Ok(value) = text.trim().parse::<i64>() else {
                    let message = format!("`{text}` is not a number");
                    self.report("no-number", message, element.span, "write an integer");
                    return None;
                };
                let range = element.child("finiteintrange").and_then(|range| self.sort(range, None));
                let Some(class) = range.and_then(|sort| sort.first().copied()) else {
                    return Some(vec![(Value::Constant(value), Kind::Number)]);
                };
                if !self.is_member(value, class) {
                    self.report("out-of-range", "the number is not in the class", element.span, "choose another one");
                    return None;
                }
                Some(vec![(Value::Constant(value), Kind::Class(class))])
            }
            "successor" | "predecessor" => {
                let by = if element.name == "successor" { 1 } else { -1 };
                let &[operand] = &Self::operands(element)[..] else {
                    self.report("operands", "one operand is expected", element.span, "give one `<subterm>`");
                    return None;
                };
                let values = self.values(operand)?;
                let shifted = values.into_iter().map(|(of, kind)| {
                    let Kind::Class(class) = kind else { return None };
                    Some((self.shifted(of, by, class), kind))
                });
                let shifted: Option<Vec<Typed>> = shifted.collect();
                if shifted.is_none() {
                    let message = format!("the {} of a number without a class is not known", element.name);
                    self.report("wrong-sort", message, element.span, "use a constant of a class");
                }
                shifted
            }
            "partitionelementof" => {
                let id = element.attribute("refpartition").unwrap_or_default();
                let Some(&partition) = self.partitions.get(id) else {
                    let message = format!("there is no partition `{id}`");
                    self.report("unknown-name", message, element.span, "declare it with `<partition>`");
                    return None;
                };
                let operands = Self::operands(element);
                let values = operands.first().map(|operand| self.values(operand));
                match values.flatten().as_deref() {
                    Some([(of, kind)]) if kind.may_be(self.net.partitions[partition].class) => {
                        Some(vec![(Value::Part { of: Box::new(of.clone()), partition }, Kind::Part(partition))])
                    }
                    _ => {
                        let message = "a value of the class of the partition is expected";
                        self.report("wrong-sort", message, element.span, "give one `<subterm>` of that class");
                        None
                    }
                }
            }
            "tuple" => {
                let parts: Vec<_> = Self::operands(element).into_iter().map(|it| self.values(it)).collect();
                Some(parts.into_iter().collect::<Option<Vec<_>>>()?.concat())
            }
            other => {
                let message = format!("terms `<{other}>` are not read here");
                self.report("unsupported-term", message, element.span, "the terms of symmetric nets are read");
                None
            }
        }
    }

    /// The next or the previous value of a class. At the end of a class without a cycle there is none.
    fn shifted(&mut self, of: Value, by: i64, class: ClassId) -> Value {
        let entry = &self.net.classes[class];
        let end = if by > 0 { entry.last() } else { entry.first };
        if !entry.is_cyclic {
            self.required.push(match of {
                Value::Constant(value) => Condition::Constant(value != end),
                _ => Condition::Compare(Comparison::NotEqual, of.clone(), Value::Constant(end)),
            });
        }
        match of {
            Value::Constant(value) => Value::Constant(entry.first + (value - entry.first + by).rem_euclid(entry.size)),
            of => Value::Shifted { of: Box::new(of), by, class },
        }
    }

    /// The condition of a transition.
    pub(super) fn condition(&mut self, element: &'e Element) -> Option<Condition> {
        let comparison = match element.name.as_str() {
            "equality" => Comparison::Equal,
            "inequality" => Comparison::NotEqual,
            "lessthan" | "ltp" => Comparison::Less,
            "lessthanorequal" => Comparison::LessOrEqual,
            "greaterthan" | "gtp" => Comparison::Greater,
            "greaterthanorequal" => Comparison::GreaterOrEqual,
            "and" | "or" | "not" | "imply" | "xor" => return self.connective(element),
            "booleanconstant" => {
                return Some(Condition::Constant(element.attribute("value").unwrap_or_default().trim() == "true"));
            }
            other => {
                let message = format!("conditions `<{other}>` are not read");
                self.report("unsupported-term", message, element.span, "comparisons and connectives are read");
                return None;
            }
        };
        let &[left, right] = &Self::operands(element)[..] else {
            self.report("operands", "two operands are expected", element.span, "give two `<subterm>`s");
            return None;
        };
        let before = std::mem::take(&mut self.required);
        let (left, right) = (self.values(left), self.values(right));
        let required = std::mem::replace(&mut self.required, before);
        let (left, right) = (left?, right?);
        let is_alike = |((_, left), (_, right)): (&Typed, &Typed)| match (left, right) {
            (Kind::Number, Kind::Class(_)) | (Kind::Class(_), Kind::Number) => true,
            (left, right) => left == right,
        };
        if left.len() != right.len() || !left.iter().zip(&right).all(is_alike) {
            self.report(
                "wrong-sort",
                "values of different sorts are compared",
                element.span,
                "compare values of one sort",
            );
            return None;
        }
        let pairs = left.into_iter().map(|(value, _)| value).zip(right.into_iter().map(|(value, _)| value));
        let mut compared: Vec<Condition> =
            pairs.map(|(left, right)| Condition::Compare(comparison, left, right)).collect();
        let compared = match (compared.len(), comparison) {
            (1, _) => compared.pop()?,
            (_, Comparison::Equal) => Condition::And(compared),
            (_, Comparison::NotEqual) => Condition::Or(compared),
            _ => {
                self.report("wrong-sort", "tuples have no order", element.span, "compare their components");
                return None;
            }
        };
        // Without a value, no comparison holds.
        Some(Condition::all(required, compared))
    }

    fn connective(&mut self, element: &'e Element) -> Option<Condition> {
        let parts: Vec<_> = Self::operands(element).into_iter().map(|it| self.condition(it)).collect();
        let mut parts: Vec<Condition> = parts.into_iter().collect::<Option<_>>()?;
        let not = |condition: Condition| Condition::Not(Box::new(condition));
        match (element.name.as_str(), parts.len()) {
            ("and", 1..) => Some(Condition::And(parts)),
            ("or", 1..) => Some(Condition::Or(parts)),
            ("not", 1) => parts.pop().map(not),
            ("imply", 2) => {
                let right = parts.pop()?;
                Some(Condition::Or(vec![not(parts.pop()?), right]))
            }
            ("xor", 2) => {
                let (right, left) = (parts.pop()?, parts.pop()?);
                Some(Condition::Differ(Box::new(left), Box::new(right)))
            }
            (name, _) => {
                let message = format!("`<{name}>` has a wrong number of operands");
                self.report("operands", message, element.span, "give one or two `<subterm>`s");
                None
            }
        }
    }

    /// The same multiset with `all` where a component has every value of its class: detection of symmetries then sees
    /// that no value is treated differently.
    pub(super) fn normalised(&mut self, terms: Vec<Term>, domain: &[ClassId]) -> Vec<Term> {
        let mut terms = merged(terms);
        for (position, &class) in domain.iter().enumerate() {
            let size = self.net.classes[class].size as usize;
            if size == 1 || size > MOST_CELLS || terms.len() < size {
                continue;
            }
            let mut groups: Vec<(Term, Vec<Term>)> = Vec::new();
            let mut numbers: rustc_hash::FxHashMap<(i64, Vec<Factor>), usize> = rustc_hash::FxHashMap::default();
            let mut others = Vec::new();
            for term in terms {
                if !matches!(term.factors[position], Factor::One(Value::Constant(_))) {
                    others.push(term);
                    continue;
                }
                let mut general = term.clone();
                general.factors[position] = Factor::All;
                let key = (general.coefficient, general.factors.clone());
                let number = *numbers.entry(key).or_insert_with(|| {
                    groups.push((general, Vec::new()));
                    groups.len() - 1
                });
                groups[number].1.push(term);
            }
            for (general, members) in groups {
                if members.len() == size { others.push(general) } else { others.extend(members) }
            }
            terms = merged(others);
        }
        terms
    }
}
