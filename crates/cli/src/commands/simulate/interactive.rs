//! A run chosen by hand in a terminal: list, choose, undo.

use std::io::{self, BufRead};

use quotient::walk::{Candidate, Candidates, Consequence, Orbits, Randomness, starts, successors, violated_invariant};
use quotient_ir::{Interpreter, Trace, TraceStep};

use crate::failure::{Failure, HOLDS};
use crate::render::trace::{StateDetail, StatesBefore, TraceRenderer};
use crate::terminal::{Palette, Reader, print, visible};

/// Longer lists are truncated, unless requested in full.
const LISTED: usize = 40;
/// The width of step numbers.
const WIDTH: usize = 3;
/// The maximum number of equivalent steps that are named.
const LISTED_OTHERS: usize = 8;

const HELP: &str = "  NUMBER  take that step
  r       take a random step
  u       undo the last step
  n       take the next step of the recorded run
  e       follow the recorded run to its end
  s       show the whole state
  l       list all steps, also those that are like others
  ?       this help
  q       quit
";

/// A command of the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wish {
    Take(usize),
    Random,
    Undo,
    Next,
    End,
    Show,
    List,
    Help,
    Quit,
    Unclear,
}

/// A run that is being built.
struct Session<'m, 'i> {
    interpreter: &'i Interpreter<'m>,
    renderer: TraceRenderer<'m>,
    randomness: Randomness,
    steps: Vec<TraceStep>,
    candidates: Candidates,
    /// For each candidate, the first that leads to a state of the same orbit.
    firsts: Vec<usize>,
    orbits: Option<Orbits>,
    /// A run to step through.
    recorded: Option<Trace>,
}

/// Lets the user choose steps until they end the run. Returns the run and the exit status.
pub(super) fn run(
    interpreter: &Interpreter<'_>,
    randomness: Randomness,
    orbits: Option<Orbits>,
    recorded: Option<Trace>,
    detail: StateDetail,
) -> Result<(Trace, u8), Failure> {
    let palette = Palette::for_stdout();
    let renderer = TraceRenderer::new(interpreter.model(), interpreter.layout(), palette).showing(detail);
    let candidates = Candidates { list: Vec::new(), is_cut: false };
    let (steps, firsts) = (Vec::new(), Vec::new());
    let mut session = Session { interpreter, renderer, randomness, steps, candidates, firsts, orbits, recorded };
    session.offer(starts(interpreter));
    let mut text = String::new();
    if session.recorded.is_some() {
        text.push_str(&session.next());
    } else if let [_] = session.candidates.list.as_slice() {
        text.push_str(&session.take(0));
    }
    text.push_str(&session.listing(LISTED));
    let mut lines = io::stdin().lock().lines();
    loop {
        text.push_str("> ");
        if print(&text)? == Reader::Gone {
            break;
        }
        let Some(line) = lines.next().transpose().map_err(unreadable)? else {
            print("\n")?;
            break;
        };
        text = match understand(&line) {
            Wish::Quit => break,
            Wish::Help => HELP.to_owned(),
            Wish::List => session.whole_listing(),
            Wish::Show => session.state(),
            Wish::Undo => session.undo(),
            Wish::Next => {
                let text = session.next();
                text + &session.listing(LISTED)
            }
            Wish::End => {
                let text = session.follow_to_the_end();
                text + &session.listing(LISTED)
            }
            Wish::Random if session.candidates.list.is_empty() => session.listing(LISTED),
            Wish::Random => {
                let position = session.randomness.position(session.candidates.list.len());
                session.take_and_list(position)
            }
            Wish::Take(number) if (1..=session.candidates.list.len()).contains(&number) => {
                session.take_and_list(number - 1)
            }
            Wish::Take(_) | Wish::Unclear => "choose a step by its number, or ? for help\n".to_owned(),
        };
    }
    let violation = session.steps.last().and_then(|step| violated_invariant(interpreter, &step.state));
    let trace = session.recorded.filter(|recorded| recorded.steps == session.steps);
    Ok((trace.unwrap_or_else(|| Trace::new(session.steps, violation)), HOLDS))
}

fn unreadable(error: io::Error) -> Failure {
    Failure::Usage(format!("cannot read standard input: {error}"))
}

fn understand(line: &str) -> Wish {
    match line.trim() {
        "q" | "quit" | "exit" => Wish::Quit,
        "u" | "undo" | "b" | "back" => Wish::Undo,
        "n" | "next" => Wish::Next,
        "e" | "end" => Wish::End,
        "s" | "show" => Wish::Show,
        "l" | "list" | "" => Wish::List,
        "r" | "random" => Wish::Random,
        "?" | "h" | "help" => Wish::Help,
        other => other.parse().map_or(Wish::Unclear, Wish::Take),
    }
}

impl Session<'_, '_> {
    fn offer(&mut self, candidates: Candidates) {
        self.firsts = match &mut self.orbits {
            Some(orbits) => orbits.firsts(&candidates),
            None => (0..candidates.list.len()).collect(),
        };
        self.candidates = candidates;
    }

    /// Takes a step, if it has a successor, and shows its effect.
    fn take(&mut self, position: usize) -> String {
        let before = self.states_before();
        let Candidate { action, arguments, consequence } = &self.candidates.list[position];
        match consequence {
            Consequence::State(state) => {
                let step = TraceStep { action: *action, arguments: arguments.clone(), state: state.clone() };
                let mut text = self.renderer.step(&self.steps.len().to_string(), WIDTH, &step, before);
                if let Some(violation) = violated_invariant(self.interpreter, &step.state) {
                    text.push_str(&self.renderer.violation(&violation, Some(&step.state), WIDTH));
                }
                self.offer(successors(self.interpreter, &step.state));
                self.steps.push(step);
                text
            }
            Consequence::Violation(violation) => {
                self.renderer.violation(violation, self.steps.last().map(|step| &step.state), WIDTH)
            }
            Consequence::Exhausted(fault) => format!("this step cannot be followed: {}\n", visible(&fault.message)),
        }
    }

    fn states_before(&self) -> StatesBefore<'_> {
        StatesBefore {
            shown: self.renderer.shown_state(&self.steps),
            previous: self.steps.last().map(|step| &step.state),
        }
    }

    /// Whether the run still follows the recorded one.
    fn is_on_record(&self) -> bool {
        self.recorded.as_ref().is_some_and(|recorded| recorded.steps.starts_with(&self.steps))
    }

    /// Takes the next step of the recorded run and shows its effect, or says why there is none.
    fn next(&mut self) -> String {
        let Some(recorded) = &self.recorded else {
            return "there is no recorded run; --replay FILE steps through one\n".to_owned();
        };
        if !self.is_on_record() {
            return "this is not the recorded run any more; undo to get back to it\n".to_owned();
        }
        let number = self.steps.len();
        let Some(step) = recorded.steps.get(number).cloned() else {
            return "the recorded run ends here\n".to_owned();
        };
        let begins = recorded.cycle == Some(number);
        let is_last = number + 1 == recorded.steps.len();
        let end = is_last.then(|| self.renderer.ending(recorded, WIDTH));
        let before = self.states_before();
        let mut text = self.renderer.step(&number.to_string(), WIDTH, &step, before);
        if begins {
            text.push_str(&self.renderer.cycle_begins(WIDTH));
        }
        text.push_str(&end.unwrap_or_default());
        self.offer(successors(self.interpreter, &step.state));
        self.steps.push(step);
        text
    }

    /// Takes all remaining steps of the recorded run.
    fn follow_to_the_end(&mut self) -> String {
        let length = self.recorded.as_ref().map_or(0, |recorded| recorded.steps.len());
        let mut text = self.next();
        while self.is_on_record() && self.steps.len() < length {
            text.push_str(&self.next());
        }
        text
    }

    fn take_and_list(&mut self, position: usize) -> String {
        let text = self.take(position);
        text + &self.listing(LISTED)
    }

    fn undo(&mut self) -> String {
        if self.steps.pop().is_none() {
            return "there is nothing to undo\n".to_owned();
        }
        self.offer(match self.steps.last() {
            Some(step) => successors(self.interpreter, &step.state),
            None => starts(self.interpreter),
        });
        let place = match self.steps.len() {
            0 => "before the start".to_owned(),
            length => format!("back after step {}", length - 1),
        };
        format!("{place}\n{}", self.listing(LISTED))
    }

    fn state(&self) -> String {
        match self.steps.last() {
            Some(step) => self.renderer.state(&step.state, "  "),
            None => "the run has not started\n".to_owned(),
        }
    }

    /// The candidates with their numbers, up to a maximum: of those that lead to states of one orbit only the first,
    /// with the numbers of the others.
    fn listing(&self, most: usize) -> String {
        let list = &self.candidates.list;
        let shown: Vec<usize> = (0..list.len()).filter(|&position| self.firsts[position] == position).collect();
        let mut text = self.opening();
        let width = self.width();
        for &position in shown.iter().take(most) {
            let others: Vec<String> = (position + 1..list.len())
                .filter(|&other| self.firsts[other] == position)
                .map(|other| (other + 1).to_string())
                .collect();
            let remark = match &others[..] {
                [] => String::new(),
                [.., last] if others.len() > LISTED_OTHERS => {
                    format!(" (likewise {}, …, {last})", others[..LISTED_OTHERS - 1].join(", "))
                }
                others => format!(" (likewise {})", others.join(", ")),
            };
            text.push_str(&self.candidate_line(position, width, &remark));
        }
        if shown.len() > most {
            text.push_str(&format!("{:>width$}  and {} more; l to list them\n", "", list.len() - most));
        } else if self.candidates.is_cut {
            text.push_str(&format!("{:>width$}  and more\n", ""));
        }
        text
    }

    /// All candidates with their numbers.
    fn whole_listing(&self) -> String {
        let mut text = self.opening();
        let width = self.width();
        for (position, &first) in self.firsts.iter().enumerate() {
            let remark = if first == position { String::new() } else { format!(" (like {})", first + 1) };
            text.push_str(&self.candidate_line(position, width, &remark));
        }
        if self.candidates.is_cut {
            text.push_str(&format!("{:>width$}  and more\n", ""));
        }
        text
    }

    fn opening(&self) -> String {
        match (self.candidates.list.is_empty(), self.steps.is_empty()) {
            (true, true) => "\nthere is no initial state; u to undo, q to quit\n".to_owned(),
            (true, false) => format!("\n{}; u to undo, q to quit\n", self.renderer.stuck()),
            (false, _) => "\n".to_owned(),
        }
    }

    fn width(&self) -> usize {
        self.candidates.list.len().to_string().len().max(WIDTH)
    }

    fn candidate_line(&self, position: usize, width: usize, remark: &str) -> String {
        let candidate = &self.candidates.list[position];
        let title = self.renderer.instance(candidate.action, &candidate.arguments);
        let outcome = match candidate.consequence {
            Consequence::State(_) => "",
            Consequence::Violation(_) => " fails",
            Consequence::Exhausted(_) => " cannot be followed",
        };
        format!("{:>width$}) {title}{outcome}{remark}\n", position + 1)
    }
}
