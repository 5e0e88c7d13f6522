//! Elements of a group as maps of codes, and the least image over a list of them.

use quotient_groups::SparsePermutation;

use super::points::{Content, NONE, View};

/// An element, on the codes of the fields: where each field's code comes from, and what becomes of it.
#[derive(Clone, Debug)]
pub(super) struct CodeMap {
    sources: Vec<u32>,
    codes: Vec<Option<Box<[u64]>>>,
}

impl CodeMap {
    /// The map of a permutation of points.
    pub(super) fn new(view: &View, permutation: &SparsePermutation) -> Self {
        let mut sources: Vec<u32> = (0..view.fields.len() as u32).collect();
        let mut codes: Vec<Option<Box<[u64]>>> = vec![None; view.fields.len()];
        for (field, content) in view.contents.iter().enumerate() {
            let Some(first) = content.points().next() else { continue };
            let target = view.field_of(permutation.image(first));
            sources[target] = field as u32;
            if let Content::Lettered(points) = content {
                let image = |(code, &point): (usize, &u32)| {
                    if point == NONE { code as u64 } else { view.origins[permutation.image(point) as usize].1 }
                };
                let table: Box<[u64]> = points.iter().enumerate().map(image).collect();
                if table.iter().enumerate().any(|(code, &image)| code as u64 != image) {
                    codes[target] = Some(table);
                }
            }
        }
        Self { sources, codes }
    }

    #[inline]
    fn code(&self, field: usize, original: &[u64]) -> u64 {
        let code = original[self.sources[field] as usize];
        match &self.codes[field] {
            None => code,
            Some(table) => table.get(code as usize).copied().unwrap_or(code),
        }
    }

    #[inline]
    pub(super) fn apply(&self, original: &[u64], image: &mut Vec<u64>) {
        image.clear();
        image.extend((0..original.len()).map(|field| self.code(field, original)));
    }

    /// Whether the image of `original` is `original`.
    pub(super) fn keeps(&self, original: &[u64]) -> bool {
        (0..original.len()).all(|field| self.code(field, original) == original[field])
    }

    /// Replaces `best` by the image of `original` if that is less; stops where it is greater.
    #[inline]
    pub(super) fn keep_least(&self, original: &[u64], best: &mut [u64]) {
        for field in 0..best.len() {
            let code = self.code(field, original);
            if code > best[field] {
                return;
            }
            if code < best[field] {
                for (field, best) in best.iter_mut().enumerate().skip(field) {
                    *best = self.code(field, original);
                }
                return;
            }
        }
    }
}
