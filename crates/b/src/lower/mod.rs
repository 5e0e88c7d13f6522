//! From the core of a machine to a model. Every set of the text becomes a membership test (`sets`), evaluated by
//! quantifiers and loops over finite shapes (`shapes`, `universe`), so that the model treats all elements of a given
//! set alike wherever the machine does. Operations become rules, one for each path through their choices (`paths`). A
//! separate variable distinguishes the root, the valuations of the constants and the initialised states (`machine`).

mod applications;
mod calls;
mod definedness;
mod failures;
mod items;
mod machine;
mod outlines;
mod partial;
mod paths;
mod predicates;
mod representation;
mod scalars;
mod sets;
mod shapes;
mod storage;
mod temporal;
mod universe;

use std::rc::Rc;

use quotient_ir::{
    BinaryOperator, Diagnostic, Expr as IrExpr, ExprId, Iteration, Local, LocalId, LocalKind, Model, Parameter, Place,
    PlaceId, Root, Source, Span, Statement, StatementKind, Table, TypeId, TypeKind, UnaryOperator, VariableId,
};
use quotient_kit::Building;
use rustc_hash::{FxHashMap, FxHashSet};

use super::core::{Core, SymbolId};
use super::evaluation::Value;
use super::settings::Settings;
use super::types::Types;
use items::{Environment, Item, SetItem};
use shapes::{Leaf, Scalar, Shape, ShapeTypes};

pub(crate) use machine::lower;

/// A result, or the diagnostics about the machine.
pub(crate) type Lowered<T> = Result<T, Box<Diagnostic>>;

/// The locals and parameters of what is being lowered.
#[derive(Clone, Debug, Default)]
struct Owner {
    locals: Table<LocalId, Local>,
    parameters: Vec<Parameter>,
}

struct Lowerer<'a> {
    core: &'a Core,
    types: &'a Types,
    settings: &'a Settings,
    model: Model,
    shape_types: ShapeTypes,
    owner: Owner,
    /// The variables of the model that hold symbols, and their shapes.
    stored: FxHashMap<SymbolId, (VariableId, Shape)>,
    /// The variables that hold total functions by the invariant, so that their cells always have values.
    total: FxHashSet<VariableId>,
    failures: failures::Failures,
    /// The values of constants that have one value only.
    known: FxHashMap<SymbolId, Value>,
    diagnostics: Vec<Diagnostic>,
    definedness: definedness::Definedness,
    /// Whether variables are being declared: `MAXINT` does not bound `NATURAL`.
    declares: bool,
    /// Variables that get values in later parts of a sequence, or in other iterations of a loop.
    assigned_later: Vec<SymbolId>,
    /// Variables with bounds that were assumed.
    unbounded: FxHashSet<SymbolId>,
    /// The range of integers that nothing bounds, where one is assumed.
    assumed: Option<(i64, i64)>,
    /// The nesting depth of bound variables, for their names.
    depth: usize,
}

fn refuse<T>(code: &'static str, message: impl Into<String>, span: Span) -> Lowered<T> {
    Err(Box::new(Diagnostic::error(code, message, span)))
}

impl Building for Lowerer<'_> {
    fn model(&self) -> &Model {
        &self.model
    }

    fn model_mut(&mut self) -> &mut Model {
        &mut self.model
    }

    fn not(&mut self, operand: ExprId) -> ExprId {
        match self.model.pool[operand] {
            IrExpr::Constant { value, .. } => self.truth(value == 0),
            IrExpr::Unary { operator: UnaryOperator::Not, operand } => operand,
            _ => self.expression(IrExpr::Unary { operator: UnaryOperator::Not, operand }),
        }
    }

    fn and(&mut self, left: ExprId, right: ExprId) -> ExprId {
        match (self.constant_of(left), self.constant_of(right)) {
            (Some(0), _) => left,
            (Some(_), _) => right,
            (None, Some(1)) => left,
            _ if left == right => left,
            _ => self.binary(BinaryOperator::And, left, right),
        }
    }

    fn or(&mut self, left: ExprId, right: ExprId) -> ExprId {
        match (self.constant_of(left), self.constant_of(right)) {
            (Some(0), _) => right,
            (Some(_), _) => left,
            (None, Some(0)) => left,
            _ if left == right => left,
            _ => self.binary(BinaryOperator::Or, left, right),
        }
    }

    fn equal(&mut self, left: ExprId, right: ExprId) -> ExprId {
        match (self.constant_of(left), self.constant_of(right)) {
            (Some(one), Some(other)) => self.truth(one == other),
            _ => self.binary(BinaryOperator::Equal, left, right),
        }
    }

    fn conditional(&mut self, condition: ExprId, then: ExprId, otherwise: ExprId) -> ExprId {
        match self.constant_of(condition) {
            Some(0) => otherwise,
            Some(_) => then,
            None if then == otherwise => then,
            None => self.expression(IrExpr::Conditional { condition, then, otherwise }),
        }
    }
}

impl<'a> Lowerer<'a> {
    fn new(source: Source, core: &'a Core, types: &'a Types, settings: &'a Settings) -> Self {
        let mut model = Model::new(source);
        let shape_types = ShapeTypes::new(core, &mut model);
        Self {
            core,
            types,
            settings,
            model,
            shape_types,
            owner: Owner::default(),
            stored: FxHashMap::default(),
            total: FxHashSet::default(),
            failures: failures::Failures::default(),
            known: FxHashMap::default(),
            diagnostics: Vec::new(),
            assigned_later: Vec::new(),
            unbounded: FxHashSet::default(),
            assumed: None,
            declares: false,
            definedness: definedness::Definedness::default(),
            depth: 0,
        }
    }

    // Types.

    fn scalar_type(&mut self, scalar: Scalar) -> TypeId {
        self.shape_types.scalar(&mut self.model, scalar)
    }

    fn shape_type(&mut self, shape: &Shape) -> TypeId {
        self.shape_types.shape(self.core, &mut self.model, shape)
    }

    // Expressions, with constant folding.

    fn expression(&mut self, expression: IrExpr) -> ExprId {
        self.model.pool.expression(expression)
    }

    fn implies(&mut self, left: ExprId, right: ExprId) -> ExprId {
        match (self.constant_of(left), self.constant_of(right)) {
            (Some(0), _) => self.truth(true),
            (Some(_), _) => right,
            (None, Some(1)) => right,
            _ => self.binary(BinaryOperator::Implies, left, right),
        }
    }

    /// Arithmetic and comparisons, folded if both sides are known.
    fn arithmetic(&mut self, operator: BinaryOperator, left: ExprId, right: ExprId) -> ExprId {
        if let (Some(a), Some(b)) = (self.constant_of(left), self.constant_of(right)) {
            let known = match operator {
                BinaryOperator::Add => a.checked_add(b),
                BinaryOperator::Subtract => a.checked_sub(b),
                BinaryOperator::Multiply => a.checked_mul(b),
                BinaryOperator::Less => return self.truth(a < b),
                BinaryOperator::LessOrEqual => return self.truth(a <= b),
                _ => None,
            };
            if let Some(known) = known {
                return self.number(known);
            }
        }
        match (operator, self.constant_of(left), self.constant_of(right)) {
            (BinaryOperator::Add, Some(0), _) => right,
            (BinaryOperator::Add | BinaryOperator::Subtract, _, Some(0)) => left,
            (BinaryOperator::Multiply, Some(1), _) => right,
            (BinaryOperator::Multiply, _, Some(1)) => left,
            _ => self.binary(operator, left, right),
        }
    }

    // Places.

    fn place(&mut self, root: Root, ty: TypeId) -> PlaceId {
        self.model.pool.place(Place { root, steps: Vec::new(), ty })
    }

    fn local_place(&mut self, local: LocalId) -> PlaceId {
        let ty = self.owner.locals[local].ty;
        self.place(Root::Local(local), ty)
    }

    fn at_all(&mut self, place: PlaceId, indices: &[ExprId]) -> PlaceId {
        indices.iter().fold(place, |place, index| self.element(place, *index))
    }

    // Locals.

    fn local(&mut self, name: impl Into<String>, ty: TypeId, kind: LocalKind) -> LocalId {
        self.owner.locals.push(Local { name: name.into(), ty, kind, span: Span::default() })
    }

    /// A local variable of a shape.
    fn temporary(&mut self, name: &str, shape: &Shape) -> LocalId {
        let ty = self.shape_type(shape);
        self.local(name, ty, LocalKind::Variable)
    }

    /// New bound variables for a value of a shape: the item they make up, and what they range over.
    fn binders(&mut self, shape: &Shape, name: &str) -> (Item, Vec<(LocalId, TypeId)>) {
        let mut binders = Vec::new();
        let item = self.bind_shape(shape, name, &mut binders);
        (item, binders)
    }

    fn bind_shape(&mut self, shape: &Shape, name: &str, binders: &mut Vec<(LocalId, TypeId)>) -> Item {
        match shape {
            Shape::Scalar(scalar) => {
                let ty = self.scalar_type(*scalar);
                let local = self.local(name, ty, LocalKind::Parameter);
                binders.push((local, ty));
                let place = self.local_place(local);
                Item::Scalar(self.read(place), *scalar)
            }
            Shape::Pair(left, right) => {
                let left = self.bind_shape(left, &format!("{name}_left"), binders);
                Item::pair(left, self.bind_shape(right, &format!("{name}_right"), binders))
            }
            Shape::Record(fields) => Item::Record(
                fields
                    .iter()
                    .map(|(field, shape)| (field.clone(), self.bind_shape(shape, &format!("{name}_{field}"), binders)))
                    .collect(),
            ),
            Shape::Set(_) | Shape::Function(..) | Shape::Table(..) => {
                let element = shape.element();
                let size = u32::try_from(element.size(self.core)).unwrap_or(u32::MAX);
                let ty = self.shape_types.leaf(&mut self.model, &Leaf::Code(element.clone(), size));
                let local = self.local(name, ty, LocalKind::Parameter);
                binders.push((local, ty));
                let place = self.local_place(local);
                Item::Set(SetItem::Code { code: self.read(place), element })
            }
        }
    }

    /// A name for a bound variable that no outer one has.
    fn fresh_name(&mut self, base: &str) -> String {
        self.depth += 1;
        format!("{base}{}", self.depth)
    }

    // Literals.

    fn scalar_constant(&mut self, value: &Value) -> Option<(ExprId, Scalar)> {
        Some(match value {
            Value::Integer(value) => (self.number(*value), Scalar::integer(*value, *value)),
            Value::Boolean(value) => (self.truth(*value), Scalar::Boolean),
            Value::Member(set, member) => (self.member_constant(Scalar::Given(*set), *member), Scalar::Given(*set)),
            Value::Text(text) => (self.member_constant(Scalar::Text, *text), Scalar::Text),
            _ => return None,
        })
    }

    fn member_constant(&mut self, scalar: Scalar, member: usize) -> ExprId {
        let ty = self.scalar_type(scalar);
        let first = match &self.model.types[ty].kind {
            TypeKind::Enumeration { first, .. } => *first,
            _ => 0,
        };
        self.expression(IrExpr::Constant { value: first + member as i64, ty })
    }

    /// A known value as an item of a shape.
    fn literal(&mut self, value: &Value, shape: &Shape) -> Item {
        match (value, shape) {
            (Value::Pair(pair), Shape::Pair(left, right)) => {
                let left = self.literal(&pair.0, left);
                Item::pair(left, self.literal(&pair.1, right))
            }
            (Value::Record(values), Shape::Record(fields)) => Item::Record(
                fields
                    .iter()
                    .zip(values.iter())
                    .map(|((name, shape), value)| (name.clone(), self.literal(value, shape)))
                    .collect(),
            ),
            (Value::Set(members), _) => Item::Set(SetItem::Value(members.clone(), shape.element())),
            _ => match self.scalar_constant(value) {
                Some((constant, scalar)) => Item::Scalar(constant, scalar),
                None => {
                    let constant = self.truth(false);
                    Item::Scalar(constant, Scalar::Boolean)
                }
            },
        }
    }

    /// The contents of a place of a shape.
    fn stored_item(&mut self, place: PlaceId, shape: &Shape) -> Item {
        match shape {
            Shape::Scalar(scalar) => Item::Scalar(self.read(place), *scalar),
            Shape::Pair(left, right) => {
                let (one, other) = (self.field(place, 0), self.field(place, 1));
                let left = self.stored_item(one, left);
                Item::pair(left, self.stored_item(other, right))
            }
            Shape::Record(fields) => {
                let mut items = Vec::new();
                for (position, (name, shape)) in fields.iter().enumerate() {
                    let part = self.field(place, position as u32);
                    items.push((name.clone(), self.stored_item(part, shape)));
                }
                Item::Record(items)
            }
            Shape::Set(element) => Item::Set(SetItem::Bits { place, element: (**element).clone() }),
            Shape::Function(domain, value) => {
                let total = match &self.model.pool[place].root {
                    Root::Variable(variable) => self.total.contains(variable),
                    _ => false,
                };
                Item::Set(SetItem::Cells { place, domain: (**domain).clone(), value: *value, total })
            }
            Shape::Table(domain, value) => {
                Item::Set(SetItem::Table { place, domain: (**domain).clone(), value: (**value).clone() })
            }
        }
    }

    // Statements.

    fn statement(kind: StatementKind, span: Span) -> Statement {
        Statement { kind, span }
    }

    /// Loops over bound variables around statements.
    fn loops(binders: &[(LocalId, TypeId)], body: Vec<Statement>, span: Span) -> Vec<Statement> {
        binders.iter().rev().fold(body, |body, (local, ty)| {
            vec![Self::statement(StatementKind::For { local: *local, range: Iteration::Over(*ty), body }, span)]
        })
    }

    /// Reports a shape that is too large to store or enumerate.
    fn check_shape(&self, shape: &Shape, span: Span) -> Lowered<()> {
        if shape.is_too_large(self.core) {
            let message = "this set has too many possible members".to_owned();
            let diagnostic = Diagnostic::error("too-large", message, span)
                .with_help("take smaller given sets, or tighter bounds of integers");
            return Err(Box::new(diagnostic));
        }
        Ok(())
    }

    fn empty_environment(&self) -> Environment {
        Rc::new(FxHashMap::default())
    }
}
