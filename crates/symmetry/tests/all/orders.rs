//! The orders and structures of the groups in table I of Zhang et al. (Constraint-Based Automatic Symmetry Detection)
//! and its figures, found from the text alone.

use std::path::Path;

use quotient_groups::PermutationGroup;
use quotient_ir::{Layout, Model, PropertyId, Source};
use quotient_kit::LoadOptions;
use quotient_murphi::LANGUAGE;
use quotient_symmetry::detect;

fn model(name: &str, constants: &str) -> Model {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/murphi").join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let constants = constants.split_whitespace().map(|definition| {
        let (name, value) = definition.split_once('=').expect("NAME=VALUE");
        (name.to_owned(), value.to_owned())
    });
    let options = LoadOptions { constants: constants.collect(), ..LoadOptions::default() };
    LANGUAGE.load(Source::new(name, text), &options).unwrap_or_else(|error| panic!("{name}: {error:?}")).model
}

/// The order and the structure of a model's symmetries that preserve all its properties.
fn symmetries(model: &Model) -> (String, String) {
    let layout = Layout::new(model).expect("a layout");
    let properties: Vec<PropertyId> = model.properties.indices().collect();
    let detection = detect(model, &layout, &properties, &quotient_ir::Budget::unlimited())
        .unwrap_or_else(|error| panic!("{error}"));
    assert!(detection.complete);
    let group = PermutationGroup::new(detection.group.literals().degree(), detection.group.generators().to_vec());
    (group.order().to_string(), group.structure().to_string())
}

#[test]
fn every_row_of_table_one() {
    let mut wrong = Vec::new();
    for (name, constants, order, structure) in [
        // Rotations, and the exchange of the labels: 2 N.
        ("token_circulation.m", "N=3", "6", "C6"),
        ("token_circulation.m", "N=4", "8", "C4 × S2"),
        ("token_circulation.m", "N=7", "14", "C14"),
        ("readers_writers.m", "READERS=2 WRITERS=1", "2", "S2"),
        ("peterson.m", "N=9", "362880", "S9"),
        ("peterson.m", "N=12", "479001600", "S12"),
        ("resource_allocator.m", "A=2 B=2 C=3", "24", "S3 × S2 × S2"),
        ("resource_allocator.m", "A=3 B=3 C=4", "864", "S4 × S3 × S3"),
        ("three_tiered.m", "A=3 B=3 C=2", "144", "S3 wr S2 × S2"),
        ("three_tiered.m", "A=3 B=3 C=3", "1296", "S3 wr S3"),
        ("three_tiered.m", "A=4 B=4 C=3", "6912", "S4 wr S2 × S3"),
        ("hypercube.m", "D=5", "3840", "S2 wr S5"),
        ("hypercube.m", "D=6", "46080", "S2 wr S6"),
        ("dining_philosophers.m", "N=10", "10", "C10"),
        ("dining_philosophers.m", "N=20", "20", "C20"),
        ("milner_scheduler.m", "N=10", "1", "1"),
        // Rotations and reflections, the colours, and the complement of all flags.
        ("two_hop_colouring.m", "N=9", "216", "D9 × S3 × S2"),
        ("two_hop_colouring.m", "N=12", "288", "D12 × S3 × S2"),
        ("leader_election_complete.m", "N=12", "479001600", "S12"),
        ("leader_election_complete.m", "N=15", "1307674368000", "S15"),
        ("leader_election_tree.m", "N=15", "128", "S2 wr S2 wr S2"),
        ("leader_election_tree.m", "N=13 ARITY=3", "1296", "S3 wr S3"),
        ("leader_election_ring.m", "N=9", "9", "C9"),
        ("leader_election_ring.m", "N=12", "12", "C12"),
        ("hanoi.m", "DISCS=3", "2", "S2"),
        ("hanoi.m", "DISCS=6", "2", "S2"),
        // The golfers, the weeks, and the groups within each week: 9! · 4! · (3!)^4.
        ("social_golfer.m", "GROUPS=3 SIZE=3 WEEKS=4", "11287019520", "S9 × S3 wr S4"),
    ] {
        let found = symmetries(&model(name, constants));
        if (found.0.as_str(), found.1.as_str()) != (order, structure) {
            wrong.push(format!("{name} {constants}: {}, {} and not {order}, {structure}", found.0, found.1));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Without the properties that distinguish values there may be more.
#[test]
fn properties_shrink_the_group() {
    let model = model("two_hop_colouring.m", "N=4");
    let layout = Layout::new(&model).expect("a layout");
    let order = |properties: &[PropertyId]| {
        let detection = detect(&model, &layout, properties, &quotient_ir::Budget::unlimited())
            .unwrap_or_else(|error| panic!("{error}"));
        PermutationGroup::new(detection.group.literals().degree(), detection.group.generators().to_vec())
            .order()
            .to_string()
    };
    let all: Vec<PropertyId> = model.properties.indices().collect();
    assert_eq!(order(&all), (8 * 6 * 2).to_string());
    assert_eq!(order(&[]), (8 * 6 * 6 * 2).to_string());
}
