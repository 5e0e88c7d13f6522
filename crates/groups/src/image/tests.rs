//! Canonical images, compared with enumerated orbits of sets.

use super::*;
use crate::random::Random;
use std::collections::{BTreeMap, BTreeSet};

fn cycles(text: &str) -> SparsePermutation {
    SparsePermutation::parse(text).expect("a permutation")
}

/// The orbit of a set, from the generators.
fn orbit(action: &Action, set: &[Point], limit: usize) -> Option<BTreeSet<Vec<Point>>> {
    let mut orbit = BTreeSet::from([set.to_vec()]);
    let mut pending = vec![set.to_vec()];
    while let Some(next) = pending.pop() {
        for generator in action.generators() {
            let mut image: Vec<Point> = next.iter().map(|&point| generator.image(point)).collect();
            image.sort_unstable();
            if orbit.insert(image.clone()) {
                pending.push(image);
            }
        }
        if orbit.len() > limit {
            return None;
        }
    }
    Some(orbit)
}

fn check(name: &str, degree: usize, generators: &[&str], tables: usize) {
    let action = Action::new(degree, generators.iter().map(|text| cycles(text)));
    let order = crate::structure::order(&action);
    let search = ImageSearch::new(&action, &order);
    let mut random = Random::new(degree as u64 + tables as u64);
    let mut scratch = ImageScratch::default();
    let mut representatives: BTreeMap<Vec<Point>, Vec<Point>> = BTreeMap::new();
    for _ in 0..tables {
        let density = 1 + random.below(4);
        let set: Vec<Point> = (0..degree as Point).filter(|_| random.below(5) < density).collect();
        let Some(orbit) = orbit(&action, &set, 3000) else { continue };
        let mut expected: Option<Vec<Point>> = None;
        for (number, other) in orbit.iter().enumerate() {
            if number > 40 && random.below(20) > 0 {
                continue;
            }
            search.search(&mut scratch, other.iter().map(|&point| (point, 0)));
            let mut image: Vec<Point> = scratch.images(&search).collect();
            let element = scratch.element(&search);
            assert!(
                other.iter().zip(&image).all(|(&point, &image)| element.image(point) == image),
                "{name}: the element does not lead to the image"
            );
            image.sort_unstable();
            assert!(orbit.contains(&image), "{name}: an image outside the orbit");
            assert_eq!(&order / scratch.stabiliser_order(), BigUint::from(orbit.len()), "{name}: {set:?}");
            assert_eq!(*expected.get_or_insert_with(|| image.clone()), image, "{name}: two images of {set:?}");
        }
        let expected = expected.expect("an orbit has a set");
        let first = orbit.first().expect("an orbit has a set").clone();
        assert_eq!(*representatives.entry(expected).or_insert_with(|| first.clone()), first, "{name}: one image twice");
    }
}

#[test]
fn canonical_images_are_one_for_each_orbit() {
    for (name, degree, generators) in [
        ("S6", 6, vec!["(0 1)", "(0 1 2 3 4 5)"]),
        ("A6", 6, vec!["(0 1 2)", "(1 2 3 4 5)"]),
        ("C9", 9, vec!["(0 1 2 3 4 5 6 7 8)"]),
        ("D9", 9, vec!["(0 1 2 3 4 5 6 7 8)", "(1 8)(2 7)(3 6)(4 5)"]),
        ("C2 x C3 by one element", 5, vec!["(0 1)(2 3 4)"]),
        ("S3 wr S3", 9, vec!["(0 1)", "(0 1 2)", "(0 3)(1 4)(2 5)", "(0 3 6)(1 4 7)(2 5 8)"]),
        ("C3 wr C3", 9, vec!["(0 1 2)", "(0 3 6)(1 4 7)(2 5 8)"]),
        (
            "S3 x S3 on a matrix",
            9,
            vec!["(0 1)(3 4)(6 7)", "(0 1 2)(3 4 5)(6 7 8)", "(0 3)(1 4)(2 5)", "(0 3 6)(1 4 7)(2 5 8)"],
        ),
        (
            "S3 x S4 on a matrix",
            12,
            vec![
                "(0 1)(4 5)(8 9)",
                "(0 1 2 3)(4 5 6 7)(8 9 10 11)",
                "(0 4)(1 5)(2 6)(3 7)",
                "(0 4 8)(1 5 9)(2 6 10)(3 7 11)",
            ],
        ),
        ("AGL(1,7)", 7, vec!["(0 1 2 3 4 5 6)", "(1 3 2 6 4 5)"]),
        ("AGL(1,11)", 11, vec!["(0 1 2 3 4 5 6 7 8 9 10)", "(1 2 4 8 5 10 9 7 3 6)"]),
        ("PSL(2,7)", 7, vec!["(0 1 2 3 4 5 6)", "(1 2)(3 6)"]),
        ("M11", 11, vec!["(0 1 2 3 4 5 6 7 8 9 10)", "(2 6 10 7)(3 9 4 5)"]),
        ("M12", 12, vec!["(0 1 2 3 4 5 6 7 8 9 10)", "(2 6 10 7)(3 9 4 5)", "(0 11)(1 10)(2 5)(3 7)(4 8)(6 9)"]),
        ("cube", 8, vec!["(0 1)(2 3)(4 5)(6 7)", "(1 2)(5 6)", "(1 2 4)(3 6 5)"]),
        // Pairs of four objects: ordered pairs i, j numbered 4 i + j, with the objects themselves on the diagonal.
        ("S4 on pairs", 16, vec!["(0 5)(1 4)(2 6)(3 7)(8 9)(12 13)", "(0 5 10 15)(1 6 11 12)(2 7 8 13)(3 4 9 14)"]),
        ("diagonal S3", 9, vec!["(0 1)(3 4)(6 7)", "(0 1 2)(3 4 5)(6 7 8)"]),
        ("subdirect", 8, vec!["(0 1)(4 5)", "(0 1 2 3)(4 5 6 7)", "(4 6)(5 7)"]),
    ] {
        check(name, degree, &generators, 60);
    }
}

#[test]
fn all_sets_of_small_actions() {
    for (degree, generators) in [
        (6, vec!["(0 1 2)(3 4 5)", "(0 3)"]),
        (7, vec!["(0 1 2 3 4)(5 6)"]),
        (8, vec!["(0 1)(2 3)(4 5)(6 7)", "(0 2)(1 3)(4 6)(5 7)", "(0 4)(1 5)(2 6)(3 7)"]),
        (8, vec!["(0 1 2 3)", "(4 5 6 7)", "(0 4)(1 5)(2 6)(3 7)"]),
    ] {
        let action = Action::new(degree, generators.iter().map(|text| cycles(text)));
        let search = ImageSearch::new(&action, &crate::structure::order(&action));
        let mut scratch = ImageScratch::default();
        let mut images = BTreeSet::new();
        let mut orbits = BTreeSet::new();
        for bits in 0u32..1 << degree {
            let set: Vec<Point> = (0..degree as Point).filter(|point| bits >> point & 1 == 1).collect();
            search.search(&mut scratch, set.iter().map(|&point| (point, 0)));
            let mut image: Vec<Point> = scratch.images(&search).collect();
            image.sort_unstable();
            images.insert(image);
            orbits.insert(orbit(&action, &set, usize::MAX).expect("no limit").first().expect("a set").clone());
        }
        assert_eq!(images.len(), orbits.len(), "{generators:?}");
    }
}
