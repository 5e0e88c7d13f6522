//! Channels. All channels of one shape (capacity and fields) are in one array, and a channel is a number: zero is none,
//! and the numbers of one shape are consecutive. A queue keeps its messages from the front; slots beyond its length
//! hold the least values, so that equal queues are equal states. A rendezvous channel has no queue: its messages are
//! passed in a joint step.

use quotient_ir::{
    BinaryOperator, Diagnostic, Expr, ExprId, Field, Iteration, PlaceId, Root, Span, Statement, StatementKind, Step,
    Type, TypeKind, Variable,
};
use quotient_kit::Building;

use super::emission::{Emission, Wide};
use super::events::EventKind;
use super::expressions::Referent;
use super::owner::{Context, Owner};
use super::program::VariableKey;
use super::symbols::Scalar;
use super::words::Value;
use crate::syntax::tree::{Expression, ExpressionKind, Member};

/// The operation on a message, for diagnostics.
pub(super) const SENT: &str = "sent";
pub(super) const RECEIVED: &str = "received";

/// The layout of the channels of a shape in the state.
#[derive(Clone, Debug)]
pub(super) struct ShapeLayout {
    /// The least and the greatest number of its channels; none if no channel has this shape.
    pub(super) numbers: Option<(i64, i64)>,
    /// The queues, if its channels have a capacity.
    pub(super) variable: Option<quotient_ir::VariableId>,
}

/// The channels of one shape that an expression may denote.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChannelTarget {
    pub(super) shape: usize,
    /// The number of the channel.
    pub(super) number: ExprId,
    /// Whether it may also be a channel of another shape.
    pub(super) certain: bool,
}

/// The effect of a receive on a field of a message.
#[derive(Clone, Debug)]
pub(super) enum Pattern {
    /// The field must have this value.
    Equals(Value),
    /// The field is stored in a variable.
    Into(Referent),
}

impl Emission<'_, '_> {
    /// Numbers all channels and declares their queues.
    pub(super) fn lay_out_channels(&mut self) {
        let program = self.program;
        let mut next = 1;
        self.site_bases = vec![0; program.sites.len()];
        for shape in 0..program.shapes.len() {
            let first = next;
            let mut names: Vec<String> = Vec::new();
            let mut span = Span::default();
            for (position, site) in program.sites.iter().enumerate().filter(|(_, site)| site.shape == shape) {
                let info = program.variable(site.variable);
                let owners = match site.variable {
                    VariableKey::Global(_) => {
                        names.push(info.name.to_string());
                        1
                    }
                    VariableKey::Local(process, _) => {
                        names.push(format!("{}.{}", program.name(process), info.name));
                        self.pools.ranges[process].map_or(0, |(low, high)| high - low + 1)
                    }
                };
                span = info.span;
                self.site_bases[position] = next;
                next += owners * site.count;
            }
            let numbers = (next > first).then_some((first, next - 1));
            let capacity = program.shapes[shape].capacity;
            let variable = match numbers {
                Some((low, high)) if capacity > 0 => {
                    let queue = self.queue_type(shape);
                    let ty = if low == high {
                        queue
                    } else {
                        let index = self.range_type(low, high);
                        self.array_type(index, queue)
                    };
                    let name = if names.len() == 1 { names.remove(0) } else { format!("channels{}", shape + 1) };
                    let name = self.unique_name(&format!("{name}.queue"));
                    Some(self.model.variables.push(Variable { name, ty, may_be_undefined: false, span }))
                }
                _ => None,
            };
            self.shapes.push(ShapeLayout { numbers, variable });
        }
        self.channel_count = next - 1;
    }

    fn queue_type(&mut self, shape: usize) -> quotient_ir::TypeId {
        let entry = &self.program.shapes[shape];
        let mut fields = Vec::new();
        for position in 0..entry.fields.len() {
            let ty = self.field_of_message_type(shape, position);
            fields.push(Field { name: format!("f{}", position + 1), ty });
        }
        let message = self.model.types.push(Type { name: None, kind: TypeKind::Record { fields } });
        let slots = self.range_type(0, entry.capacity - 1);
        let messages = self.array_type(slots, message);
        let length = self.range_type(0, entry.capacity);
        let fields = vec![Field { name: "len".into(), ty: length }, Field { name: "slot".into(), ty: messages }];
        self.model.types.push(Type { name: None, kind: TypeKind::Record { fields } })
    }

    /// The type of a field of the messages of a shape.
    pub(super) fn field_of_message_type(&mut self, shape: usize, field: usize) -> quotient_ir::TypeId {
        let scalar = self.message_scalar(shape, field);
        if scalar != Scalar::Mtype {
            return self.field_type(scalar);
        }
        let subtype = self.field_subtypes(shape).get(field).cloned().flatten();
        self.message_type(subtype, self.wide.contains(&Wide::Message(shape, field)))
    }

    /// What a field of the messages of a shape holds: its type, or bytes if SPIN uses bytes and the difference is
    /// visible.
    fn message_scalar(&self, shape: usize, field: usize) -> Scalar {
        match self.program.shapes[shape].fields[field] {
            Scalar::Bool | Scalar::Bits(1) if self.wide.contains(&Wide::Message(shape, field)) => Scalar::Byte,
            scalar => scalar,
        }
    }

    /// The number of the first channel that a variable starts with, in a process if it is a local one.
    /// `path` leads to it if it is a field.
    pub(super) fn own_channel(&mut self, key: VariableKey, path: &[usize], pid: Option<ExprId>) -> Option<ExprId> {
        let program = self.program;
        let position = program.sites.iter().position(|site| site.variable == key && site.path == path)?;
        let (base, count) = (self.site_bases[position], program.sites[position].count);
        match (key, pid) {
            (VariableKey::Local(process, _), Some(pid)) => {
                let (low, _) = self.pools.ranges[process]?;
                // base + (pid - low) * count
                let scaled = match self.constant_of(pid) {
                    Some(pid) => self.number(pid * count),
                    None if count == 1 => pid,
                    None => {
                        let count = self.number(count);
                        self.binary(BinaryOperator::Multiply, pid, count)
                    }
                };
                let offset = self.number(base - low * count);
                Some(self.add(scaled, offset))
            }
            _ => Some(self.number(base)),
        }
    }

    /// A channel variable that is never assigned to: its value is known.
    pub(super) fn fixed_channel(&mut self, key: VariableKey, part: &Member, process: Option<ExprId>) -> Option<Value> {
        if part.index.is_some() {
            self.error("not-an-array", format!("`{}` is not an array", part.name.text), part.name.span);
            return None;
        }
        let expression = self.own_channel(key, &[], process)?;
        let (low, high) = match self.constant_of(expression) {
            Some(value) => (value, value),
            None => (1, self.channel_count),
        };
        Some(Value { expression, is_boolean: false, low, high })
    }

    /// The queue of the channel that an expression denotes, if it is one with a buffer and its messages are known.
    pub(super) fn contents(&mut self, owner: &mut Owner, context: Context, expression: &Expression) -> Option<PlaceId> {
        let shapes = self.program.channel_shapes(context.process, context.scope, expression);
        let mut shapes = shapes.into_iter().filter(|&shape| self.shapes[shape].numbers.is_some());
        let (Some(shape), None) = (shapes.next(), shapes.next()) else { return None };
        self.shapes[shape].variable?;
        let number = self.numeric(owner, context, expression)?.expression;
        Some(self.queue(&ChannelTarget { shape, number, certain: true }))
    }

    /// The channels that an expression may denote, by shape.
    pub(super) fn channels_of(
        &mut self,
        owner: &mut Owner,
        context: Context,
        expression: &Expression,
    ) -> Option<Vec<ChannelTarget>> {
        let value = self.numeric(owner, context, expression)?;
        let shapes = self.program.channel_shapes(context.process, context.scope, expression);
        let shapes: Vec<usize> = shapes.into_iter().filter(|&shape| self.shapes[shape].numbers.is_some()).collect();
        if shapes.is_empty() {
            let is_channel = match &expression.kind {
                ExpressionKind::Reference(parts) => {
                    self.program.scalar_of(context.process, context.scope, parts) == Some(Scalar::Chan)
                }
                _ => false,
            };
            // Nothing is known about a process type that is never started, and nothing matters.
            let never_started = context.process.is_some_and(|process| self.pools.ranges[process].is_none());
            if !is_channel {
                self.error("not-a-channel", "this is not a channel", expression.span);
            } else if !never_started {
                self.complain(
                    Diagnostic::warning("no-channel", "no channel is ever given to this variable", expression.span)
                        .with_help("declare it with `= [n] of { … }`, or assign a channel to it"),
                );
            }
            return if is_channel { Some(Vec::new()) } else { None };
        }
        let certain = shapes.len() == 1;
        Some(shapes.into_iter().map(|shape| ChannelTarget { shape, number: value.expression, certain }).collect())
    }

    /// Whether the channel of a target has the shape of the target.
    pub(super) fn is_of_shape(&mut self, target: &ChannelTarget) -> ExprId {
        let Some((low, high)) = self.shapes[target.shape].numbers else { return self.truth(false) };
        if let Some(number) = self.constant_of(target.number) {
            return self.truth(low <= number && number <= high);
        }
        if target.certain {
            return self.truth(true);
        }
        let (low, high) = (self.number(low), self.number(high));
        let above = self.compare(BinaryOperator::GreaterOrEqual, target.number, low);
        let below = self.compare(BinaryOperator::LessOrEqual, target.number, high);
        self.and(above, below)
    }

    fn queue(&mut self, target: &ChannelTarget) -> PlaceId {
        let layout = &self.shapes[target.shape];
        let (numbers, variable) = (layout.numbers, layout.variable);
        let place = self.variable_place(variable.expect("only channels with a capacity have queues"));
        match numbers {
            Some((low, high)) if low < high => self.element(place, target.number),
            _ => place,
        }
    }

    pub(super) fn queue_length(&mut self, target: &ChannelTarget) -> PlaceId {
        let queue = self.queue(target);
        self.field(queue, 0)
    }

    fn slot(&mut self, target: &ChannelTarget, slot: ExprId) -> PlaceId {
        let queue = self.queue(target);
        let slots = self.field(queue, 1);
        self.element(slots, slot)
    }

    /// A field of a message in a queue; one that messages do not have is zero.
    fn message_field(&mut self, target: &ChannelTarget, slot: ExprId, field: usize) -> Value {
        if field >= self.program.shapes[target.shape].fields.len() {
            return self.number_value(0);
        }
        let slot = self.slot(target, slot);
        let place = self.field(slot, field as u32);
        let expression = self.read(place);
        self.field_value(target.shape, field, expression)
    }

    /// What is known about the value of a field.
    pub(super) fn field_value(&self, shape: usize, field: usize, expression: ExprId) -> Value {
        let scalar = self.message_scalar(shape, field);
        let (low, high) = self.message_range(shape, field);
        Value { expression, is_boolean: scalar == Scalar::Bool, low, high }
    }

    fn message_range(&self, shape: usize, field: usize) -> (i64, i64) {
        match self.program.shapes[shape].fields[field] {
            _ if self.wide.contains(&Wide::Message(shape, field)) => (0, 255),
            Scalar::Chan => (0, self.channel_count),
            scalar => scalar.range(&self.program.symbols),
        }
    }

    /// The value of an argument of a send, as the field of a message holds it.
    pub(super) fn fit_field(&mut self, shape: usize, field: usize, value: Value) -> Value {
        let scalar = self.message_scalar(shape, field);
        let range = self.message_range(shape, field);
        // SPIN packs bits only where a message has several fields.
        let is_alone = self.program.shapes[shape].fields.len() == 1;
        let fits = value.is_boolean || range.0 <= value.low && value.high <= range.1;
        let wide = Wide::Message(shape, field);
        if scalar.may_be_wide(is_alone) && !fits && !self.wide.contains(&wide) {
            self.widen.push(wide);
        }
        let expression = self.fit(value, scalar, scalar == Scalar::Bool, range);
        let is_boolean = scalar == Scalar::Bool;
        let (low, high) = match fits && !is_boolean {
            true => (value.low, value.high),
            false => range,
        };
        match self.constant_of(expression) {
            Some(constant) => Value { expression, is_boolean, low: constant, high: constant },
            None => Value { expression, is_boolean, low, high },
        }
    }

    /// Structures among the arguments of a send or receive are expanded to their fields.
    pub(super) fn message_arguments(&self, context: Context, arguments: &[Expression]) -> Vec<Expression> {
        self.program.message_arguments(context.process, context.scope, arguments)
    }

    /// The targets of a send. A message with fewer or more fields than the channel is a run-time error when it is sent;
    /// but it cannot have more fields than every channel of the text.
    pub(super) fn send_targets(
        &mut self,
        owner: &mut Owner,
        context: Context,
        channel: &Expression,
        given: usize,
        span: Span,
    ) -> Option<Vec<ChannelTarget>> {
        let targets = self.channels_of(owner, context, channel)?;
        let most = self.program.shapes.iter().map(|shape| shape.fields.len()).max().unwrap_or(0);
        if given > most && !targets.is_empty() {
            let message = format!("messages of this channel have {most} fields, {given} are given");
            self.error("wrong-arity", message, span);
            return None;
        }
        Some(targets)
    }

    /// The error of a message whose field count differs from that of its channel, as in SPIN: missing fields are zero
    /// if the search continues.
    pub(super) fn wrong_fields(&mut self, shape: usize, given: usize, what: &str, span: Span) -> Vec<Statement> {
        let wanted = self.program.shapes[shape].fields.len();
        if given == wanted || !self.check_assertions {
            return Vec::new();
        }
        let message = format!("{given} fields are {what}, messages of this channel have {wanted}");
        vec![Statement { kind: StatementKind::Error { message }, span }]
    }

    /// A field of a message that is sent, as it arrives.
    pub(super) fn sent_field(&mut self, shape: usize, field: usize, values: &[Value]) -> Value {
        let value = match values.get(field) {
            Some(&value) => value,
            None => self.number_value(0),
        };
        match field < self.program.shapes[shape].fields.len() {
            true => self.fit_field(shape, field, value),
            false => self.number_value(0),
        }
    }

    /// The requirement of a receive on each field.
    pub(super) fn patterns(
        &mut self,
        owner: &mut Owner,
        context: Context,
        arguments: &[Expression],
    ) -> Option<Vec<Pattern>> {
        let mut patterns = Vec::new();
        for argument in arguments {
            let constant = match &argument.kind {
                ExpressionKind::Reference(parts) => {
                    let plain = parts.len() == 1 && parts[0].index.is_none();
                    let name = &parts[0].name.text;
                    plain
                        && self.program.lookup(context.process, context.scope, name).is_none()
                        && (self.program.symbols.messages.contains_key(name) || name.starts_with('_') && &**name != "_")
                }
                _ => true,
            };
            patterns.push(match &argument.kind {
                ExpressionKind::Reference(parts) if !constant => Pattern::Into(self.referent(owner, context, parts)?),
                _ => Pattern::Equals(self.value(owner, context, argument)?),
            });
        }
        Some(patterns)
    }

    /// Whether a message agrees with a pattern; `field` gives its fields.
    pub(super) fn agrees(&mut self, patterns: &[Pattern], mut field: impl FnMut(&mut Self, usize) -> Value) -> ExprId {
        let mut conditions = Vec::new();
        for (position, pattern) in patterns.iter().enumerate() {
            if let Pattern::Equals(wanted) = *pattern {
                let found = field(self, position);
                conditions.push(self.same(found, wanted));
            }
        }
        self.all(conditions)
    }

    /// Whether two values are equal, as numbers or as truth values.
    pub(super) fn same(&mut self, left: Value, right: Value) -> ExprId {
        if left.is_boolean && right.is_boolean {
            return self.compare(BinaryOperator::Equal, left.expression, right.expression);
        }
        for (truth, other) in [(left, right), (right, left)] {
            if truth.is_boolean
                && let Some(constant @ (0 | 1)) = self.constant_of(other.expression)
            {
                return if constant == 1 { truth.expression } else { self.not(truth.expression) };
            }
        }
        let (left, right) = (self.number_of(left), self.number_of(right));
        self.equal(left.expression, right.expression)
    }

    /// Whether there is a message for a receive in a queue.
    pub(super) fn can_receive(&mut self, target: &ChannelTarget, random: bool, patterns: &[Pattern]) -> ExprId {
        let shape = self.is_of_shape(target);
        let capacity = self.program.shapes[target.shape].capacity;
        let length = self.queue_length(target);
        let length = self.read(length);
        let slots = if random { capacity } else { 1 };
        let mut found = Vec::new();
        for slot in 0..slots {
            let slot = self.number(slot);
            let there = self.compare(BinaryOperator::Greater, length, slot);
            let agrees = self.agrees(patterns, |emission, field| emission.message_field(target, slot, field));
            found.push(self.and(there, agrees));
        }
        let found = self.any(found);
        self.and(shape, found)
    }

    /// `c?[…]`
    pub(super) fn poll(
        &mut self,
        owner: &mut Owner,
        context: Context,
        channel: &Expression,
        random: bool,
        arguments: &[Expression],
    ) -> Option<ExprId> {
        let arguments = self.message_arguments(context, arguments);
        let targets = self.channels_of(owner, context, channel)?;
        let patterns = self.patterns(owner, context, &arguments)?;
        let mut conditions = Vec::new();
        for target in targets {
            if self.program.shapes[target.shape].capacity > 0 {
                conditions.push(self.can_receive(&target, random, &patterns));
            }
        }
        Some(self.any(conditions))
    }

    /// Whether there is room for a message in a queue.
    pub(super) fn can_send(&mut self, target: &ChannelTarget) -> ExprId {
        let shape = self.is_of_shape(target);
        let length = self.queue_length(target);
        let length = self.read(length);
        let capacity = self.number(self.program.shapes[target.shape].capacity);
        let room = self.compare(BinaryOperator::Less, length, capacity);
        self.and(shape, room)
    }

    /// Puts a message into a queue that has room for it.
    pub(super) fn send(
        &mut self,
        owner: &mut Owner,
        target: &ChannelTarget,
        sorted: bool,
        values: &[Value],
        span: Span,
    ) -> Vec<Statement> {
        let mut statements = self.wrong_fields(target.shape, values.len(), SENT, span);
        let length_place = self.queue_length(target);
        let length = self.read(length_place);
        let fields = self.program.shapes[target.shape].fields.len();
        let values: Vec<Value> = (0..fields).map(|field| self.sent_field(target.shape, field, values)).collect();
        let slot = if sorted {
            let slot = self.sorted_slot(owner, target, &values, length, span, &mut statements);
            self.read_local(owner, slot)
        } else {
            length
        };
        let message = self.slot(target, slot);
        for (field, value) in values.iter().enumerate() {
            let place = self.field(message, field as u32);
            statements.push(self.set(place, value.expression, span));
        }
        let one = self.number(1);
        let more = self.binary(BinaryOperator::Add, length, one);
        statements.push(self.set(length_place, more, span));
        if self.event.is_some() {
            // A trace observes the last message, sorted or not.
            let last = self.binary(BinaryOperator::Subtract, length, one);
            let mut message = Vec::new();
            for (field, &value) in values.iter().enumerate() {
                let is_known = !sorted && self.constant_of(value.expression).is_some();
                message.push(if is_known { value } else { self.message_field(target, last, field) });
            }
            statements.extend(self.note_event(EventKind::Sent, target, &message, span));
        }
        statements
    }

    /// Finds the position of a message among sorted ones, after its equals, and makes room there.
    fn sorted_slot(
        &mut self,
        owner: &mut Owner,
        target: &ChannelTarget,
        values: &[Value],
        length: ExprId,
        span: Span,
        statements: &mut Vec<Statement>,
    ) -> quotient_ir::LocalId {
        let capacity = self.program.shapes[target.shape].capacity;
        let ty = self.range_type(0, capacity - 1);
        let slot = owner.variable("slot", ty);
        let slot_place = self.local_place(owner, slot);
        let mut branches = Vec::new();
        for position in 0..capacity {
            let number = self.number(position);
            let there = self.compare(BinaryOperator::Greater, length, number);
            let mut greater = self.truth(false);
            for (field, &value) in values.iter().enumerate().rev() {
                let old = self.message_field(target, number, field);
                let (old, new) = (self.number_of(old), self.number_of(value));
                let above = self.compare(BinaryOperator::Greater, old.expression, new.expression);
                let equal = self.equal(old.expression, new.expression);
                let later = self.and(equal, greater);
                greater = self.or(above, later);
            }
            let condition = self.and(there, greater);
            branches.push((condition, vec![self.set_number(slot_place, position, span)]));
        }
        let otherwise = vec![self.set(slot_place, length, span)];
        statements.push(Statement { kind: StatementKind::If { branches, otherwise }, span });
        let slot_value = self.read(slot_place);
        for position in (1..capacity).rev() {
            let (number, before) = (self.number(position), self.number(position - 1));
            let behind = self.compare(BinaryOperator::Greater, number, slot_value);
            let (to, from) = (self.slot(target, number), self.slot(target, before));
            let copy = Statement { kind: StatementKind::Copy { target: to, source: from }, span };
            statements.push(Self::when(behind, vec![copy], Vec::new(), span));
        }
        slot
    }

    /// Takes a message that agrees with a pattern from a queue.
    pub(super) fn receive(
        &mut self,
        owner: &mut Owner,
        target: &ChannelTarget,
        random: bool,
        copying: bool,
        patterns: &[Pattern],
        span: Span,
    ) -> Vec<Statement> {
        let fields = self.program.shapes[target.shape].fields.len();
        let mut statements = match copying && patterns.len() < fields {
            true => Vec::new(),
            false => self.wrong_fields(target.shape, patterns.len(), RECEIVED, span),
        };
        let capacity = self.program.shapes[target.shape].capacity;
        let mut target = *target;
        if self.may_change(target.number) {
            // The index of the channel may be received into, so its number is evaluated first.
            let ty = self.range_type(0, self.channel_count);
            let channel = owner.variable("channel", ty);
            let place = self.local_place(owner, channel);
            statements.push(self.set(place, target.number, span));
            target.number = self.read(place);
        }
        let target = &target;
        let length_place = self.queue_length(target);
        let length = self.read(length_place);
        let slot = if random && capacity > 1 {
            let ty = self.range_type(0, capacity - 1);
            let slot = owner.variable("slot", ty);
            let slot_place = self.local_place(owner, slot);
            let mut branches = Vec::new();
            for position in 0..capacity - 1 {
                let number = self.number(position);
                let there = self.compare(BinaryOperator::Greater, length, number);
                let agrees = self.agrees(patterns, |emission, field| emission.message_field(target, number, field));
                let condition = self.and(there, agrees);
                branches.push((condition, vec![self.set_number(slot_place, position, span)]));
            }
            let otherwise = vec![self.set_number(slot_place, capacity - 1, span)];
            statements.push(Statement { kind: StatementKind::If { branches, otherwise }, span });
            self.read(slot_place)
        } else {
            self.number(0)
        };
        if !copying && self.event.is_some() {
            let front = self.number(0);
            let first: Vec<Value> = (0..fields).map(|field| self.message_field(target, front, field)).collect();
            statements.extend(self.note_event(EventKind::Received, target, &first, span));
        }
        for (field, pattern) in patterns.iter().enumerate() {
            if let Pattern::Into(referent) = *pattern {
                let value = self.message_field(target, slot, field);
                statements.extend(self.store(referent, value, span));
            }
        }
        if copying {
            return statements;
        }
        if capacity > 1 {
            let ty = self.range_type(0, capacity - 2);
            let position = owner.parameter("position", ty);
            let at = self.read_local(owner, position);
            let one = self.number(1);
            let after = self.binary(BinaryOperator::Add, at, one);
            let (to, from) = (self.slot(target, at), self.slot(target, after));
            let mut body = vec![Statement { kind: StatementKind::Copy { target: to, source: from }, span }];
            if random {
                let behind = self.compare(BinaryOperator::GreaterOrEqual, at, slot);
                body = vec![Self::when(behind, body, Vec::new(), span)];
            }
            let range = Iteration::Over(ty);
            statements.push(Statement { kind: StatementKind::For { local: position, range, body }, span });
        }
        let last = self.number(capacity - 1);
        let last = self.slot(target, last);
        statements.push(Statement { kind: StatementKind::Clear(last), span });
        let one = self.number(1);
        let fewer = self.binary(BinaryOperator::Subtract, length, one);
        statements.push(self.set(length_place, fewer, span));
        statements
    }

    /// Whether the number of a channel is read through an index that may be received into.
    fn may_change(&self, number: ExprId) -> bool {
        let Expr::Read(place) = self.model.pool[number] else { return false };
        let place = &self.model.pool[place];
        place.steps.iter().any(|step| match step {
            Step::Index(index) => match self.model.pool[*index] {
                Expr::Read(inner) => matches!(self.model.pool[inner].root, Root::Variable(_)),
                Expr::Constant { .. } => false,
                _ => true,
            },
            Step::Field(_) => false,
        })
    }

    /// Empties the channels that a process made.
    pub(super) fn clear_channels(&mut self, process: usize, pid: ExprId, span: Span) -> Vec<Statement> {
        let program = self.program;
        let mut statements = Vec::new();
        for site in &program.sites {
            let VariableKey::Local(owner, _) = site.variable else { continue };
            if owner != process || program.shapes[site.shape].capacity == 0 {
                continue;
            }
            let Some(first) = self.own_channel(site.variable, &site.path, Some(pid)) else { continue };
            for offset in 0..site.count {
                let offset = self.number(offset);
                let number = self.add(first, offset);
                let target = ChannelTarget { shape: site.shape, number, certain: true };
                let queue = self.queue(&target);
                statements.push(Statement { kind: StatementKind::Clear(queue), span });
            }
        }
        statements
    }
}
