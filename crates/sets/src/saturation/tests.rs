//! Diagrams of sets against the sets themselves.

use std::collections::BTreeSet;

use crate::saturation::forest::{BOTTOM, EMPTY, Forest, Node};

/// The number of levels, and of contents of each.
const LEVELS: u32 = 5;
const CONTENTS: u32 = 3;

type Word = [u32; LEVELS as usize];

/// The diagram of one word, whose last content is that of the lowest level.
fn single(forest: &mut Forest, word: &Word) -> Node {
    let levels = word.iter().rev().zip(0..);
    levels.fold(BOTTOM, |below, (&content, level)| forest.node(level, &[(content, below)]).ok().expect("room"))
}

fn words(forest: &Forest, node: Node) -> BTreeSet<Vec<u32>> {
    match node {
        EMPTY => BTreeSet::new(),
        BOTTOM => BTreeSet::from([Vec::new()]),
        _ => {
            let arcs = forest.arcs(node).iter();
            let below = |&(content, child)| {
                words(forest, child).into_iter().map(move |rest| [&[content], &rest[..]].concat()).collect::<Vec<_>>()
            };
            arcs.flat_map(below).collect()
        }
    }
}

#[test]
fn unions_of_diagrams_are_unions_of_sets() {
    let mut word = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random = move || {
        word ^= word << 13;
        word ^= word >> 7;
        word ^= word << 17;
        word
    };
    for _ in 0..100 {
        let forest = &mut Forest::new(1 << 20);
        let mut set = |forest: &mut Forest| {
            let (mut node, mut all) = (EMPTY, BTreeSet::new());
            for _ in 0..random() % 40 {
                let word: Word = std::array::from_fn(|_| (random() % u64::from(CONTENTS)) as u32);
                let other = single(forest, &word);
                node = forest.union(node, other).ok().expect("room");
                all.insert(word.to_vec());
            }
            (node, all)
        };
        let ((left, ours), (right, theirs)) = (set(forest), set(forest));
        assert_eq!(words(forest, left), ours);
        let both = forest.union(left, right).ok().expect("room");
        assert_eq!(words(forest, both), &ours | &theirs);
        // Equal sets are one node, however they were made.
        assert_eq!(forest.union(right, left).ok(), Some(both));
        assert_eq!(left == right, ours == theirs);
        let again = (&ours | &theirs).iter().fold(EMPTY, |node, word| {
            let other = single(forest, word.as_slice().try_into().expect("all levels"));
            forest.union(node, other).ok().expect("room")
        });
        assert_eq!(again, both);
    }
}

#[test]
fn too_little_room_is_a_result() {
    let forest = &mut Forest::new(1 << 13);
    let full = (0..1 << 12).any(|content| forest.node(0, &[(content, BOTTOM)]).is_err());
    assert!(full, "4,096 nodes do not fit into 8 KiB");
}
