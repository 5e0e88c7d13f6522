//! How a front end wants runs displayed in terms of its language: which processes take part in a step and what they
//! execute, which parts of the state are shown and under which names, and the program locations of processes.
//!
//! Nothing here affects the meaning of a model.

use crate::diagnostics::Span;
use crate::index::{RuleId, TableIndex, TypeId, VariableId};
use crate::ownership::Number;

/// How the runs of a model are displayed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Presentation {
    /// The statements of the processes in the order of the text, by process type.
    pub statements: Vec<SourceStatement>,
    /// For each rule, the meaning of its steps.
    pub captions: Vec<Caption>,
    /// The parts of a state that are shown, in this order.
    pub parts: Vec<ShownPart>,
    /// If this variable is not zero, nothing of the state is shown: it is only intermediate.
    pub between: Option<VariableId>,
    /// Whether orders of steps are left out at the start: processes are created before any of them moves.
    pub is_creation_first: bool,
    /// Whether processes stay at their ends, although the language removes them.
    pub stay_at_end: bool,
    /// Whether a process goes on at once where what it does concerns nobody else.
    pub is_private_first: bool,
    /// The name of a deadlock state.
    pub deadlock: Option<String>,
    /// Display names of variables that the text does not declare.
    pub callings: Vec<(VariableId, Calling)>,
}

/// A statement of the text that is one step of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceStatement {
    /// The type of the processes that execute it.
    pub process: String,
    /// Its location.
    pub span: Span,
    /// Its line.
    pub line: usize,
    /// Its text.
    pub text: String,
    /// The number that SPIN gives to its transition: all elements of all process types are counted, from 0.
    pub transition: i64,
    /// Whether a process can be there initially.
    pub initial: bool,
    /// A process can be there after one of these was executed.
    pub behind: Vec<usize>,
    /// Whether it is the end of the process, which counts as executed once a process reaches it: a process may stay
    /// there forever, since others have to end first.
    pub is_end: bool,
}

/// The meaning of a step of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Caption {
    /// Processes execute statements: several together, or one after the other.
    Statements(Vec<Participant>),
    /// Not a step of the text: a remark, with the process that it concerns, if any.
    Remark(Option<Participant>, String),
}

/// A process that takes part in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Participant {
    /// Its number.
    pub number: Number,
    /// The statement it executes.
    pub statement: usize,
}

/// A part of the state that is shown under its own name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownPart {
    /// Its name.
    pub name: String,
    /// The variable that contains it.
    pub variable: VariableId,
    /// The number of cells of the variable before it.
    pub first: usize,
    /// Its type.
    pub ty: TypeId,
    /// The cell of the variable that is zero if the part is absent; none if it is always present.
    pub presence: Option<usize>,
    /// Its kind.
    pub kind: PartKind,
}

/// The kind of a part of the state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// A value, shown cell by cell.
    Value,
    /// A queue: a record of its length and an array of records, the messages, first one in front.
    Queue,
    /// The program location of a process: a text for each value of the cell.
    Position(Vec<String>),
    /// The location of an observer, with a text for each: a number, or, for a set of possible locations, an array of
    /// truth values.
    Places(Vec<String>),
}

/// The display names of a variable that the source text does not declare, and of its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Calling {
    /// Processes, an array of records: `name(1)` is one, `name(1):x` a variable of it. The first field is its program
    /// location.
    Processes(String),
    /// Queues, an array of them or one: each is a record of its length and an array of records, the messages.
    Queues {
        /// The common name.
        name: String,
        /// The names of the channels, in the order of the array.
        names: Vec<String>,
    },
}

/// A statement that is never executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unexecuted<'a> {
    /// The statement.
    pub statement: &'a SourceStatement,
    /// Whether some process reaches it, but can never execute it.
    pub is_reached: bool,
}

impl Presentation {
    /// The statements that are never executed if these rules never fire.
    pub fn unexecuted(&self, never_fired: &[RuleId]) -> Vec<Unexecuted<'_>> {
        let mut fires = vec![true; self.captions.len()];
        for rule in never_fired {
            if let Some(fires) = fires.get_mut(rule.position()) {
                *fires = false;
            }
        }
        let mut executed = vec![false; self.statements.len()];
        for (caption, _) in self.captions.iter().zip(&fires).filter(|&(_, &fires)| fires) {
            if let Caption::Statements(participants) = caption {
                for participant in participants {
                    executed[participant.statement] = true;
                }
            }
        }
        let is_reached = |it: &SourceStatement| it.initial || it.behind.iter().any(|&before| executed[before]);
        self.statements
            .iter()
            .zip(&executed)
            .filter(|&(_, &executed)| !executed)
            .map(|(statement, _)| Unexecuted { statement, is_reached: is_reached(statement) })
            .filter(|it| !(it.is_reached && it.statement.is_end))
            .collect()
    }

    /// The meaning of a step of a rule, if given.
    pub fn caption(&self, rule: RuleId) -> Option<&Caption> {
        self.captions.get(rule.position())
    }
}
