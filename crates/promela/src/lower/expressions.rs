//! Expressions and references to variables.
//!
//! Promela computes with 32-bit integers as C does, and truncates values to the size of the variable. Numbers and truth
//! values are converted where they meet, and a value is truncated only if it may not fit.

use quotient_ir::{BinaryOperator, Diagnostic, Expr, ExprId, PlaceId, Span, Statement, UnaryOperator};
use quotient_kit::Building;
use quotient_kit::similar;
use quotient_kit::watched;

use super::emission::{Emission, Wide};
use super::owner::{Context, Owner};
use super::program::VariableKey;
use super::symbols::{Scalar, ValueType, VariableInfo};
use super::words::Value;
use crate::syntax::tree::{Binary, ChannelQuery, Expression, ExpressionKind, Member, Unary};

/// What a reference denotes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Referent {
    /// A scalar variable.
    Place { place: PlaceId, scalar: Scalar, in_array: bool, key: VariableKey },
    /// A value that cannot be assigned to.
    Value(Value),
    /// A variable whose value is never read.
    Nowhere,
}

/// The variable that a reference begins with.
pub(super) enum Root {
    /// Its place.
    Variable { place: PlaceId, info: Box<VariableInfo>, key: VariableKey },
    /// One that always holds the same channel.
    Channel(Value),
}

impl Emission<'_, '_> {
    pub(super) fn error(&mut self, code: &'static str, message: impl Into<String>, span: Span) {
        self.complain(Diagnostic::error(code, message, span));
    }

    /// Reports something once, however often the text is lowered.
    pub(super) fn complain(&mut self, diagnostic: Diagnostic) {
        if !self.diagnostics.contains(&diagnostic) {
            self.diagnostics.push(diagnostic);
        }
    }

    /// A value as a condition.
    pub(super) fn condition_of(&mut self, value: Value) -> ExprId {
        if value.is_boolean {
            return value.expression;
        }
        if let Some(constant) = self.constant_of(value.expression) {
            return self.truth(constant != 0);
        }
        // `c ? 1 : 0` came from a condition and becomes one again.
        if let Expr::Conditional { condition, then, otherwise } = self.model.pool[value.expression]
            && self.constant_of(then) == Some(1)
            && self.constant_of(otherwise) == Some(0)
        {
            return condition;
        }
        let zero = self.number(0);
        self.binary(BinaryOperator::NotEqual, value.expression, zero)
    }

    /// A value as a number.
    pub(super) fn number_of(&mut self, value: Value) -> Value {
        if !value.is_boolean {
            return value;
        }
        if let Some(constant) = self.constant_of(value.expression) {
            return self.number_value(constant);
        }
        Value { expression: self.as_number(value.expression, true), is_boolean: false, low: 0, high: 1 }
    }

    /// An expression as a condition.
    pub(super) fn condition(&mut self, owner: &mut Owner, context: Context, expression: &Expression) -> Option<ExprId> {
        let value = self.value(owner, context, expression)?;
        Some(self.condition_of(value))
    }

    /// An expression as a number.
    pub(super) fn numeric(&mut self, owner: &mut Owner, context: Context, expression: &Expression) -> Option<Value> {
        let value = self.value(owner, context, expression)?;
        Some(self.number_of(value))
    }

    /// The value of an expression.
    pub(super) fn value(&mut self, owner: &mut Owner, context: Context, expression: &Expression) -> Option<Value> {
        let span = expression.span;
        match &expression.kind {
            ExpressionKind::Number(value) => Some(self.number_value(*value)),
            ExpressionKind::Truth(value) => {
                let truth = self.truth(*value);
                Some(self.boolean_value(truth))
            }
            ExpressionKind::Text(_) => {
                self.error("text-as-value", "a string is no value", span);
                None
            }
            ExpressionKind::Reference(parts) => {
                if let [part] = &parts[..]
                    && part.index.is_none()
                    && let Some(value) = self.special(owner, context, &part.name.text, span)
                {
                    return value;
                }
                match self.referent(owner, context, parts)? {
                    Referent::Value(value) => Some(value),
                    Referent::Place { place, scalar, in_array, key } => {
                        let read = self.read(place);
                        let (low, high) = self.scalar_range(scalar, in_array, key);
                        Some(Value { expression: read, is_boolean: self.is_boolean_place(place), low, high })
                    }
                    Referent::Nowhere => {
                        self.error("write-only", "`_` can be written to but not read", span);
                        None
                    }
                }
            }
            ExpressionKind::Unary(operator, operand) => self.unary(owner, context, *operator, operand, span),
            ExpressionKind::Binary(operator, left, right) => {
                self.binary_value(owner, context, *operator, left, right, span)
            }
            ExpressionKind::Conditional(condition, then, otherwise) => {
                let condition = self.condition(owner, context, condition)?;
                let then = self.value(owner, context, then)?;
                let otherwise = self.value(owner, context, otherwise)?;
                if let Some(constant) = self.constant_of(condition) {
                    return Some(if constant != 0 { then } else { otherwise });
                }
                let is_boolean = then.is_boolean && otherwise.is_boolean;
                let (then, otherwise) =
                    if is_boolean { (then, otherwise) } else { (self.number_of(then), self.number_of(otherwise)) };
                let (low, high) = (then.low.min(otherwise.low), then.high.max(otherwise.high));
                let (then, otherwise) = (then.expression, otherwise.expression);
                let expression = self.model.pool.expression(Expr::Conditional { condition, then, otherwise });
                Some(Value { expression, is_boolean, low, high })
            }
            ExpressionKind::Eval(inner) => self.value(owner, context, inner),
            ExpressionKind::ChannelQuery(query, channel) => self.channel_query(owner, context, *query, channel),
            ExpressionKind::Poll { channel, random, arguments } => {
                let condition = self.poll(owner, context, channel, *random, arguments)?;
                Some(self.boolean_value(condition))
            }
            ExpressionKind::Run { .. } => {
                self.complain(
                    Diagnostic::error("misplaced-run", "`run` cannot be part of a larger expression", span)
                        .with_help("write `run p()` or `v = run p()`"),
                );
                None
            }
            ExpressionKind::AtLabel { proctype, process, label } => {
                let condition = self.at_label(owner, context, proctype, process.as_deref(), label)?;
                Some(self.boolean_value(condition))
            }
            ExpressionKind::RemoteVariable { proctype, process, variable } => {
                self.remote_variable(owner, context, proctype, process.as_deref(), variable)
            }
            ExpressionKind::Timeout => {
                let condition = if context.asks_timeout { self.timeout() } else { self.truth(false) };
                Some(self.boolean_value(condition))
            }
            ExpressionKind::Enabled(process) => {
                let pid = self.numeric(owner, context, process)?;
                let condition = self.enabled_process(owner, pid.expression, span);
                Some(self.boolean_value(condition))
            }
            ExpressionKind::Priority(process) => {
                let pid = self.numeric(owner, context, process)?;
                Some(self.priority_of_any(pid.expression))
            }
            ExpressionKind::PcValue(process) => {
                let pid = self.numeric(owner, context, process)?;
                Some(self.state_number(pid.expression))
            }
            ExpressionKind::NonProgress => {
                if context.process.is_some() {
                    let message = "`np_` has a meaning only in formulas and claims";
                    let help = "ask for non-progress cycles with `--property progress`";
                    self.complain(Diagnostic::error("unsupported", message, span).with_help(help));
                    return None;
                }
                let condition = self.non_progress(owner);
                Some(self.boolean_value(condition))
            }
            ExpressionKind::Quantified(quantified) => {
                let condition = self.quantified_condition(owner, context, quantified)?;
                Some(self.boolean_value(condition))
            }
            ExpressionKind::Path(..) => {
                self.error("temporal", "a temporal operator has no place in an expression", span);
                None
            }
        }
    }

    /// The predefined variables; `None` if the name is none of them.
    fn special(&mut self, owner: &mut Owner, context: Context, name: &str, span: Span) -> Option<Option<Value>> {
        if let Some(bound) = owner.bound.iter().rev().find(|bound| &*bound.name == name) {
            return Some(Some(bound.value));
        }
        match name {
            "_pid" => Some(match context.pid {
                Some(expression) => {
                    let (low, high) = match (self.constant_of(expression), context.process) {
                        (Some(value), _) => (value, value),
                        (None, Some(process)) => self.pools.ranges[process].unwrap_or((0, 255)),
                        (None, None) => (0, 255),
                    };
                    Some(Value { expression, is_boolean: false, low, high })
                }
                None => {
                    self.error("no-process", "`_pid` has no meaning outside of a process", span);
                    None
                }
            }),
            "_priority" => Some(match (context.process, context.pid) {
                (Some(process), Some(pid)) => Some(self.priority_of(process, pid)),
                _ => {
                    self.error("no-process", "`_priority` has no meaning outside of a process", span);
                    None
                }
            }),
            "_nr_pr" => Some(Some(self.process_count(owner))),
            "_last" => Some(Some(match self.last {
                Some(variable) => {
                    let place = self.variable_place(variable);
                    let expression = self.read(place);
                    Value { expression, is_boolean: false, low: 0, high: 255 }
                }
                None => self.number_value(0),
            })),
            _ => self.program.symbols.messages.get(name).copied().and_then(|value| {
                let shadowed = self.program.lookup(context.process, context.scope, name);
                shadowed.is_none().then(|| Some(self.number_value(value)))
            }),
        }
    }

    fn is_boolean_place(&self, place: PlaceId) -> bool {
        self.model.pool[place].ty == quotient_ir::Model::BOOLEAN
    }

    /// The values that a variable of a type can hold.
    pub(super) fn scalar_range(&self, scalar: Scalar, in_array: bool, key: VariableKey) -> (i64, i64) {
        if scalar.may_be_wide(in_array) && self.wide.contains(&Wide::Variable(key)) {
            return (0, 255);
        }
        match scalar {
            Scalar::Chan => (0, self.channel_count),
            _ => scalar.range(&self.program.symbols),
        }
    }

    fn unary(
        &mut self,
        owner: &mut Owner,
        context: Context,
        operator: Unary,
        operand: &Expression,
        span: Span,
    ) -> Option<Value> {
        match operator {
            Unary::Not => {
                let condition = self.condition(owner, context, operand)?;
                let negated = self.not(condition);
                Some(self.boolean_value(negated))
            }
            Unary::Negate | Unary::Complement => {
                let value = self.numeric(owner, context, operand)?;
                if let Some(constant) = self.constant_of(value.expression) {
                    return Some(self.number_value(if operator == Unary::Negate { -constant } else { !constant }));
                }
                let (operator, low, high) = match operator {
                    Unary::Negate => (UnaryOperator::Negate, -value.high, -value.low),
                    _ => (UnaryOperator::Complement, !value.high, !value.low),
                };
                let expression = self.model.pool.expression(Expr::Unary { operator, operand: value.expression });
                Some(self.wrap(Value { expression, is_boolean: false, low, high }))
            }
            _ => {
                self.error("temporal", "a temporal operator has no place in an expression", span);
                None
            }
        }
    }

    fn binary_value(
        &mut self,
        owner: &mut Owner,
        context: Context,
        operator: Binary,
        left: &Expression,
        right: &Expression,
        span: Span,
    ) -> Option<Value> {
        use BinaryOperator as To;
        match operator {
            Binary::Or | Binary::And | Binary::Implies | Binary::Equivalent => {
                let left = self.condition(owner, context, left);
                let right = self.condition(owner, context, right);
                let (left, right) = (left?, right?);
                let result = match operator {
                    Binary::Or => self.or(left, right),
                    Binary::And => self.and(left, right),
                    Binary::Implies => {
                        let not = self.not(left);
                        self.or(not, right)
                    }
                    _ => self.binary(To::Equal, left, right),
                };
                Some(self.boolean_value(result))
            }
            Binary::Equal
            | Binary::NotEqual
            | Binary::Less
            | Binary::LessOrEqual
            | Binary::Greater
            | Binary::GreaterOrEqual => {
                let left = self.value(owner, context, left);
                let right = self.value(owner, context, right);
                let (left, right) = (left?, right?);
                Some(self.comparison(operator, left, right))
            }
            _ if operator.is_temporal() => {
                self.error("temporal", "a temporal operator has no place in an expression", span);
                None
            }
            _ => {
                let left = self.numeric(owner, context, left);
                let right = self.numeric(owner, context, right);
                let (left, right) = (left?, right?);
                Some(self.arithmetic(operator, left, right))
            }
        }
    }

    fn comparison(&mut self, operator: Binary, left: Value, right: Value) -> Value {
        use BinaryOperator as To;
        let operator = match operator {
            Binary::Equal => To::Equal,
            Binary::NotEqual => To::NotEqual,
            Binary::Less => To::Less,
            Binary::LessOrEqual => To::LessOrEqual,
            Binary::Greater => To::Greater,
            _ => To::GreaterOrEqual,
        };
        if matches!(operator, To::Equal | To::NotEqual) {
            // A truth value combined with the constant 0 or 1 remains a truth value.
            let truth_beside = |emission: &Self, truth: Value, other: Value| {
                let constant = emission.constant_of(other.expression)?;
                (truth.is_boolean && matches!(constant, 0 | 1)).then_some((truth.expression, constant == 1))
            };
            let found = truth_beside(self, left, right).or_else(|| truth_beside(self, right, left));
            if let Some((expression, wanted)) = found {
                let plain = wanted == (operator == To::Equal);
                let result = if plain { expression } else { self.not(expression) };
                return self.boolean_value(result);
            }
            if left.is_boolean && right.is_boolean {
                let result = self.compare(operator, left.expression, right.expression);
                return self.boolean_value(result);
            }
        }
        let (left, right) = (self.number_of(left), self.number_of(right));
        let result = self.compare(operator, left.expression, right.expression);
        self.boolean_value(result)
    }

    pub(super) fn arithmetic(&mut self, operator: Binary, left: Value, right: Value) -> Value {
        use BinaryOperator as To;
        let products = || {
            let all = [left.low * right.low, left.low * right.high, left.high * right.low, left.high * right.high];
            (*all.iter().min().expect("four"), *all.iter().max().expect("four"))
        };
        let bits = |value: i64| {
            let mut mask = 1i64;
            while mask <= value {
                mask <<= 1;
            }
            mask - 1
        };
        let natural = left.low >= 0 && right.low >= 0;
        let whole = (i64::from(i32::MIN), i64::from(i32::MAX));
        let (to, (low, high)) = match operator {
            Binary::Add => (To::Add, (left.low + right.low, left.high + right.high)),
            Binary::Subtract => (To::Subtract, (left.low - right.high, left.high - right.low)),
            Binary::Multiply => (To::Multiply, products()),
            Binary::Divide if left.low >= 0 && right.low > 0 => (To::Divide, (0, left.high / right.low)),
            Binary::Divide => {
                let most = left.low.abs().max(left.high.abs());
                (To::Divide, (-most, most))
            }
            Binary::Remainder => {
                let most = right.low.abs().max(right.high.abs()).saturating_sub(1).max(0);
                let most = most.min(left.low.abs().max(left.high.abs()));
                (To::Remainder, (if left.low >= 0 { 0 } else { -most }, if left.high <= 0 { 0 } else { most }))
            }
            Binary::BitAnd if natural => (To::BitAnd, (0, left.high.min(right.high))),
            Binary::BitAnd => (To::BitAnd, whole),
            Binary::BitOr if natural => (To::BitOr, (0, bits(left.high.max(right.high)))),
            Binary::BitOr => (To::BitOr, whole),
            Binary::BitXor if natural => (To::BitXor, (0, bits(left.high.max(right.high)))),
            Binary::BitXor => (To::BitXor, whole),
            Binary::ShiftRight if natural => (To::ShiftRight, (0, left.high)),
            Binary::ShiftRight => (To::ShiftRight, whole),
            _ if natural && right.high < 31 => (To::ShiftLeft, (0, left.high << right.high)),
            _ => (To::ShiftLeft, (i64::MIN / 4, i64::MAX / 4)),
        };
        let constants = (self.constant_of(left.expression), self.constant_of(right.expression));
        if let (Some(left), Some(right)) = constants {
            let result = match operator {
                Binary::Add => left.checked_add(right),
                Binary::Subtract => left.checked_sub(right),
                Binary::Multiply => left.checked_mul(right),
                Binary::Divide => left.checked_div(right),
                Binary::Remainder => left.checked_rem(right),
                Binary::BitAnd => Some(left & right),
                Binary::BitOr => Some(left | right),
                Binary::BitXor => Some(left ^ right),
                _ => None,
            };
            if let Some(result) = result.filter(|result| whole.0 <= *result && *result <= whole.1) {
                return self.number_value(result);
            }
        }
        let expression = self.binary(to, left.expression, right.expression);
        self.wrap(Value { expression, is_boolean: false, low, high })
    }

    /// Cuts a number to the 32 bits of an `int`, if it may not fit.
    fn wrap(&mut self, value: Value) -> Value {
        let (low, high) = (i64::from(i32::MIN), i64::from(i32::MAX));
        if low <= value.low && value.high <= high {
            return value;
        }
        self.cut(value, 32, true)
    }

    fn cut(&mut self, value: Value, width: u32, signed: bool) -> Value {
        let mask = self.number((1i64 << width) - 1);
        if !signed {
            let expression = self.binary(BinaryOperator::BitAnd, value.expression, mask);
            return Value { expression, is_boolean: false, low: 0, high: (1i64 << width) - 1 };
        }
        let half = 1i64 << (width - 1);
        let half_constant = self.number(half);
        let moved = self.binary(BinaryOperator::Add, value.expression, half_constant);
        let kept = self.binary(BinaryOperator::BitAnd, moved, mask);
        let expression = self.binary(BinaryOperator::Subtract, kept, half_constant);
        Value { expression, is_boolean: false, low: -half, high: half - 1 }
    }

    /// The value stored when a value is assigned to a variable of a type.
    pub(super) fn fit(&mut self, value: Value, scalar: Scalar, boolean: bool, range: (i64, i64)) -> ExprId {
        if boolean {
            if value.is_boolean {
                return value.expression;
            }
            if 0 <= value.low && value.high <= 1 {
                return self.condition_of(value);
            }
            // SPIN keeps the last bit.
            let bit = self.cut(value, 1, false);
            return self.condition_of(bit);
        }
        let value = self.number_of(value);
        if range.0 <= value.low && value.high <= range.1 {
            return value.expression;
        }
        let cut = match scalar {
            Scalar::Bits(_) | Scalar::Bool if range == (0, 255) => self.cut(value, 8, false),
            Scalar::Bits(width) => self.cut(value, u32::from(width), false),
            Scalar::Bool => self.cut(value, 1, false),
            Scalar::Byte | Scalar::Pid | Scalar::Mtype => self.cut(value, 8, false),
            Scalar::Short => self.cut(value, 16, true),
            Scalar::Int => self.cut(value, 32, true),
            // A value that no channel has is a fault when it is stored.
            Scalar::Chan => value,
        };
        cut.expression
    }

    /// The statement that stores a value.
    pub(super) fn store(&mut self, referent: Referent, value: Value, span: Span) -> Vec<Statement> {
        match referent {
            Referent::Nowhere => Vec::new(),
            Referent::Value(_) => {
                self.complain(
                    Diagnostic::error("not-a-variable", "this cannot be assigned to", span)
                        .with_help("it is a constant, or a channel that is never assigned to elsewhere"),
                );
                Vec::new()
            }
            Referent::Place { place, scalar, in_array, key } => {
                let wide = Wide::Variable(key);
                if scalar.may_be_wide(in_array) && !self.wide.contains(&wide) {
                    let (low, high) = self.scalar_range(scalar, in_array, key);
                    if !value.is_boolean && (value.low < low || value.high > high) {
                        self.widen.push(wide);
                    }
                }
                let range = self.scalar_range(scalar, in_array, key);
                let boolean = self.is_boolean_place(place);
                let value = self.fit(value, scalar, boolean, range);
                vec![self.set(place, value, span)]
            }
        }
    }

    /// What a reference denotes.
    pub(super) fn referent(&mut self, owner: &mut Owner, context: Context, parts: &[Member]) -> Option<Referent> {
        let first = &parts[0];
        let name = &first.name.text;
        if &**name == "_" {
            return Some(Referent::Nowhere);
        }
        if &**name == "_priority"
            && let (Some(process), Some(pid)) = (context.process, context.pid)
            && let Some(place) = self.priority_place(process, pid)
        {
            // It is a byte of the process, in addition to its variables.
            let key = VariableKey::Local(process, usize::MAX);
            return Some(Referent::Place { place, scalar: Scalar::Byte, in_array: false, key });
        }
        match self.root(context, first)? {
            Root::Variable { place, info, key } => self.path(owner, context, place, &info, parts, key),
            Root::Channel(value) => Some(Referent::Value(value)),
        }
    }

    /// The variable that a reference begins with.
    fn root(&mut self, context: Context, first: &Member) -> Option<Root> {
        let name = &first.name.text;
        let Some(key) = self.program.lookup(context.process, context.scope, name) else {
            self.unknown_name(context, name, first.name.span);
            return None;
        };
        let info = self.program.variable(key).clone();
        let place = match key {
            VariableKey::Global(number) => match self.globals[number] {
                Some(variable) => self.variable_place(variable),
                None => return Some(Root::Channel(self.fixed_channel(key, first, None)?)),
            },
            VariableKey::Local(process, number) => {
                let pid = context.pid?;
                match self.locals[process][number] {
                    Some(field) => {
                        let place = self.process_place(process, pid);
                        self.field(place, field)
                    }
                    None => return Some(Root::Channel(self.fixed_channel(key, first, Some(pid))?)),
                }
            }
        };
        Some(Root::Variable { place, info: Box::new(info), key })
    }

    /// Follows indices and fields from a variable to a scalar.
    pub(super) fn path(
        &mut self,
        owner: &mut Owner,
        context: Context,
        root: PlaceId,
        info: &VariableInfo,
        parts: &[Member],
        key: VariableKey,
    ) -> Option<Referent> {
        let (mut place, info) = self.designated(owner, context, root, info, parts)?;
        let last = parts.last().expect("a reference has a part");
        if last.index.is_none() && info.count.is_some() {
            place = self.first(place);
        }
        match info.ty {
            ValueType::Scalar(scalar) => {
                let in_array = info.count.is_some();
                Some(Referent::Place { place, scalar, in_array, key })
            }
            ValueType::Structure(_) => {
                let message = format!("`{}` is a structure, not a value", info.name);
                let error = Diagnostic::error("structure-as-value", message, last.name.span);
                self.complain(error.with_help("name one of its fields"));
                None
            }
        }
    }

    /// The first element of an array: SPIN reads it where an index is missing.
    fn first(&mut self, array: PlaceId) -> PlaceId {
        let zero = self.number(0);
        self.element(array, zero)
    }

    /// The array or structure that a reference denotes, if it denotes a whole one.
    fn whole(&mut self, owner: &mut Owner, context: Context, expression: &Expression) -> Option<PlaceId> {
        let (root, parts) = match &expression.kind {
            ExpressionKind::Reference(parts) => {
                self.program.lookup(context.process, context.scope, &parts[0].name.text)?;
                (self.root(context, &parts[0])?, parts)
            }
            ExpressionKind::RemoteVariable { proctype, process, variable } => {
                (self.remote_root(owner, context, proctype, process.as_deref(), variable)??, variable)
            }
            _ => return None,
        };
        let Root::Variable { place, info, .. } = root else { return None };
        let (place, info) = self.designated(owner, context, place, &info, parts)?;
        let is_array = info.count.is_some() && parts.last()?.index.is_none();
        (is_array || matches!(info.ty, ValueType::Structure(_))).then_some(place)
    }

    /// Makes an expression the one to evaluate. Names of arrays and structures mean all of them, and names of channels
    /// with a buffer their contents.
    pub(super) fn emit_watched(&mut self, expression: &Expression) {
        let (mut owner, context) = (Owner::default(), Context::of_formula());
        let value = match self.whole(&mut owner, context, expression) {
            Some(place) => watched::Value::Whole(place),
            None => match self.contents(&mut owner, context, expression) {
                Some(queue) => watched::Value::Queue(queue),
                None => match self.value(&mut owner, context, expression) {
                    Some(value) => watched::Value::Scalar(value.expression),
                    None => return,
                },
            },
        };
        watched::watch(&mut self.model, owner.locals, value, expression.span);
    }

    /// Follows indices and fields from a variable. An index may be missing in the last part.
    fn designated(
        &mut self,
        owner: &mut Owner,
        context: Context,
        root: PlaceId,
        info: &VariableInfo,
        parts: &[Member],
    ) -> Option<(PlaceId, VariableInfo)> {
        let mut place = root;
        let mut info = info.clone();
        for (position, part) in parts.iter().enumerate() {
            let span = part.name.span;
            if position > 0 {
                let ValueType::Structure(number) = info.ty else {
                    self.error("no-fields", format!("`{}` has no fields", info.name), span);
                    return None;
                };
                let structure = &self.program.symbols.structures[number];
                let Some(field) = structure.fields.iter().position(|field| field.name == part.name.text) else {
                    let message = format!("type `{}` has no field `{}`", structure.name, part.name.text);
                    let close = similar(&part.name.text, structure.fields.iter().map(|field| &*field.name));
                    let mut diagnostic = Diagnostic::error("unknown-field", message, span);
                    diagnostic.help = close.map(|close| format!("did you mean `{close}`?"));
                    self.complain(diagnostic);
                    return None;
                };
                info = structure.fields[field].clone();
                place = self.field(place, field as u32);
            }
            match (&part.index, info.count) {
                (Some(index), Some(_)) => {
                    let index = self.numeric(owner, context, index)?;
                    place = self.element(place, index.expression);
                }
                (None, Some(_)) if position + 1 < parts.len() => place = self.first(place),
                (None, _) => {}
                (Some(index), None) => match self.program.symbols.constant(index) {
                    Some(0) => {}
                    _ => {
                        self.error("not-an-array", format!("`{}` is not an array", info.name), span);
                        return None;
                    }
                },
            }
        }
        Some((place, info))
    }

    fn unknown_name(&mut self, context: Context, name: &str, span: Span) {
        let mut candidates: Vec<std::rc::Rc<str>> = self.program.symbols.global_names.keys().cloned().collect();
        candidates.extend(self.program.symbols.messages.keys().cloned());
        if let Some(process) = context.process {
            let variables = &self.program.processes[process].symbols.variables;
            candidates.extend(variables.iter().map(|variable| variable.name.clone()));
        }
        candidates.sort();
        let mut diagnostic = Diagnostic::error("unknown-name", format!("there is no variable `{name}`"), span);
        diagnostic.help = if self.program.symbols.proctype_names.contains_key(name) {
            Some(format!("`{name}` is a process type; start a process with `run {name}(…)`"))
        } else {
            similar(name, candidates.iter().map(|it| &**it)).map(|close| format!("did you mean `{close}`?"))
        };
        self.complain(diagnostic);
    }

    fn channel_query(
        &mut self,
        owner: &mut Owner,
        context: Context,
        query: ChannelQuery,
        channel: &Expression,
    ) -> Option<Value> {
        let targets = self.channels_of(owner, context, channel)?;
        // Each shape has its own length; the channel's number identifies the shape.
        let mut result: Option<Value> = None;
        for target in targets {
            let capacity = self.program.shapes[target.shape].capacity;
            let length = if capacity == 0 {
                self.number_value(0)
            } else {
                let place = self.queue_length(&target);
                let expression = self.read(place);
                Value { expression, is_boolean: false, low: 0, high: capacity }
            };
            let bound = if query == ChannelQuery::Full || query == ChannelQuery::NotFull { capacity.max(1) } else { 0 };
            let value = match query {
                ChannelQuery::Length => length,
                ChannelQuery::Full | ChannelQuery::Empty => {
                    let bound = self.number(bound);
                    let condition = self.equal(length.expression, bound);
                    self.boolean_value(condition)
                }
                ChannelQuery::NotFull | ChannelQuery::NotEmpty => {
                    let bound = self.number(bound);
                    let condition = self.compare(BinaryOperator::NotEqual, length.expression, bound);
                    self.boolean_value(condition)
                }
            };
            result = Some(match result {
                None => value,
                Some(before) => {
                    let condition = self.is_of_shape(&target);
                    let low = before.low.min(value.low);
                    let high = before.high.max(value.high);
                    let (then, otherwise) = (value.expression, before.expression);
                    let expression = self.model.pool.expression(Expr::Conditional { condition, then, otherwise });
                    Value { expression, is_boolean: value.is_boolean, low, high }
                }
            });
        }
        result
    }
}
