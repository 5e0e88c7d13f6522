//! Claims about every size: all models of one text that differ in a constant or two, from values of these on
//! ([why so](../../../../docs/adr/0038-every-size.md), [two types](../../../../docs/adr/0044-two-types-for-every-size.md)).
//!
//! Small members are searched one by one, and all others at once: by views of states, with more and more objects in a
//! view, and backward from what is wrong. With two constants, what is proved for large values of both leaves members in which
//! one is small and the other is any: these are regions of their own. Members are searched in the order of the sum of the
//! constants, so the first violation is a smallest one.
//!
//! Some texts show how many objects suffice for all numbers of them ([cut-offs](../../../../docs/adr/0053-cut-offs.md)): then
//! members with up to so many are searched, and that is all.
//!
//! Here is what is tried, in which order and how far. The engines and the regions are those of the crate `quotient_every`.
//!
//! * `report`: claims, and what is reported about them;
//! * `text`: how members are read, and what is refused;
//! * `turns`: which search is next;
//! * `confirm`: what was found is checked again, and compared with small members.

mod confirm;
mod report;
mod text;
mod turns;

use std::time::{Duration, Instant};

use quotient_every::Family;
use quotient_search::Verdict;

use self::text::MemberText;
use self::turns::Turns;
use crate::control::{Control, Observer, Phase};
use crate::error::Error;
use crate::lowering::Lowering;
use crate::model::Model;
use crate::options::Options;
use crate::plan::refuse_every;

pub use self::report::{
    Every, EveryAttempt, EveryCutOff, EveryGuards, EveryMethod, EveryProof, EveryReport, EveryTextCutOff,
};
pub use quotient_every::{EverySize, EveryValue};

/// Checks the invariants of a model, and that nothing goes wrong, for all values of constants from some on. Members are
/// read from the text of the model.
///
/// # Errors
/// If the options cannot be used, or the text does not show that the members differ in nothing but the number of some
/// interchangeable objects.
pub fn every(
    model: &Model,
    claim: &Every,
    options: &Options,
    control: &Control,
    observer: &mut dyn Observer,
) -> Result<EveryReport, Error> {
    let started = Instant::now();
    refuse_every(options)?;
    control.tighten(&options.limits);
    let model = &model.lowered(Lowering::for_check(options), control)?;
    control.enter(Phase::Detecting);
    let text = MemberText::new(model, claim, options, control)?;
    let family = Family::new(text, claim.sizes.clone(), control.interrupt().clone());
    let (family, whole) = text.known(family)?;
    let report = EveryReport {
        verdict: Verdict::Inconclusive,
        claim: claim.clone(),
        objects: family.named_objects(),
        is_ordered: whole.scope().objects.is_ordered(),
        properties: family.properties().to_vec(),
        searched: Vec::new(),
        attempts: Vec::new(),
        tests: whole.scope().needs.tests.iter().map(|test| (test.reason.clone(), test.span)).collect(),
        proofs: Vec::new(),
        cut_off: None,
        violation: None,
        open: None,
        stop_reason: None,
        elapsed: Duration::ZERO,
    };
    let searched = family.least_sum() - 1;
    let mut turns = Turns { family, report, claim, options, control, observer, searched };
    turns.decide(whole)?;
    Ok(EveryReport { elapsed: started.elapsed(), ..turns.report })
}
