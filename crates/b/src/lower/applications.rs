//! Function application: computed if the text of the function determines its value, otherwise searched for. Outside the
//! domain it is a run-time error.

use quotient_ir::ExprId;
use quotient_kit::Building;

use super::super::core::{Expr, Kind};
use super::items::{Environment, Item};
use super::{Lowered, Lowerer, refuse};

impl Lowerer<'_> {
    /// The value of a function that is not a set at an argument. `expr` is the whole application.
    pub(super) fn apply(
        &mut self,
        function: &Expr,
        argument: &Item,
        expr: &Expr,
        environment: &Environment,
    ) -> Lowered<Item> {
        if matches!(&function.kind, Kind::Extension(members) | Kind::Sequence(members) if members.is_empty()) {
            return refuse("undefined", "the empty function has no values", expr.span);
        }
        if let Some(partial) = self.partial(function, argument, environment)? {
            let unique = self.not(partial.conflict);
            let defined = self.and(partial.defined, unique);
            return self.when(defined, partial.value, expr);
        }
        let item = self.item(function, environment)?;
        let Item::Set(set) = &item else {
            return refuse("unsupported", "this is not supported as a function", expr.span);
        };
        let (_, values) = self.universe_of(set)?.parts();
        if values.is_set_inside() {
            return refuse("unsupported", "a function to structures with sets is not supported here", expr.span);
        }
        self.search(&item, argument, &values, expr, environment)
    }

    /// The value if it is defined, otherwise a run-time error.
    fn when(&mut self, defined: ExprId, value: Item, expr: &Expr) -> Lowered<Item> {
        if self.constant_of(defined) == Some(1) {
            return Ok(value);
        }
        match &value {
            Item::Scalar(content, scalar) => {
                let ty = self.scalar_type(*scalar);
                let failure = self.failure("a function applied outside its domain", ty, expr.span);
                Ok(Item::Scalar(self.conditional(defined, *content, failure), *scalar))
            }
            Item::Pair(left, right) => {
                let left = self.when(defined, (**left).clone(), expr)?;
                Ok(Item::pair(left, self.when(defined, (**right).clone(), expr)?))
            }
            Item::Record(fields) => {
                let mut items = Vec::new();
                for (name, field) in fields {
                    items.push((name.clone(), self.when(defined, field.clone(), expr)?));
                }
                Ok(Item::Record(items))
            }
            Item::Set(_) => Ok(value),
        }
    }
}
