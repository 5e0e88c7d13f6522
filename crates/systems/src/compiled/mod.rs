//! Rules compiled to machine code.
//!
//! A [`CompiledSystem`] is a [`SpecialisedSystem`] whose specialised rule instances are compiled to machine code that
//! expands a state in one go: it writes all successors to a buffer, each with a tag that says which assumptions and
//! invariants the step may have touched. Single events (for export, traces and diagnostics) and everything that is not
//! compiled stay with the evaluator. If the machine code meets an unusual case, it gives up, and the evaluator repeats
//! that sequence of instances.
//!
//! * `effects` computes what code reads and writes, `dependence` the effect of a step on invariants;
//! * `plain` decides what needs no branch, `dispatch` which instances tables can choose, `translation` generates the
//!   code;
//! * `tails` finds common parts of long guards, which are compiled once;
//! * `call` runs the code.

mod bits;
mod call;
mod dependence;
mod dispatch;
mod effects;
mod plain;
mod tails;
#[cfg(test)]
mod tests;
mod translation;

use std::ops::{ControlFlow, Range};

use cranelift_codegen::Context;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::{AbiParam, types};
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITMemoryProvider, JITModule};
use cranelift_module::{FuncId, Module, ModuleReloc};
use quotient_ir::{PropertyKind, RuleId, TableIndex};
use rustc_hash::FxHashMap;

use crate::evaluator::code::{Code, Test, TestId};
use crate::evaluator::{EvaluatorScratch, SpecialisedSystem, SpecialisedUnit, Translation};
use crate::starts::{StartSieve, StartsUpTo};
use bits::BitSet;
use call::{Expanded, Halt, MachineCode, Table};
use dependence::{Conjunct, Step};
use dispatch::{GROUP, dispatch};
use effects::{Effects, PartialFields, expected_fields};
use plain::Plain;
use quotient_search::{
    Batches, Event, Facts, Instance, Sink, Successors, Tag, TransitionSystem, Visit, Wrapper, forward,
};
use tails::tails;
use translation::{Tail, Translator};

/// The number of start states examined to guess which fields have values.
const SAMPLE: usize = 1000;
/// The largest number of nodes of one function; larger functions take disproportionately long to compile.
const FUNCTION_SIZE: u32 = 1500;
/// The largest number of nodes of a common part of guards.
const TAIL_SIZE: u32 = 10_000;
/// The largest number of nodes compiled in all; the evaluator runs the rest.
const TOTAL_SIZE: u32 = 40_000;
/// The largest number of pairs of instances and conjuncts that are compared; beyond it, every successor is checked in
/// full.
const COMPARISONS: usize = 200_000;
/// The largest number of words that consecutive expansions may write, unless one alone needs more.
const EXTENT_LIMIT: usize = 1 << 16;
/// The first bit of a tag in which compiled code writes the position of the rule.
const RULE_SHIFT: u32 = 16;
/// The largest number of conjuncts of all checks together, which also bounds the number of tags.
const CHECK_SIZE: usize = 4000;

/// A model, compiled as far as possible.
#[derive(Debug)]
pub struct CompiledSystem<'m> {
    evaluator: &'m SpecialisedSystem<'m>,
    /// How a state is expanded: all instances of all rules in order.
    segments: Vec<Segment>,
    /// The instances of each expansion.
    instances: Vec<Vec<(RuleId, u32)>>,
    code: Option<MachineCode>,
    /// The number of the check for each tag, from the first one after [`Tag::EVERYTHING`].
    checks: Vec<usize>,
    /// The check of everything.
    whole_check: Option<usize>,
    compiled_instances: usize,
    evaluated_instances: usize,
    /// The number of nodes compiled.
    size: u32,
}

/// A sequence of rule instances in order.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Segment {
    /// Consecutive expansions, and the number of words they may write together.
    Compiled { expansions: Range<usize>, extent: usize },
    /// One instance of a rule, on the evaluator.
    Instance(RuleId, u32),
    /// All instances of a rule, on the evaluator.
    Rule(RuleId),
}

impl<'m> CompiledSystem<'m> {
    /// Compiles a model. If there is no tested code generator for the current processor, or it fails, or the system
    /// does not allow executing memory, the evaluator runs everything: see [`CompiledSystem::without_code`]. `whole`
    /// says that successors will be checked in full, whatever their tags, as in a quotient, whose parts cannot be
    /// distinguished.
    pub fn new(evaluator: &'m SpecialisedSystem<'m>, whole: bool) -> Self {
        Self::compile(evaluator, Host::native(Registers::Backtracking), whole, false)
    }

    /// The same in half of the time, or less. The code is up to a tenth slower, and gives the same successors with the same
    /// tags.
    pub fn quickly(evaluator: &'m SpecialisedSystem<'m>, whole: bool) -> Self {
        Self::compile(evaluator, Host::native(Registers::SinglePass), whole, false)
    }

    /// Compiles a model with tables and with states in memory throughout, whether that pays off or not: for testing
    /// code paths that only large models need otherwise.
    pub fn with_tables(evaluator: &'m SpecialisedSystem<'m>, whole: bool) -> Self {
        Self::compile(evaluator, Host::native(Registers::Backtracking), whole, true)
    }

    /// The system on a machine for which no code can be compiled: the evaluator runs every instance. It produces the
    /// same successors in the same order, but more slowly.
    pub fn without_code(evaluator: &'m SpecialisedSystem<'m>) -> Self {
        Self {
            evaluator,
            segments: evaluator.rules().indices().map(Segment::Rule).collect(),
            instances: Vec::new(),
            code: None,
            checks: Vec::new(),
            whole_check: None,
            compiled_instances: 0,
            evaluated_instances: 0,
            size: 0,
        }
    }

    fn compile(evaluator: &'m SpecialisedSystem<'m>, host: Option<Host>, whole: bool, tables_throughout: bool) -> Self {
        host.and_then(|host| Compilation::new(evaluator, host, whole, tables_throughout))
            .and_then(Compilation::run)
            .unwrap_or_else(|| Self::without_code(evaluator))
    }

    /// The number of nodes of tests and commands compiled: compilation time grows with it.
    pub(crate) fn size(&self) -> u32 {
        self.size
    }

    /// The numbers of rule instances that are compiled and that are not. A rule that is not specialised to its
    /// instances counts as one.
    pub fn coverage(&self) -> (usize, usize) {
        let rest = self.segments.iter().filter(|segment| !matches!(segment, Segment::Compiled { .. }));
        (self.compiled_instances, rest.count() + self.evaluated_instances)
    }
}

impl CompiledSystem<'_> {
    /// Runs compiled code, and the evaluator where the code requests it.
    #[inline]
    fn expand_compiled(
        &self,
        expansions: Range<usize>,
        extent: usize,
        scratch: &mut EvaluatorScratch,
        state: &[u64],
        sink: &mut dyn Sink,
    ) -> ControlFlow<()> {
        let code = self.code.as_ref().expect("a compiled segment has code");
        let mut next = expansions.start;
        let mut left = u64::MAX;
        while next < expansions.end {
            let successors = sink.successors();
            let Expanded { written, halt } = code.expand(next..expansions.end, state, successors.room(extent), left);
            self.take_over(successors, written);
            left = u64::MAX;
            match halt {
                None => break,
                Some(Halt::Paused { expansion, instance, left: after }) => {
                    self.evaluate_instances(&self.instances[expansion][instance..=instance], scratch, state, sink)?;
                    next = expansion;
                    if after == 0 {
                        next += 1;
                    } else {
                        left = after;
                    }
                }
                Some(Halt::Refused { expansion }) => {
                    self.evaluate_instances(&self.instances[expansion], scratch, state, sink)?;
                    next = expansion + 1;
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Runs some instances on the evaluator.
    #[cold]
    fn evaluate_instances(
        &self,
        instances: &[(RuleId, u32)],
        scratch: &mut EvaluatorScratch,
        state: &[u64],
        sink: &mut dyn Sink,
    ) -> ControlFlow<()> {
        instances.iter().try_for_each(|&(rule, number)| {
            let mut visit = |instance: Instance<'_>, event: Event<'_>| sink.event(instance, event);
            self.evaluator.fire_rule(rule, Some(number), scratch, state, &mut visit)
        })
    }

    /// Takes over words written by compiled code, and records the rules that it fired.
    #[inline]
    fn take_over(&self, successors: &mut Successors, written: usize) {
        let fired = self.evaluator.fired();
        successors.advance(written, |tag| {
            fired.note((*tag >> RULE_SHIFT) as usize);
            *tag &= (1 << RULE_SHIFT) - 1;
        });
    }
}

impl TransitionSystem for CompiledSystem<'_> {
    type Scratch = EvaluatorScratch;

    forward!(words, starts, successors, evaluate);

    fn scratch(&self) -> EvaluatorScratch {
        self.evaluator.scratch()
    }
}

impl StartsUpTo for CompiledSystem<'_> {
    fn starts_up_to(&self, scratch: &mut EvaluatorScratch, sieve: &StartSieve, visit: &mut Visit<'_>) {
        self.evaluator.starts_up_to(scratch, sieve, visit);
    }
}

impl<'m> Wrapper for CompiledSystem<'m> {
    type Inner = SpecialisedSystem<'m>;

    #[inline]
    fn inner(&self) -> &Self::Inner {
        self.evaluator
    }

    #[inline]
    fn inner_scratch(scratch: &mut Self::Scratch) -> &mut <Self::Inner as TransitionSystem>::Scratch {
        scratch
    }
}

impl Batches for CompiledSystem<'_> {
    forward!(expand_some);

    #[inline]
    fn facts(&self) -> &dyn Facts {
        self
    }

    #[inline]
    fn expand(&self, scratch: &mut EvaluatorScratch, state: &[u64], sink: &mut dyn Sink) {
        for segment in &self.segments {
            let flow = match segment {
                Segment::Compiled { expansions, extent } => {
                    self.expand_compiled(expansions.clone(), *extent, scratch, state, sink)
                }
                Segment::Instance(rule, number) => {
                    let mut visit = |instance: Instance<'_>, event: Event<'_>| sink.event(instance, event);
                    self.evaluator.fire_rule(*rule, Some(*number), scratch, state, &mut visit)
                }
                Segment::Rule(rule) => {
                    let mut visit = |instance: Instance<'_>, event: Event<'_>| sink.event(instance, event);
                    self.evaluator.fire_rule(*rule, None, scratch, state, &mut visit)
                }
            };
            if flow.is_break() {
                return;
            }
        }
    }
}

impl Facts for CompiledSystem<'_> {
    forward!(field_test, last_word, fired_rules, note_fired_rules);

    #[inline]
    fn is_safe(&self, tag: u64, state: &[u64]) -> bool {
        let Some(code) = &self.code else { return false };
        let check = match tag {
            Tag::NOTHING => return true,
            Tag::EVERYTHING => self.whole_check,
            other => self.checks.get((other - Tag::FIRST_FREE) as usize).copied(),
        };
        check.is_some_and(|check| check != usize::MAX && code.check(check, state))
    }
}

/// The outcome of an attempt to compile a function.
enum Trial {
    /// Done, with this many instances.
    Done(usize),
    /// The evaluator has to run one of the instances.
    LeaveOut(usize),
    /// The function may contain only this many instances.
    Only(usize),
}

/// The work of compiling a model.
struct Compilation<'m> {
    evaluator: &'m SpecialisedSystem<'m>,
    words: usize,
    module: JITModule,
    /// See [`Host::quick`].
    quick: OwnedTargetIsa,
    context: Context,
    builder_context: FunctionBuilderContext,
    tables: Vec<Table>,
    fields: PartialFields,
    expected: BitSet,
    nothing: BitSet,
    conjuncts: Vec<Conjunct>,
    /// Sets of conjuncts that a step may touch, with their tags.
    classes: FxHashMap<Vec<u32>, u64>,
    class_list: Vec<Vec<u32>>,
    class_size: usize,
    comparisons: usize,
    /// Whether the conjuncts are everything that must be checked.
    complete: bool,
    /// Whether successors are checked in full.
    whole: bool,
    /// Whether tables are made even if they do not pay off.
    tables_throughout: bool,
    /// The common ends of long guards: where they start in the guard of an instance, and their functions.
    tails: FxHashMap<(RuleId, u32), (usize, FuncId)>,
    expansions: Vec<(FuncId, usize)>,
    instances: Vec<Vec<(RuleId, u32)>>,
    segments: Vec<Segment>,
    size: u32,
    compiled_instances: usize,
    evaluated_instances: usize,
}

/// The tag that compiled code writes after a successor.
fn tag_with_rule(tag: u64, rule: RuleId) -> u64 {
    debug_assert!(tag < 1 << RULE_SHIFT);
    tag | (rule.position() as u64) << RULE_SHIFT
}

/// How registers are allocated, which takes most of the time of generating code.
#[derive(Clone, Copy, Debug)]
enum Registers {
    Backtracking,
    /// For code that may not run for long.
    SinglePass,
}

/// The target of compilation, and the memory for the code.
struct Host {
    /// The instruction set, for code that is worth optimising.
    optimising: OwnedTargetIsa,
    /// The same for code whose parts have little in common, so that optimising takes longer than it saves.
    quick: OwnedTargetIsa,
    /// Memory for the code, if it should not come from the system.
    memory: Option<Box<dyn JITMemoryProvider + Send>>,
}

impl Host {
    /// The current machine, if code can be compiled for it. Cranelift supports more processors than these two, but the
    /// translation is tested on these: it assumes 64-bit addresses and copies states in pairs of words, which RISC-V
    /// supports only with an extension.
    fn native(registers: Registers) -> Option<Self> {
        let is_tested = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"))
            && cfg!(all(target_pointer_width = "64", target_endian = "little"));
        if !is_tested || cfg!(miri) {
            return None;
        }
        let (optimising, quick) = (native_isa("speed", registers)?, native_isa("none", registers)?);
        Some(Self { optimising, quick, memory: None })
    }
}

/// The instruction set of the current machine.
fn native_isa(optimise: &str, registers: Registers) -> Option<OwnedTargetIsa> {
    let mut flags = settings::builder();
    // The code is tested by comparing it with the evaluator.
    let verify = if cfg!(debug_assertions) { "true" } else { "false" };
    let registers = match registers {
        Registers::Backtracking => "backtracking",
        Registers::SinglePass => "single_pass",
    };
    let values = [
        ("opt_level", optimise),
        ("regalloc_algorithm", registers),
        ("enable_verifier", verify),
        ("is_pic", "false"),
        ("use_colocated_libcalls", "false"),
    ];
    for (name, value) in values {
        flags.set(name, value).ok()?;
    }
    cranelift_native::builder().ok()?.finish(settings::Flags::new(flags)).ok()
}

impl<'m> Compilation<'m> {
    fn new(evaluator: &'m SpecialisedSystem<'m>, host: Host, whole: bool, tables_throughout: bool) -> Option<Self> {
        if evaluator.has_multisets() {
            return None;
        }
        let code = evaluator.code();
        let words = evaluator.words();
        let fields = PartialFields::of(code, words);
        let mut builder = JITBuilder::with_isa(host.optimising, cranelift_module::default_libcall_names());
        if let Some(memory) = host.memory {
            builder.memory_provider(memory);
        }
        let module = JITModule::new(builder);
        let mut compilation = Self {
            evaluator,
            words,
            context: module.make_context(),
            module,
            quick: host.quick,
            tails: FxHashMap::default(),
            builder_context: FunctionBuilderContext::new(),
            tables: Vec::new(),
            expected: BitSet::empty(words),
            nothing: BitSet::empty(words),
            conjuncts: Vec::new(),
            classes: FxHashMap::default(),
            class_list: Vec::new(),
            class_size: 0,
            comparisons: 0,
            complete: true,
            whole,
            tables_throughout,
            expansions: Vec::new(),
            instances: Vec::new(),
            segments: Vec::new(),
            size: 0,
            compiled_instances: 0,
            evaluated_instances: 0,
            fields,
        };
        compilation.expected = compilation.guess_expected(code);
        compilation.collect_conjuncts(code);
        Some(compilation)
    }

    fn guess_expected(&self, code: &Code) -> BitSet {
        let mut states = Vec::new();
        let mut scratch = self.evaluator.scratch();
        self.evaluator.starts(&mut scratch, &mut |_, event| {
            if let Event::Next { state, .. } = event {
                states.push(state.to_vec());
            }
            if states.len() < SAMPLE { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        let mut effects = Effects::new(code, &self.fields, self.words);
        for translation in self.evaluator.rules().iter() {
            match translation {
                Translation::Specialised(units) => {
                    for body in units.iter().filter_map(|unit| unit.body) {
                        effects.refill();
                        effects.command(body);
                    }
                }
                Translation::General(_, unit) => {
                    if let Some(body) = unit.body {
                        effects.refill();
                        effects.command(body);
                    }
                }
                Translation::Reference => {}
            }
        }
        expected_fields(&effects, &states, self.words)
    }

    /// The tests of all assumptions and invariants, unless it cannot be determined what they read.
    fn collect_conjuncts(&mut self, code: &Code) {
        let model = self.evaluator.model();
        for (id, property) in model.properties.iter_enumerated() {
            if !matches!(property.kind, PropertyKind::Assumption | PropertyKind::Invariant) {
                continue;
            }
            match &self.evaluator.properties()[id] {
                Translation::Specialised(units) if units.iter().all(|unit| !unit.tests_write) => {
                    for unit in units {
                        // Cells of parameters would need an argument.
                        self.complete &= !unit.reads_parameters;
                        for &test in unit.all_tests.iter() {
                            self.conjuncts.push(Conjunct::new(code, &self.fields, self.words, test));
                        }
                    }
                }
                _ => self.complete = false,
            }
        }
    }

    fn run(mut self) -> Option<CompiledSystem<'m>> {
        let evaluator = self.evaluator;
        self.compile_tails()?;
        let mut stretch: Vec<(RuleId, u32, u64)> = Vec::new();
        for (rule, translation) in evaluator.rules().iter_enumerated() {
            let Translation::Specialised(units) = translation else {
                self.compile_stretch(&mut stretch)?;
                self.segments.push(Segment::Rule(rule));
                continue;
            };
            for (number, unit) in (0..).zip(units) {
                let tag = self.tag_of(unit);
                stretch.push((rule, number, tag));
                if stretch.len() >= GROUP {
                    self.compile_stretch(&mut stretch)?;
                }
            }
        }
        self.compile_stretch(&mut stretch)?;
        let (checks, whole_check, functions) = self.compile_checks()?;
        let code = MachineCode::new(self.module, self.tables, self.words, &self.expansions, &functions)?;
        Some(CompiledSystem {
            evaluator,
            segments: self.segments,
            instances: self.instances,
            code: Some(code),
            checks,
            whole_check,
            compiled_instances: self.compiled_instances,
            evaluated_instances: self.evaluated_instances,
            size: self.size,
        })
    }

    /// The tag of the successors of an instance.
    fn tag_of(&mut self, unit: &SpecialisedUnit) -> u64 {
        self.comparisons += self.conjuncts.len();
        if !self.complete || self.comparisons >= COMPARISONS || unit.tests_write {
            self.whole = true;
            return Tag::EVERYTHING;
        }
        if self.conjuncts.is_empty() {
            return Tag::NOTHING;
        }
        let step = Step::of(self.evaluator.code(), &self.fields, &self.expected, unit);
        let touched: Vec<u32> = (0..)
            .zip(&self.conjuncts)
            .filter(|(_, conjunct)| !step.keeps(conjunct))
            .map(|(number, _)| number)
            .collect();
        if touched.is_empty() {
            return Tag::NOTHING;
        }
        if let Some(&tag) = self.classes.get(&touched) {
            return tag;
        }
        self.class_size += touched.len();
        if self.class_size > CHECK_SIZE {
            self.whole = true;
            return Tag::EVERYTHING;
        }
        let tag = Tag::FIRST_FREE + self.class_list.len() as u64;
        self.class_list.push(touched.clone());
        self.classes.insert(touched, tag);
        tag
    }

    /// Compiles consecutive instances, or leaves them to the evaluator if they are not supported. `None` if compilation
    /// fails altogether.
    fn compile_stretch(&mut self, stretch: &mut Vec<(RuleId, u32, u64)>) -> Option<()> {
        let stretch = std::mem::take(stretch);
        let mut rest = &stretch[..];
        while !rest.is_empty() {
            if self.evaluator.is_interrupted() {
                return None;
            }
            let done = self.compile_instances(rest)?;
            if done == 0 {
                let (rule, number, _) = rest[0];
                self.segments.push(Segment::Instance(rule, number));
                rest = &rest[1..];
            } else {
                rest = &rest[done..];
            }
        }
        Some(())
    }

    /// Compiles as many of some instances as fit into one function; returns their number.
    fn compile_instances(&mut self, instances: &[(RuleId, u32, u64)]) -> Option<usize> {
        let mut count = instances.len();
        // When enough was compiled, tables still decide which instances the evaluator has to try.
        let mut left_out = vec![self.size >= TOTAL_SIZE; count];
        while count > 0 {
            match self.try_instances(&instances[..count], &left_out)? {
                Trial::Done(done) => return Some(done),
                Trial::LeaveOut(instance) => left_out[instance] = true,
                // An unsupported instance spoils its function, so try once more without it.
                Trial::Only(fewer) => count = fewer,
            }
        }
        Some(0)
    }

    fn try_instances(&mut self, instances: &[(RuleId, u32, u64)], left_out: &[bool]) -> Option<Trial> {
        self.module.clear_context(&mut self.context);
        let pointer = AbiParam::new(types::I64);
        self.context.func.signature.params.extend([pointer, pointer, AbiParam::new(types::I64)]);
        self.context.func.signature.returns.push(AbiParam::new(types::I64));
        let tails: Vec<Tail> = instances.iter().map(|&(rule, number, _)| self.import_tail(rule, number)).collect();
        self.builder_context = FunctionBuilderContext::new();
        let builder = FunctionBuilder::new(&mut self.context.func, &mut self.builder_context);
        let mut translator = Translator::new(builder, self.evaluator.code(), &self.expected, &mut self.tables);
        let buffer = translator.buffer();
        translator.require_expected();
        let mut units = Vec::with_capacity(instances.len());
        for &(rule, number, _) in instances {
            let Translation::Specialised(list) = &self.evaluator.rules()[rule] else { return None };
            units.push(&list[number as usize]);
        }
        let costs: Vec<u32> = units.iter().map(|unit| translator.cost_in_a_row(unit)).collect();
        let plain = Plain { code: self.evaluator.code(), assured: &self.expected };
        let mut done = 0;
        let compiled;
        let costs = (!self.tables_throughout).then_some(&costs[..]);
        let dispatch = dispatch(plain, self.words, &units, costs);
        let grouped = dispatch.is_some();
        if let Some(dispatch) = dispatch {
            let tagged: Vec<(&SpecialisedUnit, u64, Tail)> = units
                .iter()
                .zip(instances)
                .zip(&tails)
                .map(|((&unit, &(rule, _, tag)), &tail)| (unit, tag_with_rule(tag, rule), tail))
                .collect();
            if let Err(failed) = translator.group(dispatch, &tagged, left_out, self.tables_throughout) {
                return Some(Trial::LeaveOut(failed));
            }
            done = instances.len();
            compiled = left_out[..done].iter().filter(|&&out| !out).count();
        } else {
            for (((unit, &(rule, _, tag)), &tail), &out) in units.iter().zip(instances).zip(&tails).zip(left_out) {
                if out || translator.instance(unit, tag_with_rule(tag, rule), tail).is_err() {
                    return Some(Trial::Only(done));
                }
                done += 1;
                if translator.size > FUNCTION_SIZE {
                    break;
                }
            }
            compiled = done;
        }
        self.size += translator.finish_expansion(buffer);
        // The parts of a group are independent of each other.
        let function = self.define(grouped)?;
        let (number, words) = (self.expansions.len(), (done + 1) * (self.words + 1));
        self.expansions.push((function, words));
        self.instances.push(instances[..done].iter().map(|&(rule, number, _)| (rule, number)).collect());
        match self.segments.last_mut() {
            Some(Segment::Compiled { expansions, extent }) if *extent + words <= EXTENT_LIMIT => {
                (expansions.end, *extent) = (number + 1, *extent + words);
            }
            _ => self.segments.push(Segment::Compiled { expansions: number..number + 1, extent: words }),
        }
        self.compiled_instances += compiled;
        self.evaluated_instances += done - compiled;
        Some(Trial::Done(done))
    }

    /// Compiles the function in the context, with less effort if more is not worthwhile.
    fn define(&mut self, quickly: bool) -> Option<FuncId> {
        let function = self.module.declare_anonymous_function(&self.context.func.signature).ok()?;
        if !quickly {
            self.module.define_function(function, &mut self.context).ok()?;
            return Some(function);
        }
        let code = self.context.compile(&*self.quick, &mut ControlPlane::default()).ok()?;
        let alignment = u64::from(code.buffer.alignment);
        let code = self.context.compiled_code()?;
        let relocations: Vec<ModuleReloc> = (code.buffer.relocs().iter())
            .map(|relocation| ModuleReloc::from_mach_reloc(relocation, &self.context.func, function))
            .collect();
        self.module.define_function_bytes(function, alignment, code.code_buffer(), &relocations).ok()?;
        Some(function)
    }

    /// Compiles the common ends of long guards.
    fn compile_tails(&mut self) -> Option<()> {
        let evaluator = self.evaluator;
        let found = tails(evaluator.rules().iter_enumerated().flat_map(|(rule, translation)| {
            let units = match translation {
                Translation::Specialised(units) => &units[..],
                _ => &[],
            };
            (0..).zip(units).map(move |(number, unit)| (rule, number, unit))
        }));
        let mut functions = Vec::new();
        for list in found.lists {
            let tests: Vec<Test> = list.iter().map(|&test| evaluator.code().tests[test]).collect();
            functions.push(if self.size < TOTAL_SIZE { self.compile_tail(&tests)? } else { None });
        }
        for (instance, tail) in found.of_instances {
            if let Some(function) = functions[tail.number] {
                self.tails.insert(instance, (tail.start, function));
            }
        }
        Some(())
    }

    fn compile_tail(&mut self, tests: &[Test]) -> Option<Option<FuncId>> {
        let translator = self.begin_test();
        match translator.finish_tail(tests) {
            Ok(size) if size <= TAIL_SIZE => {
                self.size += size;
                self.define(true).map(Some)
            }
            _ => Some(None),
        }
    }

    /// The end of the guard of an instance, for a function about to be made.
    fn import_tail(&mut self, rule: RuleId, number: u32) -> Tail {
        let &(start, function) = self.tails.get(&(rule, number))?;
        let function = self.module.declare_func_in_func(function, &mut self.context.func);
        // The code of the two may be far apart in memory.
        self.context.func.dfg.ext_funcs[function].colocated = false;
        Some((start, function))
    }

    /// Starts a function that maps a state to a number.
    fn begin_test(&mut self) -> Translator<'_, '_> {
        self.module.clear_context(&mut self.context);
        self.context.func.signature.params.push(AbiParam::new(types::I64));
        self.context.func.signature.returns.push(AbiParam::new(types::I64));
        self.builder_context = FunctionBuilderContext::new();
        let builder = FunctionBuilder::new(&mut self.context.func, &mut self.builder_context);
        Translator::new(builder, self.evaluator.code(), &self.nothing, &mut self.tables)
    }

    /// The number of the check for each tag, that of the check of everything, and the functions.
    #[allow(clippy::type_complexity)]
    fn compile_checks(&mut self) -> Option<(Vec<usize>, Option<usize>, Vec<FuncId>)> {
        let mut functions = Vec::new();
        let mut checks = Vec::new();
        for class in std::mem::take(&mut self.class_list) {
            let tests: Vec<TestId> = class.iter().map(|&number| self.conjuncts[number as usize].test).collect();
            checks.push(match self.compile_check(&tests)? {
                Some(function) => {
                    functions.push(function);
                    functions.len() - 1
                }
                None => usize::MAX,
            });
        }
        let mut whole_check = None;
        if self.whole && self.complete && self.conjuncts.len() <= CHECK_SIZE {
            let tests: Vec<TestId> = self.conjuncts.iter().map(|conjunct| conjunct.test).collect();
            if let Some(function) = self.compile_check(&tests)? {
                whole_check = Some(functions.len());
                functions.push(function);
            }
        }
        Some((checks, whole_check, functions))
    }

    fn compile_check(&mut self, tests: &[TestId]) -> Option<Option<FuncId>> {
        let mut translator = self.begin_test();
        for &test in tests {
            if translator.require(test).is_err() {
                return Some(None);
            }
        }
        self.size += translator.finish_check();
        self.define(false).map(Some)
    }
}
