//! From XML to the net, with all names resolved.

mod terms;

use quotient_ir::{Diagnostic, Span};
use rustc_hash::FxHashMap;

use crate::net::{Class, ClassId, Condition, DOT, MOST_CELLS, Net, Partition, Place, Term, Transition, Variable};
use crate::xml::Element;

/// The most values of a class.
const LARGEST_CLASS: i64 = 1 << 20;
/// The most components of a product. Named sorts are used in others, so a small text could name many.
const MOST_COMPONENTS: usize = 64;
/// The most summands of the inscription of an arc: each is compared with each other.
const MOST_SUMMANDS: usize = 2048;

/// A sort, as a list of classes.
type Sort = Vec<ClassId>;

/// Reads a net, and collects what is wrong with it.
pub(crate) struct Reader<'e> {
    pub(crate) net: Net,
    pub(crate) diagnostics: Vec<Diagnostic>,
    sorts: FxHashMap<&'e str, &'e Element>,
    resolved: FxHashMap<&'e str, Option<Sort>>,
    /// Ranges that are already classes.
    ranges: FxHashMap<(i64, i64), ClassId>,
    /// The class and the value of each constant.
    pub(crate) constants: FxHashMap<&'e str, (ClassId, i64)>,
    pub(crate) variables: FxHashMap<&'e str, usize>,
    /// The variables that a transition mentions.
    pub(crate) mentioned: Vec<usize>,
    /// What has to hold for terms to have values.
    pub(crate) required: Vec<Condition>,
    pub(crate) partitions: FxHashMap<&'e str, usize>,
    /// The partition and the number of each part.
    pub(crate) parts: FxHashMap<&'e str, (usize, usize)>,
}

/// What a page has: nodes and arcs of all pages.
#[derive(Default)]
struct Content<'e> {
    places: Vec<&'e Element>,
    transitions: Vec<&'e Element>,
    arcs: Vec<&'e Element>,
    references: FxHashMap<&'e str, &'e Element>,
    declarations: Vec<&'e Element>,
}

#[derive(Clone, Copy)]
enum Node {
    Place(usize),
    Transition(usize),
}

/// Reads a net.
pub(crate) fn read(root: &Element) -> (Net, Vec<Diagnostic>) {
    let mut reader = Reader {
        net: Net::default(),
        diagnostics: Vec::new(),
        sorts: FxHashMap::default(),
        resolved: FxHashMap::default(),
        ranges: FxHashMap::default(),
        constants: FxHashMap::default(),
        variables: FxHashMap::default(),
        mentioned: Vec::new(),
        required: Vec::new(),
        partitions: FxHashMap::default(),
        parts: FxHashMap::default(),
    };
    reader.net.classes.push(Class {
        name: "dot".into(),
        first: 0,
        size: 1,
        is_cyclic: true,
        members: vec!["dot".into()],
    });
    reader.document(root);
    (reader.net, reader.diagnostics)
}

impl<'e> Reader<'e> {
    pub(crate) fn report(&mut self, code: &'static str, message: impl Into<String>, span: Span, help: &str) {
        self.diagnostics.push(Diagnostic::error(code, message, span).with_help(help));
    }

    fn document(&mut self, root: &'e Element) {
        if root.name != "pnml" {
            let message = format!("a net is in an element `<pnml>`, not `<{}>`", root.name);
            return self.report("not-a-net", message, root.span, "files of properties are given with --properties");
        }
        let mut nets = root.named("net");
        let Some(net) = nets.next() else {
            return self.report(
                "no-net",
                "there is no net",
                root.span,
                "write `<net id=\"…\" type=\"…\">` in `<pnml>`",
            );
        };
        if let Some(other) = nets.next() {
            self.report("several-nets", "there is more than one net", other.span, "put each into its own file");
        }
        self.net.span = net.span;
        let kind = net.attribute("type").unwrap_or_default();
        let known = ["ptnet", "symmetricnet", "highlevelnet", "pt-hlpng", "hlnet"];
        if !kind.is_empty() && !known.iter().any(|known| kind.to_ascii_lowercase().ends_with(known)) {
            let message = format!("nets of the type `{kind}` are not read");
            self.report("unknown-net-type", message, net.span, "place/transition nets and symmetric nets are read");
        }
        let mut content = Content::default();
        self.collect(net, &mut content);
        self.declarations(&content.declarations);
        self.nodes(&content);
    }

    /// Collects what is in a net or a page.
    fn collect(&mut self, page: &'e Element, content: &mut Content<'e>) {
        for child in &page.children {
            match child.name.as_str() {
                "place" => content.places.push(child),
                "transition" => content.transitions.push(child),
                "arc" => content.arcs.push(child),
                "page" => self.collect(child, content),
                "declaration" => content.declarations.push(child),
                "referencePlace" | "referenceTransition" => {
                    if let Some(id) = self.id_of(child) {
                        content.references.insert(id, child);
                    }
                }
                "toolspecific" => {
                    let structure = child.child("structure");
                    self.net.is_said_safe |= structure.and_then(|it| it.attribute("safe")) == Some("true");
                }
                "name" => {}
                other => {
                    let message = format!("`<{other}>` is not read here");
                    self.report("unknown-element", message, child.span, "its meaning is not part of the standard");
                }
            }
        }
    }

    fn id_of(&mut self, element: &'e Element) -> Option<&'e str> {
        let id = element.attribute("id");
        if id.is_none() {
            let message = format!("this `<{}>` has no id", element.name);
            self.report("no-id", message, element.span, "add an attribute `id`");
        }
        id
    }

    fn declarations(&mut self, elements: &[&'e Element]) {
        let mut all: Vec<&'e Element> = Vec::new();
        for element in elements {
            for structure in element.named("structure") {
                for list in &structure.children {
                    match list.name.as_str() {
                        "declarations" => all.extend(&list.children),
                        _ => all.push(list),
                    }
                }
            }
        }
        for element in &all {
            if element.name == "namedsort"
                && let Some(id) = self.id_of(element)
                && self.sorts.insert(id, element).is_some()
            {
                let message = format!("`{id}` is declared twice");
                self.report("duplicate-name", message, element.span, "give one of them another id");
            }
        }
        // In the order of the text, so that classes are numbered in that order.
        for element in all.iter().filter(|element| element.name == "namedsort") {
            if let Some(id) = element.attribute("id") {
                self.named_sort(id, element.span);
            }
        }
        for element in all {
            match element.name.as_str() {
                "namedsort" => {}
                "variabledecl" => self.variable(element),
                "partition" => self.partition(element),
                other => {
                    let message = format!("declarations `<{other}>` are not read");
                    self.report("unsupported-declaration", message, element.span, SORTS);
                }
            }
        }
    }

    /// The sort of a name. Some files use that of black tokens without a declaration.
    fn sort_named(&mut self, id: &'e str, span: Span) -> Option<Sort> {
        if !self.sorts.contains_key(id) && id == "dot" { Some(vec![DOT]) } else { self.named_sort(id, span) }
    }

    /// Whether a name is that of a sort of dots.
    pub(crate) fn is_dot(&mut self, id: &'e str, span: Span) -> bool {
        (id == "dot" || self.sorts.contains_key(id)) && self.sort_named(id, span) == Some(vec![DOT])
    }

    /// The sort of a declared name.
    fn named_sort(&mut self, id: &'e str, span: Span) -> Option<Sort> {
        if let Some(known) = self.resolved.get(id) {
            return known.clone();
        }
        let Some(&element) = self.sorts.get(id) else {
            self.report("unknown-sort", format!("there is no sort `{id}`"), span, "declare it with `<namedsort>`");
            return None;
        };
        // A sort that is defined by itself is not known while it is read.
        self.resolved.insert(id, None);
        let name = element.attribute("name").unwrap_or(id);
        let sort = match element.children.first() {
            Some(definition) => self.sort(definition, Some(name)),
            None => {
                self.report("empty-sort", format!("the sort `{name}` is empty"), element.span, SORTS);
                None
            }
        };
        self.resolved.insert(id, sort.clone());
        sort
    }

    /// A sort. `name` is that of its declaration, if it is one.
    pub(crate) fn sort(&mut self, element: &'e Element, name: Option<&str>) -> Option<Sort> {
        match element.name.as_str() {
            "usersort" => {
                let id = element.attribute("declaration").unwrap_or_default();
                let sort = self.sort_named(id, element.span);
                if sort.is_none() && self.sorts.contains_key(id) && self.diagnostics.is_empty() {
                    let message = format!("the sort `{id}` is defined by itself");
                    self.report("cyclic-sort", message, element.span, SORTS);
                }
                sort
            }
            "dot" => Some(vec![DOT]),
            "cyclicenumeration" | "finiteenumeration" => {
                let constants: Vec<&'e Element> = element.named("feconstant").collect();
                if constants.is_empty() {
                    let help = "write `<feconstant id=\"…\" name=\"…\"/>` in it";
                    self.report("empty-sort", "an enumeration needs a constant", element.span, help);
                    return None;
                }
                let class = self.net.classes.len();
                let mut members = Vec::with_capacity(constants.len());
                for (value, constant) in constants.into_iter().enumerate() {
                    let Some(id) = self.id_of(constant) else { continue };
                    members.push(constant.attribute("name").unwrap_or(id).to_owned());
                    if self.constants.insert(id, (class, value as i64)).is_some() {
                        let message = format!("`{id}` is declared twice");
                        self.report("duplicate-name", message, constant.span, "give one of them another id");
                    }
                }
                let name = name.unwrap_or("colours").to_owned();
                let size = members.len().max(1) as i64;
                let is_cyclic = element.name == "cyclicenumeration";
                self.net.classes.push(Class { name, first: 0, size, is_cyclic, members });
                Some(vec![class])
            }
            "finiteintrange" => {
                let number = |name: &str| element.attribute(name).and_then(|text| text.trim().parse::<i64>().ok());
                let (Some(first), Some(last)) = (number("start"), number("end")) else {
                    let help = "write `<finiteintrange start=\"1\" end=\"3\"/>`";
                    self.report("no-range", "a range has two numbers as its ends", element.span, help);
                    return None;
                };
                let size = last.checked_sub(first).and_then(|size| size.checked_add(1));
                let Some(size) = size.filter(|size| (1..=LARGEST_CLASS).contains(size)) else {
                    let help = format!("from 1 to {LARGEST_CLASS} numbers are read");
                    self.report("no-range", "the range is empty or too large", element.span, &help);
                    return None;
                };
                if let Some(&class) = self.ranges.get(&(first, last)) {
                    return Some(vec![class]);
                }
                let class = self.net.classes.len();
                self.ranges.insert((first, last), class);
                let name = name.map_or_else(|| format!("{first}..{last}"), str::to_owned);
                self.net.classes.push(Class { name, first, size, is_cyclic: false, members: Vec::new() });
                Some(vec![class])
            }
            "productsort" => {
                let parts: Vec<Option<Sort>> = element.children.iter().map(|part| self.sort(part, None)).collect();
                let parts = parts.into_iter().collect::<Option<Vec<Sort>>>()?;
                if parts.iter().map(Vec::len).sum::<usize>() > MOST_COMPONENTS {
                    let help = format!("at most {MOST_COMPONENTS} are read");
                    self.report("too-large", "the product has too many components", element.span, &help);
                    return None;
                }
                Some(parts.concat())
            }
            "multisetsort" => element.children.first().and_then(|of| self.sort(of, name)),
            other => {
                self.report("unsupported-sort", format!("sorts `<{other}>` are not read"), element.span, SORTS);
                None
            }
        }
    }

    fn variable(&mut self, element: &'e Element) {
        let Some(id) = self.id_of(element) else { return };
        let sort = element.children.first().map(|sort| self.sort(sort, None));
        let Some(sort) = sort else {
            let message = format!("the variable `{id}` has no sort");
            return self.report("no-sort", message, element.span, "write `<usersort declaration=\"…\"/>` in it");
        };
        let Some(classes) = sort else { return };
        let name = element.attribute("name").unwrap_or(id).to_owned();
        let number = self.net.variables.len();
        self.net.variables.push(Variable { name, classes, span: element.span });
        if self.variables.insert(id, number).is_some() {
            let message = format!("`{id}` is declared twice");
            self.report("duplicate-name", message, element.span, "give one of them another id");
        }
    }

    fn partition(&mut self, element: &'e Element) {
        let Some(id) = self.id_of(element) else { return };
        let sort = element.children.iter().find(|it| it.name != "partitionelement").map(|it| self.sort(it, None));
        let Some(Some(sort)) = sort else { return };
        let &[class] = &sort[..] else {
            let message = "only a class can be divided, not a product";
            return self.report("partition", message, element.span, "divide the classes of the product");
        };
        let number = self.net.partitions.len();
        let mut parts: Vec<Vec<i64>> = Vec::new();
        for part in element.named("partitionelement") {
            if let Some(id) = part.attribute("id") {
                self.parts.insert(id, (number, parts.len()));
            }
            let mut values = Vec::new();
            for member in &part.children {
                let terms = self.multiset(member, &[class]);
                values.extend(terms.into_iter().flatten().flat_map(|term| self.members(&term, class)));
            }
            parts.push(values);
        }
        let class_values = &self.net.classes[class];
        let (first, last) = (class_values.first, class_values.last());
        let mut covered: Vec<i64> = parts.iter().flatten().copied().collect();
        covered.sort_unstable();
        if self.diagnostics.is_empty() && covered != (first..=last).collect::<Vec<_>>() {
            let message = "the parts do not have every value of the class once";
            self.report("partition", message, element.span, "list each constant in one `<partitionelement>`");
        }
        self.net.partitions.push(Partition { class, parts });
        self.partitions.insert(id, number);
    }

    fn nodes(&mut self, content: &Content<'e>) {
        let mut nodes: FxHashMap<&'e str, Node> = FxHashMap::default();
        let (place_names, transition_names) = (names(&content.places), names(&content.transitions));
        for (&element, name) in content.places.iter().zip(place_names) {
            let Some(id) = self.id_of(element) else { continue };
            self.check_children(element, &["name", "type", "initialMarking", "hlinitialMarking"]);
            if nodes.insert(id, Node::Place(self.net.places.len())).is_some() {
                self.report("duplicate-name", format!("`{id}` is declared twice"), element.span, "choose another id");
            }
            let place = self.place(element, id, name);
            self.net.places.push(place);
        }
        for (&element, name) in content.transitions.iter().zip(transition_names) {
            let Some(id) = self.id_of(element) else { continue };
            self.check_children(element, &["name", "condition"]);
            if nodes.insert(id, Node::Transition(self.net.transitions.len())).is_some() {
                self.report("duplicate-name", format!("`{id}` is declared twice"), element.span, "choose another id");
            }
            self.mentioned.clear();
            let guard = match element.child("condition").map(|it| (it, it.child("structure"))) {
                None => Condition::Constant(true),
                Some((_, Some(structure))) => Self::term_in(structure)
                    .map_or(Some(Condition::Constant(true)), |term| self.condition(term))
                    .unwrap_or(Condition::Constant(true)),
                Some((label, None)) if label.children.is_empty() => Condition::Constant(true),
                Some((label, None)) => {
                    let message = "the condition is only a text";
                    self.report("no-structure", message, label.span, "write it as a term in `<structure>`");
                    Condition::Constant(true)
                }
            };
            let variables = std::mem::take(&mut self.mentioned);
            let (id, inputs, outputs, span) = (id.to_owned(), Vec::new(), Vec::new(), element.span);
            self.net.transitions.push(Transition { id, name, variables, guard, inputs, outputs, span });
        }
        for &element in &content.arcs {
            self.arc(element, &nodes, &content.references);
        }
    }

    /// Refuses labels that change the meaning of a node in ways that are not read.
    fn check_children(&mut self, element: &'e Element, known: &[&str]) {
        for child in &element.children {
            if !known.contains(&child.name.as_str()) {
                let message = format!("`<{}>` of a {} is not read", child.name, element.name);
                self.report("unknown-element", message, child.span, "extensions of the standard are not read");
            }
        }
    }

    fn place(&mut self, element: &'e Element, id: &str, name: String) -> Place {
        let domain = match element.child("type") {
            None => vec![DOT],
            Some(label) => {
                let structure = label.child("structure");
                match structure.and_then(|structure| structure.children.first()) {
                    Some(sort) => self.sort(sort, None).unwrap_or_else(|| vec![DOT]),
                    None => {
                        let help = "write the sort in `<structure>`";
                        self.report("no-structure", "the type of this place is only a text", label.span, help);
                        vec![DOT]
                    }
                }
            }
        };
        if self.net.cells(&domain).is_none() {
            let message = format!("the place `{name}` has more than {MOST_CELLS} different tokens");
            self.report("too-large", message, element.span, "choose smaller classes");
        }
        let before = self.diagnostics.len();
        let mut marking = match (element.child("hlinitialMarking"), element.child("initialMarking")) {
            (Some(label), _) => self.labelled(label, &domain),
            (None, Some(label)) => self.counted(label, &domain),
            (None, None) => Vec::new(),
        };
        if marking.iter().any(|term| !term.is_closed()) && before == self.diagnostics.len() {
            let message = format!("the initial marking of `{name}` has a variable");
            self.report("open-marking", message, element.span, "use constants and `<all>`");
            marking.clear();
        }
        if std::mem::take(&mut self.required).contains(&Condition::Constant(false)) {
            let message = format!("the initial marking of `{name}` has a value beyond the end of its class");
            self.report("out-of-range", message, element.span, "only cyclic enumerations go on after their end");
        }
        Place { id: id.to_owned(), name, domain, marking, span: element.span }
    }

    /// The multiset in a label with a term.
    fn labelled(&mut self, label: &'e Element, domain: &[ClassId]) -> Vec<Term> {
        let Some(structure) = label.child("structure") else {
            if label.children.is_empty() {
                return Vec::new();
            }
            let message = "this label is only a text";
            self.report("no-structure", message, label.span, "write the term in `<structure>`");
            return Vec::new();
        };
        match Self::term_in(structure) {
            Some(term) => {
                let terms = self.multiset(term, domain).unwrap_or_default();
                self.normalised(terms, domain)
            }
            None => Vec::new(),
        }
    }

    /// The number of black tokens in a label.
    fn counted(&mut self, label: &'e Element, domain: &[ClassId]) -> Vec<Term> {
        let text = label.child("text").map_or(label.text.as_str(), |text| text.text.as_str()).trim();
        let number = if text.is_empty() { Some(0) } else { text.parse::<i64>().ok() };
        match number.filter(|number| (0..=i64::from(u32::MAX)).contains(number)) {
            Some(number) if domain.iter().all(|&class| class == DOT) => Term::black(number, domain.len()),
            Some(_) => {
                let help = "use `<hlinitialMarking>` or `<hlinscription>`";
                self.report("colours", "a number of tokens does not say their colours", label.span, help);
                Vec::new()
            }
            None => {
                let message = format!("`{text}` is not a number of tokens");
                self.report("no-number", message, label.span, "write a number from 0 on");
                Vec::new()
            }
        }
    }

    fn arc(
        &mut self,
        element: &'e Element,
        nodes: &FxHashMap<&'e str, Node>,
        references: &FxHashMap<&'e str, &'e Element>,
    ) {
        for child in &element.children {
            let is_normal = matches!(child.name.as_str(), "type" | "arctype")
                && child.attribute("value").or(child.label("text")).is_none_or(|value| value == "normal");
            if !is_normal && !["name", "inscription", "hlinscription"].contains(&child.name.as_str()) {
                let message = format!("`<{}>` of an arc is not read", child.name);
                self.report("unknown-element", message, child.span, "inhibitor, reset and read arcs are not read");
            }
        }
        let ends = ["source", "target"].map(|end| self.end_of(element, end, nodes, references));
        let [Some(source), Some(target)] = ends else { return };
        let (place, transition, is_input) = match (source, target) {
            (Node::Place(place), Node::Transition(transition)) => (place, transition, true),
            (Node::Transition(transition), Node::Place(place)) => (place, transition, false),
            _ => {
                let message = "an arc leads from a place to a transition, or from a transition to a place";
                return self.report("arc", message, element.span, "correct its source or its target");
            }
        };
        let domain = self.net.places[place].domain.clone();
        self.mentioned.clear();
        self.required.clear();
        let terms = match (element.child("hlinscription"), element.child("inscription")) {
            (Some(label), _) => self.labelled(label, &domain),
            (None, Some(label)) => self.counted(label, &domain),
            (None, None) if domain.iter().all(|&class| class == DOT) => Term::black(1, domain.len()),
            (None, None) => {
                let message =
                    format!("this arc does not say which tokens of `{}` it moves", self.net.places[place].name);
                return self.report("no-inscription", message, element.span, "add an `<hlinscription>`");
            }
        };
        if terms.len() > MOST_SUMMANDS {
            let help = format!("at most {MOST_SUMMANDS} are read: use `<all>`");
            return self.report("too-large", "the inscription has too many summands", element.span, &help);
        }
        let transition = &mut self.net.transitions[transition];
        let guard = std::mem::replace(&mut transition.guard, Condition::Constant(true));
        transition.guard = Condition::all(std::mem::take(&mut self.required), guard);
        for &variable in &self.mentioned {
            if !transition.variables.contains(&variable) {
                transition.variables.push(variable);
            }
        }
        let own = if is_input { &mut transition.inputs } else { &mut transition.outputs };
        match own.iter_mut().find(|(other, _)| *other == place) {
            Some((_, known)) => known.extend(terms),
            None => own.push((place, terms)),
        }
    }

    /// The node at an end of an arc, through references.
    fn end_of(
        &mut self,
        element: &'e Element,
        end: &str,
        nodes: &FxHashMap<&'e str, Node>,
        references: &FxHashMap<&'e str, &'e Element>,
    ) -> Option<Node> {
        let mut id = element.attribute(end).unwrap_or_default();
        for _ in 0..=references.len() {
            if let Some(&node) = nodes.get(id) {
                return Some(node);
            }
            match references.get(id).and_then(|reference| reference.attribute("ref")) {
                Some(next) => id = next,
                None => break,
            }
        }
        let message = format!("the {end} of this arc is `{id}`, which is no place and no transition");
        self.report("unknown-node", message, element.span, "use the id of a place or a transition");
        None
    }
}

/// What is said where a declaration is not read.
const SORTS: &str =
    "sorts are `<dot>`, `<cyclicenumeration>`, `<finiteenumeration>`, `<finiteintrange>` and products of these";

/// The names of nodes: what they are called, or their ids if several have that name.
fn names(elements: &[&Element]) -> Vec<String> {
    let name = |element: &Element| -> String {
        let id = element.attribute("id").unwrap_or_default();
        element.label("name").filter(|name| !name.is_empty()).unwrap_or(id).to_owned()
    };
    let mut uses: FxHashMap<String, usize> = FxHashMap::default();
    for element in elements {
        *uses.entry(name(element)).or_default() += 1;
    }
    let all = elements.iter().map(|element| {
        let name = name(element);
        if uses[&name] > 1 { element.attribute("id").unwrap_or_default().to_owned() } else { name }
    });
    all.collect()
}
