//! Running a plan: the door from options that were checked to a report.

use std::collections::BTreeSet;
use std::time::Instant;

use quotient_ir::PropertyId;
use quotient_search::{PropertyReport, Subject, Verdict, ViolationLimit};

use crate::control::{Control, Observer, Silent};
use crate::covers;
use crate::error::Error;
use crate::model::Model;
use crate::names::{ERRORS, subject_name};
use crate::optima;
use crate::options::Options;
use crate::plan::Plan;
use crate::report::Report;
use crate::run;
use crate::selection::named_properties;
use quotient_search::defect::Defect;

impl Plan {
    /// Runs the check.
    ///
    /// # Errors
    /// If a checkpoint does not match, adaptive reduction was requested but does not apply to the model, or there is a
    /// defect in this program.
    pub fn run(&self) -> Result<Report, Error> {
        self.run_with(&Control::start(&self.options.limits), &mut Silent)
    }

    /// Runs the check under a control that can cancel it, and reports progress to an observer. The limits of the
    /// options apply in addition to those of the control.
    ///
    /// # Errors
    /// As for [`Plan::run`].
    pub fn run_with(&self, control: &Control, observer: &mut dyn Observer) -> Result<Report, Error> {
        let started = Instant::now();
        let mut report = run::check(self, control, observer)?;
        if !self.model.ir().objectives.is_empty() {
            let (optima, stopped) = optima::optima(self, &report, control, observer)?;
            report.optima = optima;
            // An optimum that is not proved is no answer.
            if let Some(reason) = stopped {
                report.stop_reason = report.stop_reason.or(Some(reason));
                if report.verdict == Verdict::Holds {
                    report.verdict = Verdict::Inconclusive;
                }
            }
            report.elapsed = started.elapsed();
        }
        if self.options.cover_runs {
            report.cover_runs = covers::runs(self, &report, control, observer)?;
            report.elapsed = started.elapsed();
        }
        Ok(report)
    }

    /// The properties of a report of this plan with runs of another lowering of the model. If that has steps that the plan
    /// leaves out, the runs are searched for again, and a limit may be reached before they are found.
    ///
    /// # Errors
    /// As for [`Plan::run`].
    pub fn report_on(&self, model: &Model, report: &Report, control: &Control) -> Result<Report, Error> {
        if model.is_lowered_as(&self.model) {
            return Ok(report.clone());
        }
        let mut properties = Vec::new();
        for property in &report.properties {
            let name = subject_name(self.model.ir(), property.subject);
            let subject = match property.subject {
                Subject::Property(_) => Subject::Property(named_property(model, &name)?),
                Subject::Deadlock | Subject::Errors => property.subject,
            };
            properties
                .push((name, PropertyReport { subject, trace: None, other_traces: Vec::new(), ..property.clone() }));
        }
        let violated = properties.iter().filter(|(_, property)| property.verdict == Verdict::Violated);
        let fault = report.fault.iter().map(|_| ERRORS.to_owned());
        let violated: BTreeSet<String> = violated.map(|(name, _)| name.clone()).chain(fault).collect();
        let mut own =
            Report { properties: properties.into_iter().map(|(_, own)| own).collect(), fault: None, ..report.clone() };
        if violated.is_empty() {
            return Ok(own);
        }
        // One of several violations must not hide the others.
        let violations = if violated.len() > 1 { ViolationLimit::All } else { self.options.violations };
        let options = Options { properties: violated.into_iter().collect(), violations, ..self.options.clone() };
        let found = Self::of(model, &options)?.run_with(control, &mut Silent)?;
        for property in &mut own.properties {
            if let Some(other) = found.properties.iter().find(|other| other.subject == property.subject) {
                property.trace.clone_from(&other.trace);
                property.other_traces.clone_from(&other.other_traces);
            }
        }
        Ok(Report { fault: found.fault, ..own })
    }
}

/// The property of a name.
fn named_property(model: &Model, name: &str) -> Result<PropertyId, Error> {
    let found = named_properties(model.ir(), &[name.to_owned()])?;
    found.first().copied().ok_or_else(|| Defect::noticed(format!("property `{name}` is missing")).into())
}
