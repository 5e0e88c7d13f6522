//! The meanings of names: message names, types, variables, and their scopes.

use std::rc::Rc;

use quotient_ir::{Diagnostic, Span};
use quotient_kit::similar;
use rustc_hash::FxHashMap;

use crate::syntax::tree::{
    BaseType, Binary, Declaration, Expression, ExpressionKind, Initial, Name, Specification, Unary,
};

/// A type of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Scalar {
    /// `bit`, or an `unsigned` of this many bits.
    Bits(u8),
    Bool,
    Byte,
    Short,
    Int,
    Mtype,
    Chan,
    Pid,
}

/// The type of a variable or of the elements of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum ValueType {
    Scalar(Scalar),
    /// A `typedef`, by number.
    Structure(usize),
}

/// A channel to be made where a variable is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ChannelShape {
    pub(super) capacity: i64,
    /// The scalars of a message in order.
    pub(super) fields: Vec<Scalar>,
}

/// A variable, parameter or field.
#[derive(Clone, Debug)]
pub(super) struct VariableInfo {
    pub(super) name: Rc<str>,
    pub(super) ty: ValueType,
    /// Which kind of messages an `mtype` holds.
    pub(super) subtype: Option<Rc<str>>,
    /// The number of elements of an array.
    pub(super) count: Option<i64>,
    pub(super) initial: Option<Initial>,
    /// The channel that it starts with.
    pub(super) channel: Option<ChannelShape>,
    pub(super) span: Span,
    /// Whether any statement gives it a value.
    pub(super) assigned: bool,
    /// Whether it is declared as `hidden`.
    pub(super) hidden: bool,
}

/// A `typedef`.
#[derive(Clone, Debug)]
pub(super) struct Structure {
    pub(super) name: Rc<str>,
    pub(super) fields: Vec<VariableInfo>,
    /// The number of its scalars.
    pub(super) size: i64,
}

/// A scope of a process and the names declared in it.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    pub(super) parent: Option<usize>,
    pub(super) names: FxHashMap<Rc<str>, usize>,
}

/// What a process type declares.
#[derive(Clone, Debug, Default)]
pub(super) struct ProcessSymbols {
    /// Parameters first.
    pub(super) variables: Vec<VariableInfo>,
    pub(super) parameters: usize,
    pub(super) scopes: Vec<Scope>,
}

/// All names of a specification outside of processes.
#[derive(Clone, Debug, Default)]
pub(super) struct Symbols {
    pub(super) messages: FxHashMap<Rc<str>, i64>,
    /// The greatest number of a message name.
    pub(super) greatest_message: i64,
    pub(super) structures: Vec<Structure>,
    pub(super) structure_names: FxHashMap<Rc<str>, usize>,
    pub(super) globals: Vec<VariableInfo>,
    pub(super) global_names: FxHashMap<Rc<str>, usize>,
    pub(super) proctype_names: FxHashMap<Rc<str>, usize>,
}

/// The largest array.
const ARRAY_LIMIT: i64 = 65_536;
/// The most scalars of a variable, and of a state.
pub(super) const SIZE_LIMIT: i64 = 1_000_000;
/// The most slots of a channel.
const CAPACITY_LIMIT: i64 = 255;

impl Scalar {
    /// Whether SPIN keeps bytes where the type has fewer values: in arrays of bits (and messages of one), and for
    /// message names.
    pub(super) fn may_be_wide(self, in_array: bool) -> bool {
        self == Self::Mtype || in_array && matches!(self, Self::Bool | Self::Bits(1))
    }

    /// The least and the greatest value.
    pub(super) fn range(self, symbols: &Symbols) -> (i64, i64) {
        match self {
            Self::Bits(width) => (0, (1i64 << width) - 1),
            Self::Bool => (0, 1),
            Self::Byte | Self::Pid => (0, 255),
            Self::Short => (-32768, 32767),
            Self::Int => (i64::from(i32::MIN), i64::from(i32::MAX)),
            Self::Mtype => (0, symbols.greatest_message.min(255)),
            Self::Chan => (0, 255),
        }
    }
}

impl Symbols {
    /// Collects the names of a specification.
    pub(super) fn new(tree: &Specification, diagnostics: &mut Vec<Diagnostic>) -> Self {
        let mut symbols = Self::default();
        let mut counts: FxHashMap<Option<Rc<str>>, i64> = FxHashMap::default();
        for declaration in &tree.mtypes {
            // SPIN numbers the names of one declaration from its last to its first, and each kind
            // of messages from one.
            let count = counts.entry(declaration.subtype.as_ref().map(|name| name.text.clone())).or_default();
            let mut members: Vec<&Name> = declaration.members.iter().collect();
            members.reverse();
            for member in members {
                *count += 1;
                symbols.greatest_message = symbols.greatest_message.max(*count);
                if symbols.messages.insert(member.text.clone(), *count).is_some() {
                    diagnostics.push(duplicate(member));
                }
            }
        }
        for (number, proctype) in tree.proctypes.iter().enumerate() {
            if symbols.proctype_names.insert(proctype.name.text.clone(), number).is_some() {
                diagnostics.push(duplicate(&proctype.name));
            }
        }
        for typedef in &tree.typedefs {
            let mut fields: Vec<VariableInfo> = Vec::new();
            for declaration in &typedef.fields {
                fields.extend(symbols.variables(declaration, &|name| symbols.bound(name), diagnostics));
            }
            for (position, field) in fields.iter().enumerate() {
                if fields[..position].iter().any(|other| other.name == field.name) {
                    diagnostics.push(duplicate(&Name {
                        text: field.name.clone(),
                        span: field.span,
                        written: field.span,
                    }));
                }
            }
            let mut size = 0i64;
            for field in &mut fields {
                let more = symbols.size_of(field);
                if size.saturating_add(more) > SIZE_LIMIT {
                    diagnostics.push(too_large(field));
                    field.ty = ValueType::Scalar(Scalar::Byte);
                    field.count = None;
                }
                size += symbols.size_of(field);
            }
            let number = symbols.structures.len();
            if symbols.structure_names.insert(typedef.name.text.clone(), number).is_some() {
                diagnostics.push(duplicate(&typedef.name));
            }
            symbols.structures.push(Structure { name: typedef.name.text.clone(), fields, size });
        }
        for declaration in &tree.globals {
            for variable in symbols.variables(declaration, &|name| symbols.bound(name), diagnostics) {
                let number = symbols.globals.len();
                let name = Name { text: variable.name.clone(), span: variable.span, written: variable.span };
                if symbols.messages.contains_key(&name.text)
                    || symbols.global_names.insert(name.text.clone(), number).is_some()
                {
                    diagnostics.push(duplicate(&name));
                }
                symbols.globals.push(variable);
            }
        }
        symbols
    }

    /// The number of scalars of a variable.
    pub(super) fn size_of(&self, info: &VariableInfo) -> i64 {
        let element = match info.ty {
            ValueType::Scalar(_) => 1,
            ValueType::Structure(number) => self.structures[number].size,
        };
        element.saturating_mul(info.count.unwrap_or(1))
    }

    /// What SPIN takes a global variable for where it bounds an array.
    pub(super) fn bound(&self, name: &str) -> Option<i64> {
        self.global_names.get(name).map(|&number| self.bound_of(&self.globals[number]))
    }

    /// What SPIN takes a variable for where it bounds an array: its first value, or 8.
    pub(super) fn bound_of(&self, info: &VariableInfo) -> i64 {
        let initial = match &info.initial {
            Some(Initial::Value(value)) => self.constant(value),
            _ => None,
        };
        initial.filter(|&value| value > 0).unwrap_or(8)
    }

    /// The variables of a declaration. `bound` is the value of a variable that bounds an array.
    pub(super) fn variables(
        &self,
        declaration: &Declaration,
        bound: &dyn Fn(&str) -> Option<i64>,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Vec<VariableInfo> {
        let mut variables = Vec::new();
        for variable in &declaration.variables {
            let ty = match self.value_type(&declaration.ty, variable.width.as_ref(), diagnostics) {
                Some(ty) => ty,
                None => ValueType::Scalar(Scalar::Byte),
            };
            let size_of = |size: &Expression, diagnostics: &mut Vec<Diagnostic>| match &size.kind {
                ExpressionKind::Reference(parts) if parts.len() == 1 && parts[0].index.is_none() => {
                    let name = &parts[0].name.text;
                    let value = bound(name)?;
                    let message = format!("`{name}` is a variable; the array gets {value} elements");
                    diagnostics.push(Diagnostic::warning("size-of-variable", message, size.span));
                    Some(value)
                }
                _ => None,
            };
            let constant = |size: &Expression, diagnostics: &mut Vec<Diagnostic>| {
                self.constant(size).or_else(|| size_of(size, diagnostics))
            };
            let count = variable.size.as_ref().map(|size| match constant(size, diagnostics) {
                Some(count) if (1..=ARRAY_LIMIT).contains(&count) => count,
                Some(count) => {
                    let message = format!("an array cannot have {count} elements");
                    diagnostics.push(
                        Diagnostic::error("bad-size", message, size.span)
                            .with_help(format!("from 1 to {ARRAY_LIMIT} elements are possible")),
                    );
                    1
                }
                None => {
                    diagnostics.push(not_constant("the size of an array", size.span));
                    1
                }
            });
            let channel = match &variable.initial {
                Some(Initial::Channel { capacity, fields, span }) => {
                    if ty != ValueType::Scalar(Scalar::Chan) {
                        diagnostics.push(Diagnostic::error(
                            "not-a-channel",
                            format!("`{}` is not a `chan` and cannot start with a channel", variable.name.text),
                            *span,
                        ));
                    }
                    let capacity = match self.constant(capacity) {
                        Some(value) if (0..=CAPACITY_LIMIT).contains(&value) => value,
                        Some(_) => {
                            diagnostics.push(Diagnostic::error(
                                "bad-size",
                                format!("a channel holds from 0 to {CAPACITY_LIMIT} messages"),
                                capacity.span,
                            ));
                            0
                        }
                        None => {
                            diagnostics.push(not_constant("the capacity of a channel", capacity.span));
                            0
                        }
                    };
                    let mut scalars = Vec::new();
                    for field in fields {
                        if let Some(ty) = self.value_type(field, None, diagnostics) {
                            self.flatten(ty, None, &mut scalars);
                        }
                    }
                    if scalars.is_empty() || scalars.len() > 64 {
                        diagnostics.push(Diagnostic::error(
                            "bad-message",
                            format!("a message has from 1 to 64 fields, not {}", scalars.len()),
                            *span,
                        ));
                        scalars = vec![Scalar::Byte];
                    }
                    Some(ChannelShape { capacity, fields: scalars })
                }
                _ => None,
            };
            let mut info = VariableInfo {
                name: variable.name.text.clone(),
                ty,
                subtype: match &declaration.ty {
                    BaseType::Mtype(subtype) => subtype.as_ref().map(|name| name.text.clone()),
                    _ => None,
                },
                count,
                initial: variable.initial.clone(),
                channel,
                span: variable.name.span,
                assigned: false,
                hidden: declaration.hidden,
            };
            if self.size_of(&info) > SIZE_LIMIT {
                diagnostics.push(too_large(&info));
                info.count = Some(1);
            }
            variables.push(info);
        }
        variables
    }

    fn value_type(
        &self,
        ty: &BaseType,
        width: Option<&Expression>,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<ValueType> {
        Some(ValueType::Scalar(match ty {
            BaseType::Bit => Scalar::Bits(1),
            BaseType::Bool => Scalar::Bool,
            BaseType::Byte => Scalar::Byte,
            BaseType::Short => Scalar::Short,
            BaseType::Int => Scalar::Int,
            BaseType::Chan => Scalar::Chan,
            BaseType::Pid => Scalar::Pid,
            BaseType::Mtype(_) => Scalar::Mtype,
            BaseType::Unsigned => match width.map(|width| (self.constant(width), width.span)) {
                None => Scalar::Byte,
                Some((Some(bits @ 1..=32), _)) => Scalar::Bits(bits as u8),
                Some((_, span)) => {
                    diagnostics.push(
                        Diagnostic::error("bad-size", "this is not a number of bits", span)
                            .with_help("an `unsigned` has from 1 to 32 bits"),
                    );
                    Scalar::Byte
                }
            },
            BaseType::User(name) => match self.structure_names.get(&name.text) {
                Some(&number) => return Some(ValueType::Structure(number)),
                None => {
                    let close = similar(&name.text, self.structure_names.keys().map(|it| &**it));
                    let mut diagnostic =
                        Diagnostic::error("unknown-type", format!("there is no type `{}`", name.text), name.span);
                    diagnostic.help = close.map(|close| format!("did you mean `{close}`?"));
                    diagnostics.push(diagnostic);
                    return None;
                }
            },
        }))
    }

    /// Visits the channels that a variable starts with: the positions of the fields that lead to them, their shape, and
    /// their number.
    pub(super) fn channels_in(
        &self,
        info: &VariableInfo,
        path: &mut Vec<usize>,
        count: i64,
        visit: &mut impl FnMut(&[usize], &ChannelShape, i64),
    ) {
        let count = count.saturating_mul(info.count.unwrap_or(1));
        match (info.ty, &info.channel) {
            (ValueType::Structure(number), _) => {
                for (position, field) in self.structures[number].fields.iter().enumerate() {
                    path.push(position);
                    self.channels_in(field, path, count, visit);
                    path.pop();
                }
            }
            (ValueType::Scalar(_), Some(shape)) => visit(path, shape, count),
            (ValueType::Scalar(_), None) => {}
        }
    }

    /// Adds the scalars of a type in order.
    pub(super) fn flatten(&self, ty: ValueType, count: Option<i64>, scalars: &mut Vec<Scalar>) {
        for _ in 0..count.unwrap_or(1) {
            if scalars.len() > 1024 {
                return;
            }
            match ty {
                ValueType::Scalar(scalar) => scalars.push(scalar),
                ValueType::Structure(number) => {
                    for field in &self.structures[number].fields {
                        self.flatten(field.ty, field.count, scalars);
                    }
                }
            }
        }
    }

    /// The value of an expression without variables.
    pub(super) fn constant(&self, expression: &Expression) -> Option<i64> {
        Some(match &expression.kind {
            ExpressionKind::Number(value) => *value,
            ExpressionKind::Truth(value) => i64::from(*value),
            ExpressionKind::Reference(parts) => match &parts[..] {
                [part] if part.index.is_none() => *self.messages.get(&part.name.text)?,
                _ => return None,
            },
            ExpressionKind::Eval(inner) => self.constant(inner)?,
            ExpressionKind::Unary(operator, operand) => {
                let value = self.constant(operand)?;
                match operator {
                    Unary::Not => i64::from(value == 0),
                    Unary::Negate => -value,
                    Unary::Complement => !value,
                    _ => return None,
                }
            }
            ExpressionKind::Binary(operator, left, right) => {
                let (left, right) = (self.constant(left)?, self.constant(right)?);
                match operator {
                    Binary::Or => i64::from(left != 0 || right != 0),
                    Binary::And => i64::from(left != 0 && right != 0),
                    Binary::BitOr => left | right,
                    Binary::BitXor => left ^ right,
                    Binary::BitAnd => left & right,
                    Binary::Equal => i64::from(left == right),
                    Binary::NotEqual => i64::from(left != right),
                    Binary::Less => i64::from(left < right),
                    Binary::LessOrEqual => i64::from(left <= right),
                    Binary::Greater => i64::from(left > right),
                    Binary::GreaterOrEqual => i64::from(left >= right),
                    Binary::ShiftLeft => left.checked_shl(u32::try_from(right).ok()?)?,
                    Binary::ShiftRight => left.checked_shr(u32::try_from(right).ok()?)?,
                    Binary::Add => left.checked_add(right)?,
                    Binary::Subtract => left.checked_sub(right)?,
                    Binary::Multiply => left.checked_mul(right)?,
                    Binary::Divide => left.checked_div(right)?,
                    Binary::Remainder => left.checked_rem(right)?,
                    _ => return None,
                }
            }
            ExpressionKind::Conditional(condition, then, otherwise) => {
                if self.constant(condition)? != 0 {
                    self.constant(then)?
                } else {
                    self.constant(otherwise)?
                }
            }
            _ => return None,
        })
    }
}

fn duplicate(name: &Name) -> Diagnostic {
    Diagnostic::error("duplicate-name", format!("`{}` is declared twice", name.text), name.span)
}

fn too_large(info: &VariableInfo) -> Diagnostic {
    let message = format!("`{}` has more than {SIZE_LIMIT} elements and fields", info.name);
    Diagnostic::error("too-large", message, info.span)
}

fn not_constant(what: &str, span: Span) -> Diagnostic {
    Diagnostic::error("not-constant", format!("{what} must be a constant"), span)
        .with_help("use a number, a macro, or an expression of these")
}
