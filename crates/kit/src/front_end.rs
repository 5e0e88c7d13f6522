//! What a language gives to the tool: one value, the only export of its crate.

use quotient_ir::{Diagnostic, Source};

use crate::conditions::{Condition, Conditions, Extended, with_conditions};
use crate::constants::{NamedNumber, is_size};
use crate::limits::{MAXIMUM_SOURCE_BYTES, too_large};
use crate::loading::{LoadOptions, Loaded};
use crate::outline::{Builder, Outline};

/// The front end of a language. The fields are what each language does in its own way; the methods keep the limits that
/// hold for all.
#[derive(Debug)]
pub struct FrontEnd {
    /// The name of the language in messages.
    pub name: &'static str,
    /// Reads a model: every error found in the source, or a model with warnings, in the order of the source.
    pub read: fn(Source, &LoadOptions) -> Result<Loaded, Vec<Diagnostic>>,
    /// The other files that a source mentions and does not have, by the names they may have.
    pub files: fn(&Source) -> Vec<Vec<String>>,
    /// The errors that the parser finds.
    pub parse: fn(&Source) -> Vec<Diagnostic>,
    /// The definitions of a text and their uses.
    pub definitions: for<'s> fn(&'s Source) -> Builder<'s>,
    /// What can be a name.
    pub words: Words,
    /// The constants of a text that are numbers and can be set from outside, and all tokens of the text; `None` if the
    /// language has none.
    pub numbers: Option<Numbers>,
    /// How conditions given separately become part of a text.
    pub conditions: Conditions,
    /// A text with usual indentation and spaces, or nothing if it has syntax errors; `None` if there is no usual form.
    pub layout: Option<fn(&str) -> Option<String>>,
}

/// The named numbers of a text, and its tokens.
pub type Numbers = for<'s> fn(&'s Source) -> (Vec<(String, i64)>, Vec<&'s str>);

/// The words of a language.
#[derive(Debug)]
pub struct Words {
    /// Those that cannot be names.
    pub keywords: fn() -> Vec<&'static str>,
    /// Whether keywords are recognised in any case.
    pub any_case: bool,
    /// Whether a name may begin with `_`.
    pub may_begin_with_underscore: bool,
}

impl FrontEnd {
    /// Reads a model.
    ///
    /// # Errors
    /// Every error found in the source, and its warnings, in the order of the source.
    pub fn load(&self, source: Source, options: &LoadOptions) -> Result<Loaded, Vec<Diagnostic>> {
        if source.text.len() > MAXIMUM_SOURCE_BYTES {
            return Err(vec![too_large(&source.name, source.text.len())]);
        }
        (self.read)(source, options)
    }

    /// The other files that a model mentions, by the names they may have: for each, the first that exists is used. The
    /// caller appends them to the source ([`Source::followed_by`]), and calls this again, since they may mention others.
    pub fn mentioned_files(&self, source: &Source) -> Vec<Vec<String>> {
        (self.files)(source)
    }

    /// A source followed by the files that it mentions, and those that these mention. `read` is called with the names
    /// that a file may have, relative to the directory of the source. A missing file is reported by [`load`](Self::load),
    /// which knows where it is mentioned.
    ///
    /// # Errors
    /// The first error of `read`.
    pub fn with_mentioned_files<Error>(
        &self,
        mut source: Source,
        mut read: impl FnMut(&[String]) -> Result<Option<Source>, Error>,
    ) -> Result<Source, Error> {
        const MOST_FILES: usize = 100;
        let mut tried: Vec<Vec<String>> = Vec::new();
        while source.files.len() < MOST_FILES {
            let mentioned = self.mentioned_files(&source);
            let Some(names) = mentioned.into_iter().find(|names| !tried.contains(names)) else { break };
            if let Some(other) = read(&names)? {
                source = source.followed_by(&other);
            }
            tried.push(names);
        }
        Ok(source)
    }

    /// The syntax errors of a text, without reading what it means: this is quick even where reading takes long.
    pub fn syntax_errors(&self, source: &Source) -> Vec<Diagnostic> {
        if source.text.len() > MAXIMUM_SOURCE_BYTES {
            return vec![too_large(&source.name, source.text.len())];
        }
        (self.parse)(source)
    }

    /// The outline of a text.
    pub fn outline(&self, source: &Source) -> Outline {
        if source.text.len() > MAXIMUM_SOURCE_BYTES {
            return Outline::default();
        }
        (self.definitions)(source).finish()
    }

    /// The words that cannot be names.
    pub fn keywords(&self) -> Vec<&'static str> {
        (self.words.keywords)()
    }

    /// Whether a word can be a name.
    pub fn is_name(&self, word: &str) -> bool {
        let mut characters = word.chars();
        let may_begin = |it: char| it.is_ascii_alphabetic() || it == '_' && self.words.may_begin_with_underscore;
        let starts = characters.next().is_some_and(may_begin);
        let keywords = self.keywords();
        let is_reserved = match self.words.any_case {
            true => keywords.iter().any(|it| it.eq_ignore_ascii_case(word)),
            false => keywords.contains(&word),
        };
        starts && characters.all(|it| it.is_ascii_alphanumeric() || it == '_') && !is_reserved
    }

    /// The numbers of a text that can be set from outside, in the order of the text.
    pub fn named_numbers(&self, source: &Source) -> Vec<NamedNumber> {
        let Some(numbers) = self.numbers else { return Vec::new() };
        let (numbers, tokens) = numbers(source);
        let named = |(name, value): (String, i64)| {
            let is_size = is_size(&tokens, &name, 0);
            NamedNumber { name, value, is_size }
        };
        numbers.into_iter().map(named).collect()
    }

    /// Puts conditions into a text.
    ///
    /// # Errors
    /// If one of them cannot be a single expression, with the text to show.
    pub fn with_conditions(
        &self,
        source: &Source,
        conditions: &[Condition],
    ) -> Result<Extended, (Source, Vec<Diagnostic>)> {
        with_conditions(source, &self.conditions, conditions)
    }

    /// A text with usual indentation and spaces; `None` if it has syntax errors, or there is no usual form.
    pub fn format(&self, text: &str) -> Option<String> {
        self.layout.and_then(|layout| layout(text))
    }
}
