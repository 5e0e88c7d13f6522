//! The model without what nobody notices: every write to a part that is left out writes the one value that stands for
//! all of them (undefined if possible, else the least), and evaluates its value only for run-time errors. Of a part
//! whose definedness is noticed, the least value stands for all values.
//!
//! Rules, parameters, variables and slots are the same as before, so a run of the new model is a run of the old one.

use quotient_ir::{
    Expr, ExprId, Formula, Iteration, Local, LocalId, LocalKind, Model, Place, PlaceId, PropertyId, Root, Span,
    Statement, StatementKind, Step, Table, TableIndex, TypeId, TypeKind, UnaryOperator,
};
use rustc_hash::FxHashSet;

use super::classes::{OwnerId, Part};
use super::needs::{Need, Needs};

/// The model without what nobody notices. Claims that are not checked become true.
pub(super) fn rewritten(needs: &mut Needs<'_, '_>, checked: &FxHashSet<PropertyId>) -> Model {
    let model = needs.classes.model;
    let mut sliced = model.clone();
    // It describes the cells of the whole model.
    sliced.net = None;
    for id in model.rules.indices() {
        let owner = needs.classes.owners.rule(id.position());
        let mut locals = model.rules[id].locals.clone();
        sliced.rules[id].body = Rewriter::new(needs, &mut sliced, owner, &mut locals).body(&model.rules[id].body);
        sliced.rules[id].locals = locals;
    }
    for id in model.starts.indices() {
        let owner = needs.classes.owners.start(id.position());
        let mut locals = model.starts[id].locals.clone();
        sliced.starts[id].body = Rewriter::new(needs, &mut sliced, owner, &mut locals).body(&model.starts[id].body);
        sliced.starts[id].locals = locals;
    }
    for id in model.functions.indices() {
        let owner = needs.classes.owners.function(id);
        let mut locals = model.functions[id].locals.clone();
        let body = Rewriter::new(needs, &mut sliced, owner, &mut locals).body(&model.functions[id].body);
        sliced.functions[id].body = body;
        sliced.functions[id].locals = locals;
    }
    let truth = sliced.pool.expression(Expr::Constant { value: 1, ty: Model::BOOLEAN });
    for id in model.properties.indices().filter(|id| !checked.contains(id)) {
        if model.properties[id].formula.condition().is_some() {
            sliced.properties[id].formula = Formula::Condition(truth);
        }
    }
    sliced
}

/// Rewrites the body of one owner.
struct Rewriter<'r, 'c, 'm> {
    needs: &'r mut Needs<'c, 'm>,
    /// The new model, whose pool contains that of the old one.
    sliced: &'r mut Model,
    owner: OwnerId,
    /// The locals of the new owner: those of the old one, and further ones.
    locals: &'r mut Table<LocalId, Local>,
}

impl<'r, 'c, 'm> Rewriter<'r, 'c, 'm> {
    fn new(
        needs: &'r mut Needs<'c, 'm>,
        sliced: &'r mut Model,
        owner: OwnerId,
        locals: &'r mut Table<LocalId, Local>,
    ) -> Self {
        Self { needs, sliced, owner, locals }
    }

    fn body(&mut self, body: &[Statement]) -> Vec<Statement> {
        let mut rewritten = Vec::with_capacity(body.len());
        for statement in body {
            self.statement(statement, &mut rewritten);
        }
        rewritten
    }

    fn statement(&mut self, statement: &Statement, out: &mut Vec<Statement>) {
        let span = statement.span;
        match &statement.kind {
            StatementKind::Assign { target, value } if self.loses(*target) => {
                self.assign(*target, *value, span, out);
            }
            StatementKind::Copy { target, source } if self.loses(*target) => self.copy(*target, *source, span, out),
            StatementKind::Clear(place) if self.loses(*place) => self.clear(*place, span, out),
            StatementKind::If { branches, otherwise } => {
                let branches = branches.iter().map(|(condition, body)| (*condition, self.body(body))).collect();
                let otherwise = self.body(otherwise);
                out.push(Statement { kind: StatementKind::If { branches, otherwise }, span });
            }
            StatementKind::While { condition, body } => {
                let body = self.body(body);
                out.push(Statement { kind: StatementKind::While { condition: *condition, body }, span });
            }
            StatementKind::For { local, range, body } => {
                let (local, range, body) = (*local, range.clone(), self.body(body));
                out.push(Statement { kind: StatementKind::For { local, range, body }, span });
            }
            _ => out.push(statement.clone()),
        }
    }

    /// Whether something that is written to this place is not kept. Locals are not part of the state.
    fn loses(&self, place: PlaceId) -> bool {
        let entry = &self.sliced.pool[place];
        let is_local = match &entry.root {
            Root::Local(local) => self.locals[*local].kind != LocalKind::Reference,
            _ => false,
        };
        !is_local && self.needs.classes.parts(self.owner, place).any(|part| self.needs.of(part) < Need::Value)
    }

    fn first(&self, place: PlaceId) -> Part {
        let firsts = self.needs.classes.firsts(self.owner, place);
        *firsts.first().expect("a place has a root")
    }

    /// Whether a part that is left out can be undefined, and so is.
    fn is_undefined(&self, part: Part) -> bool {
        self.needs.of(part) == Need::Nothing && !self.needs.classes.traits(part).definite
    }

    fn assign(&mut self, target: PlaceId, value: ExprId, span: Span, out: &mut Vec<Statement>) {
        let ty = self.sliced.pool[target].ty;
        let part = self.first(target);
        let (classes, faults) = (self.needs.classes, &mut self.needs.faults);
        let place_fails = faults.of_place(classes, self.owner, target);
        let value_fails = faults.of_expression(classes, self.owner, value) || !faults.fits(classes.model, value, ty);
        let is_undefined = self.is_undefined(part);
        if self.needs.of(part) == Need::Nothing && !place_fails {
            // It holds what it holds in all states.
            if value_fails {
                self.evaluate(ty, value, span, out);
            }
            return;
        }
        let target = if value_fails { self.bound(target, span, out) } else { target };
        if value_fails {
            self.evaluate(ty, value, span, out);
        }
        let kind = if is_undefined { StatementKind::Undefine(target) } else { StatementKind::Clear(target) };
        out.push(Statement { kind, span });
    }

    /// Evaluates an expression for its run-time errors.
    fn evaluate(&mut self, ty: TypeId, value: ExprId, span: Span, out: &mut Vec<Statement>) {
        let local = self.fresh("value", ty, LocalKind::Variable, span);
        let target = self.place(Root::Local(local), Vec::new(), ty);
        out.push(Statement { kind: StatementKind::Assign { target, value }, span });
    }

    fn copy(&mut self, target: PlaceId, source: PlaceId, span: Span, out: &mut Vec<Statement>) {
        let ty = self.sliced.pool[target].ty;
        let first = self.first(target);
        let count = self.needs.classes.count(ty);
        let sources = self.needs.classes.firsts(self.owner, source);
        let may_fail = |needs: &Needs<'_, '_>, offset: usize| {
            sources.iter().any(|&source| needs.undefined_is_an_error(source + offset, first + offset))
        };
        let fails: Vec<bool> = (0..count).map(|offset| may_fail(self.needs, offset)).collect();
        let is_lost = (first..first + count).all(|part| self.needs.of(part) == Need::Nothing);
        let (classes, faults) = (self.needs.classes, &mut self.needs.faults);
        let places_fail = faults.of_place(classes, self.owner, target) || faults.of_place(classes, self.owner, source);
        if is_lost && !places_fail && !fails.contains(&true) {
            return;
        }
        let target = self.bound(target, span, out);
        let local = self.fresh("copy", ty, LocalKind::Variable, span);
        let copy = self.place(Root::Local(local), Vec::new(), ty);
        out.push(Statement { kind: StatementKind::Copy { target: copy, source }, span });
        self.reset(copy, first, &fails, span, out);
        out.push(Statement { kind: StatementKind::Copy { target, source: copy }, span });
    }

    fn clear(&mut self, place: PlaceId, span: Span, out: &mut Vec<Statement>) {
        let first = self.first(place);
        let ty = self.sliced.pool[place].ty;
        let count = self.needs.classes.count(ty);
        let is_lost = (first..first + count).all(|part| self.needs.of(part) == Need::Nothing);
        let fails = self.needs.faults.of_place(self.needs.classes, self.owner, place);
        if is_lost && !fails {
            return;
        }
        let is_undefined = (first..first + count).all(|part| self.is_undefined(part));
        if is_undefined {
            out.push(Statement { kind: StatementKind::Undefine(place), span });
            return;
        }
        let place = self.bound(place, span, out);
        out.push(Statement { kind: StatementKind::Clear(place), span });
        // The least value already stands for all values; only what is undefined remains.
        self.undefine(place, first, span, out);
    }

    /// Writes the values that stand for others into a copy. `fails` tells which undefined parts are an error.
    fn reset(&mut self, place: PlaceId, first: Part, fails: &[bool], span: Span, out: &mut Vec<Statement>) {
        let ty = self.sliced.pool[place].ty;
        let count = self.needs.classes.count(ty);
        let needs = &self.needs;
        if (first..first + count).all(|part| needs.of(part) == Need::Value) {
            return;
        }
        if (first..first + count).all(|part| self.is_undefined(part)) && !fails.contains(&true) {
            out.push(Statement { kind: StatementKind::Undefine(place), span });
            return;
        }
        match self.parts_of(ty) {
            Shape::Array { index, element } => {
                let (local, element) = self.element(place, index, element, span);
                let mut body = Vec::new();
                self.reset(element, first, fails, span, &mut body);
                out.push(Statement { kind: StatementKind::For { local, range: Iteration::Over(index), body }, span });
            }
            Shape::Record(fields) => {
                let mut offset = 0;
                for (position, ty) in fields {
                    let field = self.step(place, Step::Field(position), ty);
                    let count = self.needs.classes.count(ty);
                    self.reset(field, first + offset, &fails[offset..offset + count], span, out);
                    offset += count;
                }
            }
            Shape::Scalar => {
                let undefined = self.sliced.pool.expression(Expr::IsUndefined(place));
                let defined =
                    self.sliced.pool.expression(Expr::Unary { operator: UnaryOperator::Not, operand: undefined });
                let clear = Statement { kind: StatementKind::Clear(place), span };
                let branches = vec![(defined, vec![clear])];
                out.push(Statement { kind: StatementKind::If { branches, otherwise: Vec::new() }, span });
            }
        }
    }

    /// Makes undefined what is left out and can be undefined.
    fn undefine(&mut self, place: PlaceId, first: Part, span: Span, out: &mut Vec<Statement>) {
        let ty = self.sliced.pool[place].ty;
        let count = self.needs.classes.count(ty);
        if !(first..first + count).any(|part| self.is_undefined(part)) {
            return;
        }
        if (first..first + count).all(|part| self.is_undefined(part)) {
            out.push(Statement { kind: StatementKind::Undefine(place), span });
            return;
        }
        match self.parts_of(ty) {
            Shape::Array { index, element } => {
                let (local, element) = self.element(place, index, element, span);
                let mut body = Vec::new();
                self.undefine(element, first, span, &mut body);
                out.push(Statement { kind: StatementKind::For { local, range: Iteration::Over(index), body }, span });
            }
            Shape::Record(fields) => {
                let mut offset = 0;
                for (position, ty) in fields {
                    let field = self.step(place, Step::Field(position), ty);
                    self.undefine(field, first + offset, span, out);
                    offset += self.needs.classes.count(ty);
                }
            }
            Shape::Scalar => {}
        }
    }

    fn parts_of(&self, ty: TypeId) -> Shape {
        match &self.sliced.types[ty].kind {
            TypeKind::Array { index, element } => Shape::Array { index: *index, element: *element },
            TypeKind::Record { fields } => {
                let fields = fields.iter().enumerate();
                Shape::Record(fields.map(|(position, field)| (position as u32, field.ty)).collect())
            }
            // Multisets are kept as a whole.
            _ => Shape::Scalar,
        }
    }

    /// A loop variable and the element of an array that it denotes.
    fn element(&mut self, place: PlaceId, index: TypeId, element: TypeId, span: Span) -> (LocalId, PlaceId) {
        let local = self.fresh("index", index, LocalKind::Parameter, span);
        let variable = self.place(Root::Local(local), Vec::new(), index);
        let value = self.sliced.pool.expression(Expr::Read(variable));
        (local, self.step(place, Step::Index(value), element))
    }

    /// A place that stays the same, whatever is written in between.
    fn bound(&mut self, place: PlaceId, span: Span, out: &mut Vec<Statement>) -> PlaceId {
        let entry = &self.sliced.pool[place];
        if !entry.steps.iter().any(|step| matches!(step, Step::Index(_))) {
            return place;
        }
        let ty = entry.ty;
        let local = self.fresh("target", ty, LocalKind::Reference, span);
        out.push(Statement { kind: StatementKind::Bind { local, place }, span });
        self.place(Root::Local(local), Vec::new(), ty)
    }

    fn fresh(&mut self, name: &str, ty: TypeId, kind: LocalKind, span: Span) -> LocalId {
        self.locals.push(Local { name: name.to_owned(), ty, kind, span })
    }

    fn place(&mut self, root: Root, steps: Vec<Step>, ty: TypeId) -> PlaceId {
        self.sliced.pool.place(Place { root, steps, ty })
    }

    fn step(&mut self, place: PlaceId, step: Step, ty: TypeId) -> PlaceId {
        let Place { root, mut steps, .. } = self.sliced.pool[place].clone();
        steps.push(step);
        self.place(root, steps, ty)
    }
}

/// What a type is made of.
enum Shape {
    Scalar,
    Array { index: TypeId, element: TypeId },
    Record(Vec<(u32, TypeId)>),
}
