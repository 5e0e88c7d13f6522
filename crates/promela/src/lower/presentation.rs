//! Presentation of runs for users of SPIN: the processes that move and their statements, variables by the names that
//! `spin -p -l -g` gives them, messages and channels by name, queues with their contents.

use std::rc::Rc;

use quotient_ir::{
    Calling, Caption, Number, PartKind, Participant, Presentation, ShownPart, SourceStatement, TypeId, TypeKind,
    VariableId,
};
use rustc_hash::FxHashMap;

use super::emission::Emission;
use super::flow::{Element, ElementId, ElementKind, Flow};
use super::program::VariableKey;
use super::symbols::ValueType;
use super::wording::{statement_line, statement_span, statement_text};
use crate::syntax::tree::{BaseType, Initial};

/// The description of a step of a rule, before statements are numbered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Telling {
    /// Processes execute statements.
    Statements(Vec<Taking>),
    /// Something other than a statement.
    Remark(Option<Taking>, String),
}

/// A process and what it executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Taking {
    pub(super) number: Number,
    pub(super) process: usize,
    pub(super) element: ElementId,
}

impl Telling {
    /// The participants in an instance with these arguments.
    pub(super) fn takings(&self, arguments: &[i64]) -> Vec<Taking> {
        let all = match self {
            Self::Statements(all) => &all[..],
            Self::Remark(..) => &[],
        };
        all.iter().map(|it| Taking { number: Number::Constant(it.number.of(arguments)), ..*it }).collect()
    }
}

/// The maximum length of the text of the exits of a point.
const LONGEST_CHOICE: usize = 60;

impl Emission<'_, '_> {
    /// The name of a process type as SPIN shows it.
    fn shown_name(&self, process: usize) -> String {
        let tree = self.program.processes[process].tree;
        if tree.is_init { ":init:".into() } else { tree.name.text.to_string() }
    }

    /// Adds the presentation of runs to the model. All rules must exist.
    pub(super) fn present(&mut self) {
        let mut presentation = Presentation {
            between: self.startup,
            deadlock: Some("invalid end state: no process can move, and not all are where they may stop".into()),
            ..Presentation::default()
        };
        let numbers = self.number_statements(&mut presentation.statements);
        let participant =
            |it: &Taking| Participant { number: it.number, statement: numbers[&(it.process, it.element)] };
        let caption = |telling: &Telling| match telling {
            Telling::Statements(all) => Caption::Statements(all.iter().map(participant).collect()),
            Telling::Remark(of, remark) => Caption::Remark(of.as_ref().map(participant), remark.clone()),
        };
        presentation.captions = self.origins.iter().map(|origin| caption(&origin.telling)).collect();
        presentation.parts = self.parts();
        presentation.callings = self.callings();
        self.model.presentation = Some(presentation);
        self.name_values();
    }

    /// Lists all statements and gives them numbers.
    fn number_statements(&self, statements: &mut Vec<SourceStatement>) -> FxHashMap<(usize, ElementId), usize> {
        let program = self.program;
        let is_step = |element: &Element| match element.kind {
            ElementKind::Basic(_) | ElementKind::Else | ElementKind::Goto(_) => !element.in_step,
            ElementKind::DeterministicStep | ElementKind::End => true,
            // A head that nothing can be executed at.
            _ => false,
        };
        let mut numbers = FxHashMap::default();
        let mut transitions = 0;
        for (process, entry) in program.processes.iter().enumerate() {
            let flow = &entry.flow;
            let first_transition = transitions;
            transitions += flow.elements.iter().map(|element| element.state).max().unwrap_or(0);
            let mut elements: Vec<ElementId> = (0..flow.elements.len()).collect();
            elements.sort_by_key(|&element| (statement_span(flow, element).start, element));
            let exits: Vec<Vec<ElementId>> =
                flow.points.iter().map(|&point| flow.exits(point).iter().map(|exit| exit.element).collect()).collect();
            let mut is_exit = vec![false; flow.elements.len()];
            for &element in exits.iter().flatten() {
                is_exit[element] = true;
            }
            for element in elements {
                let it = &flow.elements[element];
                let is_jump = matches!(it.kind, ElementKind::Goto(_));
                if is_exit[element] || is_step(it) && !is_jump {
                    numbers.insert((process, element), statements.len());
                    statements.push(SourceStatement {
                        process: self.shown_name(process),
                        span: statement_span(flow, element),
                        line: statement_line(&self.model.source, flow, element),
                        text: statement_text(&self.model.source, it),
                        transition: first_transition + it.state - 1,
                        initial: false,
                        behind: Vec::new(),
                        is_end: matches!(it.kind, ElementKind::End),
                    });
                }
            }
            let first = flow.number(flow.first) as usize - 1;
            for &element in &exits[first] {
                statements[numbers[&(process, element)]].initial = entry.active > 0;
            }
            let mut comers: FxHashMap<ElementId, Vec<usize>> = FxHashMap::default();
            for element in (0..flow.elements.len()).filter(|&element| is_exit[element]) {
                if let Some(target) = flow.target(element) {
                    comers.entry(target).or_default().push(numbers[&(process, element)]);
                }
            }
            for (point, own) in flow.points.iter().zip(&exits) {
                let before = comers.get(point).map_or(&[][..], |before| &before[..]);
                for &element in own {
                    let behind = &mut statements[numbers[&(process, element)]].behind;
                    behind.extend(before);
                    behind.sort_unstable();
                    behind.dedup();
                }
            }
        }
        // A process is at its first statement when it is created.
        for process in 0..program.processes.len() {
            for site in program.run_sites(process) {
                let flow = &program.processes[process].flow;
                let steps = (0..flow.elements.len()).filter(|&step| {
                    matches!(flow.elements[step].kind, ElementKind::DeterministicStep)
                        && flow.elements[site.element].in_step
                        && flow.elements_of_step(step).contains(&site.element)
                });
                let makers: Vec<usize> = std::iter::once(site.element)
                    .chain(steps)
                    .filter_map(|element| numbers.get(&(process, element)).copied())
                    .collect();
                let created = &program.processes[site.creates].flow;
                for exit in created.exits(created.first) {
                    statements[numbers[&(site.creates, exit.element)]].behind.extend(&makers);
                }
            }
        }
        numbers
    }

    /// The displayed parts of a state.
    fn parts(&self) -> Vec<ShownPart> {
        let model = &self.model;
        let mut parts = Vec::new();
        let whole = |name: String, variable, kind| ShownPart {
            name,
            variable,
            first: 0,
            ty: model.variables[variable].ty,
            presence: None,
            kind,
        };
        for (number, info) in self.program.symbols.globals.iter().enumerate() {
            if let Some(variable) = self.globals[number] {
                parts.push(whole(info.name.to_string(), variable, PartKind::Value));
            }
        }
        parts.extend(self.last.map(|variable| whole("_last".into(), variable, PartKind::Value)));
        let names = self.channel_names();
        for shape in &self.shapes {
            let (Some(variable), Some((low, high))) = (shape.variable, shape.numbers) else { continue };
            let ty = match model.types[model.variables[variable].ty].kind {
                TypeKind::Array { element, .. } => element,
                _ => model.variables[variable].ty,
            };
            let cells = model.cells(ty) as usize;
            for number in low..=high {
                let name = names.get(&number).cloned().unwrap_or_else(|| number.to_string());
                let first = (number - low) as usize * cells;
                let kind = PartKind::Queue;
                parts.push(ShownPart { name: format!("queue ({name})"), variable, first, ty, presence: None, kind });
            }
        }
        let mut processes: Vec<(i64, usize)> = Vec::new();
        for (process, range) in self.pools.ranges.iter().enumerate() {
            if let Some((low, high)) = *range {
                processes.extend((low..=high).map(|pid| (pid, process)));
            }
        }
        processes.sort_unstable();
        let positions: Vec<Vec<String>> = self.program.processes.iter().map(|it| self.positions(&it.flow)).collect();
        for (pid, process) in processes {
            self.add_process(pid, process, &positions[process], &mut parts);
        }
        if let (Some(trace), Some(variable)) = (&self.program.trace, self.event) {
            let mut places = self.positions(trace.flow());
            places.push("its end".into());
            parts.push(whole("trace".into(), variable, PartKind::Places(places)));
        }
        for (claim, &variable) in self.program.claims.iter().zip(&self.claims) {
            let mut places = self.positions(claim.flow());
            places[0] = "its end".into();
            let name = if &*claim.name == "never" { "never claim".into() } else { format!("claim {}", claim.name) };
            parts.push(whole(name, variable, PartKind::Places(places)));
        }
        parts
    }

    /// The names of the variables that hold processes and queues.
    fn callings(&self) -> Vec<(VariableId, Calling)> {
        let mut callings = Vec::new();
        for (process, variable) in self.process_variables.iter().enumerate() {
            callings.extend(variable.map(|it| (it, Calling::Processes(self.shown_name(process)))));
        }
        let channels = self.channel_names();
        for shape in &self.shapes {
            let (Some(variable), Some((low, high))) = (shape.variable, shape.numbers) else { continue };
            let name = |number: i64| channels.get(&number).cloned().unwrap_or_else(|| number.to_string());
            let names: Vec<String> = (low..=high).map(name).collect();
            let written = &self.model.variables[variable].name;
            let name = match &names[..] {
                [only] => only.clone(),
                _ => written.strip_suffix(".queue").unwrap_or(written).to_owned(),
            };
            callings.push((variable, Calling::Queues { name, names }));
        }
        callings
    }

    fn add_process(&self, pid: i64, process: usize, positions: &[String], parts: &mut Vec<ShownPart>) {
        let model = &self.model;
        let (Some(variable), Some((low, _))) = (self.process_variables[process], self.pools.ranges[process]) else {
            return;
        };
        let TypeKind::Array { element, .. } = model.types[model.variables[variable].ty].kind else { return };
        let TypeKind::Record { fields } = &model.types[element].kind else { return };
        let own = (pid - low) as usize * model.cells(element) as usize;
        let mut firsts = vec![own];
        for field in fields {
            firsts.push(firsts[firsts.len() - 1] + model.cells(field.ty) as usize);
        }
        let name = self.shown_name(process);
        parts.push(ShownPart {
            name: format!("proc {pid} ({name})"),
            variable,
            first: own,
            ty: fields[0].ty,
            presence: Some(own),
            kind: PartKind::Position(positions.to_vec()),
        });
        for (info, field) in self.program.processes[process].symbols.variables.iter().zip(&self.locals[process]) {
            let Some(field) = *field else { continue };
            if info.name.starts_with("_counter") {
                continue;
            }
            let (first, ty) = (firsts[field as usize], fields[field as usize].ty);
            let name = format!("{name}({pid}):{}", info.name);
            parts.push(ShownPart { name, variable, first, ty, presence: Some(own), kind: PartKind::Value });
        }
    }

    /// The possible positions of a process: the location in the text and the statements that can come next.
    fn positions(&self, flow: &Flow) -> Vec<String> {
        let source = &self.model.source;
        let mut positions = vec![String::new()];
        for &point in &flow.points {
            let mut texts: Vec<String> =
                flow.exits(point).iter().map(|exit| statement_text(source, &flow.elements[exit.element])).collect();
            texts.dedup();
            let mut choice = texts.join(" :: ");
            if choice.chars().count() > LONGEST_CHOICE && texts.len() > 1 {
                choice = format!("{} :: …", texts[0]);
            }
            let file = source.short_name(statement_span(flow, point).start);
            let line = statement_line(source, flow, point);
            let end = if flow.is_end(point) { " <valid end state>" } else { "" };
            positions.push(format!("{file}:{line} [{choice}]{end}"));
        }
        positions
    }

    /// The channels by their numbers, named after the variables that they were declared with.
    fn channel_names(&self) -> FxHashMap<i64, String> {
        let mut names = FxHashMap::default();
        for (site, &base) in self.program.sites.iter().zip(&self.site_bases) {
            let info = self.program.variable(site.variable);
            let mut places = Vec::new();
            let owners: Vec<Option<(usize, i64)>> = match site.variable {
                VariableKey::Global(_) => vec![None],
                VariableKey::Local(process, _) => match self.pools.ranges[process] {
                    Some((low, high)) => (low..=high).map(|pid| Some((process, pid))).collect(),
                    None => continue,
                },
            };
            for owner in owners {
                let name = match owner {
                    None => info.name.to_string(),
                    Some((process, pid)) => format!("{}({pid}):{}", self.shown_name(process), info.name),
                };
                self.name_places(name, info.ty, info.count, &site.path, &mut places);
            }
            names.extend((base..).zip(places));
        }
        names
    }

    /// The names of all places that a path of fields leads to, in order.
    fn name_places(&self, name: String, ty: ValueType, count: Option<i64>, path: &[usize], places: &mut Vec<String>) {
        let elements = match count {
            None => vec![name],
            Some(count) => (0..count).map(|index| format!("{name}[{index}]")).collect(),
        };
        for element in elements {
            match (path, ty) {
                ([field, rest @ ..], ValueType::Structure(number)) => {
                    let field = &self.program.symbols.structures[number].fields[*field];
                    self.name_places(format!("{element}.{}", field.name), field.ty, field.count, rest, places);
                }
                _ => places.push(element),
            }
        }
    }

    /// Gives names to the values of message and channel types.
    fn name_values(&mut self) {
        let channels = self.channel_names();
        let named: Vec<(Named, TypeId)> = self.named.iter().map(|(named, &ty)| (named.clone(), ty)).collect();
        for (named, ty) in named {
            let names = match named {
                Named::Channel => channels.clone(),
                Named::Message(subtype) => self.message_names(subtype.as_deref()),
            };
            self.model.value_names.insert(ty, names);
        }
    }

    /// The names of messages; without a subtype those that belong to none, and those of others for other numbers.
    pub(super) fn message_names(&self, subtype: Option<&str>) -> FxHashMap<i64, String> {
        let mut names: FxHashMap<i64, String> = FxHashMap::default();
        let all = &self.program.tree.mtypes;
        let is_own = |of: Option<&str>| of == subtype;
        let own = all.iter().filter(|it| is_own(it.subtype.as_ref().map(|name| &*name.text)));
        for member in own.flat_map(|it| &it.members) {
            if let Some(&number) = self.program.symbols.messages.get(&member.text) {
                names.insert(number, member.text.to_string());
            }
        }
        if subtype.is_some() {
            return names;
        }
        let mut others: FxHashMap<i64, Vec<String>> = FxHashMap::default();
        for member in all.iter().filter(|it| it.subtype.is_some()).flat_map(|it| &it.members) {
            if let Some(&number) = self.program.symbols.messages.get(&member.text) {
                others.entry(number).or_default().push(member.text.to_string());
            }
        }
        for (number, candidates) in others {
            names.entry(number).or_insert_with(|| candidates.join("|"));
        }
        names
    }

    /// The kinds of messages that the fields of a shape of channels are declared to hold, scalar by scalar. The
    /// first declaration counts, should there be several.
    pub(super) fn field_subtypes(&self, shape: usize) -> Vec<Option<Rc<str>>> {
        let mut subtypes = Vec::new();
        let Some(site) = self.program.sites.iter().find(|site| site.shape == shape) else { return subtypes };
        let structures = &self.program.symbols.structures;
        let mut info = self.program.variable(site.variable);
        for &field in &site.path {
            let ValueType::Structure(number) = info.ty else { return subtypes };
            info = &structures[number].fields[field];
        }
        let Some(Initial::Channel { fields, .. }) = &info.initial else { return subtypes };
        for field in fields {
            match field {
                BaseType::User(name) => {
                    if let Some(&number) = self.program.symbols.structure_names.get(&name.text) {
                        self.add_subtypes(number, &mut subtypes);
                    }
                }
                BaseType::Mtype(subtype) => subtypes.push(subtype.as_ref().map(|name| name.text.clone())),
                _ => subtypes.push(None),
            }
        }
        subtypes
    }

    fn add_subtypes(&self, structure: usize, subtypes: &mut Vec<Option<Rc<str>>>) {
        for field in &self.program.symbols.structures[structure].fields {
            for _ in 0..field.count.unwrap_or(1) {
                match field.ty {
                    ValueType::Structure(number) => self.add_subtypes(number, subtypes),
                    ValueType::Scalar(_) => subtypes.push(field.subtype.clone()),
                }
                // No message has as many fields.
                if subtypes.len() > 1024 {
                    return;
                }
            }
        }
    }
}

/// A type whose values have names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Named {
    Channel,
    /// Messages of a subtype, or of none.
    Message(Option<Rc<str>>),
}
