//! Groups of the size of large models: names, orders and orbits on up to a hundred thousand points.

use quotient_groups::group::families::{self, KnownGroup};
use quotient_groups::random::Random;
use quotient_groups::{Permutation, PermutationGroup, Point, SparsePermutation, StabiliserChain};

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
    // The diagonal is a separate orbit.
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
fn members() {
    let mut random = Random::new(11);
    for known in [
        families::copies(&families::dihedral(50), 2_000),
        families::copies(&families::iterated_wreath(&[10]), 10_000),
        families::iterated_wreath(&[10, 10, 10, 10, 10]),
        families::rings_exchanged(100, 1_000),
        families::symmetric_on_orbits(1_000, 100),
        families::symmetric_on_matrix(300),
        families::cyclic_on_orbits(10_000, 10),
        families::dihedral(100_000),
        families::hypercube(7),
    ] {
        let group = PermutationGroup::new(known.degree, known.generators.clone());
        let members = group.members();
        let element = members.random_element(&mut random);
        assert!(element.support().len() > known.degree / 2, "{}", known.structure);
        for member in [&element, &element.inverse(), &element.then(&known.generators[0])] {
            assert!(members.contains(member), "{}", known.structure);
        }
        let other = members.random_element(&mut random);
        assert!(members.contains(&element.then(&other)), "{}", known.structure);
        // Changing the image of one point leaves all of these groups, except symmetric groups on few points.
        let (point, image) = element.moves().last().expect("it moves something");
        let stranger = SparsePermutation::from_cycles(&[vec![point, image, known.degree as Point / 2 + 1]]);
        if let Ok(stranger) = stranger
            && known.degree > 10
            && !known.structure.starts_with("S10")
        {
            assert!(!members.contains(&element.then(&stranger)), "{}", known.structure);
        }
    }
}

#[test]
fn members_are_those_of_a_stabiliser_chain() {
    let mut random = Random::new(12);
    for known in [
        families::rings_exchanged(5, 20),
        families::rings_exchanged(2, 40),
        families::iterated_wreath(&[3, 4, 6]),
        families::copies(&families::rings_exchanged(4, 17), 2),
        families::symmetric_on_orbits(7, 9),
        families::symmetric_on_matrix(7),
        families::cyclic_on_orbits(12, 5),
        families::dihedral(60),
        families::hypercube(5),
    ] {
        let group = PermutationGroup::new(known.degree, known.generators.clone());
        let members = group.members();
        let dense: Vec<Permutation> =
            known.generators.iter().map(|generator| generator.to_dense(known.degree).unwrap()).collect();
        let chain = StabiliserChain::new(known.degree, &dense);
        assert_eq!(chain.order(), group.order(), "{}", known.structure);
        for _ in 0..20 {
            assert!(chain.contains(&members.random_element(&mut random).to_dense(known.degree).unwrap()));
            let element = chain.random_element(&mut random).to_sparse();
            assert!(members.contains(&element), "{}", known.structure);
            let [left, right] = [0; 2].map(|_| random.below(known.degree) as Point);
            if left != right {
                let other = element.then(&SparsePermutation::from_cycles(&[vec![left, right]]).unwrap());
                let expected = chain.contains(&other.to_dense(known.degree).unwrap());
                assert_eq!(members.contains(&other), expected, "{}", known.structure);
            }
        }
    }
}
