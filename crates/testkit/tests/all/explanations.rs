//! What `detect` finds and what `--why-not` says about it never disagree: every pair of processes, channels and values
//! of index types of every example model in every language. A request is a symmetry exactly if the detected group has
//! an element that exchanges the two; where the group is small, all of its elements are looked at, by code that knows
//! nothing of how explanations are found. What is not a symmetry has a reason.

use std::collections::BTreeMap;
use std::path::PathBuf;

use num_bigint::BigUint;
use quotient::Model;
use quotient_groups::{Permutation, PermutationGroup, SparsePermutation, StabiliserChain};
use quotient_ir::{Budget, Interrupt, Layout, PropertyId, SlotId, TableIndex, TypeId, TypeKind};
use quotient_symmetry::{CertifiedGroup, Explainer, Explanation, Individuals, Request, StateMap, detect};
use quotient_testkit::examples::workspace;
use quotient_testkit::pool::map_on_workers;

/// Work after which a model is left out: a few seconds of detection.
const MOST_WORK: u64 = 20_000_000;
/// Larger groups are not enumerated.
const MOST_ELEMENTS: usize = 2_000;
/// Of each type or array, the pairs among so many values are asked about, the first and the last ones.
const VALUES: usize = 4;

/// How many questions were answered in which way.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    symmetries: usize,
    others: usize,
    enumerated: usize,
}

fn examples() -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for folder in ["murphi", "promela", "b"] {
        let folder = workspace().join("models").join(folder);
        let entries = std::fs::read_dir(&folder).expect("a folder of examples");
        paths.extend(entries.map(|entry| entry.expect("an entry").path()));
    }
    paths.sort();
    paths
}

/// The index types and values on the way to each cell of a type.
fn paths(model: &quotient_ir::Model, ty: TypeId, path: &mut Vec<(TypeId, i64)>, found: &mut Vec<Vec<(TypeId, i64)>>) {
    match &model.types[ty].kind {
        TypeKind::Array { index, element } => {
            for value in model.domain(*index).values() {
                path.push((*index, value));
                paths(model, *element, path, found);
                path.pop();
            }
        }
        TypeKind::Record { fields } => fields.iter().for_each(|field| paths(model, field.ty, path, found)),
        TypeKind::Multiset { capacity, element } => {
            for _ in 0..*capacity {
                found.push(path.clone());
                paths(model, *element, path, found);
            }
        }
        _ => found.push(path.clone()),
    }
}

/// The type that a value belongs to, inside a union.
fn member(model: &quotient_ir::Model, ty: TypeId, value: i64) -> TypeId {
    match &model.types[ty].kind {
        TypeKind::Union { members } => {
            *members.iter().find(|&&member| model.domain(member).contains(value)).unwrap_or(&ty)
        }
        _ => ty,
    }
}

/// Adds to a map what must be the same wherever it is seen.
fn add(images: &mut BTreeMap<i64, i64>, value: i64, image: i64) -> bool {
    *images.entry(value).or_insert(image) == image
}

/// What a symmetry makes of values or elements, if it makes the same of them everywhere.
fn images(model: &Model, group: &CertifiedGroup, of: Individuals, map: &StateMap) -> Option<BTreeMap<i64, i64>> {
    let (ir, layout) = (model.ir(), model.layout());
    let mut ways = Vec::new();
    for variable in ir.variables.iter() {
        paths(ir, variable.ty, &mut Vec::new(), &mut ways);
    }
    let moves: BTreeMap<SlotId, _> = map.moves().iter().map(|entry| (entry.from, entry)).collect();
    let mut images = BTreeMap::new();
    for (slot, entry) in layout.slots.iter_enumerated() {
        let literals = &group.literals().slots()[slot];
        if literals.values.len() < 2 {
            continue;
        }
        let to = moves.get(&slot).map_or(slot, |entry| entry.to);
        match of {
            Individuals::Elements(variable) => {
                if entry.variable == variable {
                    let is_inside = layout.slots[to].variable == variable;
                    if !is_inside || !add(&mut images, ways[slot.position()][0].1, ways[to.position()][0].1) {
                        return None;
                    }
                }
            }
            Individuals::Values(ty) => {
                let indices = |slot: SlotId| -> Vec<i64> {
                    let way = ways[slot.position()].iter();
                    way.filter(|&&(index, value)| member(ir, index, value) == ty).map(|&(_, value)| value).collect()
                };
                let (own, others) = (indices(slot), indices(to));
                let same_length = own.len() == others.len();
                if !same_length || !own.into_iter().zip(others).all(|(value, image)| add(&mut images, value, image)) {
                    return None;
                }
                for value in literals.values.iter().flatten().copied().filter(|&it| member(ir, entry.ty, it) == ty) {
                    let image = moves.get(&slot).map_or(Some(value), |entry| entry.value(Some(value)))?;
                    let is_own = member(ir, layout.slots[to].ty, image) == ty;
                    if literals.wide || !is_own || !add(&mut images, value, image) {
                        return (literals.wide && is_own && image == value).then_some(images);
                    }
                }
            }
        }
    }
    Some(images)
}

/// The names that a request can have for things, with what they are.
fn names(model: &quotient_ir::Model) -> Vec<(String, Individuals)> {
    let is_asked = |&(id, ty): &(TypeId, &quotient_ir::Type)| {
        ty.name.is_some() && model.is_scalar(id) && !matches!(ty.kind, TypeKind::Union { .. })
    };
    let types = model.types.iter_enumerated().filter(is_asked);
    let mut found: Vec<(String, Individuals)> =
        types.map(|(id, ty)| (ty.name.clone().unwrap_or_default(), Individuals::Values(id))).collect();
    for (variable, entry) in model.variables.iter_enumerated() {
        if model.calling(variable).is_some() && matches!(model.types[entry.ty].kind, TypeKind::Array { .. }) {
            found.push((model.variable_title(variable).to_owned(), Individuals::Elements(variable)));
        }
    }
    found
}

fn elements(group: &CertifiedGroup, layout: &Layout) -> Option<Vec<StateMap>> {
    let degree = group.literals().degree();
    let dense: Vec<Permutation> =
        group.generators().iter().map(|generator| generator.to_dense(degree).expect("in range")).collect();
    let order = PermutationGroup::new(degree, group.generators().to_vec()).order();
    if order > BigUint::from(MOST_ELEMENTS) {
        return None;
    }
    let elements = StabiliserChain::new(degree, &dense).elements(MOST_ELEMENTS)?;
    let action = |element: Permutation| group.literals().action(layout, &element.to_sparse()).expect("a symmetry");
    Some(elements.into_iter().map(action).collect())
}

fn check(model: &Model) -> Result<Option<Tally>, String> {
    let (ir, layout) = (model.ir(), model.layout());
    let properties: Vec<PropertyId> = ir.properties.indices().collect();
    let budget = Budget::new(MOST_WORK, Interrupt::new());
    let Ok(found) = detect(ir, layout, &properties, &budget) else { return Ok(None) };
    let group = found.group;
    let members = PermutationGroup::new(group.literals().degree(), group.generators().to_vec()).members();
    let all = elements(&group, layout);
    let mut explainer = Explainer::new(ir, layout, &properties, &Budget::unlimited()).expect("unlimited");
    let mut tally = Tally::default();
    for (name, of) in names(ir) {
        let values: Vec<i64> = match of.ty(ir) {
            Some(ty) if ir.domain(ty).size() <= 64 => of.values(ir).collect(),
            _ => continue,
        };
        let maps: Option<Vec<_>> =
            all.as_ref().map(|all| all.iter().filter_map(|map| images(model, &group, of, map)).collect());
        let mut asked = values.clone();
        if asked.len() > VALUES {
            asked.drain(VALUES / 2..values.len() - VALUES / 2);
        }
        for (position, &first) in asked.iter().enumerate() {
            for &second in &asked[position + 1..] {
                let shown = [first, second].map(|value| of.value_title(ir, value));
                let text = format!("{name} {} {}", shown[0], shown[1]);
                let request = Request::parse(ir, layout, &text)?;
                let does = |permutation: &SparsePermutation| {
                    let map = group.literals().action(layout, permutation).map_err(|error| error.to_string())?;
                    let images = images(model, &group, of, &map).ok_or("it does not permute them as wholes")?;
                    let image = |value: i64| images.get(&value).copied().unwrap_or(value);
                    // What no variable tells is told by the steps that processes take.
                    let is_told = images.contains_key(&first) || images.contains_key(&second);
                    Ok::<bool, String>(!is_told || (image(first) == second && image(second) == first))
                };
                let is_symmetry = match explainer.explain(&request, 4).expect("unlimited") {
                    Explanation::Symmetry(completed) => {
                        if !completed.is_detected || !members.contains(&completed.permutation) {
                            return Err(format!("`{text}`: {} is not in the group", completed.description));
                        }
                        if !does(&completed.permutation).map_err(|error| format!("`{text}`: {error}"))? {
                            return Err(format!("`{text}`: {} does something else", completed.description));
                        }
                        true
                    }
                    Explanation::NotSymmetry { reasons, .. } if reasons.is_empty() => {
                        return Err(format!("`{text}`: no reason"));
                    }
                    Explanation::NotSymmetry { .. } => false,
                };
                *(if is_symmetry { &mut tally.symmetries } else { &mut tally.others }) += 1;
                let Some(maps) = &maps else { continue };
                let is_told = maps.iter().any(|images| images.contains_key(&first) && images.contains_key(&second));
                if is_told {
                    let exchanges = |images: &BTreeMap<i64, i64>| images[&first] == second && images[&second] == first;
                    tally.enumerated += 1;
                    if maps.iter().any(exchanges) != is_symmetry {
                        let found = if is_symmetry { "no element does" } else { "some element does" };
                        return Err(format!("`{text}` is answered {is_symmetry}, but {found}"));
                    }
                }
            }
        }
    }
    // Values that are known to be exchangeable freely are said to be.
    for class in group.interchangeable() {
        let request = Request::Exchange { ty: class.ty, first: class.values[0], second: class.values[1] };
        if !matches!(explainer.explain(&request, 1).expect("unlimited"), Explanation::Symmetry(_)) {
            return Err(format!("{request:?} is not said to be a symmetry"));
        }
    }
    Ok(Some(tally))
}

#[test]
fn what_is_found_and_what_is_explained_agree() {
    let examples = examples();
    let results = map_on_workers(2, &examples, |path| {
        let name = path.file_name().expect("a file has a name").to_string_lossy().into_owned();
        let model = Model::from_path(path).unwrap_or_else(|error| panic!("{name}: {error}"));
        let result = check(&model).map_err(|reason| format!("{name}: {reason}"));
        (name, result)
    });
    let (mut wrong, mut left_out, mut tally) = (Vec::new(), Vec::new(), Tally::default());
    for (name, result) in results {
        match result {
            Ok(Some(own)) => {
                tally.symmetries += own.symmetries;
                tally.others += own.others;
                tally.enumerated += own.enumerated;
            }
            Ok(None) => left_out.push(name),
            Err(reason) => wrong.push(reason),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(left_out.len() * 8 < examples.len(), "left out: {left_out:?}");
    assert!(tally.symmetries > 100 && tally.others > 100 && tally.enumerated > 100, "{tally:?}");
}
