//! The languages that models may be written in: one line each in the table below. A language whose Cargo feature is off
//! keeps its name and its file extensions, and what is asked of it is refused with the name of the feature.
//!
//! The functions read a text as its front end does. [`Model`](crate::Model) reads files within limits and is what most
//! callers want.

use quotient_ir::{Diagnostic, Source, Span};
use quotient_kit::FrontEnd;
pub use quotient_kit::conditions::{Condition, Extended, Role};
pub use quotient_kit::{
    LabelChecks, LoadOptions, Loaded, MAXIMUM_SOURCE_BYTES, NamedNumber, UNSUPPORTED_PROPERTY, WellDefinedness,
    source_from_bytes,
};

/// Makes the enumeration of languages from a table: the name of the variant, the crate, the name on the command line,
/// which is also that of the feature, and the file extensions.
macro_rules! languages {
    ($($(#[$documentation:meta])* $language:ident, $front_end:ident, $identifier:literal, $extensions:expr;)*) => {
        /// The languages a model may be written in.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Language {
            $($(#[$documentation])* $language,)*
        }

        impl Language {
            /// All languages, also those that are left out.
            pub const ALL: &[Self] = &[$(Self::$language),*];

            /// The name of the language on the command line and in files of runs.
            pub fn identifier(self) -> &'static str {
                match self {
                    $(Self::$language => $identifier,)*
                }
            }

            /// The file extensions of the language, in lower case.
            pub fn extensions(self) -> &'static [&'static str] {
                match self {
                    $(Self::$language => &$extensions,)*
                }
            }

            /// The front end; `None` if it is left out.
            fn front_end(self) -> Option<&'static FrontEnd> {
                match self {
                    $(
                        #[cfg(feature = $identifier)]
                        Self::$language => Some(&$front_end::LANGUAGE),
                        #[cfg(not(feature = $identifier))]
                        Self::$language => None,
                    )*
                }
            }
        }
    };
}

languages! {
    /// Murphi, as rumur and CMurphi read it.
    Murphi, quotient_murphi, "murphi", ["m", "murphi"];
    /// Classical B, as ProB and Atelier B read it.
    B, quotient_b, "b", ["mch", "ref", "imp", "sys"];
    /// Promela, as SPIN reads it.
    Promela, quotient_promela, "promela", ["pml", "prom", "promela", "prm", "spin"];
    /// DVE, as DiVinE reads it.
    Dve, quotient_dve, "dve", ["dve"];
    /// CSP#, as PAT reads it.
    Csp, quotient_csp, "csp", ["csp"];
    /// PNML, the XML form of Petri nets.
    Pnml, quotient_pnml, "pnml", ["pnml"];
}

impl Language {
    /// The language that a file's extension implies.
    pub fn from_file_name(name: &str) -> Option<Self> {
        let (_, extension) = name.rsplit_once('.')?;
        let extension = extension.to_ascii_lowercase();
        Self::ALL.iter().copied().find(|language| language.extensions().contains(&extension.as_str()))
    }

    /// The front end, or why there is none.
    fn available(self) -> Result<&'static FrontEnd, Box<Diagnostic>> {
        self.front_end().ok_or_else(|| {
            let identifier = self.identifier();
            let message = format!("this build of quotient does not read the language `{identifier}`");
            let error = Diagnostic::error("language-left-out", message, Span::default());
            let help = format!("build it with the feature `{identifier}`, which is on by default");
            Box::new(Diagnostic { primary: None, ..error }.with_help(help))
        })
    }
}

/// Reads a model.
///
/// # Errors
/// Every error found in the source, and its warnings, in the order of the source.
pub fn load(source: Source, language: Language, options: &LoadOptions) -> Result<Loaded, Vec<Diagnostic>> {
    language.available().map_err(|error| vec![*error])?.load(source, options)
}

/// The other files that a model mentions, by the names they may have: for each, the first that exists is used. The
/// caller appends them to the source ([`Source::followed_by`]), and calls this again, since they may mention others.
pub fn mentioned_files(source: &Source, language: Language) -> Vec<Vec<String>> {
    language.front_end().map(|it| it.mentioned_files(source)).unwrap_or_default()
}

/// A source followed by the files that it mentions, and those that these mention. `read` is called with the names that
/// a file may have, relative to the directory of the source. A missing file is reported by [`load`], which knows where
/// it is mentioned.
///
/// # Errors
/// The first error of `read`.
pub fn with_mentioned_files<Error>(
    source: Source,
    language: Language,
    read: impl FnMut(&[String]) -> Result<Option<Source>, Error>,
) -> Result<Source, Error> {
    match language.front_end() {
        Some(front_end) => front_end.with_mentioned_files(source, read),
        None => Ok(source),
    }
}

/// The syntax errors of a text, without reading what it means: this takes little time also where reading takes long.
pub fn syntax_errors(source: &Source, language: Language) -> Vec<Diagnostic> {
    match language.available() {
        Ok(front_end) => front_end.syntax_errors(source),
        Err(error) => vec![*error],
    }
}

/// A Murphi text with usual indentation and spaces; `None` if it has syntax errors.
pub fn format_murphi(text: &str) -> Option<String> {
    Language::Murphi.front_end()?.format(text)
}

/// The numbers of a text that can be set from outside, in the order of the text. Sizes of deferred sets, which a B
/// machine need not mention, are not among them.
pub fn named_numbers(source: &Source, language: Language) -> Vec<NamedNumber> {
    language.front_end().map(|it| it.named_numbers(source)).unwrap_or_default()
}

/// Puts conditions into a text.
///
/// # Errors
/// If one of them cannot be a single expression, with the text to show.
pub fn with_conditions(
    source: &Source,
    language: Language,
    conditions: &[Condition],
) -> Result<Extended, (Source, Vec<Diagnostic>)> {
    match language.available() {
        Ok(front_end) => front_end.with_conditions(source, conditions),
        Err(error) => Err((source.clone(), vec![*error])),
    }
}

pub mod outline {
    //! What editors ask about a text: its definitions, where each is used, and where each is visible.

    use quotient_ir::{Source, Span};
    pub use quotient_kit::RenameRefusal;
    pub use quotient_kit::outline::{Definition, Kind, Outline};

    use super::Language;

    /// The outline of a text. A text with errors has an outline of what could be parsed.
    pub fn outline(source: &Source, language: Language) -> Outline {
        language.front_end().map(|it| it.outline(source)).unwrap_or_default()
    }

    /// The words of a language that cannot be names.
    pub fn keywords(language: Language) -> Vec<&'static str> {
        language.front_end().map(|it| it.keywords()).unwrap_or_default()
    }

    /// Whether a word can be a name in a language.
    pub fn is_name(word: &str, language: Language) -> bool {
        language.front_end().is_some_and(|it| it.is_name(word))
    }

    /// The places to replace so that what is named at an offset has another name and everything else means the same.
    ///
    /// # Errors
    /// If it cannot be renamed, or if the new name would be confused with another one.
    pub fn rename(source: &Source, language: Language, offset: u32, name: &str) -> Result<Vec<Span>, RenameRefusal> {
        match language.front_end() {
            Some(front_end) => front_end.rename(source, offset, name),
            None => Err(RenameRefusal::Nothing),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_extension_is_that_of_one_language() {
        for &language in Language::ALL {
            for extension in language.extensions() {
                let name = format!("folder/model.{}", extension.to_uppercase());
                assert_eq!(Language::from_file_name(&name), Some(language), "{name}");
            }
        }
        assert_eq!(Language::from_file_name("model"), None);
    }

    #[test]
    fn a_language_that_is_left_out_is_refused() {
        for &language in Language::ALL.iter().filter(|language| language.front_end().is_none()) {
            let source = Source::new("model", "");
            let errors = load(source.clone(), language, &LoadOptions::default()).expect_err("there is no front end");
            assert_eq!(errors[0].code, "language-left-out");
            assert_eq!(syntax_errors(&source, language), errors);
        }
    }
}
