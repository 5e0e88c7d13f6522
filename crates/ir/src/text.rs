//! Expressions and places as short Murphi text, in the names of the source, for run-time error messages and reports.
//! Long text is truncated with "…", so that a message stays readable whatever the size of the expression.
//!
//! Parentheses are the fewest that Murphi's precedences (as in rumur) need, except under `!`, which binds more loosely
//! than a comparison: there they are kept for readability.

use crate::calling::PartStep;
use crate::expression::{Argument, BinaryOperator, Expr, Iteration, Quantifier, Root, Step, UnaryOperator};
use crate::index::{ExprId, LocalId, PlaceId, Table, TypeId, VariableId};
use crate::model::{Local, Model};
use crate::presentation::Calling;
use crate::types::TypeKind;

/// The number of bytes of text after which the rest is cut off.
const LONGEST: usize = 400;

/// An expression as Murphi text, for messages.
pub fn expression_text(model: &Model, locals: &Table<LocalId, Local>, expression: ExprId) -> String {
    Writer::new(model, locals).run(Task::Expression(expression, Level::Conditional))
}

/// The same, with the display names of the model's front end.
pub fn called_text(model: &Model, locals: &Table<LocalId, Local>, expression: ExprId) -> String {
    let writer = Writer { calls: true, ..Writer::new(model, locals) };
    writer.run(Task::Expression(expression, Level::Conditional))
}

/// A place as Murphi text, for messages.
pub fn place_text(model: &Model, locals: &Table<LocalId, Local>, place: PlaceId) -> String {
    Writer::new(model, locals).run(Task::Place(place))
}

/// How tightly a construct binds, loosest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Conditional,
    Implies,
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Not,
    Comparison,
    Shift,
    Sum,
    Product,
    Unary,
    Primary,
}

impl Level {
    /// The next tighter level.
    pub(crate) fn tighter(self) -> Self {
        match self {
            Self::Conditional => Self::Implies,
            Self::Implies => Self::Or,
            Self::Or => Self::And,
            Self::And => Self::BitOr,
            Self::BitOr => Self::BitXor,
            Self::BitXor => Self::BitAnd,
            Self::BitAnd => Self::Not,
            Self::Not => Self::Comparison,
            Self::Comparison => Self::Shift,
            Self::Shift => Self::Sum,
            Self::Sum => Self::Product,
            Self::Product => Self::Unary,
            Self::Unary | Self::Primary => Self::Primary,
        }
    }
}

/// The notation of a binary operator: its symbol, its level, and the levels its operands need.
pub(crate) struct Notation {
    pub(crate) symbol: &'static str,
    pub(crate) level: Level,
    pub(crate) left: Level,
    pub(crate) right: Level,
}

/// The notation of a binary operator. Conjunction and disjunction are written `&` and `|`, which
/// every dialect has; they share their levels with the bitwise operators.
pub(crate) fn notation(operator: BinaryOperator) -> Notation {
    use BinaryOperator::{
        Add, And, BitAnd, BitOr, BitXor, Divide, Equal, Greater, GreaterOrEqual, Implies, Less, LessOrEqual, Multiply,
        NotEqual, Or, Remainder, ShiftLeft, ShiftRight, Subtract,
    };
    let (symbol, level) = match operator {
        Implies => ("->", Level::Implies),
        Or | BitOr => ("|", Level::BitOr),
        BitXor => ("^", Level::BitXor),
        And | BitAnd => ("&", Level::BitAnd),
        Equal => ("=", Level::Comparison),
        NotEqual => ("!=", Level::Comparison),
        Less => ("<", Level::Comparison),
        LessOrEqual => ("<=", Level::Comparison),
        Greater => (">", Level::Comparison),
        GreaterOrEqual => (">=", Level::Comparison),
        ShiftLeft => ("<<", Level::Shift),
        ShiftRight => (">>", Level::Shift),
        Add => ("+", Level::Sum),
        Subtract => ("-", Level::Sum),
        Multiply => ("*", Level::Product),
        Divide => ("/", Level::Product),
        Remainder => ("%", Level::Product),
    };
    // Implications and comparisons do not associate; the rest associates to the left.
    let left = match level {
        Level::Implies | Level::Comparison => level.tighter(),
        _ => level,
    };
    Notation { symbol, level, left, right: level.tighter() }
}

/// Text still to be written, last first. A stack of these is used instead of recursion: expressions of generated models
/// can be deeper than the machine's stack.
enum Task {
    Text(&'static str),
    Owned(String),
    Expression(ExprId, Level),
    Place(PlaceId),
}

struct Writer<'a> {
    model: &'a Model,
    locals: &'a Table<LocalId, Local>,
    output: String,
    tasks: Vec<Task>,
    /// Whether the display names of the front end are used.
    calls: bool,
}

impl<'a> Writer<'a> {
    fn new(model: &'a Model, locals: &'a Table<LocalId, Local>) -> Self {
        Self { model, locals, output: String::new(), tasks: Vec::new(), calls: false }
    }

    fn run(mut self, first: Task) -> String {
        self.tasks.push(first);
        while let Some(task) = self.tasks.pop() {
            if self.output.len() >= LONGEST {
                self.output.push('…');
                break;
            }
            match task {
                Task::Text(text) => self.output.push_str(text),
                Task::Owned(text) => self.output.push_str(&text),
                Task::Place(place) => self.place(place),
                Task::Expression(expression, level) => self.expression(expression, level),
            }
        }
        self.output
    }

    /// Schedules the given tasks next, in the given order.
    fn schedule(&mut self, tasks: Vec<Task>) {
        self.tasks.extend(tasks.into_iter().rev());
    }

    fn expression(&mut self, id: ExprId, wanted: Level) {
        let mut tasks = Vec::new();
        let level = match &self.model.pool[id] {
            &Expr::Constant { value, ty } => {
                tasks.push(Task::Owned(self.model.value_name(ty, value)));
                // A negative number is a negation to Murphi.
                if value < 0 { Level::Unary } else { Level::Primary }
            }
            &Expr::Read(place) => {
                tasks.push(Task::Place(place));
                self.place_level(place)
            }
            &Expr::Unary { operator, operand } => {
                let (symbol, level, needed) = match operator {
                    UnaryOperator::Not => ("!", Level::Not, Level::Unary),
                    UnaryOperator::Negate => ("-", Level::Unary, Level::Primary),
                    UnaryOperator::Complement => ("~", Level::Unary, Level::Primary),
                };
                match (&operator, &self.model.pool[operand]) {
                    (UnaryOperator::Not, &Expr::SameContents { left, right }) => {
                        tasks.extend([Task::Place(left), Task::Text(" != "), Task::Place(right)]);
                        Level::Comparison
                    }
                    _ => {
                        tasks.extend([Task::Text(symbol), Task::Expression(operand, needed)]);
                        level
                    }
                }
            }
            &Expr::Binary { operator, left, right } if self.position_test(operator, left, right).is_some() => {
                tasks.extend(self.position_test(operator, left, right).into_iter().flatten());
                Level::Comparison
            }
            &Expr::Binary { operator, left, right } => {
                let notation = notation(operator);
                tasks.push(Task::Expression(left, notation.left));
                tasks.extend([Task::Text(" "), Task::Text(notation.symbol), Task::Text(" ")]);
                tasks.push(Task::Expression(right, notation.right));
                notation.level
            }
            &Expr::Conditional { condition, then, otherwise } => {
                tasks.extend([
                    Task::Expression(condition, Level::Implies),
                    Task::Text(" ? "),
                    Task::Expression(then, Level::Implies),
                    Task::Text(" : "),
                    Task::Expression(otherwise, Level::Implies),
                ]);
                Level::Conditional
            }
            Expr::Quantified { quantifier, local, range, body } => {
                tasks.push(Task::Text(match quantifier {
                    Quantifier::All => "forall ",
                    Quantifier::Any => "exists ",
                }));
                tasks.push(Task::Owned(self.local_name(*local)));
                self.iteration(range, &mut tasks);
                tasks.extend([Task::Text(" do "), Task::Expression(*body, Level::Conditional), Task::Text(" end")]);
                Level::Primary
            }
            &Expr::Count { local, multiset, body } => {
                tasks.push(Task::Owned(format!("multisetcount({}: ", self.local_name(local))));
                tasks.extend([Task::Place(multiset), Task::Text(", ")]);
                tasks.extend([Task::Expression(body, Level::Conditional), Task::Text(")")]);
                Level::Primary
            }
            &Expr::IsUndefined(place) => {
                tasks.extend([Task::Text("isundefined("), Task::Place(place), Task::Text(")")]);
                Level::Primary
            }
            &Expr::IsPresent { multiset, position } => {
                tasks.extend([Task::Text("ispresent("), Task::Place(multiset), Task::Text("[")]);
                tasks.extend([Task::Expression(position, Level::Conditional), Task::Text("])")]);
                Level::Primary
            }
            &Expr::IsMember { value, ty } => {
                tasks.extend([Task::Text("ismember("), Task::Expression(value, Level::Conditional)]);
                tasks.push(Task::Owned(format!(", {})", type_text(self.model, ty))));
                Level::Primary
            }
            &Expr::SameContents { left, right } => {
                tasks.extend([Task::Place(left), Task::Text(" = "), Task::Place(right)]);
                Level::Comparison
            }
            Expr::Call { function, arguments } => {
                tasks.push(Task::Owned(self.model.functions[*function].name.clone()));
                self.arguments(arguments, &mut tasks);
                Level::Primary
            }
        };
        if level < wanted {
            tasks.insert(0, Task::Text("("));
            tasks.push(Task::Text(")"));
        }
        self.schedule(tasks);
    }

    /// Whether two compared values test the program location of a process, and the text if so.
    fn position_test(&self, operator: BinaryOperator, left: ExprId, right: ExprId) -> Option<Vec<Task>> {
        let word = match operator {
            BinaryOperator::Equal => "is",
            BinaryOperator::NotEqual => "is not",
            _ => return None,
        };
        let (&Expr::Read(place), &Expr::Constant { value, .. }) = (&self.model.pool[left], &self.model.pool[right])
        else {
            return None;
        };
        let (variable, index) = self.position(place)?;
        let there = self.model.position_title(variable, value);
        let name = format!("{}(", self.model.variable_title(variable));
        let end = format!(") {word} {there}");
        Some(vec![Task::Owned(name), Task::Expression(index, Level::Conditional), Task::Owned(end)])
    }

    /// The variable and the index of a process, if a place is its program location.
    fn position(&self, place: PlaceId) -> Option<(VariableId, ExprId)> {
        let place = &self.model.pool[place];
        match (&place.root, &place.steps[..]) {
            (Root::Variable(variable), &[Step::Index(index), Step::Field(0)]) if self.calls => {
                matches!(self.model.calling(*variable), Some(Calling::Processes(_))).then_some((*variable, index))
            }
            _ => None,
        }
    }

    /// A place of a variable with a display name.
    fn called_place(&self, variable: VariableId, steps: &[Step]) -> String {
        let steps: Vec<PartStep> = steps
            .iter()
            .map(|step| match *step {
                Step::Field(field) => PartStep::Field(field),
                Step::Index(index) => {
                    let value = match self.model.pool[index] {
                        Expr::Constant { value, .. } => Some(value),
                        _ => None,
                    };
                    // Indices are small: a process, a position in a queue.
                    PartStep::Index(called_text(self.model, self.locals, index), value)
                }
            })
            .collect();
        self.model.part_title(variable, &steps)
    }

    /// A choice between places is written as a conditional, in parentheses if a path follows.
    fn place_level(&self, place: PlaceId) -> Level {
        match &self.model.pool[place] {
            place if place.steps.is_empty() && matches!(place.root, Root::Choice { .. }) => Level::Conditional,
            _ => Level::Primary,
        }
    }

    fn place(&mut self, id: PlaceId) {
        let place = &self.model.pool[id];
        let mut tasks = Vec::new();
        let mut ty = match &place.root {
            Root::Variable(variable) if self.calls && self.model.calling(*variable).is_some() => {
                return self.output.push_str(&self.called_place(*variable, &place.steps));
            }
            Root::Variable(variable) => {
                let variable = &self.model.variables[*variable];
                tasks.push(Task::Owned(variable.name.clone()));
                Some(variable.ty)
            }
            Root::Local(local) => {
                tasks.push(Task::Owned(self.local_name(*local)));
                self.locals.get(*local).map(|local| local.ty)
            }
            Root::Result { function, arguments } => {
                let function = &self.model.functions[*function];
                tasks.push(Task::Owned(function.name.clone()));
                self.arguments(arguments, &mut tasks);
                function.result
            }
            &Root::Choice { condition, then, otherwise } => {
                tasks.extend([Task::Text("("), Task::Expression(condition, Level::Implies), Task::Text(" ? ")]);
                tasks.extend([Task::Place(then), Task::Text(" : "), Task::Place(otherwise), Task::Text(")")]);
                Some(self.model.pool[then].ty)
            }
        };
        for step in &place.steps {
            let kind = ty.map(|ty| &self.model.types[ty].kind);
            match *step {
                Step::Field(position) => {
                    let field = match kind {
                        Some(TypeKind::Record { fields }) => fields.get(position as usize),
                        _ => None,
                    };
                    tasks.push(Task::Owned(match field {
                        Some(field) => format!(".{}", field.name),
                        None => format!(".{position}"),
                    }));
                    ty = field.map(|field| field.ty);
                }
                Step::Index(index) => {
                    tasks.extend([Task::Text("["), Task::Expression(index, Level::Conditional), Task::Text("]")]);
                    ty = match kind {
                        Some(TypeKind::Array { element, .. } | TypeKind::Multiset { element, .. }) => Some(*element),
                        _ => None,
                    };
                }
            }
        }
        self.schedule(tasks);
    }

    fn arguments(&self, arguments: &[Argument], tasks: &mut Vec<Task>) {
        tasks.push(Task::Text("("));
        for (position, argument) in arguments.iter().enumerate() {
            if position > 0 {
                tasks.push(Task::Text(", "));
            }
            tasks.push(match *argument {
                Argument::Value(value) => Task::Expression(value, Level::Conditional),
                Argument::Copy(place) | Argument::Reference(place) => Task::Place(place),
                Argument::Undefined => Task::Text("undefined"),
            });
        }
        tasks.push(Task::Text(")"));
    }

    fn iteration(&self, range: &Iteration, tasks: &mut Vec<Task>) {
        match *range {
            Iteration::Over(ty) => tasks.push(Task::Owned(format!(": {}", type_text(self.model, ty)))),
            Iteration::Steps { from, to, step } => {
                tasks.extend([Task::Text(" := "), Task::Expression(from, Level::Conditional)]);
                tasks.extend([Task::Text(" to "), Task::Expression(to, Level::Conditional)]);
                if let Some(step) = step {
                    tasks.extend([Task::Text(" by "), Task::Expression(step, Level::Conditional)]);
                }
            }
        }
    }

    fn local_name(&self, local: LocalId) -> String {
        // A dangling local is a defect of the model, but a message about it must still be possible.
        self.locals.get(local).map_or_else(|| format!("{local:?}"), |local| local.name.clone())
    }
}

/// A type for messages: its name, or enough of its shape to recognise it.
fn type_text(model: &Model, ty: TypeId) -> String {
    let entry = &model.types[ty];
    if let Some(name) = &entry.name {
        return name.clone();
    }
    match &entry.kind {
        TypeKind::Boolean => "boolean".into(),
        TypeKind::Integer => "integer".into(),
        TypeKind::Range { low, high } => format!("{low}..{high}"),
        TypeKind::Enumeration { members, .. } => format!("enum {{{}}}", members.join(", ")),
        TypeKind::Scalarset { size, .. } => format!("scalarset({size})"),
        TypeKind::Union { members } => {
            let members: Vec<String> = members
                .iter()
                .map(|&member| match &model.types[member] {
                    // Members of a union are never unions, so one level of naming is enough.
                    crate::types::Type { name: Some(name), .. } => name.clone(),
                    crate::types::Type { kind: TypeKind::Enumeration { members, .. }, .. } => {
                        format!("enum {{{}}}", members.join(", "))
                    }
                    _ => "scalarset".into(),
                })
                .collect();
            format!("union {{{}}}", members.join(", "))
        }
        TypeKind::Array { .. } => "array".into(),
        TypeKind::Record { .. } => "record".into(),
        TypeKind::Multiset { .. } => "multiset".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostics::{Source, Span};
    use crate::expression::Place;
    use crate::model::{LocalKind, Variable};
    use crate::types::{Field, Type};

    struct Bench {
        model: Model,
        locals: Table<LocalId, Local>,
    }

    impl Bench {
        fn new() -> Self {
            let mut model = Model::new(Source::new("bench.m", ""));
            let range = model.types.push(Type { name: None, kind: TypeKind::Range { low: 0, high: 7 } });
            let fields = vec![Field { name: "kind".into(), ty: range }];
            let record = model.types.push(Type { name: Some("Message".into()), kind: TypeKind::Record { fields } });
            let array = model.types.push(Type { name: None, kind: TypeKind::Array { index: range, element: record } });
            for (name, ty) in [("x", range), ("net", array), ("b", Model::BOOLEAN)] {
                model.variables.push(Variable { name: name.into(), ty, may_be_undefined: true, span: Span::default() });
            }
            let mut locals = Table::new();
            locals.push(Local { name: "i".into(), ty: range, kind: LocalKind::Parameter, span: Span::default() });
            Self { model, locals }
        }
        fn number(&mut self, value: i64) -> ExprId {
            self.model.pool.expression(Expr::Constant { value, ty: Model::INTEGER })
        }
        fn read(&mut self, position: usize) -> ExprId {
            use crate::index::TableIndex;
            let variable = crate::index::VariableId::from_position(position);
            let ty = self.model.variables[variable].ty;
            let place = self.model.pool.place(Place { root: Root::Variable(variable), steps: vec![], ty });
            self.model.pool.expression(Expr::Read(place))
        }
        fn binary(&mut self, operator: BinaryOperator, left: ExprId, right: ExprId) -> ExprId {
            self.model.pool.expression(Expr::Binary { operator, left, right })
        }
        fn unary(&mut self, operator: UnaryOperator, operand: ExprId) -> ExprId {
            self.model.pool.expression(Expr::Unary { operator, operand })
        }
        fn text(&self, expression: ExprId) -> String {
            expression_text(&self.model, &self.locals, expression)
        }
    }

    #[test]
    fn parentheses_are_written_where_the_grammar_needs_them() {
        use BinaryOperator::{Add, And, Equal, Implies, Less, Multiply, Or, Subtract};
        let mut bench = Bench::new();
        let (x, b, one) = (bench.read(0), bench.read(2), bench.number(1));
        let sum = bench.binary(Add, x, one);
        let product = bench.binary(Multiply, sum, sum);
        assert_eq!(bench.text(product), "(x + 1) * (x + 1)");
        let left = bench.binary(Subtract, sum, one);
        let right = bench.binary(Subtract, x, sum);
        assert_eq!(bench.text(left), "x + 1 - 1");
        assert_eq!(bench.text(right), "x - (x + 1)");
        let less = bench.binary(Less, x, one);
        let equal = bench.binary(Equal, less, b);
        assert_eq!(bench.text(equal), "(x < 1) = b");
        let not = bench.unary(UnaryOperator::Not, less);
        assert_eq!(bench.text(not), "!(x < 1)");
        let both = bench.binary(And, not, b);
        assert_eq!(bench.text(both), "!(x < 1) & b");
        let either = bench.binary(Or, both, b);
        let conjunction = bench.binary(And, either, either);
        assert_eq!(bench.text(conjunction), "(!(x < 1) & b | b) & (!(x < 1) & b | b)");
        let implies = bench.binary(Implies, either, b);
        let twice = bench.binary(Implies, b, implies);
        assert_eq!(bench.text(twice), "b -> (!(x < 1) & b | b -> b)");
        let conditional = Expr::Conditional { condition: b, then: x, otherwise: one };
        let conditional = bench.model.pool.expression(conditional);
        let nested = Expr::Conditional { condition: b, then: conditional, otherwise: conditional };
        let nested = bench.model.pool.expression(nested);
        assert_eq!(bench.text(nested), "b ? (b ? x : 1) : (b ? x : 1)");
        let minus_one = bench.number(-1);
        let difference = bench.binary(Subtract, x, minus_one);
        assert_eq!(bench.text(difference), "x - -1");
        let negated = bench.unary(UnaryOperator::Negate, minus_one);
        assert_eq!(bench.text(negated), "-(-1)");
    }

    #[test]
    fn places_show_fields_and_indices() {
        let mut bench = Bench::new();
        use crate::index::TableIndex;
        let x = bench.read(0);
        let net = crate::index::VariableId::from_position(1);
        let range = bench.model.variables[crate::index::VariableId::from_position(0)].ty;
        let steps = vec![Step::Index(x), Step::Field(0)];
        let place = bench.model.pool.place(Place { root: Root::Variable(net), steps, ty: range });
        assert_eq!(place_text(&bench.model, &bench.locals, place), "net[x].kind");
    }

    #[test]
    fn very_deep_expressions_are_cut_off() {
        let mut bench = Bench::new();
        let one = bench.number(1);
        let mut expression = bench.read(0);
        for _ in 0..200_000 {
            expression = bench.binary(BinaryOperator::Multiply, one, expression);
            expression = bench.binary(BinaryOperator::Add, expression, one);
        }
        let text = bench.text(expression);
        assert!(text.ends_with('…') && text.len() < 2 * LONGEST, "{text}");
    }
}
