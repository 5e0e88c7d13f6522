//! Names that are near a name that is not known.

/// The candidate most like a name, if one is like it.
pub fn similar<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate))
        .filter(|&(distance, candidate)| distance <= 1 + candidate.len() / 4)
        .min()
        .map(|(_, candidate)| candidate)
}
