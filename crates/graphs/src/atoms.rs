//! The model that a product is built from: claims are left out, and the atoms of a formula are properties that can be
//! evaluated one by one, for one instance of the formula or for all.

use quotient_ir::walk::{Node, visit_nodes};
use quotient_ir::{
    Expr, Formula, Iteration, LocalId, Model, Parameter, Property, PropertyId, PropertyKind, Root, Temporal,
};
use rustc_hash::FxHashSet;

/// A model with the atoms of a temporal property as properties of their own.
#[derive(Debug)]
pub struct AtomicModel {
    /// The model. Its claims say nothing.
    pub model: Model,
    /// The property of each atom.
    pub atoms: Vec<PropertyId>,
    /// For each atom, the parameters of the temporal property that it mentions, by position.
    pub mentioned: Vec<Vec<usize>>,
}

impl AtomicModel {
    /// The atoms for one instance, or with all instances of each.
    pub fn new(model: &Model, property: PropertyId, temporal: &Temporal, instance: Option<&[i64]>) -> Self {
        let mut derived = without_claims(model);
        let entry = &model.properties[property];
        let (mut atoms, mut mentioned) = (Vec::new(), Vec::new());
        for &atom in &temporal.atoms {
            let locals = locals_in(model, atom);
            let own: Vec<usize> = entry
                .parameters
                .iter()
                .enumerate()
                .filter(|(_, parameter)| locals.contains(&parameter.local))
                .map(|(position, _)| position)
                .collect();
            let parameter = |&position: &usize| {
                let Parameter { local, range } = entry.parameters[position].clone();
                let Some(arguments) = instance else { return Parameter { local, range } };
                let (value, ty) = (arguments[position], entry.locals[local].ty);
                let value = derived.pool.expression(Expr::Constant { value, ty });
                Parameter { local, range: Iteration::Steps { from: value, to: value, step: None } }
            };
            let parameters: Vec<Parameter> = own.iter().map(parameter).collect();
            atoms.push(derived.properties.push(Property {
                name: None,
                kind: PropertyKind::Atom,
                parameters,
                locals: entry.locals.clone(),
                formula: Formula::Condition(atom),
                span: entry.span,
            }));
            mentioned.push(own);
        }
        Self { model: derived, atoms, mentioned }
    }
}

/// A model whose claims say nothing.
pub fn without_claims(model: &Model) -> Model {
    let mut derived = model.clone();
    derived.net = None;
    let truth = derived.pool.expression(Expr::Constant { value: 1, ty: Model::BOOLEAN });
    for id in model.properties.indices() {
        let entry = &mut derived.properties[id];
        let says_nothing = entry.kind.is_claim() || entry.kind == PropertyKind::Remark;
        if says_nothing && !matches!(entry.formula, Formula::CoverStatement) {
            if entry.kind == PropertyKind::Temporal {
                entry.kind = PropertyKind::Remark;
            }
            (entry.formula, entry.parameters) = (Formula::Condition(truth), Vec::new());
        }
    }
    derived
}

/// The locals that an expression mentions.
pub fn locals_in(model: &Model, expression: quotient_ir::ExprId) -> FxHashSet<LocalId> {
    let mut locals = FxHashSet::default();
    visit_nodes(model, [Node::Expression(expression)], |node| {
        if let Node::Place(place) = node
            && let Root::Local(local) = model.pool[place].root
        {
            locals.insert(local);
        }
    });
    locals
}
