//! Random Petri nets with colours, and an oracle for them: a direct interpreter of the generated tree, token by token,
//! which shares nothing with the front end. Small enough that all markings can be explored.

mod formulas;

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

use crate::random_murphi::Random;
pub use formulas::{Answer, Category, Question};

/// A class: the sort of it in XML, and how many values it has.
#[derive(Clone, Debug)]
struct Class {
    sort: &'static str,
    size: i64,
}

/// A value of a class.
#[derive(Clone, Debug)]
enum Value {
    /// A variable by its number.
    Variable(usize),
    Constant(i64),
    Next(Box<Value>, bool),
}

#[derive(Clone, Debug)]
enum Component {
    One(Value),
    All,
    /// All values but one.
    AllBut(Value),
}

/// So many of each token that the components stand for. Black tokens have no component.
#[derive(Clone, Debug)]
struct Term {
    times: i64,
    components: Vec<Component>,
}

#[derive(Clone, Debug)]
enum Guard {
    Compare(&'static str, Value, Value),
    Not(Box<Guard>),
    Join(&'static str, Box<Guard>, Box<Guard>),
}

#[derive(Clone, Debug)]
struct Place {
    /// The classes of its components.
    domain: Vec<usize>,
    marking: Vec<Term>,
}

#[derive(Clone, Debug)]
struct Transition {
    guard: Option<Guard>,
    inputs: Vec<(usize, Vec<Term>)>,
    outputs: Vec<(usize, Vec<Term>)>,
}

/// A random net.
#[derive(Clone, Debug)]
pub struct RandomNet {
    classes: Vec<Class>,
    /// The class of each variable.
    variables: Vec<usize>,
    places: Vec<Place>,
    transitions: Vec<Transition>,
    /// Whether all values of a class are treated alike: no constants, no successors, no order.
    is_symmetric: bool,
}

/// What the oracle finds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explored {
    /// The number of markings.
    pub states: u64,
    /// The number of firings.
    pub transitions: u64,
    /// The most tokens of one colour in a place.
    pub most_in_place: u64,
    /// The most tokens in a marking.
    pub most_in_marking: u64,
    /// Whether nothing can fire in some marking.
    pub deadlock: bool,
}

/// All markings of a net, from the initial one on, and its firings.
#[derive(Clone, Debug)]
pub struct MarkingGraph {
    markings: Vec<Marking>,
    /// For each marking, the transitions that fire, each with the marking that it leads to.
    steps: Vec<Vec<(usize, usize)>>,
}

type Token = (usize, Vec<i64>);
type Marking = BTreeMap<Token, i64>;

/// A random net.
pub fn random_net(seed: u64) -> RandomNet {
    random_net_of(seed, (1, 3))
}

/// A random net with classes that have from so many to so many values.
pub fn random_net_of(seed: u64, sizes: (i64, i64)) -> RandomNet {
    random_net_with(seed, sizes, false)
}

/// The same, with values of a class that are interchangeable.
pub fn random_symmetric_net(seed: u64, sizes: (i64, i64)) -> RandomNet {
    random_net_with(seed, sizes, true)
}

fn random_net_with(seed: u64, (least, most): (i64, i64), is_symmetric: bool) -> RandomNet {
    let mut random = Random::new(seed);
    let sorts = ["cyclicenumeration", "finiteenumeration", "finiteintrange"];
    let count = if is_symmetric { 1 + random.below(2) } else { random.below(3) };
    let classes: Vec<Class> =
        (0..count).map(|_| Class { sort: random.pick::<&str>(&sorts), size: random.between(least, most) }).collect();
    let variables: Vec<usize> = (0..2 * classes.len()).map(|number| number / 2).collect();
    let mut net = RandomNet { classes, variables, places: Vec::new(), transitions: Vec::new(), is_symmetric };
    for _ in 0..random.between(2, 4) {
        let components = if net.classes.is_empty() { 0 } else { random.below(3) };
        let domain: Vec<usize> = (0..components).map(|_| random.below(net.classes.len())).collect();
        let marking = (0..random.below(3)).map(|_| net.term(&mut random, &domain, true)).collect();
        net.places.push(Place { domain, marking });
    }
    for _ in 0..random.between(1, 4) {
        let guard = (!net.classes.is_empty() && random.percent(40)).then(|| net.guard(&mut random, 2));
        let arcs = |random: &mut Random, least: i64| -> Vec<(usize, Vec<Term>)> {
            let mut places: Vec<usize> =
                (0..random.between(least, 2)).map(|_| random.below(net.places.len())).collect();
            places.sort_unstable();
            places.dedup();
            let terms = |place: usize| {
                let domain = net.places[place].domain.clone();
                let count = if random.percent(25) { 2 } else { 1 };
                (place, (0..count).map(|_| net.term(random, &domain, false)).collect())
            };
            places.into_iter().map(terms).collect()
        };
        let (inputs, outputs) = (arcs(&mut random, 1), arcs(&mut random, 0));
        net.transitions.push(Transition { guard, inputs, outputs });
    }
    net
}

impl RandomNet {
    fn value(&self, random: &mut Random, class: usize, is_closed: bool) -> Value {
        let variables: Vec<usize> = (0..self.variables.len()).filter(|&it| self.variables[it] == class).collect();
        match random.below(6) {
            _ if self.is_symmetric => Value::Variable(*random.pick(&variables)),
            0 => Value::Constant(random.between(0, self.classes[class].size - 1)),
            _ if is_closed => Value::Constant(random.between(0, self.classes[class].size - 1)),
            1 => Value::Next(Box::new(Value::Variable(*random.pick(&variables))), random.percent(50)),
            _ => Value::Variable(*random.pick(&variables)),
        }
    }

    fn term(&self, random: &mut Random, domain: &[usize], is_closed: bool) -> Term {
        let component = |&class: &usize| match random.below(8) {
            0 => Component::All,
            _ if is_closed && self.is_symmetric => Component::All,
            1 => Component::AllBut(self.value(random, class, is_closed)),
            2 if is_closed => Component::All,
            _ => Component::One(self.value(random, class, is_closed)),
        };
        let components = domain.iter().map(component).collect();
        Term { times: if random.percent(15) { 2 } else { 1 }, components }
    }

    fn guard(&self, random: &mut Random, depth: u32) -> Guard {
        match random.below(6) {
            0 if depth > 0 => Guard::Not(Box::new(self.guard(random, depth - 1))),
            1 if depth > 0 => {
                let operator = *random.pick(&["and", "or", "imply", "xor"]);
                let (left, right) = (self.guard(random, depth - 1), self.guard(random, depth - 1));
                Guard::Join(operator, Box::new(left), Box::new(right))
            }
            _ => {
                let class = random.below(self.classes.len());
                let comparisons =
                    ["equality", "inequality", "lessthan", "lessthanorequal", "greaterthan", "greaterthanorequal"];
                let operator = *random.pick(if self.is_symmetric { &comparisons[..2] } else { &comparisons[..] });
                // A constant alone does not say which class it is of.
                let left = Value::Variable(2 * class + random.below(2));
                Guard::Compare(operator, left, self.value(random, class, false))
            }
        }
    }

    /// The net as PNML.
    pub fn text(&self) -> String {
        let mut text = String::from("<pnml><net id=\"n\" type=\"symmetricnet\"><page id=\"p\">\n");
        for (number, place) in self.places.iter().enumerate() {
            let sort = match &place.domain[..] {
                [] => "<dot/>".to_owned(),
                [class] => format!("<usersort declaration=\"c{class}\"/>"),
                classes => {
                    let parts: String = classes.iter().map(|it| format!("<usersort declaration=\"c{it}\"/>")).collect();
                    format!("<productsort>{parts}</productsort>")
                }
            };
            let _ = write!(text, "<place id=\"p{number}\"><type><structure>{sort}</structure></type>");
            if !place.marking.is_empty() {
                let marking = self.multiset(&place.marking, &place.domain);
                let _ = write!(text, "<hlinitialMarking><structure>{marking}</structure></hlinitialMarking>");
            }
            text.push_str("</place>\n");
        }
        for (number, transition) in self.transitions.iter().enumerate() {
            let _ = write!(text, "<transition id=\"t{number}\">");
            if let Some(guard) = &transition.guard {
                let _ = write!(text, "<condition><structure>{}</structure></condition>", self.guard_text(guard));
            }
            text.push_str("</transition>\n");
            let inputs = transition
                .inputs
                .iter()
                .map(|(place, terms)| (format!("p{place}"), format!("t{number}"), *place, terms));
            let outputs = transition
                .outputs
                .iter()
                .map(|(place, terms)| (format!("t{number}"), format!("p{place}"), *place, terms));
            for (position, (source, target, place, terms)) in inputs.chain(outputs).enumerate() {
                let inscription = self.multiset(terms, &self.places[place].domain);
                let _ = writeln!(
                    text,
                    "<arc id=\"a{number}_{position}\" source=\"{source}\" target=\"{target}\"><hlinscription><structure>{inscription}</structure></hlinscription></arc>"
                );
            }
        }
        text.push_str("</page><declaration><structure><declarations>\n");
        for (number, class) in self.classes.iter().enumerate() {
            let _ = write!(text, "<namedsort id=\"c{number}\" name=\"C{number}\">");
            if class.sort == "finiteintrange" {
                // Ranges of the same numbers are the same sort: so each begins elsewhere.
                let first = self.first(number);
                let _ = write!(text, "<finiteintrange start=\"{first}\" end=\"{}\"/>", first + class.size - 1);
            } else {
                let _ = write!(text, "<{}>", class.sort);
                for value in 0..class.size {
                    let _ = write!(text, "<feconstant id=\"c{number}_{value}\" name=\"v{value}\"/>");
                }
                let _ = write!(text, "</{}>", class.sort);
            }
            text.push_str("</namedsort>\n");
        }
        for (number, class) in self.variables.iter().enumerate() {
            let _ = writeln!(
                text,
                "<variabledecl id=\"x{number}\" name=\"x{number}\"><usersort declaration=\"c{class}\"/></variabledecl>"
            );
        }
        text.push_str("</declarations></structure></declaration></net></pnml>\n");
        text
    }

    /// The first number of a range.
    fn first(&self, class: usize) -> i64 {
        5 * class as i64 + 1
    }

    fn value_text(&self, value: &Value, class: usize) -> String {
        match value {
            Value::Variable(number) => format!("<variable refvariable=\"x{number}\"/>"),
            Value::Constant(value) if self.classes[class].sort == "finiteintrange" => {
                let (first, size) = (self.first(class), self.classes[class].size);
                format!(
                    "<finiteintrangeconstant value=\"{}\"><finiteintrange start=\"{first}\" end=\"{}\"/></finiteintrangeconstant>",
                    first + value,
                    first + size - 1
                )
            }
            Value::Constant(value) => format!("<useroperator declaration=\"c{class}_{value}\"/>"),
            Value::Next(of, is_successor) => {
                let name = if *is_successor { "successor" } else { "predecessor" };
                format!("<{name}><subterm>{}</subterm></{name}>", self.value_text(of, class))
            }
        }
    }

    fn component_text(&self, component: &Component, class: usize) -> String {
        let all = format!("<all><usersort declaration=\"c{class}\"/></all>");
        match component {
            Component::One(value) => self.value_text(value, class),
            Component::All => all,
            Component::AllBut(value) => {
                let value = self.value_text(value, class);
                format!("<subtract><subterm>{all}</subterm><subterm>{value}</subterm></subtract>")
            }
        }
    }

    fn multiset(&self, terms: &[Term], domain: &[usize]) -> String {
        let texts = terms.iter().map(|term| {
            let parts: Vec<String> =
                term.components.iter().zip(domain).map(|(it, &class)| self.component_text(it, class)).collect();
            let token = match &parts[..] {
                [] => "<dotconstant/>".to_owned(),
                [only] => only.clone(),
                several => {
                    let parts: String = several.iter().map(|it| format!("<subterm>{it}</subterm>")).collect();
                    format!("<tuple>{parts}</tuple>")
                }
            };
            let times = term.times;
            format!(
                "<numberof><subterm><numberconstant value=\"{times}\"><positive/></numberconstant></subterm><subterm>{token}</subterm></numberof>"
            )
        });
        let texts: Vec<String> = texts.collect();
        match &texts[..] {
            [only] => only.clone(),
            several => {
                let parts: String = several.iter().map(|it| format!("<subterm>{it}</subterm>")).collect();
                format!("<add>{parts}</add>")
            }
        }
    }

    fn guard_text(&self, guard: &Guard) -> String {
        match guard {
            Guard::Compare(operator, left, right) => {
                let class = self.class_of(left).unwrap_or(0);
                let (left, right) = (self.value_text(left, class), self.value_text(right, class));
                format!("<{operator}><subterm>{left}</subterm><subterm>{right}</subterm></{operator}>")
            }
            Guard::Not(of) => format!("<not><subterm>{}</subterm></not>", self.guard_text(of)),
            Guard::Join(operator, left, right) => {
                let (left, right) = (self.guard_text(left), self.guard_text(right));
                format!("<{operator}><subterm>{left}</subterm><subterm>{right}</subterm></{operator}>")
            }
        }
    }

    fn class_of(&self, value: &Value) -> Option<usize> {
        match value {
            Value::Variable(number) => Some(self.variables[*number]),
            Value::Constant(_) => None,
            Value::Next(of, _) => self.class_of(of),
        }
    }

    /// None beyond the end of a class that is no cycle.
    fn evaluate(&self, value: &Value, binding: &[i64]) -> Option<i64> {
        match value {
            Value::Variable(number) => Some(binding[*number]),
            Value::Constant(value) => Some(*value),
            Value::Next(of, is_successor) => {
                let class = self.class_of(of).map(|class| &self.classes[class]);
                let (size, is_cyclic) = class.map_or((1, true), |it| (it.size, it.sort == "cyclicenumeration"));
                let next = self.evaluate(of, binding)? + if *is_successor { 1 } else { -1 };
                (is_cyclic || (0..size).contains(&next)).then(|| next.rem_euclid(size))
            }
        }
    }

    fn holds(&self, guard: &Guard, binding: &[i64]) -> bool {
        match guard {
            Guard::Compare(operator, left, right) => {
                let (Some(left), Some(right)) = (self.evaluate(left, binding), self.evaluate(right, binding)) else {
                    return false;
                };
                match *operator {
                    "equality" => left == right,
                    "inequality" => left != right,
                    "lessthan" => left < right,
                    "lessthanorequal" => left <= right,
                    "greaterthan" => left > right,
                    _ => left >= right,
                }
            }
            Guard::Not(of) => !self.holds(of, binding),
            Guard::Join(operator, left, right) => {
                let (left, right) = (self.holds(left, binding), self.holds(right, binding));
                match *operator {
                    "and" => left && right,
                    "or" => left || right,
                    "imply" => !left || right,
                    _ => left != right,
                }
            }
        }
    }

    /// Whether all terms of a transition have values.
    fn is_defined(&self, transition: &Transition, binding: &[i64]) -> bool {
        let terms = transition.inputs.iter().chain(&transition.outputs).flat_map(|(_, terms)| terms);
        terms.flat_map(|term| &term.components).all(|component| match component {
            Component::One(value) | Component::AllBut(value) => self.evaluate(value, binding).is_some(),
            Component::All => true,
        })
    }

    /// Adds the tokens of terms to a marking, so many times.
    fn add(&self, marking: &mut Marking, place: usize, terms: &[Term], binding: &[i64]) {
        let domain = &self.places[place].domain;
        for term in terms {
            let mut tokens: Vec<Vec<i64>> = vec![Vec::new()];
            for (component, &class) in term.components.iter().zip(domain) {
                let values: Vec<i64> = match component {
                    Component::One(value) => self.evaluate(value, binding).into_iter().collect(),
                    Component::All => (0..self.classes[class].size).collect(),
                    Component::AllBut(value) => {
                        let but = self.evaluate(value, binding);
                        (0..self.classes[class].size).filter(|&value| Some(value) != but).collect()
                    }
                };
                let longer =
                    tokens.iter().flat_map(|token| values.iter().map(move |&value| [&token[..], &[value]].concat()));
                tokens = longer.collect();
            }
            for token in tokens {
                *marking.entry((place, token)).or_default() += term.times;
            }
        }
    }

    /// The variables that a transition mentions.
    fn variables_of(&self, transition: &Transition) -> Vec<usize> {
        fn of_value(value: &Value, found: &mut Vec<usize>) {
            match value {
                Value::Variable(number) => found.push(*number),
                Value::Constant(_) => {}
                Value::Next(of, _) => of_value(of, found),
            }
        }
        fn of_guard(guard: &Guard, found: &mut Vec<usize>) {
            match guard {
                Guard::Compare(_, left, right) => {
                    of_value(left, found);
                    of_value(right, found);
                }
                Guard::Not(of) => of_guard(of, found),
                Guard::Join(_, left, right) => {
                    of_guard(left, found);
                    of_guard(right, found);
                }
            }
        }
        let mut found = Vec::new();
        for (_, terms) in transition.inputs.iter().chain(&transition.outputs) {
            for component in terms.iter().flat_map(|term| &term.components) {
                if let Component::One(value) | Component::AllBut(value) = component {
                    of_value(value, &mut found);
                }
            }
        }
        transition.guard.iter().for_each(|guard| of_guard(guard, &mut found));
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Every firing as its transition, what it takes and what it puts, with repetitions.
    fn firings(&self) -> Vec<(usize, Marking, Marking)> {
        let mut firings = Vec::new();
        for (number, transition) in self.transitions.iter().enumerate() {
            let used = self.variables_of(transition);
            let mut bindings: Vec<Vec<i64>> = vec![vec![0; self.variables.len()]];
            for &variable in &used {
                let size = self.classes[self.variables[variable]].size;
                let more = bindings.iter().flat_map(|binding| {
                    (0..size).map(move |value| {
                        let mut binding = binding.clone();
                        binding[variable] = value;
                        binding
                    })
                });
                bindings = more.collect();
            }
            for binding in bindings {
                let is_open = transition.guard.as_ref().is_none_or(|guard| self.holds(guard, &binding));
                if !is_open || !self.is_defined(transition, &binding) {
                    continue;
                }
                let (mut taken, mut put) = (Marking::new(), Marking::new());
                for (place, terms) in &transition.inputs {
                    self.add(&mut taken, *place, terms, &binding);
                }
                for (place, terms) in &transition.outputs {
                    self.add(&mut put, *place, terms, &binding);
                }
                firings.push((number, taken, put));
            }
        }
        firings
    }

    /// All markings; none if there are more than so many, or more tokens in a place than that.
    pub fn graph(&self, limit: u64, most: i64) -> Option<MarkingGraph> {
        let firings = self.firings();
        let mut initial = Marking::new();
        for (place, it) in self.places.iter().enumerate() {
            self.add(&mut initial, place, &it.marking, &[]);
        }
        let mut numbers: HashMap<Marking, usize> = HashMap::from([(initial.clone(), 0)]);
        let mut graph = MarkingGraph { markings: vec![initial], steps: Vec::new() };
        while let Some(marking) = graph.markings.get(graph.steps.len()).cloned() {
            if graph.markings.len() as u64 > limit || marking.values().any(|&count| count > most) {
                return None;
            }
            let mut steps = Vec::new();
            for (transition, taken, put) in &firings {
                if taken.iter().any(|(token, &count)| marking.get(token).copied().unwrap_or(0) < count) {
                    continue;
                }
                let mut next = marking.clone();
                for (token, count) in taken {
                    *next.entry(token.clone()).or_default() -= count;
                }
                for (token, count) in put {
                    *next.entry(token.clone()).or_default() += count;
                }
                next.retain(|_, count| *count > 0);
                let number = *numbers.entry(next).or_insert_with_key(|next| {
                    graph.markings.push(next.clone());
                    graph.markings.len() - 1
                });
                steps.push((*transition, number));
            }
            graph.steps.push(steps);
        }
        Some(graph)
    }
}

impl MarkingGraph {
    /// The numbers that the contest asks for.
    pub fn explored(&self) -> Explored {
        let greatest = |marking: &Marking| marking.values().copied().max().unwrap_or(0) as u64;
        let sum = |marking: &Marking| marking.values().sum::<i64>() as u64;
        Explored {
            states: self.markings.len() as u64,
            transitions: self.steps.iter().map(|steps| steps.len() as u64).sum(),
            most_in_place: self.markings.iter().map(greatest).max().unwrap_or(0),
            most_in_marking: self.markings.iter().map(sum).max().unwrap_or(0),
            deadlock: self.steps.iter().any(Vec::is_empty),
        }
    }
}
