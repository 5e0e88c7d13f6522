//! Properties in the XML form of the Model Checking Contest.
//!
//! `AG p` and `EF p` for a condition `p` are an invariant and a cover property, a bound is the greatest value of a sum, and
//! all else is a temporal formula. In the contest, a path may end in a state without successors. Everywhere else in this
//! program such a run stays in its last state, which is the same for all operators but the next step: `EX p` is false in
//! such a state, and `AX p` is true. In linear formulas the last state is repeated.

use quotient_ir::{
    BinaryOperator, Diagnostic, Expr, ExprId, Formula, Function, Local, LocalKind, Model, Objective, Place, Positions,
    Property, PropertyKind, ReturnValue, Root, Statement, StatementKind, Temporal, TemporalClaim, Type, TypeId,
    TypeKind,
};
use quotient_kit::Building;
use quotient_kit::joined;
use quotient_temporal::branching::is_ctl;
use quotient_temporal::{Atom, Formulas, PathQuantifier};

use super::{Factor, Lowering, Scope, in_loops};
use crate::net::MOST_CELLS;
use crate::xml::Element;

/// A formula: a condition on states, or one with temporal operators.
enum Tree {
    Condition(ExprId, String),
    Not(Box<Tree>),
    And(Vec<Tree>),
    Or(Vec<Tree>),
    Same(Box<Tree>, Box<Tree>),
    Next(Box<Tree>),
    Eventually(Box<Tree>),
    Always(Box<Tree>),
    Until(Box<Tree>, Box<Tree>),
    Path(PathQuantifier, Box<Tree>),
}

/// The conditions of a formula.
#[derive(Default)]
struct Atoms {
    conditions: Vec<ExprId>,
    names: Vec<String>,
}

impl Atoms {
    fn add(&mut self, pool: &mut Formulas, condition: ExprId, name: &str) -> quotient_temporal::Formula {
        let position = self.conditions.iter().position(|&known| known == condition).unwrap_or_else(|| {
            self.conditions.push(condition);
            self.names.push(name.to_owned());
            self.conditions.len() - 1
        });
        pool.atom(Atom(position as u32))
    }
}

impl Lowering<'_> {
    pub(super) fn property_sets(&mut self, sets: &[Element]) {
        for set in sets {
            if set.name != "property-set" {
                let message = format!("properties are in an element `<property-set>`, not `<{}>`", set.name);
                let error = Diagnostic::error("not-properties", message, set.span);
                self.diagnostics.push(error.with_help("give a file of the Model Checking Contest"));
                continue;
            }
            for property in set.named("property") {
                self.property(property);
            }
        }
    }

    fn refuse(&mut self, element: &Element, message: String, help: &str) {
        self.diagnostics.push(Diagnostic::error("formula", message, element.span).with_help(help));
    }

    fn property(&mut self, element: &Element) {
        let name = element.child("id").map(|id| id.text.trim().to_owned());
        let mut scope = Scope::default();
        let Some(formula) = element.child("formula").and_then(|formula| formula.children.first()) else {
            return self.refuse(element, "this property has no formula".into(), "write it in `<formula>`");
        };
        if formula.name == "place-bound" {
            let Some((value, text)) = self.sum_of_places(formula) else { return };
            let condition = self.truth(true);
            let name = name.or(Some(text));
            let property = self.add_property(name, PropertyKind::Cover, condition.into(), scope, element);
            self.model.objectives.push(Objective { property, value, is_least: false });
            return;
        }
        let Some(tree) = self.tree(&mut scope, formula) else { return };
        let goal = self.goal(formula);
        let (kind, claim) = match tree {
            Tree::Path(PathQuantifier::All, inner) => match *inner {
                Tree::Always(inner) => match *inner {
                    Tree::Condition(condition, _) => (PropertyKind::Invariant, Ok(condition)),
                    other => (PropertyKind::Temporal, Err(path(PathQuantifier::All, Tree::Always(Box::new(other))))),
                },
                other => (PropertyKind::Temporal, Err(path(PathQuantifier::All, other))),
            },
            Tree::Path(PathQuantifier::Some, inner) => match *inner {
                Tree::Eventually(inner) => match *inner {
                    Tree::Condition(condition, _) => (PropertyKind::Cover, Ok(condition)),
                    other => {
                        (PropertyKind::Temporal, Err(path(PathQuantifier::Some, Tree::Eventually(Box::new(other)))))
                    }
                },
                other => (PropertyKind::Temporal, Err(path(PathQuantifier::Some, other))),
            },
            other => (PropertyKind::Temporal, Err(other)),
        };
        let formula = match claim {
            Ok(condition) => condition.into(),
            Err(tree) => match self.temporal(&mut scope, &tree, element) {
                Some(temporal) => Formula::Temporal(Box::new(temporal)),
                None => return,
            },
        };
        let property = self.add_property(name, kind, formula, scope, element);
        let is_about_states = matches!(kind, PropertyKind::Invariant | PropertyKind::Cover);
        self.goals.extend(goal.filter(|_| is_about_states).map(|goal| (property, goal)));
    }

    fn add_property(
        &mut self,
        name: Option<String>,
        kind: PropertyKind,
        formula: Formula,
        scope: Scope,
        element: &Element,
    ) -> quotient_ir::PropertyId {
        let (parameters, locals, span) = (Vec::new(), scope.locals, element.span);
        self.model.properties.push(Property { name, kind, parameters, locals, formula, span })
    }

    /// A temporal claim.
    fn temporal(&mut self, scope: &mut Scope, tree: &Tree, element: &Element) -> Option<Temporal> {
        let mut atoms = Atoms::default();
        let mut pool = Formulas::new();
        // The next step in a linear formula is a step of the run, repeated at its end.
        let plain = formula(tree, &mut pool, &mut atoms, None);
        let claim = match tree {
            _ if is_ctl(&mut pool.clone(), plain) => {
                let dead = has_next(tree).then(|| self.is_dead(scope));
                let mut pool = Formulas::new();
                atoms = Atoms::default();
                let formula = formula(tree, &mut pool, &mut atoms, dead);
                TemporalClaim::Branching { pool, formula }
            }
            Tree::Path(PathQuantifier::All, inner) if !has_path(inner) => {
                let mut pool = Formulas::new();
                atoms = Atoms::default();
                let formula = formula(inner, &mut pool, &mut atoms, None);
                TemporalClaim::Linear { pool, formula }
            }
            _ if !is_state_formula(tree) => {
                let help = "write `<all-paths>` or `<exists-path>` around it";
                self.refuse(element, "a temporal operator is not about a path".into(), help);
                return None;
            }
            _ => TemporalClaim::Branching { pool, formula: plain },
        };
        let Atoms { conditions, names } = atoms;
        Some(Temporal { claim, atoms: conditions, names, text: text(tree), positions: Positions::Stored })
    }

    /// Whether no transition can fire.
    fn is_dead(&mut self, scope: &mut Scope) -> ExprId {
        let enabled: Vec<ExprId> = (0..self.net.transitions.len()).map(|it| self.is_fireable(scope, it)).collect();
        let enabled = self.any(enabled);
        self.not(enabled)
    }

    fn trees(&mut self, scope: &mut Scope, element: &Element) -> Option<Vec<Tree>> {
        let parts: Vec<Option<Tree>> = element.children.iter().map(|child| self.tree(scope, child)).collect();
        parts.into_iter().collect()
    }

    fn only(&mut self, scope: &mut Scope, element: &Element) -> Option<Box<Tree>> {
        match only(element) {
            Some(operand) => self.tree(scope, operand).map(Box::new),
            None => {
                let message = format!("`<{}>` has one operand", element.name);
                self.refuse(element, message, "correct the formula");
                None
            }
        }
    }

    fn tree(&mut self, scope: &mut Scope, element: &Element) -> Option<Tree> {
        Some(match element.name.as_str() {
            "all-paths" => Tree::Path(PathQuantifier::All, self.only(scope, element)?),
            "exists-path" => Tree::Path(PathQuantifier::Some, self.only(scope, element)?),
            "globally" => Tree::Always(self.only(scope, element)?),
            "finally" => Tree::Eventually(self.only(scope, element)?),
            "next" => Tree::Next(self.only(scope, element)?),
            "until" => {
                let part = |name| element.child(name).and_then(|it| it.children.first());
                let (Some(before), Some(reach)) = (part("before"), part("reach")) else {
                    self.refuse(element, "`<until>` needs `<before>` and `<reach>`".into(), "correct the formula");
                    return None;
                };
                let (before, reach) = (self.tree(scope, before), self.tree(scope, reach));
                Tree::Until(Box::new(before?), Box::new(reach?))
            }
            "negation" => {
                let operand = self.only(scope, element)?;
                self.negated(*operand)
            }
            "conjunction" => {
                let parts = self.trees(scope, element)?;
                self.joined(parts, true)
            }
            "disjunction" => {
                let parts = self.trees(scope, element)?;
                self.joined(parts, false)
            }
            "implication" | "equivalence" | "exclusive-disjunction" => {
                let Ok([left, right]) = <[Tree; 2]>::try_from(self.trees(scope, element)?) else {
                    let message = format!("`<{}>` has two operands", element.name);
                    self.refuse(element, message, "correct the formula");
                    return None;
                };
                match element.name.as_str() {
                    "implication" => {
                        let not = self.negated(left);
                        self.joined(vec![not, right], false)
                    }
                    "equivalence" => self.same(left, right),
                    _ => {
                        let same = self.same(left, right);
                        self.negated(same)
                    }
                }
            }
            "deadlock" => Tree::Condition(self.is_dead(scope), "deadlock".into()),
            "true" | "false" => Tree::Condition(self.truth(element.name == "true"), element.name.clone()),
            "is-fireable" => {
                let mut parts = Vec::new();
                let mut names = Vec::new();
                for transition in element.named("transition") {
                    let id = transition.text.trim();
                    let net = self.net;
                    let Some(found) = net.transitions.iter().position(|it| it.id == id) else {
                        self.refuse(transition, format!("there is no transition `{id}`"), "use the id of a transition");
                        return None;
                    };
                    parts.push(self.is_fireable(scope, found));
                    names.push(net.transitions[found].name.as_str());
                }
                Tree::Condition(self.any(parts), format!("fireable({})", names.join(", ")))
            }
            "integer-le" | "integer-lt" | "integer-ge" | "integer-gt" | "integer-eq" | "integer-ne" => {
                let (operator, sign) = match element.name.as_str() {
                    "integer-le" => (BinaryOperator::LessOrEqual, "<="),
                    "integer-lt" => (BinaryOperator::Less, "<"),
                    "integer-ge" => (BinaryOperator::GreaterOrEqual, ">="),
                    "integer-gt" => (BinaryOperator::Greater, ">"),
                    "integer-eq" => (BinaryOperator::Equal, "="),
                    _ => (BinaryOperator::NotEqual, "!="),
                };
                let [left, right] = &element.children[..] else {
                    let message = format!("`<{}>` has two operands", element.name);
                    self.refuse(element, message, "correct the formula");
                    return None;
                };
                let (left, right) = (self.integer(left), self.integer(right));
                let ((left, left_text), (right, right_text)) = (left?, right?);
                Tree::Condition(self.binary(operator, left, right), format!("{left_text} {sign} {right_text}"))
            }
            other => {
                let help = "the operators of the Model Checking Contest are read";
                self.refuse(element, format!("formulas `<{other}>` are not read"), help);
                return None;
            }
        })
    }

    fn negated(&mut self, tree: Tree) -> Tree {
        match tree {
            Tree::Condition(condition, text) => Tree::Condition(self.not(condition), format!("!({text})")),
            other => Tree::Not(Box::new(other)),
        }
    }

    /// Whether both hold or none.
    fn same(&mut self, left: Tree, right: Tree) -> Tree {
        match (left, right) {
            (Tree::Condition(left, left_text), Tree::Condition(right, right_text)) => {
                let same = self.binary(BinaryOperator::Equal, left, right);
                Tree::Condition(same, format!("({left_text}) <-> ({right_text})"))
            }
            (left, right) => Tree::Same(Box::new(left), Box::new(right)),
        }
    }

    /// The conjunction or the disjunction; of conditions, a condition.
    fn joined(&mut self, parts: Vec<Tree>, is_all: bool) -> Tree {
        let conditions = parts.iter().map(|part| match part {
            Tree::Condition(condition, text) => Some((*condition, format!("({text})"))),
            _ => None,
        });
        match conditions.collect::<Option<Vec<(ExprId, String)>>>() {
            Some(all) => {
                let (conditions, texts): (Vec<ExprId>, Vec<String>) = all.into_iter().unzip();
                let condition = if is_all { self.all(conditions) } else { self.any(conditions) };
                Tree::Condition(condition, texts.join(if is_all { " & " } else { " | " }))
            }
            None if is_all => Tree::And(parts),
            None => Tree::Or(parts),
        }
    }

    fn integer(&mut self, element: &Element) -> Option<(ExprId, String)> {
        match element.name.as_str() {
            "integer-constant" => {
                let text = element.text.trim();
                let Some(value) = text.parse::<i64>().ok().filter(|value| value.abs() < 1 << 60) else {
                    self.refuse(element, format!("`{text}` is not a number that can be read"), "write an integer");
                    return None;
                };
                Some((self.number(value), value.to_string()))
            }
            "tokens-count" => self.sum_of_places(element),
            "integer-sum" | "integer-difference" => {
                let (operator, sign) = match element.name.as_str() {
                    "integer-sum" => (BinaryOperator::Add, " + "),
                    _ => (BinaryOperator::Subtract, " - "),
                };
                let parts: Vec<_> = element.children.iter().map(|child| self.integer(child)).collect();
                let parts: Vec<(ExprId, String)> = parts.into_iter().collect::<Option<_>>()?;
                let (values, texts): (Vec<ExprId>, Vec<String>) = parts.into_iter().unzip();
                let Some(value) = values.into_iter().reduce(|left, right| self.binary(operator, left, right)) else {
                    self.refuse(element, "a sum needs an operand".into(), "correct the formula");
                    return None;
                };
                Some((value, texts.join(sign)))
            }
            other => {
                self.refuse(element, format!("numbers `<{other}>` are not read"), "correct the formula");
                None
            }
        }
    }

    /// All tokens in some places, of all colours.
    fn sum_of_places(&mut self, element: &Element) -> Option<(ExprId, String)> {
        let net = self.net;
        let mut parts = Vec::new();
        let mut names = Vec::new();
        let mut cells = 0;
        for place in element.named("place") {
            let id = place.text.trim();
            let Some(number) = net.places.iter().position(|it| it.id == id) else {
                self.refuse(place, format!("there is no place `{id}`"), "use the id of a place");
                return None;
            };
            names.push(net.places[number].name.as_str());
            cells += net.cells(&net.places[number].domain).unwrap_or(MOST_CELLS);
            if cells > MOST_CELLS {
                self.refuse(place, "these are too many places".into(), "choose smaller classes");
                return None;
            }
            parts.push(self.tokens_in(number));
        }
        let sum = joined(parts, |left, right| self.binary(BinaryOperator::Add, left, right));
        let sum = sum.unwrap_or_else(|| self.number(0));
        Some((sum, format!("tokens({})", names.join(", "))))
    }

    /// All tokens in a place. Colours are summed up by a function with loops: a sum in which each value is written would hide
    /// that none is treated differently.
    fn tokens_in(&mut self, place: usize) -> ExprId {
        let all = vec![Factor::All; self.net.places[place].domain.len()];
        let mut scope = Scope::default();
        let (cell, loops) = self.cell(&mut scope, place, &all);
        let tokens = self.read(cell);
        if loops.is_empty() {
            return tokens;
        }
        let net = self.net;
        let known = self.sums[place];
        let function = known.unwrap_or_else(|| {
            let entry = &net.places[place];
            let (name, span) = (format!("tokens in {}", entry.name), entry.span);
            let ty = self.sum_type(place);
            let total = scope.locals.push(Local { name: "total".into(), ty, kind: LocalKind::Variable, span });
            let target = self.model.pool.place(Place { root: Root::Local(total), steps: Vec::new(), ty });
            let (so_far, zero) = (self.read(target), self.number(0));
            let more = self.binary(BinaryOperator::Add, so_far, tokens);
            let statement = |kind| Statement { kind, span };
            let mut body = vec![statement(StatementKind::Assign { target, value: zero })];
            body.extend(in_loops(vec![statement(StatementKind::Assign { target, value: more })], &loops, span));
            body.push(statement(StatementKind::Return(Some(ReturnValue::Value(so_far)))));
            let (parameters, locals, result) = (Vec::new(), scope.locals, Some(ty));
            self.model.functions.push(Function { name, parameters, locals, result, body, span })
        });
        self.sums[place] = Some(function);
        self.model.pool.expression(Expr::Call { function, arguments: Vec::new() })
    }

    /// The values of the sum of all counters of a place.
    fn sum_type(&mut self, place: usize) -> TypeId {
        let counter = self.counter_type(place);
        let cells = self.net.cells(&self.net.places[place].domain);
        let high = match (&self.model.types[counter].kind, cells) {
            (TypeKind::Range { high, .. }, Some(cells)) => high.checked_mul(cells as i64),
            _ => None,
        };
        match high {
            Some(high) => self.model.types.push(Type { name: None, kind: TypeKind::Range { low: 0, high } }),
            None => Model::INTEGER,
        }
    }
}

/// The operand of an element that has one.
pub(super) fn only(element: &Element) -> Option<&Element> {
    // Older formulas say here what holds without a successor.
    let mut operands = element.children.iter().filter(|it| !["if-no-successor", "steps"].contains(&it.name.as_str()));
    operands.next().filter(|_| operands.next().is_none())
}

fn path(quantifier: PathQuantifier, tree: Tree) -> Tree {
    Tree::Path(quantifier, Box::new(tree))
}

/// The formula in a pool. With a condition for states without successors, steps are those of CTL on paths that may end.
fn formula(tree: &Tree, pool: &mut Formulas, atoms: &mut Atoms, dead: Option<ExprId>) -> quotient_temporal::Formula {
    let mut all = |parts: &[Tree], pool: &mut Formulas| -> Vec<quotient_temporal::Formula> {
        parts.iter().map(|part| formula(part, pool, atoms, dead)).collect()
    };
    match tree {
        Tree::And(parts) => {
            let parts = all(parts, pool);
            pool.and(parts)
        }
        Tree::Or(parts) => {
            let parts = all(parts, pool);
            pool.or(parts)
        }
        Tree::Condition(condition, name) => atoms.add(pool, *condition, name),
        Tree::Not(of) => {
            let of = formula(of, pool, atoms, dead);
            pool.not(of)
        }
        Tree::Next(of) => {
            let of = formula(of, pool, atoms, dead);
            pool.next(of)
        }
        Tree::Eventually(of) => {
            let of = formula(of, pool, atoms, dead);
            pool.eventually(of)
        }
        Tree::Always(of) => {
            let of = formula(of, pool, atoms, dead);
            pool.always(of)
        }
        Tree::Same(left, right) => {
            let (left, right) = (formula(left, pool, atoms, dead), formula(right, pool, atoms, dead));
            pool.equivalent(left, right)
        }
        Tree::Until(before, reach) => {
            let (before, reach) = (formula(before, pool, atoms, dead), formula(reach, pool, atoms, dead));
            pool.until(before, reach)
        }
        Tree::Path(quantifier, of) => {
            let inner = formula(of, pool, atoms, dead);
            let whole = pool.path(*quantifier, inner);
            let (Tree::Next(_), Some(dead)) = (&**of, dead) else { return whole };
            let dead = atoms.add(pool, dead, "deadlock");
            match quantifier {
                PathQuantifier::All => pool.or([dead, whole]),
                PathQuantifier::Some => {
                    let alive = pool.not(dead);
                    pool.and([alive, whole])
                }
            }
        }
    }
}

/// The formulas directly in a formula.
fn parts(tree: &Tree) -> Vec<&Tree> {
    match tree {
        Tree::Condition(..) => Vec::new(),
        Tree::Not(of) | Tree::Next(of) | Tree::Eventually(of) | Tree::Always(of) | Tree::Path(_, of) => vec![of],
        Tree::And(parts) | Tree::Or(parts) => parts.iter().collect(),
        Tree::Until(left, right) | Tree::Same(left, right) => vec![left, right],
    }
}

fn has_next(tree: &Tree) -> bool {
    matches!(tree, Tree::Next(_)) || parts(tree).into_iter().any(has_next)
}

fn has_path(tree: &Tree) -> bool {
    matches!(tree, Tree::Path(..)) || parts(tree).into_iter().any(has_path)
}

/// Whether every temporal operator is about a path.
fn is_state_formula(tree: &Tree) -> bool {
    match tree {
        Tree::Condition(..) | Tree::Path(..) => true,
        Tree::Not(_) | Tree::And(_) | Tree::Or(_) | Tree::Same(..) => parts(tree).into_iter().all(is_state_formula),
        Tree::Next(_) | Tree::Eventually(_) | Tree::Always(_) | Tree::Until(..) => false,
    }
}

fn text(tree: &Tree) -> String {
    let list = |parts: &[Tree], sign: &str| format!("({})", parts.iter().map(text).collect::<Vec<_>>().join(sign));
    match tree {
        Tree::Condition(_, text) => format!("({text})"),
        Tree::Not(of) => format!("!{}", text(of)),
        Tree::And(parts) => list(parts, " & "),
        Tree::Or(parts) => list(parts, " | "),
        Tree::Same(left, right) => format!("({} <-> {})", text(left), text(right)),
        Tree::Next(of) => format!("X {}", text(of)),
        Tree::Eventually(of) => format!("F {}", text(of)),
        Tree::Always(of) => format!("G {}", text(of)),
        Tree::Until(before, reach) => format!("({} U {})", text(before), text(reach)),
        Tree::Path(PathQuantifier::All, of) => format!("A {}", text(of)),
        Tree::Path(PathQuantifier::Some, of) => format!("E {}", text(of)),
    }
}
