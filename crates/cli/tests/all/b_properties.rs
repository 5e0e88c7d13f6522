//! `quotient check` on what is claimed of B machines, beside the transcripts.

use crate::transcript::quotient;

/// Symmetries are told in the notation of B: members of a relation, values of a function.
#[test]
fn symmetries_read_like_b() {
    let said = quotient(["detect", "../../../../models/b/Towns.mch"]);
    assert!(said.stdout.contains("(TOWN1|->TOWN1) : roads ↔ (TOWN2|->TOWN2) : roads"), "{said}");
    let said = quotient(["detect", "../../../../models/b/USB.mch"]);
    assert!(said.stdout.contains("kind(Transfer2): control ↔ interrupt"), "{said}");
}
