//! The cells that designators denote: an access through a computed index is one case per index value.

use quotient_ir::{Domain, PlaceId, Root, Step, TableIndex, TypeId, TypeKind};

use super::{LOOP_LIMIT, Location, Refusal, Targets, Unfolder};
use crate::circuit::{NodeId, TooLarge, Value};

impl<'m> Unfolder<'m> {
    pub(super) fn targets(&mut self, place: PlaceId) -> Result<Targets, Refusal> {
        let place = &self.model.pool[place];
        let (mut targets, mut ty): (Targets, TypeId) = match &place.root {
            Root::Variable(variable) => (
                vec![(Location::Global(self.layout.first_slot(*variable).position() as u32), NodeId::TRUE)],
                self.model.variables[*variable].ty,
            ),
            Root::Local(local) => {
                let frame = self.frame();
                let ty = frame.locals[*local].ty;
                match &frame.references[local.position()] {
                    Some(targets) => (targets.clone(), ty),
                    None => (vec![(Location::Local(frame.first_cells[local.position()]), NodeId::TRUE)], ty),
                }
            }
            Root::Result { function, arguments } => {
                let ty = self.model.functions[*function].result.expect("only functions with a result are roots");
                let cells = match self.call(*function, arguments)? {
                    Some(cells) => cells,
                    // The call never returns, which is a run-time error.
                    None => {
                        let mut cells = Vec::new();
                        self.undefined_cells(ty, &mut cells);
                        cells
                    }
                };
                let first = self.locals.len() as u32;
                self.locals.extend(cells);
                (vec![(Location::Local(first), NodeId::TRUE)], ty)
            }
            Root::Choice { condition, then, otherwise } => {
                let condition = self.condition(*condition)?;
                let opposite = self.circuit.not(condition);
                let ty = self.model.pool[*then].ty;
                let mut targets = Vec::new();
                for (branch, place) in [(condition, *then), (opposite, *otherwise)] {
                    let saved = self.alive;
                    self.alive = self.circuit.and([saved, branch]);
                    let branch_targets = if self.alive == NodeId::FALSE { Vec::new() } else { self.targets(place)? };
                    self.alive = saved;
                    for (location, inner) in branch_targets {
                        targets.push((location, self.circuit.and([branch, inner])));
                    }
                }
                (targets, ty)
            }
        };
        for step in &place.steps {
            match (step, &self.model.types[ty].kind) {
                (Step::Field(field), TypeKind::Record { fields }) => {
                    let before: u64 = fields[..*field as usize].iter().map(|field| self.model.cells(field.ty)).sum();
                    for (location, _) in &mut targets {
                        *location = location.offset(before);
                    }
                    ty = fields[*field as usize].ty;
                }
                (Step::Index(index), TypeKind::Array { index: index_type, element }) => {
                    let index = self.scalar(*index)?;
                    let domain = self.model.domain(*index_type);
                    let stride = self.model.cells(*element);
                    let cases = self.index_cases(&index, &domain)?;
                    let mut indexed = Vec::with_capacity(targets.len() * cases.len());
                    for &(location, outer) in &targets {
                        for &(code, condition) in &cases {
                            let condition = self.circuit.and([outer, condition]);
                            if condition != NodeId::FALSE {
                                indexed.push((location.offset(code * stride), condition));
                            }
                        }
                    }
                    targets = indexed;
                    ty = *element;
                }
                (Step::Index(index), TypeKind::Multiset { element, .. }) => {
                    targets = self.element_targets(&targets, ty, *index)?;
                    ty = *element;
                }
                _ => unreachable!("verified: a step fits the type it starts from"),
            }
        }
        Ok(targets)
    }

    /// The positions of an index with their conditions; out of range is a run-time error.
    pub(super) fn index_cases(&mut self, index: &Value, domain: &Domain) -> Result<Vec<(u64, NodeId)>, Refusal> {
        if let Some(cases) = index.cases.clone() {
            let mut inside = Vec::with_capacity(cases.len());
            let mut outside = Vec::new();
            for &(value, condition) in cases.iter() {
                match domain.code_of(value) {
                    Some(code) => inside.push((code, condition)),
                    None => outside.push(condition),
                }
            }
            let outside = self.circuit.or(outside);
            self.fault(outside);
            return Ok(inside);
        }
        let mut inside = Vec::new();
        for (code, value) in domain.values().enumerate().take(LOOP_LIMIT + 1) {
            if code == LOOP_LIMIT {
                return Err(Refusal::TooLarge(TooLarge::Cases));
            }
            let condition = self.circuit.equals_constant(index, value)?;
            if condition != NodeId::FALSE {
                inside.push((code as u64, condition));
            }
        }
        self.check_range(index, domain)?;
        Ok(inside)
    }

    /// Adds a run-time error unless the value is in the domain.
    pub(super) fn check_range(&mut self, value: &Value, domain: &Domain) -> Result<(), Refusal> {
        if let Some(outside) = self.circuit.satisfies(value, |number| !domain.contains(number)) {
            self.fault(outside);
            return Ok(());
        }
        let (low, high) = self.circuit.range(value);
        if domain.pieces().len() > 1 {
            return Err(Refusal::TooLarge(TooLarge::Cases));
        }
        if low < domain.least() {
            let least = self.circuit.constant(domain.least());
            let below = self.circuit.less(value, &least, 0)?;
            self.fault(below);
        }
        if high > domain.greatest() {
            let greatest = self.circuit.constant(domain.greatest());
            let above = self.circuit.less(&greatest, value, 0)?;
            self.fault(above);
        }
        Ok(())
    }
}
