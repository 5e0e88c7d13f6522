//! What was found is checked again, and compared with small members: as many as there is time for, since what is proved does
//! not depend on them.

use std::sync::Arc;

use quotient_every::{
    Compared, Comparison, EveryValue, Invariant, Recheck, RecheckQuestion, Region, Relation, Selection, Unchecked,
};
use quotient_search::defect::Defect;

use super::report::{EveryCutOff, EveryMethod, EveryProof};
use super::turns::{Progress, Turns};
use crate::control::Phase;
use crate::error::Error;

/// Members are compared with an invariant if the sum of the constants is less than this larger than the least one; but at
/// least one is.
const COMPARED: i64 = 6;
/// A member with more states than this, up to exchanges of objects, is not compared.
const MOST_COMPARED: usize = 300_000;
/// For a cut-off, members that are larger by so much are visited besides.
const MORE_FOR_CUT_OFF: i64 = 6;
/// But none with more states than this, up to exchanges of objects.
const MOST_FOR_CUT_OFF: usize = 20_000;

impl Turns<'_> {
    /// Checks an invariant again, and against all states of small members.
    pub(super) fn confirm(
        &mut self,
        region: &Region,
        invariant: Invariant,
        selection: Selection,
    ) -> Result<Progress, Error> {
        self.control.enter(Phase::Comparing);
        let invariant = Arc::new(invariant);
        // All members have the same cells.
        let named = selection.members.values().next().cloned();
        let question = RecheckQuestion { selection, invariant: Arc::clone(&invariant) };
        let rechecked = match self.ask(Recheck, region.job(question))? {
            Some(outcome) => unless_contradicted(outcome)?,
            None => None,
        };
        let (Some(rechecked), Some(named)) = (rechecked, named) else {
            self.report.open = Some("an invariant was found, and not all of it checked again".to_owned());
            self.report.stop_reason = self.control.check();
            return Ok(Progress::Stopped);
        };
        let values = self.family.about(region, invariant.kept);
        let mut compared: Vec<(Vec<i64>, u64)> = Vec::new();
        let mut cut_off = None;
        let least: i64 = values.iter().map(|values| values.least()).sum();
        let sums = least..(self.family.least_sum() + COMPARED).max(least + 1);
        let candidates = self.family.covered(&values, sums);
        let last = candidates.last().map_or(least, |candidate| candidate.iter().sum());
        for candidate in candidates {
            // What is proved does not depend on whether there is time for this.
            let Some(found) = self.compare(region, &candidate, &invariant, MOST_COMPARED)? else { break };
            if cut_off.is_none() && found.has_all_views {
                cut_off = Some(EveryCutOff { values: candidate.clone(), about: values.clone() });
            }
            compared.push((candidate, found.states));
        }
        if let [EveryValue::AtLeast(_)] = values[..] {
            let more = (last + 1..=last + MORE_FOR_CUT_OFF).map(|value| vec![value]);
            for candidate in more {
                let is_small = |(_, states): &(Vec<i64>, u64)| *states <= MOST_FOR_CUT_OFF as u64;
                if cut_off.is_some() || !compared.last().is_some_and(is_small) {
                    break;
                }
                let Some(found) = self.compare(region, &candidate, &invariant, MOST_FOR_CUT_OFF)? else { break };
                if found.has_all_views {
                    cut_off = Some(EveryCutOff { values: candidate.clone(), about: values.clone() });
                }
                compared.push((candidate, found.states));
            }
            cut_off = self.smaller_cut_off(region, least, &invariant, cut_off)?;
        }
        self.report.proofs.push(EveryProof {
            values,
            kept: invariant.kept,
            method: self.report.attempts.last().map_or(EveryMethod::Views, |attempt| attempt.method),
            invariant: invariant.lines(&named),
            excluded: invariant.excluded_lines(&named),
            contexts: invariant.contexts(),
            rows: invariant.rows(),
            rechecked,
            compared,
            cut_off,
        });
        Ok(Progress::Proved)
    }

    /// Looks up all states of a member that an invariant is about, if these are not too many.
    fn compare(
        &mut self,
        region: &Region,
        values: &[i64],
        invariant: &Arc<Invariant>,
        most: usize,
    ) -> Result<Option<Compared>, Error> {
        let question = self.family.comparison(region, values, invariant, Relation::Covered, most);
        let question = self.family.text().known(question)?;
        let Some(outcome) = self.ask(Comparison, question.job())? else { return Ok(None) };
        Ok(unless_contradicted(outcome)?.flatten())
    }

    /// A cut-off among the members that are smaller than those that an invariant is about, or else a known one; and for which
    /// of the smaller members it is one, too: those from a number on of which no state has anything that does not belong to the
    /// invariant. There is one constant.
    fn smaller_cut_off(
        &mut self,
        region: &Region,
        least: i64,
        invariant: &Arc<Invariant>,
        mut cut_off: Option<EveryCutOff>,
    ) -> Result<Option<EveryCutOff>, Error> {
        for value in (self.family.least_sum()..least).rev() {
            let question = self.family.comparison(region, &[value], invariant, Relation::Smaller, MOST_COMPARED);
            // With very few objects, the text may be read in another way.
            let Ok(question) = question else { break };
            let Some(Ok(Some(found))) = self.ask(Comparison, question.job())? else { break };
            let values = match &cut_off {
                _ if found.has_all_views => vec![value],
                Some(known) => known.values.clone(),
                None => break,
            };
            cut_off = Some(EveryCutOff { values, about: vec![EveryValue::AtLeast(value)] });
        }
        Ok(cut_off)
    }
}

/// The result of a check, if it was not interrupted. A contradiction is a defect of this program.
fn unless_contradicted<T>(outcome: Result<T, Unchecked>) -> Result<Option<T>, Error> {
    match outcome {
        Ok(value) => Ok(Some(value)),
        Err(Unchecked::Interrupted) => Ok(None),
        Err(Unchecked::Contradicted(contradiction)) => Err(Defect::noticed(contradiction.to_string()).into()),
    }
}
