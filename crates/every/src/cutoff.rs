//! Cut-offs that the text shows: numbers of objects such that what goes wrong with more of them goes wrong with as many.
//!
//! E. A. Emerson, V. Kahlon: *Reducing model checking of the many to the few*, CADE-17, 2000. Objects have cells of their own and
//! nothing else, begin alike, and change one at a time. Their guards ask about all others only whether some object is somewhere
//! (disjunctive), or only whether all are (conjunctive). The proofs for what is claimed here, for runs that end in something wrong, are in
//! [the decision record](../../../docs/adr/0053-cut-offs.md); they are not those of the paper, which has numbers for
//! other claims as well.

use quotient_ir::{PropertyId, Span};

use super::classification::{Forms, RuleForm, forms};
use super::family::Member;
use super::obstacle::Obstacle;
use super::scope::Scope;

/// What guards ask about all objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guards {
    /// Whether some object is somewhere.
    Some,
    /// Whether all are, or nothing.
    All,
}

/// What a cut-off is computed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CutOff {
    /// What guards ask.
    pub guards: Guards,
    /// How many objects it takes to see that something is wrong.
    pub concerned: usize,
    /// How many objects with the same contents a guard may ask for.
    pub copies: usize,
}

impl CutOff {
    /// The number of objects, if so many contents of an object occur.
    pub fn objects(&self, contents: usize) -> usize {
        match self.guards {
            Guards::Some => self.copies.saturating_mul(contents).saturating_add(self.concerned),
            Guards::All => self.concerned,
        }
    }
}

/// How many states a member can have with so many contents of an object, up to exchanges of its objects: multisets. The
/// largest number if that is too large.
pub fn multisets(contents: usize, objects: i64) -> u128 {
    let (contents, objects) = (contents as u128, u128::from(objects.unsigned_abs()));
    let few = objects.min(contents.saturating_sub(1));
    let rest = objects.max(contents.saturating_sub(1));
    // Each prefix of the product is a binomial coefficient.
    (1..=few).try_fold(1u128, |found, next| Some(found.checked_mul(rest + next)? / next)).unwrap_or(u128::MAX)
}

/// The only type of objects.
const SORT: usize = 0;

/// What the text of a member shows about a cut-off for claims about these properties, and run-time errors.
///
/// # Errors
/// Where the conditions are not met.
pub(super) fn cut_off(
    member: &Member,
    scope: &Scope,
    is_strict: bool,
    properties: &[PropertyId],
) -> Result<CutOff, Vec<Obstacle>> {
    let (model, objects) = (&member.model, &scope.objects);
    let nowhere = |reason: &str| Err(vec![Obstacle::new(reason, Span::default())]);
    if objects.sorts() != 1 {
        return nowhere("there are two types of objects");
    }
    if objects.is_ordered() {
        return nowhere("objects are compared by their order");
    }
    if is_strict {
        return nowhere("a condition about all objects can go wrong for some of them");
    }
    let mut obstacles = Vec::new();
    let mut shared: Vec<_> = member.shared.iter().map(|&slot| member.layout.slots[slot].variable).collect();
    shared.dedup();
    for variable in shared {
        let variable = &model.variables[variable];
        obstacles.push(Obstacle::new(format!("`{}` does not belong to an object", variable.name), variable.span));
    }
    for start in model.starts.iter() {
        let is_of_object = start.parameters.iter().any(|parameter| objects.may_be(start.locals[parameter.local].ty));
        if is_of_object || !scope.needs.starts.witnesses.is_zero() {
            obstacles.push(Obstacle::new("objects may not begin alike", start.span));
        }
    }
    let Forms { rules, properties: of_properties, probe } = forms(model, objects, properties);
    if let Some(span) = probe {
        obstacles.push(Obstacle::new("a condition about all objects whose value is not used", span));
    }
    for rule in &rules {
        if rule.guard.parameters.sum() > 1 {
            obstacles.push(Obstacle::new("a step concerns two objects, and not one and its guard others", rule.span));
        }
        if rule.body.concerns_all {
            obstacles.push(Obstacle::new("a step asks about all objects, or changes all, after its guard", rule.span));
        }
    }
    let places = |of_rule: fn(&RuleForm) -> &Vec<Obstacle>| -> Vec<Span> {
        rules.iter().flat_map(of_rule).map(|obstacle| obstacle.span).collect()
    };
    let (asking_all, asking_some) = (places(|rule| &rule.asks_all), places(|rule| &rule.asks_some));
    let concerned = scope.needs.properties.iter().map(|(_, need)| need.parameters[SORT] + need.witnesses[SORT]);
    let concerned = concerned.chain([1, scope.needs.starts.faults[SORT]]).max().unwrap_or(1);
    let copies = rules.iter().map(|rule| rule.deepest).max().unwrap_or(0);
    let found = if asking_some.is_empty() {
        // The objects that decide the conditions of a guard before another part of it goes wrong.
        let of_rules = rules.iter().map(|rule| rule.guard.parameters[SORT] + rule.guard.witnesses[SORT]);
        CutOff { guards: Guards::All, concerned: of_rules.fold(concerned, usize::max), copies }
    } else {
        for span in asking_all {
            let reason = "this guard may ask whether all objects are somewhere, and another one whether some object is";
            obstacles.push(Obstacle::new(reason, span));
        }
        for obstacle in of_properties {
            obstacles.push(Obstacle::new("more objects can make this property true", obstacle.span));
        }
        CutOff { guards: Guards::Some, concerned, copies }
    };
    obstacles.sort_by_key(|obstacle| obstacle.span);
    obstacles.dedup();
    if obstacles.is_empty() { Ok(found) } else { Err(obstacles) }
}
