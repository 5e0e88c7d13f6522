//! How a front end wants the value of a variable shown: B's sets, functions and sequences lie in arrays of
//! bits and cells, and people want to see `{(a|->b)}`.

/// How the cells of a value are combined for display.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notation {
    /// A single cell.
    Scalar,
    /// Two values, in a record of two fields.
    Pair(Box<Notation>, Box<Notation>),
    /// A value for each field of a record.
    Record(Vec<(String, Notation)>),
    /// A bit for each possible member.
    Set(Index),
    /// A scalar for each possible argument, undefined outside the domain.
    Function(Index),
    /// For each possible argument, a bit that says whether there is a value, and a value.
    Table(Index, Box<Notation>),
}

/// The structure of the indices of nested arrays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Index {
    /// One index.
    Scalar,
    /// The indices of both parts.
    Pair(Box<Index>, Box<Index>),
    /// The indices of each field.
    Record(Vec<(String, Index)>),
    /// A set as a number with a bit for each of these.
    Set(Vec<String>),
}
