//! What a violation is, in one sentence, and where in the text.

use quotient_ir::{DeadlockMode, FaultKind, Interpreter, Layout, Model, Span, Violation};

use crate::names::{
    action_arguments_text, action_title, joint_title, operation_title, property_arguments_text, property_title, visible,
};

/// The violation at the end of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViolationText {
    /// In one sentence.
    pub message: String,
    /// The part of the source it concerns, if any.
    pub span: Option<Span>,
}

/// A short name for the kind of a violation.
pub fn violated_subject(model: &Model, violation: &Violation) -> String {
    match violation {
        Violation::Property { property, .. }
        | Violation::Unreachable { property, .. }
        | Violation::Temporal { property, .. } => property_title(model, *property),
        Violation::Fault { fault, .. } => match fault.kind {
            FaultKind::Invariant(property) => property_title(model, property),
            _ => format!("error: {}", visible(&fault.message)),
        },
        Violation::PropertyFault { fault, .. } => format!("error: {}", visible(&fault.message)),
        Violation::Deadlock(_) => "deadlock".into(),
    }
}

/// Describes a violation.
pub fn describe_violation(model: &Model, layout: &Layout, violation: &Violation) -> ViolationText {
    let property_with = |property, arguments: &[i64]| {
        let arguments = property_arguments_text(model, property, arguments);
        let title = property_title(model, property);
        if arguments.is_empty() { title } else { format!("{title} with {arguments}") }
    };
    match violation {
        Violation::Property { property, arguments } => ViolationText {
            message: format!("{} fails here", property_with(*property, arguments)),
            span: Some(model.properties[*property].span),
        },
        Violation::PropertyFault { property, arguments, fault } => ViolationText {
            message: format!("{} has no value here: {}", property_with(*property, arguments), visible(&fault.message)),
            span: Some(fault.span),
        },
        Violation::Fault { action, arguments, fault } => {
            let what = match fault.kind {
                FaultKind::Invariant(_) => "leads to a violation",
                _ => "fails here",
            };
            let own = || operation_title(&Interpreter::new(model, layout), *action, arguments, None);
            if let Some(title) = joint_title(model, *action, arguments).or_else(own) {
                let message = format!("{title} {what}: {}", visible(&fault.message));
                return ViolationText { message, span: Some(fault.span) };
            }
            let arguments = action_arguments_text(model, *action, arguments);
            let title = action_title(model, *action);
            let title = if arguments.is_empty() { title } else { format!("{title}, {arguments}") };
            ViolationText { message: format!("{title} {what}: {}", visible(&fault.message)), span: Some(fault.span) }
        }
        Violation::Deadlock(mode) => {
            let own = model.presentation.as_ref().and_then(|presentation| presentation.deadlock.as_deref());
            let usual = match mode {
                _ if model.operations.is_some() => "deadlock: no operation is enabled here",
                DeadlockMode::Stuttering => "deadlock: no rule can fire here and change the state",
                _ => "deadlock: no rule can fire here",
            };
            ViolationText { message: own.unwrap_or(usual).into(), span: None }
        }
        Violation::Unreachable { property, arguments } => ViolationText {
            message: format!(
                "from here no state can be reached that satisfies {}",
                property_with(*property, arguments)
            ),
            span: Some(model.properties[*property].span),
        },
        Violation::Temporal { property, arguments } => ViolationText {
            message: format!("this run violates {}", property_with(*property, arguments)),
            span: Some(model.properties[*property].span),
        },
    }
}
