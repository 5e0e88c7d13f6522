//! Functions and procedures: their declarations and their calls.

use quotient_ir::{
    Argument, Diagnostic, Expr as Lowered, FunctionId, LocalKind, Place, Root, Span, Table, TypeId, TypeKind,
};

use super::super::syntax::tree::{Declaration, Expr, ExprKind, FormalParameter, Function, Name};
use super::Lowering;
use super::effects::{Effects, Origin};
use super::operands::{Access, Constancy, Form, Operand};
use super::owners::{Owner, OwnerKind};
use super::scopes::Meaning;
use super::types::Fit;

/// What callers need to know of a function.
#[derive(Clone, Debug)]
pub(super) struct Signature {
    pub(super) name: String,
    pub(super) span: Span,
    pub(super) parameters: Vec<Formal>,
    pub(super) result: ResultType,
    pub(super) effects: Effects,
    /// Whether its body has been lowered; if not, it is calling itself.
    pub(super) complete: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Formal {
    pub(super) name: String,
    pub(super) span: Span,
    /// `None` if its type was invalid.
    pub(super) ty: Option<TypeId>,
    pub(super) by_reference: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResultType {
    /// A procedure.
    Nothing,
    /// A function; `None` if its type was invalid.
    Value(Option<TypeId>),
}

/// The context of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallUse {
    Expression,
    Statement,
}

impl Lowering<'_> {
    /// Lowers a function or procedure.
    pub(super) fn function(&mut self, function: &Function) {
        self.scopes.enter();
        self.owner = Owner::new(OwnerKind::Procedure);
        let id = self.model.functions.next_index();
        // Its own name is taken inside, too.
        self.declare(&function.name, Meaning::Function(id));
        // A parameter with the name of a type hides that type only after the header.
        let types: Vec<Option<TypeId>> =
            function.parameters.iter().map(|parameter| self.type_of(&parameter.ty, None)).collect();
        let result = match &function.result {
            None => ResultType::Nothing,
            Some(ty) => ResultType::Value(self.type_of(ty, None)),
        };
        let mut parameters = Vec::new();
        let mut formals = Vec::new();
        for (position, (parameter, ty)) in function.parameters.iter().zip(types).enumerate() {
            let ty = self.formal_parameter(parameter, ty, position);
            let FormalParameter { by_reference, name, .. } = parameter;
            formals.push(Formal {
                name: name.text.clone(),
                span: name.span,
                ty: ty.map(|(ty, _)| ty),
                by_reference: *by_reference,
            });
            parameters.extend(ty.map(|(_, local)| local));
        }
        if let (ResultType::Value(Some(ty)), Some(place)) = (result, &function.result) {
            self.check_local_size(ty, "this result", place.span);
        }
        self.owner.kind = match result {
            ResultType::Nothing => OwnerKind::Procedure,
            ResultType::Value(result) => OwnerKind::Function { result, declared: function.name.span },
        };
        let span = function.name.span;
        let name = function.name.text.clone();
        self.signatures.push(Signature {
            name: name.clone(),
            span,
            parameters: formals,
            result,
            effects: Effects::default(),
            complete: false,
        });
        let result = match result {
            ResultType::Value(result) => result,
            ResultType::Nothing => None,
        };
        // Recursive calls need its number before its body exists.
        let unfinished = quotient_ir::Function {
            name,
            parameters,
            locals: Table::new(),
            result,
            body: Vec::new(),
            span: function.span,
        };
        self.model.functions.push(unfinished);
        self.local_declarations(&function.declarations);
        let body = self.statements(&function.body);
        self.scopes.leave();
        let mut owner = std::mem::replace(&mut self.owner, Owner::outside());
        owner.effects.close();
        self.signatures[id].effects = owner.effects;
        self.signatures[id].complete = true;
        self.model.functions[id].locals = owner.locals;
        self.model.functions[id].body = body;
        self.declare(&function.name, Meaning::Function(id));
    }

    fn formal_parameter(
        &mut self,
        parameter: &FormalParameter,
        ty: Option<TypeId>,
        position: usize,
    ) -> Option<(TypeId, quotient_ir::LocalId)> {
        let name = &parameter.name;
        let Some(ty) = ty else {
            self.declare(name, Meaning::Unknown);
            return None;
        };
        self.check_local_size(ty, "this parameter", name.span);
        let (local, access) = if parameter.by_reference {
            let origin = Origin::Parameter(position);
            (self.owner.reference(&name.text, ty, LocalKind::Reference, origin, name.span), Access::Writable)
        } else {
            (self.owner.local(&name.text, ty, LocalKind::Parameter, name.span), Access::ReadOnly(name.span))
        };
        let operand = self.place_operand(Root::Local(local), ty, access, name.span);
        self.declare(name, Meaning::named(operand, "parameter"));
        Some((ty, local))
    }

    /// The declarations before the body of a function or rule.
    pub(super) fn local_declarations(&mut self, declarations: &[Declaration]) {
        for declaration in declarations {
            match declaration {
                Declaration::Constant { name, value } => self.constant_declaration(name, value, false),
                Declaration::Type { name, ty } => self.type_declaration(name, ty),
                Declaration::Variable { name, ty } => {
                    let Some(ty) = self.type_of(ty, None) else {
                        self.declare(name, Meaning::Unknown);
                        continue;
                    };
                    self.check_local_size(ty, "this variable", name.span);
                    let local = self.owner.local(&name.text, ty, LocalKind::Variable, name.span);
                    let operand = self.place_operand(Root::Local(local), ty, Access::Writable, name.span);
                    self.declare(name, Meaning::named(operand, "variable"));
                }
            }
        }
    }

    fn check_local_size(&mut self, ty: TypeId, what: &str, span: Span) {
        let before = self.owner.cells;
        self.owner.cells = before.saturating_add(self.extent(ty));
        if self.owner.cells > super::MOST_CELLS && before <= super::MOST_CELLS {
            let error = Diagnostic::error("state-too-large", format!("{what} is too large"), span)
                .with_label(format!("{} scalar cells up to here", self.owner.cells))
                .with_help(format!("a rule or function may have at most {} cells of its own", super::MOST_CELLS));
            self.report(error);
        }
    }

    pub(super) fn call_in_expression(&mut self, function: &Name, arguments: &[Expr], span: Span) -> Operand {
        let Some((id, arguments)) = self.call(function, arguments, CallUse::Expression, span) else {
            let result = self.scopes.find(&function.text).and_then(|symbol| match symbol.meaning {
                Meaning::Function(id) => match self.signatures.get(id)?.result {
                    ResultType::Value(ty) => ty,
                    ResultType::Nothing => None,
                },
                _ => None,
            });
            return Operand { ty: result, ..Self::unknown(span) };
        };
        let ResultType::Value(Some(ty)) = self.signatures[id].result else { return Self::unknown(span) };
        if self.model.is_scalar(ty) {
            return self.value_operand(Lowered::Call { function: id, arguments }, ty, span);
        }
        let root = Root::Result { function: id, arguments };
        let place = self.model.pool.place(Place { root, steps: Vec::new(), ty });
        let constancy = Constancy::Varies(span);
        Operand { ty: Some(ty), form: Form::Place(place), constancy, access: Access::ValueOnly, span }
    }

    /// Checks a call. `None` after an error.
    pub(super) fn call(
        &mut self,
        function: &Name,
        arguments: &[Expr],
        call_use: CallUse,
        span: Span,
    ) -> Option<(FunctionId, Vec<Argument>)> {
        let id = match self.scopes.find(&function.text).map(|symbol| (&symbol.meaning, symbol.span)) {
            Some((Meaning::Function(id), _)) if self.signatures.get(*id).is_some() => Some(*id),
            // A function has no signature yet while its parameters and result are declared.
            Some((Meaning::Function(_), declared)) => {
                let message = format!("`{}` cannot be called in its own header", function.text);
                let error = Diagnostic::error("unknown-function", message, function.span);
                self.report(error.with_secondary(declared, "being declared here"));
                None
            }
            Some((Meaning::Unknown, _)) => None,
            Some((meaning, declared)) => {
                let message = format!("`{}` is a {}, not a function", function.text, meaning.noun());
                let error = Diagnostic::error("not-a-function", message, function.span).with_label("called here");
                self.report(Self::with_declaration(error, declared));
                None
            }
            None => {
                let wanted = |meaning: &Meaning| matches!(meaning, Meaning::Function(_));
                self.report_unknown("unknown-function", "function", function, wanted);
                None
            }
        };
        // Nothing where an argument is `undefined`.
        let operands: Vec<Option<Operand>> = arguments
            .iter()
            .map(|argument| (argument.kind != ExprKind::Undefined).then(|| self.expression(argument)))
            .collect();
        let id = id?;
        let signature = self.signatures[id].clone();
        if call_use == CallUse::Expression && signature.result == ResultType::Nothing {
            let error = Diagnostic::error("no-result", format!("procedure `{}` has no result", signature.name), span)
                .with_label("a value is needed here")
                .with_secondary(signature.span, "declared as a procedure here")
                .with_help("declare it as a function with a result type, or call it as a statement of its own");
            self.report(error);
            return None;
        }
        if operands.len() != signature.parameters.len() {
            self.report_arity(&signature, operands.len(), span);
            return None;
        }
        let mut lowered = Vec::with_capacity(operands.len());
        let mut references = Vec::new();
        for (position, (operand, formal)) in operands.iter().zip(&signature.parameters).enumerate() {
            let argument = match operand {
                Some(operand) => self.argument(operand, formal),
                None => self.undefined_argument(formal, arguments[position].span),
            };
            if let Some(Argument::Reference(place)) = argument {
                references.push((position, place));
            }
            lowered.push(argument);
        }
        let lowered: Option<Vec<Argument>> = lowered.into_iter().collect();
        let lowered = lowered?;
        self.note_call(id, &references, span);
        Some((id, lowered))
    }

    fn report_arity(&mut self, signature: &Signature, given: usize, span: Span) {
        let texts: Vec<String> = signature
            .parameters
            .iter()
            .map(|formal| {
                let ty = formal.ty.map_or_else(|| "…".into(), |ty| self.type_text(ty).replace('`', ""));
                format!("{}{}: {ty}", if formal.by_reference { "var " } else { "" }, formal.name)
            })
            .collect();
        let wanted = signature.parameters.len();
        let plural = if wanted == 1 { "" } else { "s" };
        let error = Diagnostic::error(
            "wrong-arity",
            format!("`{}` takes {wanted} argument{plural}, but is given {given}", signature.name),
            span,
        )
        .with_label(format!("{given} given"))
        .with_secondary(signature.span, "declared here")
        .with_help(format!("it is declared as `{}({})`", signature.name, texts.join("; ")));
        self.report(error);
    }

    fn argument(&mut self, operand: &Operand, formal: &Formal) -> Option<Argument> {
        let (Some(expected), Some(found)) = (formal.ty, operand.ty) else { return None };
        let what = format!("the argument for `{}`", formal.name);
        if !formal.by_reference {
            if !self.expect_fit(Some(expected), operand, &what) {
                return None;
            }
            return match operand.form {
                Form::Place(place) => Some(Argument::Copy(place)),
                Form::Value(value) => Some(Argument::Value(value)),
                Form::Nothing => None,
            };
        }
        if !self.expect_writable(operand, &format!("be passed for the `var` parameter `{}`", formal.name)) {
            return None;
        }
        match self.alike(expected, found) {
            Fit::Yes => {}
            Fit::MixedScalarsets => self.warn_mixed(expected, found, operand.span),
            Fit::No if self.is_integer(expected) && self.is_integer(found) => {
                let bounds = |ty: TypeId| match self.model.types[ty].kind {
                    TypeKind::Range { low, high } => format!("{low}..{high}"),
                    _ => "any integer".into(),
                };
                let error = Diagnostic::error(
                    "reference-range",
                    format!("{what} must have exactly its range, since it is passed by reference"),
                    operand.span,
                )
                .with_label(format!("the range of this is {}", bounds(found)))
                .with_secondary(formal.span, format!("the range of this is {}", bounds(expected)));
                self.report(error);
                return None;
            }
            Fit::No => {
                if self.fit(expected, found) == Fit::No {
                    self.expect_fit(Some(expected), operand, &what);
                } else {
                    let error = Diagnostic::error(
                        "type-mismatch",
                        format!("{what} must be of exactly the type {}", self.type_text(expected)),
                        operand.span,
                    )
                    .with_label(format!("this is {}", self.of_type(found)))
                    .with_secondary(formal.span, "passed by reference");
                    self.report(error);
                }
                return None;
            }
        }
        match operand.form {
            Form::Place(place) => Some(Argument::Reference(place)),
            Form::Value(_) | Form::Nothing => None,
        }
    }
}
