//! What the text of a model shows about its symmetries, without unfolding anything.

use std::time::{Duration, Instant};

use num_bigint::BigUint;
use quotient_ir::{Budget, PropertyId};
use quotient_symmetry::{Individuals, Limit, Preserved, Request, RoleReport, TextSymmetries, symmetries_of_text};

use crate::model::Model;

/// What the text of a model shows.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TextReading {
    /// The number of symmetries.
    pub order: BigUint,
    /// The structure of the group.
    pub structure: String,
    /// The structure of the part that is not free: what is computed with, or tied to other values.
    pub tied: Option<String>,
    /// Whether conditions about all or some values count as wrong if they are wrong for any value: a state that goes
    /// wrong only in another order of values is then wrong as well.
    pub is_strict: bool,
    /// What it says about each role that values play.
    pub roles: Vec<RoleReport>,
    /// The duration.
    pub elapsed: Duration,
}

/// Reads the text; `None` if it is too large, or reading was interrupted.
pub(crate) fn read(model: &Model, properties: &[PropertyId], budget: &Budget) -> Option<TextReading> {
    let started = Instant::now();
    let (ir, layout, preserved) = (model.ir(), model.layout(), Preserved::Properties(properties));
    let plain = symmetries_of_text(ir, layout, preserved, budget).ok().flatten()?;
    let strict = plain.with_strict_quantifiers(ir, layout, preserved, budget).ok().flatten();
    let elapsed = started.elapsed();
    Some(match strict {
        Some((strict, found)) => TextReading::new(&strict, &found, true, elapsed),
        None => TextReading::new(model.ir(), &plain, false, elapsed),
    })
}

impl TextReading {
    fn new(model: &quotient_ir::Model, found: &TextSymmetries, is_strict: bool, elapsed: Duration) -> Self {
        Self {
            order: found.order(),
            structure: found.structure().to_string(),
            tied: found.tied_structure().map(ToString::to_string),
            is_strict,
            roles: found.roles(model),
            elapsed,
        }
    }

    /// What the text says against a request: the limits of the roles it is about.
    pub(crate) fn against(&self, model: &quotient_ir::Model, request: &Request) -> Vec<Limit> {
        let (of, values) = match request {
            Request::Exchange { ty, first, second } => (Individuals::Values(*ty), Some([*first, *second])),
            Request::Rotate { ty } => (Individuals::Values(*ty), None),
            Request::ExchangeElements { variable, first, second } => {
                (Individuals::Elements(*variable), Some([*first, *second]))
            }
            Request::RotateElements { variable } => (Individuals::Elements(*variable), None),
            _ => return Vec::new(),
        };
        let mut limits: Vec<Limit> = Vec::new();
        for role in self.roles.iter().filter(|role| role.is_about(model, of)) {
            let domain = model.domain(role.ty);
            let image = |value: i64| match values {
                Some([first, second]) if value == first => second,
                Some([first, second]) if value == second => first,
                Some(_) => value,
                None if !domain.contains(value) => value,
                None => domain.values().find(|next| *next > value).unwrap_or_else(|| domain.least()),
            };
            limits.extend(role.limits.iter().filter(|limit| limit.notices(&image)).cloned());
        }
        limits.sort_by_key(|limit| limit.span);
        limits
    }
}
