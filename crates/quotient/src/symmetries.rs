//! The symmetries of a model without a search: what they are, why an expected one is absent, and export of the graph
//! and the group.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use num_bigint::BigUint;
use quotient_groups::{ColouredGraph, PermutationGroup};
use quotient_ir::{Budget, PropertyId, Spent, TableIndex, VariableId};
use quotient_search::StopReason;
use quotient_symmetry::{
    CertificationReport, CertifiedGroup, Describer, Description, DetectionError, Explainer, Explanation, Family, Fixed,
    Limit, Moved, PhaseTimes, Preserved, Refused, Request, symmetries_of_text,
};
use quotient_systems::too_large;

use crate::control::{Control, Observer, Phase, Supervised};
use crate::detection;
use crate::error::Error;
use crate::lowering::Lowering;
use crate::memory::peak_bytes;
use crate::model::Model;
use crate::options::Symmetry;
use crate::refusal::Refusal;
use crate::selection::{claims, named_properties};
use crate::text::{self, TextReading};
use quotient_search::defect::Defect;

/// The most work for the functions of a model whose text shows symmetries: some seconds.
const MOST_WORK: u64 = 200_000_000;
/// More generators than this are only counted.
const DESCRIBED: usize = 1000;
/// The maximum number of reasons given for one request.
const REASONS: usize = 8;

/// Which properties symmetries have to preserve.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Preserve {
    /// All properties.
    #[default]
    All,
    /// Those with these names.
    Named(Vec<String>),
    /// None: the behaviour only.
    Behaviour,
}

/// A question about symmetries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// Why is this not a symmetry? `TYPE VALUE VALUE`, `rotate TYPE`, the same with processes or channels instead of a
    /// type, or two variables or parts of variables. References to them may follow.
    WhyNot(String),
    /// What distinguishes the values of each index type?
    Families,
}

/// Which symmetries to find, and what to ask about them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DetectOptions {
    /// The origin of the symmetries.
    pub symmetry: Symmetry,
    /// What they preserve.
    pub preserve: Preserve,
    /// An additional question.
    pub question: Option<Question>,
    /// Whether only the text is read, which takes milliseconds: the group is not made.
    pub only_text: bool,
}

/// The symmetries of a model.
#[derive(Debug)]
#[non_exhaustive]
pub struct Detected {
    /// Which symmetries were requested.
    pub source: Symmetry,
    /// The properties that they preserve.
    pub properties: Vec<PropertyId>,
    /// The number of symmetries.
    pub order: BigUint,
    /// The structure of the group.
    pub structure: String,
    /// Whether they are all symmetries of the graph.
    pub complete: bool,
    /// What the text alone shows; none if symmetries were not to be detected, or it is too large.
    pub text: Option<TextReading>,
    /// Why nothing was looked at but the text, if so.
    pub only_text: Option<String>,
    /// Generators of the group, in source terms: the first ones, if there are very many.
    pub generators: Vec<Description>,
    /// The number of generators.
    pub generator_count: usize,
    /// How they were certified.
    pub certification: Option<CertificationReport>,
    /// What they move.
    pub moved: Moved,
    /// What was treated as fixed, and why.
    pub fixed: Vec<Fixed>,
    /// Variables whose values are tied to their numbers.
    pub numbers: Vec<VariableId>,
    /// Vertices and edges of the graph.
    pub graph_size: Option<(usize, usize)>,
    /// Declarations that do not hold.
    pub refused: Vec<Refused>,
    /// The answer to the question.
    pub answer: Option<Answer>,
    /// The duration of each phase.
    pub phases: Phases,
    /// The total duration.
    pub elapsed: Duration,
    /// The peak memory use of the process, if the system reports it.
    pub peak_memory: Option<u64>,
    model: Model,
    group: Option<CertifiedGroup>,
    graph: Option<(ColouredGraph, Vec<String>)>,
}

/// The answer to a [`Question`].
#[derive(Clone, Debug)]
pub enum Answer {
    /// About one permutation.
    WhyNot {
        /// The request as it was written.
        text: String,
        /// What the text says against it.
        limits: Vec<Limit>,
        /// Whether it is a symmetry, with the accompanying exchanges or the reasons against it. None if the model is
        /// too large to be unfolded.
        explanation: Option<Explanation>,
    },
    /// About the values of all index types, processes and channels.
    Families(Vec<Family>),
}

/// The duration of each phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Phases {
    /// Text to functions.
    pub unfolding: Duration,
    /// Functions to graph.
    pub graph: Duration,
    /// Graph to automorphisms.
    pub automorphisms: Duration,
    /// Certification of what was found.
    pub certification: Duration,
    /// Order and structure of the group.
    pub structure: Duration,
}

/// Export formats for symmetries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SymmetryFormat {
    /// The graph for bliss and saucy.
    Dimacs,
    /// The graph for nauty and Traces.
    Dreadnaut,
    /// The graph for Graphviz.
    Dot,
    /// The group as a program for GAP.
    Gap,
}

/// Finds the symmetries of a model.
///
/// # Errors
/// If a property or a request does not make sense for the model, a limit was reached first, or there is a
/// defect in this program.
pub fn detect(
    model: &Model,
    options: &DetectOptions,
    control: &Control,
    observer: &mut dyn Observer,
) -> Result<Detected, Error> {
    let model = &model.lowered(Lowering::for_detection(), control)?;
    let representation = model.ir();
    let properties = match &options.preserve {
        Preserve::All => claims(representation, None),
        Preserve::Named(names) => named_properties(representation, names)?,
        Preserve::Behaviour => Vec::new(),
    };
    let request = match &options.question {
        Some(Question::WhyNot(text)) => Some(
            Request::parse(representation, model.layout(), text)
                .map_err(|problem| Refusal::Question(format!("--why-not \"{text}\": {problem}")))?,
        ),
        Some(Question::Families) | None => None,
    };
    control.enter(Phase::Detecting);
    let (job, source, asked, watched) = (model.clone(), options.symmetry, options.question.clone(), control.clone());
    let only_text = options.only_text;
    let work = move || -> Result<Detected, Error> {
        let started = Instant::now();
        // Assumptions and transient states determine which states exist, whatever is requested.
        let assumptions = job.ir().properties.iter_enumerated().filter(|(_, entry)| !entry.kind.is_claim());
        let preserved: Vec<PropertyId> = properties.iter().copied().chain(assumptions.map(|(id, _)| id)).collect();
        let budget = Budget::until(watched.interrupt());
        let mut found = match only_text {
            true => Detected::of_text(&job, &preserved, &budget),
            false => find(&job, &preserved, source, &budget)?,
        };
        found.properties = properties;
        if let Some(question) = asked {
            let budget = Budget::until(watched.interrupt());
            let mut explainer = match found.only_text {
                Some(_) => None,
                None => Some(Explainer::new(job.ir(), job.layout(), &preserved, &budget).map_err(given_up)?),
            };
            found.answer = Some(match (question, request) {
                (Question::WhyNot(text), Some(request)) => {
                    let limits = found.text.as_ref().map(|text| text.against(job.ir(), &request)).unwrap_or_default();
                    let explain = |explainer: &mut Explainer<'_>| explainer.explain(&request, REASONS);
                    let explanation = explainer.as_mut().map(explain).transpose().map_err(given_up)?;
                    Answer::WhyNot { text, limits, explanation }
                }
                _ => {
                    let families = explainer.as_mut().map(Explainer::families).transpose().map_err(given_up)?;
                    Answer::Families(families.unwrap_or_default())
                }
            });
        }
        Ok(Detected { elapsed: started.elapsed(), peak_memory: peak_bytes(), ..found })
    };
    match control.supervise(observer, work)? {
        Supervised::Done(Err(_)) if control.stop_reason().is_some() => Err(stopped(control)),
        Supervised::Done(found) => found,
        Supervised::Abandoned(reason) => Err(Error::Stopped(reason)),
    }
}

pub(crate) fn stopped(control: &Control) -> Error {
    Error::Stopped(control.reason())
}

/// Finds the symmetries.
fn find(model: &Model, properties: &[PropertyId], source: Symmetry, budget: &Budget) -> Result<Detected, Error> {
    let mut found = Detected::none(model, source);
    match source {
        Symmetry::Off => {}
        Symmetry::Declared => {
            let declared = detection::declared(model, properties, budget).map_err(no_group)?;
            found.certification = Some(declared.report);
            found.refused = declared.refused;
            found.phases = Phases::of(&declared.times);
            found.describe(declared.group, budget)?;
        }
        Symmetry::Auto => {
            found.text = text::read(model, properties, budget);
            if let Some(reason) = too_large(model.ir()) {
                found.only_text = Some(reason);
                return found.describe_text(properties, budget);
            }
            let shows_some = found.text.as_ref().is_some_and(|text| text.order > BigUint::from(1u32));
            let allowed = if shows_some { Budget::new(MOST_WORK, budget.interrupt().clone()) } else { budget.clone() };
            let detection = match detection::detect(model, properties, &allowed) {
                Err(DetectionError::GaveUp(_)) if !budget.is_spent() => {
                    found.only_text = Some("its functions take too long".to_owned());
                    return found.describe_text(properties, budget);
                }
                found => found.map_err(no_group)?,
            };
            // Functions say nothing about the variables of what is too large for them.
            if !detection.fixed.is_empty() && found.text.as_ref().is_some_and(|text| !text.is_strict) {
                let (order, _) = detection.group.order_and_structure(budget).map_err(given_up)?;
                if found.text.as_ref().is_some_and(|text| text.order > order) {
                    found.only_text = Some("some rules are too large to be unfolded".to_owned());
                    found.fixed = detection.fixed;
                    return found.describe_text(properties, budget);
                }
            }
            found.complete = detection.complete;
            found.certification = Some(detection.report);
            found.fixed = detection.fixed;
            let mut numbers: Vec<VariableId> =
                detection.numbers.iter().map(|&slot| model.layout().slots[slot].variable).collect();
            numbers.dedup();
            // Fixed variables have already been reported.
            numbers.retain(|variable| !found.fixed.iter().any(|fixed| fixed.variable == *variable));
            found.numbers = numbers;
            found.graph_size = Some((detection.graph.vertex_count(), detection.graph.edge_count()));
            found.phases = Phases::of(&detection.times);
            found.describe(detection.group, budget)?;
            found.graph = Some((detection.graph, detection.labels));
        }
    }
    Ok(found)
}

fn no_group(error: DetectionError) -> Error {
    match error {
        DetectionError::Uncertified(error) => Defect::noticed(error.to_string()).into(),
        DetectionError::GaveUp(spent) => given_up(spent),
    }
}

/// Only an interrupt ends this early: there is no limit of work.
fn given_up(_: Spent) -> Error {
    Error::Stopped(StopReason::Withdrawn)
}

impl Detected {
    /// Only the identity.
    fn none(model: &Model, source: Symmetry) -> Self {
        Self {
            source,
            properties: Vec::new(),
            order: BigUint::from(1u32),
            structure: "trivial".to_owned(),
            complete: true,
            text: None,
            only_text: None,
            generators: Vec::new(),
            generator_count: 0,
            certification: None,
            moved: Moved::default(),
            fixed: Vec::new(),
            numbers: Vec::new(),
            graph_size: None,
            refused: Vec::new(),
            answer: None,
            phases: Phases::default(),
            elapsed: Duration::ZERO,
            peak_memory: None,
            model: model.clone(),
            group: None,
            graph: None,
        }
    }

    /// What the text shows, without a group.
    fn of_text(model: &Model, properties: &[PropertyId], budget: &Budget) -> Self {
        let mut found = Self::none(model, Symmetry::Auto);
        found.complete = false;
        found.only_text = Some("nothing else was asked for".to_owned());
        found.text = text::read(model, properties, budget);
        if let Some(text) = &found.text {
            (found.order, found.structure) = (text.order.clone(), text.structure.clone());
        }
        found
    }

    /// Determines the structure of the group, and describes it in source terms.
    fn describe(&mut self, group: CertifiedGroup, budget: &Budget) -> Result<(), Error> {
        let clock = Instant::now();
        (self.order, self.structure) = group.order_and_structure(budget).map_err(given_up)?;
        self.phases.structure = clock.elapsed();
        self.describe_generators(group);
        Ok(())
    }

    fn describe_generators(&mut self, group: CertifiedGroup) {
        let describer = Describer::new(self.model.ir(), self.model.layout(), group.literals());
        self.generators = group.maps().iter().take(DESCRIBED).map(|map| describer.describe(map)).collect();
        self.generator_count = group.maps().len();
        self.moved = describer.moved(&group);
        self.group = Some(group);
    }

    /// The symmetries of the text, for a model that is too large for others.
    fn describe_text(mut self, properties: &[PropertyId], budget: &Budget) -> Result<Self, Error> {
        self.complete = false;
        let (model, layout) = (self.model.ir(), self.model.layout());
        let preserved = Preserved::Properties(properties);
        let Some(text) = symmetries_of_text(model, layout, preserved, budget).map_err(given_up)? else {
            return Ok(self);
        };
        if let Some(group) = text.group(model, layout).filter(|_| !text.is_trivial()) {
            (self.order, self.structure) = (text.order(), text.structure().to_string());
            self.describe_generators(group);
        }
        Ok(self)
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The certified group, if symmetries were requested.
    pub fn group(&self) -> Option<&CertifiedGroup> {
        self.group.as_ref()
    }

    /// The cells of states by orbit: for each, a number that it shares with those that symmetries exchange it with. Numbers
    /// count from 0 in the order of the cells.
    pub fn cell_orbits(&self) -> Vec<usize> {
        let mut root: Vec<usize> = (0..self.model.layout().slots.len()).collect();
        let find = |root: &[usize], mut cell: usize| {
            while root[cell] != cell {
                cell = root[cell];
            }
            cell
        };
        let maps = self.group.iter().flat_map(|group| group.maps());
        for slot_move in maps.flat_map(|map| map.moves()) {
            let (from, to) = (find(&root, slot_move.from.position()), find(&root, slot_move.to.position()));
            root[from.max(to)] = from.min(to);
        }
        let mut numbers: Vec<usize> = Vec::with_capacity(root.len());
        let mut next = 0;
        for cell in 0..root.len() {
            let first = find(&root, cell);
            numbers.push(if first == cell { next } else { numbers[first] });
            next += usize::from(first == cell);
        }
        numbers
    }

    /// Exports the graph or the group.
    ///
    /// # Errors
    /// If it cannot be written, or there is no graph: only [`Symmetry::Auto`] makes one.
    pub fn export(&self, format: SymmetryFormat, mut sink: impl Write) -> io::Result<()> {
        match (format, &self.graph) {
            (SymmetryFormat::Dimacs, Some((graph, _))) => graph.write_dimacs(&mut sink)?,
            (SymmetryFormat::Dreadnaut, Some((graph, _))) => {
                // Sparse nauty, without the generators; `x` starts the search.
                writeln!(sink, "As -a -m")?;
                graph.write_dreadnaut(&mut sink)?;
                writeln!(sink, "x")?;
            }
            (SymmetryFormat::Dot, Some((graph, labels))) => {
                graph.write_dot(&mut sink, |vertex| labels[vertex as usize].clone())?;
            }
            (SymmetryFormat::Gap, _) => self.write_gap(&mut sink)?,
            (_, None) => return Err(io::Error::other("only detected symmetries have a graph")),
        }
        sink.flush()
    }

    /// The group on the literals, with the literals that it moves in comments.
    fn write_gap(&self, sink: &mut impl Write) -> io::Result<()> {
        writeln!(sink, "# The symmetries of {} on the literals that they move:", self.model.source().name)?;
        let group = self.group.as_ref();
        let (degree, generators) =
            group.map_or((0, Vec::new()), |group| (group.literals().degree(), group.generators().to_vec()));
        if let Some(group) = group {
            let mut points: Vec<u32> = generators.iter().flat_map(|generator| generator.support().to_vec()).collect();
            points.sort_unstable();
            points.dedup();
            for point in points {
                let literals = group.literals();
                let slot = &self.model.layout().slots[literals.slot_of(point)];
                let value = match literals.value_of(point) {
                    _ if literals.slots()[literals.slot_of(point)].wide => "any value".to_owned(),
                    Some(value) => self.model.ir().value_name(slot.ty, value),
                    None => "undefined".to_owned(),
                };
                // GAP counts points from one.
                writeln!(sink, "# {}: {} = {value}", point + 1, slot.name)?;
            }
        }
        write!(sink, "{}", PermutationGroup::new(degree, generators).to_gap("symmetries"))?;
        writeln!(sink, "Print(Size(symmetries), \"\\n\");")
    }
}

impl Phases {
    fn of(times: &PhaseTimes) -> Self {
        Self {
            unfolding: times.unfolding,
            graph: times.encoding,
            automorphisms: times.search,
            certification: times.certification,
            structure: Duration::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::languages::Language;

    use super::{DetectOptions, detect};
    use crate::control::{Control, Silent};
    use crate::model::Model;

    #[test]
    fn cells_that_symmetries_exchange_are_one_orbit() {
        let text = "type process: scalarset(3); var x: array [process] of 0..1; y: boolean; z: array [process] of 0..1;
            startstate begin for p: process do x[p] := 0; z[p] := 0; end; y := false; end;
            ruleset p: process do rule x[p] = 0 ==> begin x[p] := 1; z[p] := 1; y := !y; end; end;";
        let model = Model::from_text("cells", text, Language::Murphi).expect("a model");
        let found = detect(&model, &DetectOptions::default(), &Control::default(), &mut Silent).expect("symmetries");
        assert_eq!(found.cell_orbits(), [0, 0, 0, 1, 2, 2, 2]);
    }
}
