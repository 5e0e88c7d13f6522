//! The processes that take part in the steps of a run, as columns.

use std::collections::{BTreeMap, BTreeSet};

use quotient_ir::{
    Action, Caption, Iteration, Model, Participant, Presentation, RuleId, TableIndex, Trace, TraceStep, TypeId,
    TypeKind,
};

/// More values than this are not columns.
const MOST_VALUES: u64 = 32;

/// The columns of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lanes {
    /// The names of the processes.
    pub names: Vec<String>,
    /// For each step, the positions of those that take part.
    pub steps: Vec<Vec<usize>>,
}

/// The processes that take part in the steps of a run. In a model without processes they are the values of the type that
/// most rules have a parameter of, those of types whose values are declared to be interchangeable first.
pub fn lanes(model: &Model, trace: &Trace) -> Lanes {
    if let Some(exchanges) = &model.exchanges {
        let of = |step: &TraceStep| match rule_of(step) {
            Some(rule) => exchanges.steps.get(rule.position()).map(|it| it.participants.clone()).unwrap_or_default(),
            None => Vec::new(),
        };
        return Lanes { names: exchanges.processes.clone(), steps: trace.steps.iter().map(of).collect() };
    }
    if let Some(presentation) = &model.presentation {
        return of_processes(presentation, trace);
    }
    let Some(ty) = process_type(model) else {
        return Lanes { names: Vec::new(), steps: vec![Vec::new(); trace.steps.len()] };
    };
    let values: Vec<i64> = model.domain(ty).values().collect();
    let of = |step: &TraceStep| {
        let Some(rule) = rule_of(step) else { return Vec::new() };
        let rule = &model.rules[rule];
        let (mut cell, mut lanes) = (0, BTreeSet::new());
        for parameter in &rule.parameters {
            let own = rule.locals[parameter.local].ty;
            if own == ty {
                lanes.extend(values.iter().position(|value| step.arguments.get(cell) == Some(value)));
            }
            cell += usize::try_from(model.cells(own)).unwrap_or(usize::MAX);
        }
        lanes.into_iter().collect()
    };
    let names = values.iter().map(|&value| model.value_name(ty, value)).collect();
    Lanes { names, steps: trace.steps.iter().map(of).collect() }
}

fn rule_of(step: &TraceStep) -> Option<RuleId> {
    match step.action {
        Action::Rule(rule) => Some(rule),
        Action::Start(_) => None,
    }
}

fn of_processes(presentation: &Presentation, trace: &Trace) -> Lanes {
    let named = |participant: &Participant, arguments: &[i64]| {
        let number = participant.number.of(arguments);
        (number, format!("{}:{number}", presentation.statements[participant.statement].process))
    };
    let of = |step: &TraceStep| -> BTreeSet<(i64, String)> {
        match rule_of(step).and_then(|rule| presentation.caption(rule)) {
            Some(Caption::Statements(all)) => all.iter().map(|it| named(it, &step.arguments)).collect(),
            Some(Caption::Remark(Some(it), _)) => BTreeSet::from([named(it, &step.arguments)]),
            Some(Caption::Remark(None, _)) | None => BTreeSet::new(),
        }
    };
    let steps: Vec<BTreeSet<(i64, String)>> = trace.steps.iter().map(of).collect();
    let all: BTreeSet<&(i64, String)> = steps.iter().flatten().collect();
    let positions: BTreeMap<&(i64, String), usize> = all.iter().copied().zip(0..).collect();
    Lanes {
        names: all.iter().map(|(_, name)| name.clone()).collect(),
        steps: steps.iter().map(|step| step.iter().map(|process| positions[process]).collect()).collect(),
    }
}

/// The type whose values are most like processes.
fn process_type(model: &Model) -> Option<TypeId> {
    let mut counts: BTreeMap<TypeId, usize> = BTreeMap::new();
    for rule in model.rules.iter() {
        let types = rule.parameters.iter().filter_map(|parameter| match parameter.range {
            Iteration::Over(ty) => Some(ty),
            Iteration::Steps { .. } => None,
        });
        for ty in types.collect::<BTreeSet<_>>() {
            *counts.entry(ty).or_default() += 1;
        }
    }
    let fits = |ty: TypeId| model.is_scalar(ty) && (2..=MOST_VALUES).contains(&model.domain(ty).size());
    let is_declared =
        |ty: TypeId| matches!(model.types[ty].kind, TypeKind::Scalarset { .. }) || model.interchangeable.contains(&ty);
    let candidates = counts.into_iter().filter(|&(ty, _)| fits(ty) && ty != Model::BOOLEAN);
    candidates.max_by_key(|&(ty, count)| (is_declared(ty), count, std::cmp::Reverse(ty))).map(|(ty, _)| ty)
}

#[cfg(test)]
mod tests {
    use crate::languages::Language;
    use quotient_ir::{Action, RuleId, StartId, TableIndex, Trace, TraceStep, Valuation};

    use super::lanes;
    use crate::model::Model;

    #[test]
    fn parameters_of_the_usual_type_are_lanes() {
        let text = "type cell: 0..4; node: scalarset(2); var x: array [node] of cell;
            startstate begin clear x; end;
            ruleset v: cell do ruleset a: node do ruleset b: node do
              rule \"copy\" a != b ==> begin x[a] := x[b]; end;
            end; end; end;";
        let model = Model::from_text("lanes", text, Language::Murphi).expect("a model");
        let state = || Valuation(vec![Some(0), Some(0)]);
        let rule = model.ir().rules.iter().next().expect("a rule");
        let step = |action, arguments| TraceStep { action, arguments, state: state() };
        // The values of each parameter, by the name of the parameter.
        let copy = |values: [(&str, i64); 3]| {
            let value = |parameter: &quotient_ir::Parameter| {
                let local = &rule.locals[parameter.local];
                let (_, offset) = values.iter().find(|(name, _)| *name == local.name).expect("a parameter");
                model.ir().domain(local.ty).least() + offset
            };
            step(Action::Rule(RuleId::from_position(0)), rule.parameters.iter().map(value).collect())
        };
        let trace = Trace::new(
            vec![
                step(Action::Start(StartId::from_position(0)), Vec::new()),
                copy([("v", 3), ("a", 1), ("b", 0)]),
                copy([("v", 0), ("a", 1), ("b", 1)]),
            ],
            None,
        );
        let found = lanes(model.ir(), &trace);
        assert_eq!(found.names, ["node_0", "node_1"]);
        assert_eq!(found.steps, [vec![], vec![0, 1], vec![1]]);
    }
}
