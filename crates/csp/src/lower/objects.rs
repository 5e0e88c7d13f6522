//! Objects of the classes that PAT's library has: `Set`, `List`, `Queue` and `Stack` of numbers.
//!
//! An object is two variables: the number of its elements, and an array. That of a set has a flag for each value, so that
//! a permutation of values is one of its elements; the others have their elements in order, and a filler behind them.
//! Bounds that the text does not give are assumed. A step that would leave them makes the result unknown. Methods become
//! statements over these variables; those without an effect become values.

use std::rc::Rc;

use quotient_ir::{Diagnostic, Span};

use super::resolution::Scope;
use super::symbols::{NUMBERS, SIZE_LIMIT, Symbol, Symbols, Variable, plain_name};
use super::terms::{At, Statement, StatementKind, Value, binary};
use crate::syntax::tree::{Binary, Expression, ExpressionKind, Initial, Name, Variable as Declared};

/// The most elements of a list, a queue or a stack, unless the text gives a bound.
const ASSUMED_CAPACITY: i64 = 16;

/// The values of a set, unless the text gives them.
const ASSUMED_VALUES: (i64, i64) = (0, 63);

/// The largest bound that the text may give.
const LARGEST: i64 = 1000;

/// A class of PAT's library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Set,
    List,
    Queue,
    Stack,
}

impl Class {
    fn of_name(name: &str) -> Option<Self> {
        Some(match name {
            "Set" => Self::Set,
            "List" => Self::List,
            "Queue" => Self::Queue,
            "Stack" => Self::Stack,
            _ => return None,
        })
    }

    /// The methods that are known.
    fn methods(self) -> &'static [&'static str] {
        match self {
            Self::Set => &[
                "Add",
                "Remove",
                "Contains",
                "Count",
                "Get",
                "Clear",
                "Union",
                "Intersect",
                "Substract",
                "IsOverlapping",
                "IsDisjoint",
            ],
            Self::List => &["Add", "Remove", "RemoveAt", "Get", "Contains", "Count", "Clear", "Concat"],
            Self::Queue => &["Enqueue", "Dequeue", "Peek", "Contains", "Count", "Clear"],
            Self::Stack => &["Push", "Pop", "Peek", "Contains", "Count", "Clear"],
        }
    }
}

/// Whether an import is one of those that are built in.
pub(super) fn is_built_in(import: &str) -> bool {
    import == "PAT.Math" || import.strip_prefix("PAT.Lib.").is_some_and(|name| Class::of_name(name).is_some())
}

/// An object.
#[derive(Clone, Debug)]
pub(super) struct Object {
    name: Rc<str>,
    class: Class,
    /// The variable of its elements, or of the flags of its values.
    elements: usize,
    /// The variable of the number of elements.
    count: usize,
    /// The size of the array.
    capacity: i64,
    /// The values that elements may have.
    values: (i64, i64),
}

impl Object {
    fn length(&self) -> Value {
        Value::Global(self.count, Vec::new(), false)
    }

    /// The element at a position, or the flag there.
    fn at(&self, position: Value) -> Value {
        Value::Global(self.elements, vec![position], self.class == Class::Set)
    }

    /// The flag of a value in the bounds.
    fn flag(&self, value: Value) -> Value {
        self.at(binary(Binary::Subtract, value, Value::Number(self.values.0)))
    }

    fn is_in_bounds(&self, value: &Value) -> Value {
        let low = binary(Binary::LessOrEqual, Value::Number(self.values.0), value.clone());
        let high = binary(Binary::LessOrEqual, value.clone(), Value::Number(self.values.1));
        binary(Binary::And, low, high)
    }

    /// A position that is the given one if there is an element, and no position of the array otherwise.
    fn checked(&self, position: Value) -> Value {
        let is_there = binary(Binary::Less, position.clone(), self.length());
        let kept = binary(Binary::Multiply, position.clone(), is_there);
        binary(Binary::Subtract, kept, binary(Binary::GreaterOrEqual, position, self.length()))
    }

    /// What is behind the last element.
    fn filler(&self) -> i64 {
        if self.class == Class::Set { 0 } else { filler(self.values) }
    }

    fn contains(&self, value: &Value) -> Value {
        if self.class == Class::Set {
            return binary(Binary::And, self.is_in_bounds(value), self.flag(value.clone()));
        }
        let found = (0..self.capacity).map(|position| {
            let is_there = binary(Binary::Less, Value::Number(position), self.length());
            let is_equal = binary(Binary::Equal, self.at(Value::Number(position)), value.clone());
            binary(Binary::And, is_there, is_equal)
        });
        found.reduce(|left, right| binary(Binary::Or, left, right)).unwrap_or(Value::Truth(false))
    }

    fn overlaps(&self, other: &Self) -> Value {
        let (low, high) = (self.values.0.max(other.values.0), self.values.1.min(other.values.1));
        let both = (low..=high).map(|value| {
            let value = Value::Number(value);
            binary(Binary::And, self.flag(value.clone()), other.flag(value))
        });
        both.reduce(|left, right| binary(Binary::Or, left, right)).unwrap_or(Value::Truth(false))
    }
}

fn filler((low, high): (i64, i64)) -> i64 {
    0.clamp(low, high)
}

fn add(value: Value, number: i64) -> Value {
    binary(Binary::Add, value, Value::Number(number))
}

/// Statements that are being written.
struct Writer<'w> {
    statements: &'w mut Vec<Statement>,
    at: At,
}

impl Writer<'_> {
    fn push(&mut self, kind: StatementKind) {
        self.statements.push(Statement { kind, at: self.at });
    }

    fn assign(&mut self, place: Value, value: Value) {
        self.push(assignment(place, value));
    }

    fn when(&mut self, condition: Value, then: Vec<StatementKind>) {
        let at = self.at;
        let then = then.into_iter().map(|kind| Statement { kind, at }).collect();
        self.push(StatementKind::If(condition, then, Vec::new()));
    }

    /// The number of elements changes.
    fn resize(&mut self, object: &Object, change: i64) {
        self.assign(object.length(), add(object.length(), change));
    }

    fn require(&mut self, condition: Value, message: String) {
        self.push(StatementKind::Require(condition, message.into()));
    }
}

fn assignment(place: Value, value: Value) -> StatementKind {
    match place {
        Value::Global(variable, indices, _) => StatementKind::Assign(variable, indices, value),
        Value::Local(local, indices) => StatementKind::AssignLocal(local, indices, value),
        _ => unreachable!("only variables are assigned here"),
    }
}

impl Symbols<'_> {
    /// The array of an object. The number of its elements follows behind all variables.
    pub(super) fn read_object(&mut self, tree: &Declared, class: &Name, number: usize, cells: &mut i64) -> Variable {
        let (name, span) = (tree.name.text.clone(), tree.name.span);
        let Some(known) = Class::of_name(&class.text) else {
            let message = format!("objects of the class `{}` are not supported", class.text);
            let error = Diagnostic::error("unsupported", message, class.span);
            self.report(
                error.with_help("there are `Set`, `List`, `Queue` and `Stack`; otherwise use numbers and arrays"),
            );
            return Variable::number(name, span);
        };
        self.warn_of_hidden(tree);
        let import = format!("PAT.Lib.{}", class.text);
        if !self.tree.imports.iter().any(|(it, _)| **it == *import) {
            let error = Diagnostic::error("missing-import", format!("`{}` is not imported", class.text), class.span);
            self.report(error.with_help(format!("write `#import \"{import}\";` at the beginning")));
        }
        match &tree.initial {
            Initial::Zero => {}
            Initial::Value(Expression { kind: ExpressionKind::New(it, arguments), .. })
                if it.text == class.text && arguments.is_empty() => {}
            _ => {
                let error = Diagnostic::error("wrong-initial-value", format!("`{name}` begins empty"), span);
                self.report(error.with_help("add its elements in a step"));
            }
        }
        let given = self.declared_range(tree);
        let mut values = given.unwrap_or(if known == Class::Set { ASSUMED_VALUES } else { NUMBERS });
        let capacity = match (known, &tree.sizes[..]) {
            (Class::Set, []) => values.1 - values.0 + 1,
            (_, []) => ASSUMED_CAPACITY,
            (Class::Set, [size, ..]) | (_, [_, size, ..]) => {
                let error = Diagnostic::error("unsupported", "arrays of objects are not supported", size.span);
                self.report(error.with_help("a set has a range of values, others a bound: `var<List> l[5];`"));
                1
            }
            (_, [size]) => self.number(size).unwrap_or(1),
        };
        if !(1..=LARGEST).contains(&capacity) {
            let message = format!("an object has bounds of 1 to {LARGEST}, not {capacity}");
            self.error("wrong-size", message, span);
        }
        let capacity = capacity.clamp(1, LARGEST);
        if known == Class::Set {
            // After an error, methods must not be written for all values of a huge range.
            values.1 = values.0 + capacity - 1;
        }
        *cells = cells.saturating_add(capacity);
        if *cells > SIZE_LIMIT {
            self.error("too-large", format!("a state would have more than {SIZE_LIMIT} elements"), span);
        }
        let is_boolean = known == Class::Set;
        let range = if is_boolean { (0, 1) } else { values };
        let object = Object { name: name.clone(), class: known, elements: number, count: 0, capacity, values };
        let initial = vec![object.filler(); capacity as usize];
        self.objects.insert(number, object);
        Variable { name, is_boolean, sizes: vec![capacity], range, initial, is_any: false, span }
    }

    /// The variables for the numbers of elements.
    pub(super) fn declare_counts(&mut self) {
        for number in 0..self.variables.len() {
            let count = self.variables.len();
            let Some(object) = self.objects.get_mut(&number) else { continue };
            object.count = count;
            let (name, span) = (format!("{}.Count", object.name), self.variables[number].span);
            let range = (0, object.capacity);
            self.variables.push(Variable { range, ..Variable::number(name.into(), span) });
        }
    }

    pub(super) fn object(&self, name: &str) -> Option<&Object> {
        let Some((Symbol::Variable(number), _)) = self.names.get(name) else { return None };
        self.objects.get(number)
    }

    fn known_object(&mut self, name: &Name) -> Option<Object> {
        let object = self.object(&name.text).cloned();
        if object.is_none() {
            let message = format!("`{}` is not an object", name.text);
            let error = Diagnostic::error("unsupported", message, name.span);
            self.report(error.with_help("declare it: `var<Set> s;`, with `#import \"PAT.Lib.Set\";`"));
        }
        object
    }

    /// The object and the method of a call. The arguments are checked.
    fn method(&mut self, name: &Name, method: &Name, arguments: &[Expression]) -> Option<Object> {
        let object = self.known_object(name)?;
        let known = object.class.methods();
        if !known.contains(&&*method.text) {
            let message = format!("`{:?}` has no method `{}` here", object.class, method.text);
            let help = match quotient_kit::similar(&method.text, known.iter().copied()) {
                Some(it) => format!("did you mean `{it}`?"),
                None => format!("there are {}", known.join(", ")),
            };
            self.report(Diagnostic::error("unsupported", message, method.span).with_help(help));
            return None;
        }
        let needed = match &*method.text {
            "Count" | "Clear" | "Dequeue" | "Pop" | "Peek" => 0,
            "Union" | "Intersect" | "Substract" | "Concat" => 2,
            _ => 1,
        };
        if needed != arguments.len() {
            let message = format!("`{}` has {needed} arguments, not {}", method.text, arguments.len());
            self.error("wrong-arguments", message, method.span);
            return None;
        }
        Some(object)
    }

    /// An argument that is an object of the same class.
    fn object_argument(&mut self, class: Class, argument: &Expression) -> Option<Object> {
        let object = plain_name(argument).and_then(|name| self.known_object(&name));
        if !object.as_ref().is_some_and(|it| it.class == class) {
            self.error("wrong-arguments", format!("this must be the name of a `{class:?}`"), argument.span);
            return None;
        }
        object
    }

    /// The value of a method without an effect.
    pub(super) fn method_value(
        &mut self,
        name: &Name,
        method: &Name,
        arguments: &[Expression],
        scope: &Scope,
    ) -> Option<Value> {
        let object = self.method(name, method, arguments)?;
        Some(match (object.class, &*method.text) {
            (_, "Count") => object.length(),
            (_, "Contains") => {
                let value = self.value(&arguments[0], scope);
                object.contains(&value)
            }
            (Class::List, "Get") => {
                let position = self.value(&arguments[0], scope);
                object.at(object.checked(position))
            }
            (Class::Queue, "Peek") => object.at(object.checked(Value::Number(0))),
            (Class::Stack, "Peek") => object.at(add(object.length(), -1)),
            (_, "IsOverlapping") => object.overlaps(&self.object_argument(Class::Set, &arguments[0])?),
            (_, "IsDisjoint") => object.overlaps(&self.object_argument(Class::Set, &arguments[0])?).negated(),
            _ => {
                let message = format!("`{}` is called in statements only", method.text);
                let error = Diagnostic::error("unsupported", message, name.span.to(method.span));
                self.report(error.with_help("assign its result to a variable in a block: `e{x = q.Dequeue();} -> P`"));
                return None;
            }
        })
    }

    /// A method as statements, and its result.
    pub(super) fn method_statements(
        &mut self,
        (name, method, arguments): (&Name, &Name, &[Expression]),
        scope: &Scope,
        at: At,
        statements: &mut Vec<Statement>,
    ) -> Option<Value> {
        let object = self.method(name, method, arguments)?;
        let errors = self.diagnostics.len();
        let mut writer = Writer { statements, at };
        let result = match (object.class, &*method.text) {
            (Class::Set, "Add") => {
                let value = self.argument(&arguments[0], scope, &mut writer);
                let message =
                    format!("{} to {} are assumed for the values of `{}`", object.values.0, object.values.1, name.text);
                writer.require(object.is_in_bounds(&value), message);
                let flag = object.flag(value);
                let is_new = self.local("is_new", flag.clone().negated(), &mut writer);
                let longer = add(object.length(), 1);
                writer.when(
                    is_new.clone(),
                    vec![assignment(flag, Value::Truth(true)), assignment(object.length(), longer)],
                );
                is_new
            }
            (Class::Set, "Remove") => {
                let value = self.argument(&arguments[0], scope, &mut writer);
                let was_there = self.local("was_there", object.contains(&value), &mut writer);
                let shorter = add(object.length(), -1);
                let removal =
                    vec![assignment(object.flag(value), Value::Truth(false)), assignment(object.length(), shorter)];
                writer.when(was_there.clone(), removal);
                was_there
            }
            (Class::Set, "Get") => self.element_of_set(&object, &arguments[0], scope, &mut writer),
            (_, "Add" | "Enqueue" | "Push") => {
                let value = self.argument(&arguments[0], scope, &mut writer);
                require_room(&object, object.length(), &mut writer);
                writer.assign(object.at(object.length()), value);
                writer.resize(&object, 1);
                object.length()
            }
            (_, "Dequeue") => {
                let first = self.local("first", object.at(object.checked(Value::Number(0))), &mut writer);
                for position in 0..object.capacity {
                    writer.assign(object.at(Value::Number(position)), next_element(&object, position));
                }
                writer.resize(&object, -1);
                first
            }
            (_, "Pop") => {
                let last = object.at(add(object.length(), -1));
                let top = self.local("top", last.clone(), &mut writer);
                writer.assign(last, Value::Number(object.filler()));
                writer.resize(&object, -1);
                top
            }
            (_, "RemoveAt") => {
                let position = self.argument(&arguments[0], scope, &mut writer);
                // Reading it is an error if there is no such element.
                let removed = self.local("removed", object.at(object.checked(position.clone())), &mut writer);
                for here in 0..object.capacity {
                    let is_behind = binary(Binary::LessOrEqual, position.clone(), Value::Number(here));
                    let shift = assignment(object.at(Value::Number(here)), next_element(&object, here));
                    writer.when(is_behind, vec![shift]);
                }
                writer.resize(&object, -1);
                removed
            }
            (_, "Remove") => {
                let value = self.argument(&arguments[0], scope, &mut writer);
                let found = self.local("found", Value::Number(0), &mut writer);
                for here in 0..object.capacity {
                    let place = object.at(Value::Number(here));
                    let is_there = binary(Binary::Less, Value::Number(here), object.length());
                    let is_equal = binary(Binary::Equal, place.clone(), value.clone());
                    let is_found = assignment(found.clone(), Value::Number(1));
                    writer.when(binary(Binary::And, is_there, is_equal), vec![is_found]);
                    writer.when(found.clone(), vec![assignment(place, next_element(&object, here))]);
                }
                writer.assign(object.length(), binary(Binary::Subtract, object.length(), found.clone()));
                found
            }
            (_, "Clear") => {
                clear(&object, &mut writer);
                object.length()
            }
            (_, "Union" | "Intersect" | "Substract" | "Concat") => {
                let message = format!("the result of `{}` is assigned to an object", method.text);
                let error = Diagnostic::error("unsupported", message, name.span.to(method.span));
                self.report(error.with_help(format!("write `{0} = {0}.{1}(a, b);`", name.text, method.text)));
                return None;
            }
            _ => self.method_value(name, method, arguments, scope)?,
        };
        (self.diagnostics.len() == errors).then_some(result)
    }

    /// A new variable of a block.
    fn local(&mut self, name: &str, value: Value, writer: &mut Writer<'_>) -> Value {
        let number = self.locals;
        self.locals += 1;
        writer.push(StatementKind::Declare(number, name.into(), None, Some(value)));
        Value::Local(number, Vec::new())
    }

    /// An argument, evaluated once.
    fn argument(&mut self, argument: &Expression, scope: &Scope, writer: &mut Writer<'_>) -> Value {
        let value = self.value(argument, scope);
        if value.constant().is_some() { value } else { self.local("argument", value, writer) }
    }

    /// The element of a set at a position, in the order of numbers.
    fn element_of_set(
        &mut self,
        object: &Object,
        position: &Expression,
        scope: &Scope,
        writer: &mut Writer<'_>,
    ) -> Value {
        let position = self.argument(position, scope, writer);
        let wanted = self.local("wanted", position.clone(), writer);
        let element = self.local("element", Value::Number(0), writer);
        for value in object.values.0..=object.values.1 {
            let is_wanted = binary(Binary::Equal, wanted.clone(), Value::Number(0));
            let flag = object.flag(Value::Number(value));
            let found = assignment(element.clone(), Value::Number(value));
            writer.when(binary(Binary::And, is_wanted, flag.clone()), vec![found]);
            writer.when(flag, vec![assignment(wanted.clone(), add(wanted.clone(), -1))]);
        }
        // Reading a flag at a position without an element is an error.
        self.local("checked", object.at(object.checked(position)), writer);
        element
    }

    /// `object = object.Union(a, b)` and the like.
    pub(super) fn assign_object(
        &mut self,
        target: &Name,
        value: &Expression,
        at: At,
        statements: &mut Vec<Statement>,
    ) -> Option<()> {
        let object = self.object(&target.text)?.clone();
        let mut writer = Writer { statements, at };
        match &value.kind {
            ExpressionKind::New(class, arguments)
                if Class::of_name(&class.text) == Some(object.class) && arguments.is_empty() =>
            {
                clear(&object, &mut writer);
            }
            ExpressionKind::Method(name, method, arguments)
                if matches!(&*method.text, "Union" | "Intersect" | "Substract" | "Concat") =>
            {
                let receiver = self.method(name, method, arguments)?;
                if receiver.class != object.class {
                    let message = format!("`{}` is a `{:?}`", target.text, object.class);
                    self.error("wrong-arguments", message, target.span);
                    return None;
                }
                let left = self.object_argument(object.class, &arguments[0])?;
                let right = self.object_argument(object.class, &arguments[1])?;
                match object.class {
                    Class::Set => combine(&object, &method.text, &left, &right, &mut writer),
                    _ => self.concatenate(&object, &left, &right, &mut writer),
                }
            }
            _ => {
                let message = format!("an object is not assigned to `{}`", target.text);
                let error = Diagnostic::error("unsupported", message, value.span);
                self.report(error.with_help("assign the result of `Union`, `Intersect`, `Substract` or `Concat`"));
                return None;
            }
        }
        Some(())
    }

    fn concatenate(&mut self, object: &Object, left: &Object, right: &Object, writer: &mut Writer<'_>) {
        let length = binary(Binary::Add, left.length(), right.length());
        let length = self.local("length", length, writer);
        require_room(object, add(length.clone(), -1), writer);
        // The object may be one of the two.
        let number = self.locals;
        self.locals += 1;
        writer.push(StatementKind::Declare(number, "elements".into(), Some(object.capacity), None));
        let at = writer.at;
        for here in 0..object.capacity {
            let position = Value::Number(here);
            let place = |value: Value| {
                let kind = StatementKind::AssignLocal(number, vec![Value::Number(here)], value);
                vec![Statement { kind, at }]
            };
            let is_left = binary(Binary::Less, position.clone(), left.length());
            let is_right = binary(Binary::Less, position.clone(), length.clone());
            let of_right = binary(Binary::Subtract, position.clone(), left.length());
            let from_right =
                StatementKind::If(is_right, place(right.at(of_right)), place(Value::Number(object.filler())));
            let otherwise = vec![Statement { kind: from_right, at }];
            // No position of the left list is compared that it does not have.
            if here < left.capacity {
                writer.push(StatementKind::If(is_left, place(left.at(position)), otherwise));
            } else {
                writer.statements.extend(otherwise);
            }
        }
        for here in 0..object.capacity {
            let value = Value::Local(number, vec![Value::Number(here)]);
            writer.assign(object.at(Value::Number(here)), value);
        }
        writer.assign(object.length(), length);
    }
}

fn require_room(object: &Object, position: Value, writer: &mut Writer<'_>) {
    let message = format!("at most {} elements of `{}` are assumed", object.capacity, object.name);
    writer.require(binary(Binary::Less, position, Value::Number(object.capacity)), message);
}

/// What is behind a position.
fn next_element(object: &Object, position: i64) -> Value {
    if position + 1 == object.capacity {
        Value::Number(object.filler())
    } else {
        object.at(Value::Number(position + 1))
    }
}

fn clear(object: &Object, writer: &mut Writer<'_>) {
    for position in 0..object.capacity {
        let empty = if object.class == Class::Set { Value::Truth(false) } else { Value::Number(object.filler()) };
        writer.assign(object.at(Value::Number(position)), empty);
    }
    writer.assign(object.length(), Value::Number(0));
}

/// A set of two, value by value; the target may be one of them.
fn combine(object: &Object, method: &str, left: &Object, right: &Object, writer: &mut Writer<'_>) {
    let flag = |set: &Object, value: i64| match (set.values.0..=set.values.1).contains(&value) {
        true => set.flag(Value::Number(value)),
        false => Value::Truth(false),
    };
    let result = |value: i64| match method {
        "Union" => binary(Binary::Or, flag(left, value), flag(right, value)),
        "Intersect" => binary(Binary::And, flag(left, value), flag(right, value)),
        _ => binary(Binary::And, flag(left, value), flag(right, value).negated()),
    };
    let (low, high) = (left.values.0.min(right.values.0), left.values.1.max(right.values.1));
    for value in (low..=high).filter(|value| !(object.values.0..=object.values.1).contains(value)) {
        let message =
            format!("{} to {} are assumed for the values of `{}`", object.values.0, object.values.1, object.name);
        writer.require(result(value).negated(), message);
    }
    for value in object.values.0..=object.values.1 {
        writer.assign(object.flag(Value::Number(value)), result(value));
    }
    let count = (0..object.capacity).map(|position| object.at(Value::Number(position)));
    let count = count.reduce(|left, right| binary(Binary::Add, left, right)).unwrap_or(Value::Number(0));
    writer.assign(object.length(), count);
}

/// A function of `PAT.Math`, if it is one.
pub(super) fn arithmetic(name: &str, arguments: &[Value]) -> Option<Value> {
    let one_of = |first: &Value, second: &Value, comparison| {
        let chosen = binary(comparison, first.clone(), second.clone());
        let other = chosen.clone().negated();
        let first = binary(Binary::Multiply, first.clone(), chosen);
        binary(Binary::Add, first, binary(Binary::Multiply, second.clone(), other))
    };
    // PAT knows them with and without a capital.
    match (&*name.to_ascii_lowercase(), arguments) {
        ("max", [first, second]) => Some(one_of(first, second, Binary::GreaterOrEqual)),
        ("min", [first, second]) => Some(one_of(first, second, Binary::LessOrEqual)),
        ("abs", [value]) => {
            let negative = binary(Binary::Subtract, Value::Number(0), value.clone());
            Some(one_of(value, &negative, Binary::GreaterOrEqual))
        }
        ("pow", [base, exponent]) => {
            let exponent = exponent.constant().filter(|it| (0..=31).contains(it))?;
            let factors = (0..exponent).map(|_| base.clone());
            Some(factors.reduce(|left, right| binary(Binary::Multiply, left, right)).unwrap_or(Value::Number(1)))
        }
        _ => None,
    }
}

impl Variable {
    /// A number that begins with 0.
    fn number(name: Rc<str>, span: Span) -> Self {
        Self { name, is_boolean: false, sizes: Vec::new(), range: NUMBERS, initial: vec![0], is_any: false, span }
    }
}
