//! Groups of the size of large models: names, orders and orbits on up to a hundred thousand points.

use quotient_groups::PermutationGroup;
use quotient_groups::group::families::{self, KnownGroup};
use quotient_groups::random::Random;

fn check(known: &KnownGroup, orbits: usize) {
    let group = PermutationGroup::new(known.degree, known.generators.clone());
    let structure = group.structure();
    assert_eq!(structure.to_string(), known.structure);
    assert_eq!(structure.order(), group.order(), "{}", known.structure);
    assert_eq!(group.orbits().len(), orbits, "{}", known.structure);
}

#[test]
fn many_factors() {
    check(&families::copies(&families::iterated_wreath(&[10]), 10_000), 10_000);
    check(&families::copies(&families::dihedral(50), 2_000), 2_000);
    check(&families::copies(&families::cyclic_on_orbits(5, 4), 5_000), 20_000);
}

#[test]
fn wreath_products() {
    check(&families::iterated_wreath(&[10, 10_000]), 1);
    check(&families::iterated_wreath(&[10, 10, 10, 10, 10]), 1);
    check(&families::iterated_wreath(&[2; 16]), 1);
    check(&families::rings_exchanged(100, 1_000), 1);
    check(&families::rings_exchanged(4, 25_000), 1);
}

#[test]
fn symmetric_groups() {
    check(&families::symmetric_on_orbits(100_000, 1), 1);
    check(&families::symmetric_on_orbits(1_000, 100), 100);
    // The diagonal is an orbit of its own.
    check(&families::symmetric_on_matrix(300), 2);
}

#[test]
fn rings_and_polygons() {
    check(&families::cyclic_on_orbits(100_000, 1), 1);
    check(&families::cyclic_on_orbits(10_000, 10), 10);
    check(&families::dihedral(100_000), 1);
    check(&families::dihedral(99_999), 1);
}

#[test]
fn hypercubes() {
    // The cube's group is also that of the four long diagonals and the half turn.
    check(&KnownGroup { structure: "S4 × S2".to_owned(), ..families::hypercube(3) }, 1);
    for dimensions in [4, 5, 6, 8] {
        check(&families::hypercube(dimensions), 1);
    }
}

#[test]
fn members_of_many_factors() {
    let known = families::copies(&families::dihedral(50), 2_000);
    let group = PermutationGroup::new(known.degree, known.generators.clone());
    let chained = group.with_chains();
    let mut random = Random::new(11);
    let element = chained.random_element(&mut random);
    assert!(element.support().len() > known.degree / 2);
    assert!(chained.contains(&element));
    assert!(chained.contains(&element.then(&known.generators[0])));
    let exchange = families::iterated_wreath(&[2]).generators.remove(0);
    assert!(!chained.contains(&element.then(&exchange)));
}
