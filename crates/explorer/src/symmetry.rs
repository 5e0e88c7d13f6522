//! The symmetries of a model: what is interchangeable, and why something is not.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use quotient::ir::Span;
use quotient::{
    Answer as Reply, Control, DetectOptions, Detected, Error, Explanation, Family, Limits, Model, Question, Reason,
    Silent, Symmetry, detect,
};
use serde_json::{Value, json};

use crate::answers::{Answer, Problem};
use crate::texts;

/// How long symmetries are looked for.
const PATIENCE: Duration = Duration::from_secs(60);

/// What is known about the symmetries of a model.
#[derive(Default)]
pub(crate) struct Symmetries(Mutex<Known>);

#[derive(Default)]
enum Known {
    /// Nobody has asked.
    #[default]
    Nothing,
    Sought,
    Found(Result<Value, String>),
}

impl Symmetries {
    /// The symmetries; the first request begins to look for them.
    pub(crate) fn get(&self, begin: impl FnOnce()) -> Answer {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*known {
            Known::Nothing => {
                *known = Known::Sought;
                drop(known);
                begin();
                Err(Problem::early("symmetries are being looked for"))
            }
            Known::Sought => Err(Problem::early("symmetries are being looked for")),
            Known::Found(Ok(value)) => Ok(value.clone()),
            Known::Found(Err(message)) => Err(Problem::bad(message.clone())),
        }
    }

    /// Looks for them.
    pub(crate) fn find(&self, model: &Model) {
        let found = asked(model, Question::Families).map(|found| object(&found)).map_err(|it| it.to_string());
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Known::Found(found);
    }
}

fn asked(model: &Model, question: Question) -> Result<Detected, Error> {
    let control = Control::start(&Limits { timeout: Some(PATIENCE), ..Limits::default() });
    let options = DetectOptions { symmetry: Symmetry::Auto, question: Some(question), ..DetectOptions::default() };
    detect(model, &options, &control, &mut Silent)
}

fn located(model: &Model, message: &str, span: Span) -> Value {
    json!({ "message": message, "place": texts::place(model, span) })
}

fn object(found: &Detected) -> Value {
    let model = found.model();
    let ir = model.ir();
    let families: &[Family] = match &found.answer {
        Some(Reply::Families(families)) => families,
        _ => &[],
    };
    let family = |family: &Family| {
        let names = |class: &Vec<i64>| class.iter().map(|&value| family.of.value_title(ir, value)).collect::<Vec<_>>();
        let reason = |reason: &Reason| located(model, &reason.text, reason.span);
        json!({
            "name": family.of.title(ir),
            "is_named": family.of.is_named(ir),
            "classes": family.classes.iter().map(names).collect::<Vec<_>>(),
            "separators": family.separators.iter().map(|it| it.as_ref().map(reason)).collect::<Vec<_>>(),
        })
    };
    let orbits = found.cell_orbits();
    let variable = |id| {
        let variable = &ir.variables[id];
        let cells = model.layout().slots.iter().zip(&orbits).filter(|(slot, _)| slot.variable == id);
        let fixed = found.fixed.iter().find(|fixed| fixed.variable == id);
        json!({
            "name": variable.name,
            "parts": cells.map(|(slot, orbit)| json!({ "name": slot.name, "orbit": orbit })).collect::<Vec<_>>(),
            "is_moved": found.moved.variables.contains(&id),
            "fixed": fixed.map(|fixed| located(model, &fixed.reason, fixed.span)),
            "place": texts::place(model, variable.span),
        })
    };
    json!({
        "order": found.order.to_string(),
        "structure": found.structure,
        "complete": found.complete,
        "only_text": found.only_text,
        "generators": found.generators.iter().map(|it| json!({ "cycles": it.cycles() })).collect::<Vec<_>>(),
        "types": families.iter().map(family).collect::<Vec<_>>(),
        "variables": ir.variables.indices().map(variable).collect::<Vec<_>>(),
        "orbits": orbits.iter().max().map_or(0, |most| most + 1),
    })
}

/// Why something is not a symmetry.
pub(crate) fn why_not(model: &Model, request: &str) -> Answer {
    let found = asked(model, Question::WhyNot(request.to_owned()))?;
    let Some(Reply::WhyNot { limits, explanation, .. }) = &found.answer else {
        return Err(Problem::defect("there is no answer"));
    };
    let mut answer = json!({
        "request": request,
        "is_symmetry": null,
        "permutation": null,
        "limits": limits.iter().map(|limit| located(model, &limit.text, limit.span)).collect::<Vec<_>>(),
        "reasons": [],
        "omitted": 0,
    });
    match explanation {
        None => {}
        Some(Explanation::Symmetry(completed)) => {
            answer["is_symmetry"] = true.into();
            answer["permutation"] = completed.description.cycles().into();
        }
        Some(Explanation::NotSymmetry { reasons, similar, omitted, .. }) => {
            let similar = similar.iter().copied().chain(std::iter::repeat(0));
            let reason = |(reason, similar): (&Reason, usize)| {
                let mut object = located(model, &reason.text, reason.span);
                object["similar"] = similar.into();
                object
            };
            answer["is_symmetry"] = false.into();
            answer["reasons"] = reasons.iter().zip(similar).map(reason).collect();
            answer["omitted"] = (*omitted).into();
        }
    }
    Ok(answer)
}
