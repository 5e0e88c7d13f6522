//! Channels with a buffer: a queue of messages in a variable called like the channel, a record of the number of messages
//! and the messages, first one in front. Places behind the last message hold zeros.

use quotient_ir::{BinaryOperator, ExprId, Field, PlaceId, Span, Statement, StatementKind, Type, TypeKind};
use quotient_kit::Building;

use super::{Lowering, Shared};

impl Lowering<'_> {
    /// Declares the buffers.
    pub(super) fn declare_queues(&mut self) {
        let symbols = self.symbols;
        for channel in &symbols.channels {
            if channel.capacity == 0 {
                self.queues.push(None);
                continue;
            }
            let length = self.ty(Shared::Range(0, channel.capacity as i64));
            let types = channel.tree.types.as_deref().unwrap_or_default();
            let fields = types.iter().enumerate().map(|(position, &scalar)| {
                let ty = self.scalar_type(scalar);
                Field { name: format!("value_{}", position + 1), ty }
            });
            let fields: Vec<Field> = fields.collect();
            let message = self.model.types.push(Type { name: None, kind: TypeKind::Record { fields } });
            let messages = self.array_type(channel.capacity, message);
            let fields =
                vec![Field { name: "length".into(), ty: length }, Field { name: "messages".into(), ty: messages }];
            let queue = self.model.types.push(Type { name: None, kind: TypeKind::Record { fields } });
            let name = &channel.tree.name;
            let queue = self.declare_variable(name.text.to_string(), queue, name.span);
            self.queues.push(Some(queue));
        }
    }

    /// Fills the buffers with zeros.
    pub(super) fn start_queues(&mut self, body: &mut Vec<Statement>) {
        let symbols = self.symbols;
        for (number, channel) in symbols.channels.iter().enumerate() {
            let types = channel.tree.types.as_deref().unwrap_or_default();
            for message in 0..channel.capacity as i64 {
                // Cells start at the least value of their type.
                for value in (0..types.len()).filter(|&value| types[value].range().0 != 0) {
                    let (message, zero) = (self.number(message), self.number(0));
                    let Some(target) = self.queue_place(number, message, value) else { continue };
                    let kind = StatementKind::Assign { target, value: zero };
                    body.push(Statement { kind, span: channel.tree.name.span });
                }
            }
        }
    }

    /// The number of messages in a channel.
    fn queue_length(&mut self, channel: usize) -> Option<PlaceId> {
        let queue = self.queues[channel]?;
        let queue = self.variable_place(queue);
        Some(self.field(queue, 0))
    }

    /// The place of a value of a message.
    fn queue_place(&mut self, channel: usize, message: ExprId, value: usize) -> Option<PlaceId> {
        let queue = self.queues[channel]?;
        let queue = self.variable_place(queue);
        let messages = self.field(queue, 1);
        let message = self.element(messages, message);
        Some(self.field(message, value as u32))
    }

    /// Whether a message can be sent, or received.
    pub(super) fn queue_is_ready(&mut self, channel: usize, sends: bool) -> ExprId {
        let Some(length) = self.queue_length(channel) else { return self.truth(false) };
        let length = self.read(length);
        if sends {
            let capacity = self.number(self.symbols.channels[channel].capacity as i64);
            self.binary(BinaryOperator::Less, length, capacity)
        } else {
            let zero = self.number(0);
            self.binary(BinaryOperator::Greater, length, zero)
        }
    }

    /// Puts values behind the last message.
    pub(super) fn enqueue(&mut self, channel: usize, values: &[ExprId], span: Span) -> Vec<Statement> {
        let Some(length) = self.queue_length(channel) else { return Vec::new() };
        let position = self.read(length);
        let mut statements = Vec::new();
        for (number, &value) in values.iter().enumerate() {
            let Some(target) = self.queue_place(channel, position, number) else { continue };
            statements.push(Statement { kind: StatementKind::Assign { target, value }, span });
        }
        let one = self.number(1);
        let value = self.binary(BinaryOperator::Add, position, one);
        statements.push(Statement { kind: StatementKind::Assign { target: length, value }, span });
        statements
    }

    /// The places of the values of the first message.
    pub(super) fn first_message(&mut self, channel: usize) -> Vec<PlaceId> {
        let types = self.symbols.channels[channel].tree.types.as_ref().map_or(0, Vec::len);
        let zero = self.number(0);
        (0..types).filter_map(|value| self.queue_place(channel, zero, value)).collect()
    }

    /// Removes the first message; the others move up.
    pub(super) fn dequeue(&mut self, channel: usize, span: Span) -> Vec<Statement> {
        let Some(length) = self.queue_length(channel) else { return Vec::new() };
        let capacity = self.symbols.channels[channel].capacity;
        let values = self.symbols.channels[channel].tree.types.as_ref().map_or(0, Vec::len);
        let mut statements = Vec::new();
        let zero = self.number(0);
        for message in 0..capacity as i64 {
            for value in 0..values {
                let here = self.number(message);
                let Some(target) = self.queue_place(channel, here, value) else { continue };
                let moved = if message + 1 == capacity as i64 {
                    zero
                } else {
                    let next = self.number(message + 1);
                    let Some(next) = self.queue_place(channel, next, value) else { continue };
                    self.read(next)
                };
                statements.push(Statement { kind: StatementKind::Assign { target, value: moved }, span });
            }
        }
        let (count, one) = (self.read(length), self.number(1));
        let value = self.binary(BinaryOperator::Subtract, count, one);
        statements.push(Statement { kind: StatementKind::Assign { target: length, value }, span });
        statements
    }
}
