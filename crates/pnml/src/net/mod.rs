//! A net: classes of colours, variables, places, transitions and their arcs, with all names resolved.

mod terms;

use quotient_ir::Span;

pub(crate) use self::terms::{Comparison, Condition, Factor, Term, Value, merged};

/// The most cells of a place, and the most instances of a transition.
pub(crate) const MOST_CELLS: usize = 1 << 22;

/// A class of colours. Its values are consecutive numbers.
#[derive(Debug)]
pub(crate) struct Class {
    pub(crate) name: String,
    /// The value of the first member.
    pub(crate) first: i64,
    /// The number of members.
    pub(crate) size: i64,
    /// Whether the first member follows the last one.
    pub(crate) is_cyclic: bool,
    /// The names of the members; none if they are numbers.
    pub(crate) members: Vec<String>,
}

impl Class {
    pub(crate) fn last(&self) -> i64 {
        self.first + self.size - 1
    }
}

/// A class by its number. The first one is that of black tokens.
pub(crate) type ClassId = usize;
/// The class with a single member, that of black tokens.
pub(crate) const DOT: ClassId = 0;

/// A variable of the net.
#[derive(Debug)]
pub(crate) struct Variable {
    pub(crate) name: String,
    /// The classes of its components.
    pub(crate) classes: Vec<ClassId>,
    pub(crate) span: Span,
}

/// A division of a class.
#[derive(Debug)]
pub(crate) struct Partition {
    pub(crate) class: ClassId,
    /// The values of each part.
    pub(crate) parts: Vec<Vec<i64>>,
}

/// A place.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) id: String,
    pub(crate) name: String,
    /// The classes of the components of its tokens.
    pub(crate) domain: Vec<ClassId>,
    pub(crate) marking: Vec<Term>,
    pub(crate) span: Span,
}

/// A transition.
#[derive(Debug)]
pub(crate) struct Transition {
    pub(crate) id: String,
    pub(crate) name: String,
    /// The variables that its condition and its inscriptions mention, whether the tokens depend on them or not: it fires
    /// for each of their values.
    pub(crate) variables: Vec<usize>,
    pub(crate) guard: Condition,
    /// What it takes, by place.
    pub(crate) inputs: Vec<(usize, Vec<Term>)>,
    /// What it puts, by place.
    pub(crate) outputs: Vec<(usize, Vec<Term>)>,
    pub(crate) span: Span,
}

/// A net.
#[derive(Debug, Default)]
pub(crate) struct Net {
    pub(crate) classes: Vec<Class>,
    pub(crate) variables: Vec<Variable>,
    pub(crate) partitions: Vec<Partition>,
    pub(crate) places: Vec<Place>,
    pub(crate) transitions: Vec<Transition>,
    /// Whether the text says that no place ever holds two tokens. That is not believed.
    pub(crate) is_said_safe: bool,
    pub(crate) span: Span,
}

impl Net {
    /// The number of cells of a place; none if there are too many.
    pub(crate) fn cells(&self, domain: &[ClassId]) -> Option<usize> {
        let sizes = domain.iter().map(|&class| self.classes[class].size as usize);
        sizes.into_iter().try_fold(1usize, |all, size| all.checked_mul(size)).filter(|&cells| cells <= MOST_CELLS)
    }
}
