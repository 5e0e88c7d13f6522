//! The model: a nondeterministic sequential program. Global variables, rules (parameters, guard,
//! next-state program), initial-state programs, properties.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::chart::Exchanges;
use crate::diagnostics::{Source, Span};
use crate::expression::{Iteration, Pool};
use crate::formula::Formula;
use crate::index::{ExprId, FunctionId, LocalId, PropertyId, RuleId, StartId, Table, TypeId, VariableId};
use crate::net::Net;
use crate::notation::Notation;
use crate::operations::Operations;
use crate::ownership::{Fairness, Owner, Participation};
use crate::presentation::Presentation;
use crate::statement::Statement;
use crate::types::{Domain, Type, TypeKind};
use crate::watched::Watched;

/// A model in the intermediate representation.
#[derive(Clone, Debug)]
pub struct Model {
    /// The text it came from; all spans are into this.
    pub source: Source,
    /// All types. [`Model::BOOLEAN`] and [`Model::INTEGER`] are always present.
    pub types: Table<TypeId, Type>,
    /// Global variables in order of declaration.
    pub variables: Table<VariableId, Variable>,
    /// Expressions and places.
    pub pool: Pool,
    /// Functions and procedures.
    pub functions: Table<FunctionId, Function>,
    /// Initial-state programs in order of declaration.
    pub starts: Table<StartId, Start>,
    /// Rules in order of declaration.
    pub rules: Table<RuleId, Rule>,
    /// Properties in order of declaration.
    pub properties: Table<PropertyId, Property>,
    /// The invariants that the source calls assertions: they are claimed to follow from the others, and are reported as
    /// assertions.
    pub assertions: Vec<PropertyId>,
    /// Cover properties of which the best state is asked for.
    pub objectives: Vec<Objective>,
    /// The same model as a net, if it was made of one and that may answer something.
    pub net: Option<Arc<Net>>,
    /// Whether the source claims that there is no deadlock, in a language where this is a claim like others.
    pub claims_no_deadlock: bool,
    /// Types besides scalarsets whose values the source declares interchangeable, such as the deferred sets of B. This
    /// is only a claim: whoever relies on it must prove it.
    pub interchangeable: Vec<TypeId>,
    /// Ranges whose values are amounts: numbers of things that are not distinguished otherwise, such as the tokens of a
    /// place, in increasing order. Amounts of different cells are added up, so a symmetry may move cells, but keeps each
    /// amount.
    pub amounts: Vec<TypeId>,
    /// Variables that are not displayed cell by cell.
    pub notations: Vec<(VariableId, Notation)>,
    /// Names of values of ranges, such as those of messages.
    pub value_names: FxHashMap<TypeId, FxHashMap<i64, String>>,
    /// How runs are displayed, if not rule by rule and cell by cell.
    pub presentation: Option<Presentation>,
    /// How steps are told, if they are calls of operations.
    pub operations: Option<Operations>,
    /// The event and the processes of each rule, in the order of the rules, in a language where steps are events that
    /// several processes take part in; otherwise empty.
    pub participation: Vec<Participation>,
    /// Who exchanges messages, if processes do and the presentation does not say it.
    pub exchanges: Option<Exchanges>,
    /// An expression to evaluate in states, if one was given beside the text.
    pub watched: Option<Watched>,
}

/// A global variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: TypeId,
    /// Whether its cells can be undefined. If so, they start undefined, otherwise at the least value of their type.
    pub may_be_undefined: bool,
    /// Where it is declared.
    pub span: Span,
}

/// A local variable, parameter, bound variable or reference of one owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Local {
    /// Its name.
    pub name: String,
    /// Its type (for a reference, the type it refers to).
    pub ty: TypeId,
    /// How it gets its contents.
    pub kind: LocalKind,
    /// Where it is declared.
    pub span: Span,
}

/// How a local gets its contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalKind {
    /// Set by the owner's parameters, a loop, a quantifier or a call by value.
    Parameter,
    /// A variable, undefined on every entry.
    Variable,
    /// Denotes another place: a parameter by reference, or bound by a statement.
    Reference,
}

/// A parameter of a rule, initial-state program or property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The local that holds it.
    pub local: LocalId,
    /// Its range. Steps have constant bounds here.
    pub range: Iteration,
}

/// A transition rule. Its instances are the valuations of its parameters, the last one fastest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its name (label), if it has one.
    pub name: Option<String>,
    /// The process that its instances belong to.
    pub owner: Owner,
    /// The fairness that the language guarantees.
    pub fairness: Fairness,
    /// Its parameters, outermost first.
    pub parameters: Vec<Parameter>,
    /// All locals, including parameters.
    pub locals: Table<LocalId, Local>,
    /// The condition under which it can fire. Free of side effects.
    pub guard: ExprId,
    /// The statements.
    pub body: Vec<Statement>,
    /// Its location.
    pub span: Span,
}

/// An initial-state program, run on the all-undefined state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Its parameters, outermost first.
    pub parameters: Vec<Parameter>,
    /// All locals, including parameters.
    pub locals: Table<LocalId, Local>,
    /// The statements.
    pub body: Vec<Statement>,
    /// Its location.
    pub span: Span,
}

/// An action executed by a step of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// An initial-state program.
    Start(StartId),
    /// A rule.
    Rule(RuleId),
}

/// A function or procedure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// The locals that are parameters, in order.
    pub parameters: Vec<LocalId>,
    /// All locals, including parameters.
    pub locals: Table<LocalId, Local>,
    /// The type of its result. Reaching the end of a function with a result is a run-time error.
    pub result: Option<TypeId>,
    /// The statements.
    pub body: Vec<Statement>,
    /// Its location.
    pub span: Span,
}

/// A question besides that for a state which satisfies a cover property without parameters: which of these states is
/// best?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Objective {
    /// The cover property.
    pub property: PropertyId,
    /// What is best at its least or greatest value: a number, free of side effects.
    pub value: ExprId,
    /// Whether the least value is best.
    pub is_least: bool,
}

/// The kind of claim a property makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PropertyKind {
    /// AG: holds in every reachable state.
    Invariant,
    /// Not a claim: states that violate it are dropped.
    Assumption,
    /// EF: holds in some reachable state (for some parameters). A cover statement also declares one
    /// of these, with [`Formula::CoverStatement`].
    Cover,
    /// AG EF: from every reachable state, a state where it holds can be reached, for each valuation of the parameters.
    /// Murphi (rumur) calls this "liveness".
    AlwaysReachable,
    /// A temporal formula holds for each valuation of the parameters, with [`Formula::Temporal`].
    Temporal,
    /// Not a claim: a condition that a search for temporal properties evaluates on demand.
    Atom,
    /// Not a claim: states in which it holds (and evaluates) are transient. They are neither stored nor counted, no
    /// claim applies to them, and they are expanded at once. It has no parameters.
    Passing,
    /// Not a claim: states in which it does not hold are stored and checked, and not expanded. It has no parameters.
    Constraint,
    /// Not a claim: that it holds in some reachable state is worth saying, and changes no verdict. Where it has no
    /// value it does not hold. It has no parameters.
    Remark,
}

impl PropertyKind {
    /// Whether it is a claim about the model that may be violated. Other kinds belong to the behaviour of the model,
    /// whatever is checked.
    pub fn is_claim(self) -> bool {
        !matches!(self, Self::Assumption | Self::Passing | Self::Constraint | Self::Remark | Self::Atom)
    }
}

/// A property: a name, a kind and a formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// Its name, if it has one.
    pub name: Option<String>,
    /// The kind of claim.
    pub kind: PropertyKind,
    /// Its parameters, outermost first.
    pub parameters: Vec<Parameter>,
    /// All locals, including parameters.
    pub locals: Table<LocalId, Local>,
    /// The formula that the claim is about.
    pub formula: Formula,
    /// Its location.
    pub span: Span,
}

impl Model {
    /// The boolean type, present in every model.
    pub const BOOLEAN: TypeId = TypeId::new(0);
    /// The type of 64-bit integers, present in every model.
    pub const INTEGER: TypeId = TypeId::new(1);

    /// A model with only the built-in types.
    pub fn new(source: Source) -> Self {
        let mut types = Table::new();
        types.push(Type { name: Some("boolean".into()), kind: TypeKind::Boolean });
        types.push(Type { name: None, kind: TypeKind::Integer });
        Self {
            source,
            types,
            variables: Table::new(),
            pool: Pool::default(),
            functions: Table::new(),
            starts: Table::new(),
            rules: Table::new(),
            properties: Table::new(),
            assertions: Vec::new(),
            objectives: Vec::new(),
            net: None,
            claims_no_deadlock: false,
            interchangeable: Vec::new(),
            amounts: Vec::new(),
            notations: Vec::new(),
            value_names: FxHashMap::default(),
            presentation: None,
            operations: None,
            participation: Vec::new(),
            exchanges: None,
            watched: None,
        }
    }

    /// The conditions for transient states: one that holds suffices.
    pub fn passing(&self) -> impl Iterator<Item = PropertyId> {
        let properties = self.properties.iter_enumerated();
        properties.filter(|(_, property)| property.kind == PropertyKind::Passing).map(|(id, _)| id)
    }

    /// Whether values of a type are single integers.
    pub fn is_scalar(&self, ty: TypeId) -> bool {
        !matches!(self.types[ty].kind, TypeKind::Array { .. } | TypeKind::Record { .. } | TypeKind::Multiset { .. })
    }

    /// Whether the values of a type are [amounts](Model::amounts).
    pub fn is_amount(&self, ty: TypeId) -> bool {
        self.amounts.binary_search(&ty).is_ok()
    }

    /// Whether all cells of the state hold amounts, so that their sum means something.
    pub fn holds_only_amounts(&self) -> bool {
        let holds = |ty: TypeId| {
            let mut inner = ty;
            while let TypeKind::Array { element, .. } = self.types[inner].kind {
                inner = element;
            }
            self.is_amount(inner)
        };
        !self.amounts.is_empty() && self.variables.iter().all(|variable| holds(variable.ty))
    }

    /// The values of a scalar type.
    ///
    /// # Panics
    /// If the type is not scalar.
    pub fn domain(&self, ty: TypeId) -> Domain {
        match &self.types[ty].kind {
            TypeKind::Boolean => Domain::interval(0, 1),
            TypeKind::Integer => Domain::interval(i64::MIN, i64::MAX),
            &TypeKind::Range { low, high } => Domain::interval(low, high),
            TypeKind::Enumeration { first, members } => Domain::interval(*first, first + members.len() as i64 - 1),
            &TypeKind::Scalarset { first, size } => Domain::interval(first, first + size as i64 - 1),
            TypeKind::Union { members } => {
                Domain::union(members.iter().flat_map(|&member| self.domain(member).pieces().to_vec()).collect())
            }
            TypeKind::Array { .. } | TypeKind::Record { .. } | TypeKind::Multiset { .. } => {
                panic!("only scalar types have a domain")
            }
        }
    }

    /// The number of scalar cells of a value of a type (`u64::MAX` for that many or more).
    pub fn cells(&self, ty: TypeId) -> u64 {
        // Most are scalars or arrays of these, nested to any depth.
        let (mut inner, mut factor) = (ty, 1u64);
        loop {
            match &self.types[inner].kind {
                TypeKind::Array { index, element } => {
                    factor = match self.domain(*index).size() {
                        0 => u64::MAX,
                        size => factor.saturating_mul(size),
                    };
                    inner = *element;
                }
                TypeKind::Record { .. } | TypeKind::Multiset { .. } => break,
                _ => return factor,
            }
        }
        // Types may share parts so often that plain recursion would take forever.
        let mut known: FxHashMap<TypeId, u64> = FxHashMap::default();
        let mut pending = vec![ty];
        while let Some(&current) = pending.last() {
            let parts: Vec<TypeId> = match &self.types[current].kind {
                TypeKind::Array { element, .. } | TypeKind::Multiset { element, .. } => vec![*element],
                TypeKind::Record { fields } => fields.iter().map(|field| field.ty).collect(),
                _ => Vec::new(),
            };
            let before = pending.len();
            pending.extend(parts.iter().filter(|part| !known.contains_key(part)));
            if pending.len() > before {
                continue;
            }
            pending.pop();
            let sizes = parts.iter().map(|part| known[part]);
            let cells = match &self.types[current].kind {
                TypeKind::Array { index, .. } => match self.domain(*index).size() {
                    0 => u64::MAX,
                    size => size.saturating_mul(known[&parts[0]]),
                },
                TypeKind::Record { .. } => sizes.fold(0, u64::saturating_add),
                TypeKind::Multiset { capacity, .. } => capacity.saturating_mul(known[&parts[0]].saturating_add(1)),
                _ => 1,
            };
            known.insert(current, cells);
        }
        known[&ty]
    }

    /// The name of a value of a scalar type: a member's name, `true`, `Proc_0`, or the number.
    pub fn value_name(&self, ty: TypeId, value: i64) -> String {
        let ty_entry = &self.types[ty];
        match &ty_entry.kind {
            TypeKind::Boolean if value == 0 => "false".into(),
            TypeKind::Boolean if value == 1 => "true".into(),
            TypeKind::Enumeration { first, members } => {
                let member = value.checked_sub(*first).and_then(|offset| members.get(usize::try_from(offset).ok()?));
                member.cloned().unwrap_or_else(|| value.to_string())
            }
            TypeKind::Scalarset { first, .. } => {
                format!("{}_{}", ty_entry.name.as_deref().unwrap_or("scalarset"), value - first)
            }
            TypeKind::Union { members } => {
                let member = members.iter().find(|&&member| self.domain(member).contains(value));
                member.map_or_else(|| value.to_string(), |&member| self.value_name(member, value))
            }
            _ => {
                let name = self.value_names.get(&ty).and_then(|names| names.get(&value));
                name.cloned().unwrap_or_else(|| value.to_string())
            }
        }
    }

    /// Whether steps belong to processes.
    pub fn has_processes(&self) -> bool {
        !self.participation.is_empty() || self.rules.iter().any(|rule| rule.owner != Owner::None)
    }

    /// The number of the process that an instance of a rule belongs to, if it belongs to one.
    pub fn owner_of(&self, rule: RuleId, arguments: &[i64]) -> Option<i64> {
        match self.rules[rule].owner {
            Owner::None => None,
            Owner::Process(number) => Some(number.of(arguments)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assembly::{Assembly, Locals};
    use crate::ownership::Number;

    #[test]
    fn instances_belong_to_processes() {
        let mut b = Assembly::new();
        let ty = b.range(0, 3);
        let mut locals = Locals::default();
        let parameters =
            ["p", "q"].map(|name| Parameter { local: locals.parameter(name, ty), range: Iteration::Over(ty) });
        let guard = b.truth(true);
        let rule = b.rule(parameters.to_vec(), locals, guard, Vec::new());
        let mut owner = |owner: Owner, arguments: &[i64]| {
            b.model.rules[rule].owner = owner;
            b.model.owner_of(rule, arguments)
        };
        assert_eq!(owner(Owner::None, &[2, 3]), None);
        assert_eq!(owner(Owner::Process(Number::Constant(5)), &[2, 3]), Some(5));
        assert_eq!(owner(Owner::Process(Number::Parameter(1)), &[2, 3]), Some(3));
    }
}
