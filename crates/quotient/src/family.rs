//! The symmetries of a family of models: one text with other numbers in the place of its constants.

use std::fmt::Write as _;

use crate::languages::{Language, NamedNumber, named_numbers};
use quotient_ir::{Budget, PropertyId, TypeKind};
use quotient_symmetry::{Limit, RoleReport};

use crate::control::{Control, Phase};
use crate::error::Error;
use crate::lowering::Lowering;
use crate::model::Model;
use crate::selection::{claims, named_properties};
use crate::symmetries::{Preserve, stopped};
use crate::text::{TextReading, read};

/// With more constants than this, the first ones are varied.
const MOST_CONSTANTS: usize = 12;
/// Constants outside this range are not varied: they are codes or masks, not sizes.
const SIZES: std::ops::RangeInclusive<i64> = 1..=10_000;

/// The symmetries of a family.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SizeFamily {
    /// The group as a function of the constants.
    pub group: String,
    /// Whether it holds for all values of the constants, or for those that were read.
    pub for_all: bool,
    /// The constants that sizes depend on, with the values that were read.
    pub constants: Vec<(String, Vec<i64>)>,
    /// The factors of the group, and the roles without symmetries that have a size.
    pub factors: Vec<Factor>,
    /// The group for each valuation of the constants that was read.
    pub members: Vec<Member>,
}

/// One member of a family.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The constants that differ from those of the text.
    pub constants: Vec<(String, i64)>,
    /// The structure of its group.
    pub structure: String,
}

/// A factor of the group of a family.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Factor {
    /// The roles whose values it permutes.
    pub roles: Vec<String>,
    /// How many values these have.
    pub size: String,
    /// The group; none if it is trivial.
    pub group: Option<String>,
    /// Whether this holds for all values of the constants.
    pub for_all: bool,
    /// How the text uses the values.
    pub uses: Vec<String>,
    /// What limits the permutations.
    pub limits: Vec<Limit>,
}

/// A constant, and readings of the text with other values of it.
struct Varied {
    number: NamedNumber,
    readings: Vec<(i64, TextReading)>,
}

/// Reads the text of a model with other constants.
///
/// # Errors
/// If a property does not exist, the text is too large to be read off, or a limit was reached first.
pub fn family(model: &Model, preserve: &Preserve, control: &Control) -> Result<SizeFamily, Error> {
    let model = &model.lowered(Lowering::for_detection(), control)?;
    control.enter(Phase::Detecting);
    let budget = Budget::until(control.interrupt());
    let properties = |model: &Model| -> Result<Vec<PropertyId>, Error> {
        let own = match preserve {
            Preserve::All => claims(model.ir(), None),
            Preserve::Named(names) => named_properties(model.ir(), names)?,
            Preserve::Behaviour => Vec::new(),
        };
        let assumptions = model.ir().properties.iter_enumerated().filter(|(_, entry)| !entry.kind.is_claim());
        Ok(own.into_iter().chain(assumptions.map(|(id, _)| id)).collect())
    };
    let Some(base) = read(model, &properties(model)?, &budget) else {
        return Err(match control.check() {
            Some(_) => stopped(control),
            None => Error::whole_model(
                model.source().clone(),
                "text-too-large",
                "the text is too large or too deeply nested to read symmetries off it",
            ),
        });
    };
    let mut varied = Vec::new();
    for number in numbers(model) {
        let mut readings = Vec::new();
        for value in [number.value - 1, number.value + 1, number.value + 2] {
            if control.check().is_some() {
                return Err(stopped(control));
            }
            if !SIZES.contains(&value) {
                continue;
            }
            // Not every value makes a model.
            let Ok(other) = model.reread(&[(number.name.clone(), value.to_string())], control) else { continue };
            let Ok(own) = properties(&other) else { continue };
            if let Some(reading) = read(&other, &own, &budget) {
                readings.push((value, reading));
            }
        }
        let sizes = |reading: &TextReading| reading.roles.iter().map(|role| role.size).collect::<Vec<_>>();
        if readings.iter().any(|(_, reading)| sizes(reading) != sizes(&base)) {
            varied.push(Varied { number, readings });
        }
    }
    Ok(Fit { base: &base, varied: &varied }.family())
}

/// The numbers that may be sizes, with the values that they have in this model.
fn numbers(model: &Model) -> Vec<NamedNumber> {
    let mut numbers = match model.language() {
        Some(Language::B) => sets(model),
        Some(language) => named_numbers(model.source(), language),
        None => Vec::new(),
    };
    for number in &mut numbers {
        if let Some((_, value)) = model.constants().iter().rev().find(|(name, _)| *name == number.name)
            && let Ok(value) = value.parse()
        {
            number.value = value;
        }
    }
    numbers.retain(|number| SIZES.contains(&number.value));
    numbers.truncate(MOST_CONSTANTS);
    numbers
}

/// The sets of a B machine; the size of one that is not deferred cannot be set. No text can name a member of one that
/// is.
fn sets(model: &Model) -> Vec<NamedNumber> {
    let named = model.ir().types.iter().filter_map(|ty| match (&ty.name, &ty.kind) {
        (Some(name), TypeKind::Enumeration { members, .. }) => {
            Some(NamedNumber { name: name.clone(), value: members.len() as i64, is_size: true })
        }
        _ => None,
    });
    named.collect()
}

/// Fits functions of the constants to readings.
struct Fit<'a> {
    base: &'a TextReading,
    varied: &'a [Varied],
}

/// A number as a function of the constants.
struct Fitted {
    text: String,
    /// Whether it depends on constants that are sizes only.
    only_sizes: bool,
}

impl Fit<'_> {
    fn family(&self) -> SizeFamily {
        let mut factors = Vec::new();
        for (position, role) in self.base.roles.iter().enumerate() {
            self.add_free(position, role, &mut factors);
        }
        factors.extend(self.tied());
        for (position, role) in self.base.roles.iter().enumerate() {
            let is_sized = self
                .varied
                .iter()
                .flat_map(|one| &one.readings)
                .any(|(_, reading)| reading.roles.get(position).is_some_and(|other| other.size != role.size));
            if is_sized && role.free.is_empty() && role.others == 0 {
                let size = self.number(&|reading| reading.roles.get(position).map(|role| role.size as i64));
                let size = size.map_or_else(|| role.size.to_string(), |size| size.text);
                factors.push(Factor { group: None, for_all: false, ..factor(role, size) });
            }
        }
        let groups: Vec<&str> = factors.iter().filter_map(|factor| factor.group.as_deref()).collect();
        let moving = factors.iter().filter(|factor| factor.group.is_some());
        let group = if groups.is_empty() { "1".to_owned() } else { groups.join(" × ") };
        let for_all = !groups.is_empty() && !self.varied.is_empty() && moving.clone().all(|factor| factor.for_all);
        let constants = self.varied.iter().map(|one| {
            let mut values: Vec<i64> = one.readings.iter().map(|(value, _)| *value).chain([one.number.value]).collect();
            values.sort_unstable();
            (one.number.name.clone(), values)
        });
        let mut members = vec![Member { constants: Vec::new(), structure: self.base.structure.clone() }];
        for one in self.varied {
            members.extend(one.readings.iter().map(|(value, reading)| Member {
                constants: vec![(one.number.name.clone(), *value)],
                structure: reading.structure.clone(),
            }));
        }
        SizeFamily { group, for_all, constants: constants.collect(), factors, members }
    }

    /// The factors that permute the values of one role freely.
    fn add_free(&self, position: usize, role: &RoleReport, factors: &mut Vec<Factor>) {
        for (number, class) in role.free.iter().enumerate() {
            let size = self.number(&|reading| {
                let other = reading.roles.get(position).filter(|other| other.name == role.name)?;
                // A class of one value is none.
                match other.free.get(number) {
                    Some(class) => Some(class.len() as i64),
                    None => (role.free.len() == 1 && other.free.is_empty() && other.size <= role.size).then_some(1),
                }
            });
            let all = self.number(&|reading| reading.roles.get(position).map(|role| role.size as i64));
            let for_all = size.as_ref().is_some_and(|size| size.only_sizes);
            let group = match &size {
                Some(size) => format!("S_{}", subscript(&size.text)),
                None => format!("S{} (as read)", class.len()),
            };
            let values = all.map_or_else(|| role.size.to_string(), |all| all.text);
            let shown = match &size {
                Some(size) if size.text != values => format!("{} of {values}", size.text),
                _ => values,
            };
            factors.push(Factor { group: Some(group), for_all, ..factor(role, shown) });
        }
    }

    /// The factor of the roles that are tied.
    fn tied(&self) -> Option<Factor> {
        let structure = self.base.tied.as_ref()?;
        let roles: Vec<&RoleReport> = self.base.roles.iter().filter(|role| role.others > 0).collect();
        // `C4` is `C_N` if it is `C5` with the next number.
        let letter = structure.chars().next().unwrap_or('1');
        let fitted = self.number(&|reading| match reading.tied.as_deref() {
            None => Some(1),
            // Both are the same group.
            Some("S2") if letter == 'C' => Some(2),
            Some(structure) => structure.strip_prefix(letter)?.parse::<i64>().ok(),
        });
        let only_rotated = letter == 'C' && roles.iter().all(|role| role.only_rotated);
        let for_all = only_rotated && fitted.as_ref().is_some_and(|fitted| fitted.only_sizes);
        let group = match fitted {
            Some(fitted) => format!("{letter}_{}", subscript(&fitted.text)),
            None => format!("{structure} (as read)"),
        };
        let (size, first) = match &roles[..] {
            [first, ..] => {
                let position = self.base.roles.iter().position(|role| role == *first)?;
                let size = self.number(&|reading| reading.roles.get(position).map(|role| role.size as i64));
                (size.map_or_else(|| first.size.to_string(), |size| size.text), *first)
            }
            [] => return None,
        };
        let mut limits: Vec<Limit> = roles.iter().flat_map(|role| role.limits.iter().cloned()).collect();
        limits.dedup();
        let names = roles.iter().map(|role| role.name.clone()).collect();
        Some(Factor { roles: names, group: Some(group), for_all, limits, ..factor(first, size) })
    }

    /// A number that each reading has, as a linear function of the constants, if it is one.
    fn number(&self, of: &dyn Fn(&TextReading) -> Option<i64>) -> Option<Fitted> {
        let here = of(self.base)?;
        let mut rest = here;
        let mut terms: Vec<(&str, i64)> = Vec::new();
        let mut only_sizes = true;
        for Varied { number, readings } in self.varied {
            let mut slope = None;
            for (value, reading) in readings {
                let (there, distance) = (of(reading)?, value - number.value);
                if (there - here) % distance != 0 || slope.is_some_and(|slope| slope != (there - here) / distance) {
                    return None;
                }
                slope = Some((there - here) / distance);
            }
            if let Some(slope) = slope.filter(|slope| *slope != 0) {
                rest -= slope * number.value;
                only_sizes &= number.is_size && readings.len() > 1;
                terms.push((&number.name, slope));
            }
        }
        Some(Fitted { text: linear(&terms, rest), only_sizes })
    }
}

fn factor(role: &RoleReport, size: String) -> Factor {
    Factor {
        roles: vec![role.name.clone()],
        size,
        group: None,
        for_all: false,
        uses: role.uses.counted(),
        limits: role.limits.clone(),
    }
}

/// A sum of multiples of constants, and a number.
fn linear(terms: &[(&str, i64)], rest: i64) -> String {
    let mut text = String::new();
    for (name, factor) in terms {
        let sign = match (text.is_empty(), *factor < 0) {
            (true, false) => "",
            (true, true) => "-",
            (false, false) => " + ",
            (false, true) => " - ",
        };
        let times = if factor.abs() == 1 { String::new() } else { format!("{}·", factor.abs()) };
        let _ = write!(text, "{sign}{times}{name}");
    }
    match rest {
        _ if text.is_empty() => rest.to_string(),
        0 => text,
        1.. => format!("{text} + {rest}"),
        _ => format!("{text} - {}", -rest),
    }
}

/// `N`, but `(N - 1)`.
fn subscript(text: &str) -> String {
    if text.contains([' ', '·']) { format!("({text})") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_functions_in_words() {
        assert_eq!(linear(&[("N", 1)], 0), "N");
        assert_eq!(linear(&[("N", 1), ("M", -2)], 1), "N - 2·M + 1");
        assert_eq!(linear(&[], 3), "3");
        assert_eq!(subscript(&linear(&[("N", 1)], -1)), "(N - 1)");
    }
}
