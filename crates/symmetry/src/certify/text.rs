//! The certified group of symmetries that the checker of the text has shown.

use std::sync::Arc;

use quotient_ir::{Layout, Model, TableIndex};

use super::{CertifiedGroup, KnownInstances};
use crate::text::{TextAction, TextSymmetries};

impl TextSymmetries {
    /// The group, acting on states; `None` if cells have too many values, or too many values are permuted.
    pub fn group(&self, model: &Model, layout: &Layout) -> Option<CertifiedGroup> {
        let TextAction { literals, generators, interchangeable, instances, exchanged } = self.action(model, layout)?;
        let maps = generators.iter().map(|generator| literals.action(layout, generator).ok());
        let maps = maps.collect::<Option<Vec<_>>>()?;
        let mut rule_classes: Vec<u32> = (0..model.rules.len() as u32).collect();
        for rules in exchanged {
            for rule in &rules {
                rule_classes[rule.position()] = rules[0].position() as u32;
            }
        }
        let instances = KnownInstances::Text(Arc::new(instances));
        Some(CertifiedGroup { literals, generators, maps, interchangeable, rule_classes, instances })
    }
}
