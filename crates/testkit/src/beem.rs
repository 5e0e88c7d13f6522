//! The corpus BEEM: recorded answers about DVE models, and the reachability goals and LTL formulas of a model, which are in
//! an XML file with macros of m4.

use std::fs;
use std::path::Path;

/// What is recorded of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// Its family, the name of its folder.
    pub family: String,
    /// The name of the file.
    pub file: String,
    /// The number of states.
    pub states: Option<u64>,
    /// The numbers of its reachability goals, and whether they are reached.
    pub goals: Vec<(u32, bool)>,
}

/// The models of the corpus without those of LTL properties, as `expected.csv` lists them.
///
/// # Panics
/// If the table cannot be read.
pub fn recorded(folder: &Path) -> Vec<Recorded> {
    let table = fs::read_to_string(folder.join("expected.csv")).expect("expected.csv can be read");
    let mut models: Vec<Recorded> = Vec::new();
    for line in table.lines().skip(1).filter(|line| !line.is_empty()) {
        let columns: Vec<&str> = line.split(',').collect();
        let [family, file, question, answer, ..] = columns[..] else { panic!("too few columns in `{line}`") };
        if file.contains(".prop") {
            continue;
        }
        if models.last().is_none_or(|it| it.file != file) {
            let (family, file) = (family.to_owned(), file.to_owned());
            models.push(Recorded { family, file, states: None, goals: Vec::new() });
        }
        let model = models.last_mut().expect("one was just added");
        if question == "states" {
            model.states = answer.parse().ok();
        } else if let Some(goal) = question.strip_prefix("reach-goal:") {
            model.goals.push((goal.parse().expect("goals are numbered"), answer == "yes"));
        }
    }
    models
}

/// What is recorded of an LTL property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedProperty {
    /// The family of its model.
    pub family: String,
    /// The name of the file with its automaton.
    pub file: String,
    /// Its number in the family.
    pub number: u32,
    /// Whether it holds.
    pub holds: bool,
    /// The number of states of the model, if that is recorded.
    pub states: Option<u64>,
}

impl RecordedProperty {
    /// The file of the model without the automaton.
    pub fn model_file(&self) -> String {
        self.file.replace(&format!(".prop{}", self.number), "")
    }
}

/// The LTL properties of the corpus, as `expected.csv` lists them.
///
/// # Panics
/// If the table cannot be read.
pub fn recorded_properties(folder: &Path) -> Vec<RecordedProperty> {
    let table = fs::read_to_string(folder.join("expected.csv")).expect("expected.csv can be read");
    let models = recorded(folder);
    let mut properties = Vec::new();
    for line in table.lines().skip(1) {
        let columns: Vec<&str> = line.split(',').collect();
        let [family, file, question, answer, ..] = columns[..] else { continue };
        let Some(number) = question.strip_prefix("ltl-prob:") else { continue };
        let mut property = RecordedProperty {
            family: family.to_owned(),
            file: file.to_owned(),
            number: number.parse().expect("properties are numbered"),
            holds: answer == "yes",
            states: None,
        };
        let model = property.model_file();
        property.states = models.iter().find(|it| it.file == model).and_then(|it| it.states);
        properties.push(property);
    }
    properties
}

/// The LTL formula of a property, with its atoms written out in DVE, each in brackets.
///
/// # Panics
/// If the XML file of the family cannot be read.
pub fn formula(folder: &Path, property: &RecordedProperty) -> Option<String> {
    let description = Description::read(folder, &property.family, &property.model_file())?;
    let text = description.property(property.number, "LTL")?;
    // The operator may touch the name before it: `p0U(q)`.
    let is_atom = |word: &str| description.part(word).is_some();
    let text = replaced(&text, |word| {
        let atom = word.strip_suffix('U').filter(|atom| is_atom(atom) && !is_atom(word))?;
        Some(format!("{atom} U "))
    });
    let text = replaced(&text, |word| match word {
        "GF" => Some("G F".to_owned()),
        _ => description.part(word).map(|text| format!("({text})")),
    });
    description.expanded(&text)
}

/// The formula of a reachability goal of a model, in DVE. As with m4, the parts of a formula are put in without brackets.
///
/// # Panics
/// If the XML file of the family cannot be read.
pub fn goal(folder: &Path, model: &Recorded, number: u32) -> Option<String> {
    let description = Description::read(folder, &model.family, &model.file)?;
    let text = description.property(number, "reachability")?;
    description.expanded(&replaced(&text, |word| description.part(word)))
}

/// The XML file of a family, and what it says about a model.
struct Description {
    xml: String,
    /// The parameters of the model.
    parameters: Vec<(String, String)>,
    /// The parts of formulas by name.
    parts: Vec<(String, String)>,
}

impl Description {
    fn read(folder: &Path, family: &str, file: &str) -> Option<Self> {
        let path = folder.join(family).join(format!("{family}.xml"));
        let xml = String::from_utf8_lossy(&fs::read(&path).expect("a family has an XML file")).into_owned();
        let instance = file.split('.').rev().nth(1)?;
        let parameters =
            between(between_from(&xml, &format!("<instance id=\"{instance}\">"))?, "<parameters>", "</parameters>")?;
        let parameters = parameters
            .split(',')
            .filter_map(|pair| pair.split_once('='))
            .map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()))
            .collect();
        let mut parts: Vec<(String, String)> = Vec::new();
        for part in xml.split("</ap>") {
            let (Some(name), Some(text)) =
                (between(part, "<ap-name>", "</ap-name>"), between(part, "<ap-expression>", "</ap-expression>"))
            else {
                continue;
            };
            parts.push((name.trim().to_owned(), plain(text)));
        }
        Some(Self { xml, parameters, parts })
    }

    fn part(&self, word: &str) -> Option<String> {
        self.parts.iter().find(|(name, _)| name == word).map(|(_, text)| text.clone())
    }

    fn property(&self, number: u32, kind: &str) -> Option<String> {
        let property = self.xml.split("<property").skip(1).find(|property| {
            let head = property.split('>').next().unwrap_or_default();
            head.contains(&format!("id=\"{number}\"")) && head.contains(kind)
        })?;
        Some(plain(between(property, "<formula>", "</formula>")?))
    }

    /// A text without macros and parameters, on one line.
    fn expanded(&self, text: &str) -> Option<String> {
        let value =
            |word: &str| self.parameters.iter().find(|(name, _)| *name == word).map(|(_, value)| (*value).clone());
        let text = unrolled(text, &value)?.replace("`'X", &value("X").unwrap_or_default());
        Some(replaced(&text, value).split_whitespace().collect::<Vec<_>>().join(" "))
    }
}

/// A formula with `myloop(i,0,decr(N), `P_`'i.CS', ` + ')` written out.
fn unrolled(text: &str, value: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let Some((before, rest)) = text.split_once("myloop(i,0,decr(") else { return Some(text.to_owned()) };
    let (bound, rest) = rest.split_once("),")?;
    let (_, rest) = rest.split_once('`')?;
    // The body itself has the quotes of `P_`'i`.
    let (body, rest) = rest.split_once("', ")?;
    let (separator, rest) = rest.trim_start().strip_prefix('`')?.split_once("')")?;
    let count: usize = value(bound)?.parse().ok()?;
    let bodies: Vec<String> = (0..count).map(|number| body.replace("`'i", &number.to_string())).collect();
    unrolled(&format!("{before}{}{rest}", bodies.join(separator)), value)
}

/// A text with words replaced.
fn replaced(text: &str, replacement: impl Fn(&str) -> Option<String>) -> String {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let mut result = String::new();
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let length = rest.find(|letter| !is_part(letter)).unwrap_or(rest.len());
        if length == 0 {
            result.push(letter);
            rest = &rest[letter.len_utf8()..];
            continue;
        }
        let (word, other) = rest.split_at(length);
        result.push_str(&replacement(word).unwrap_or_else(|| word.to_owned()));
        rest = other;
    }
    result
}

fn between<'t>(text: &'t str, start: &str, end: &str) -> Option<&'t str> {
    between_from(text, start)?.split(end).next()
}

fn between_from<'t>(text: &'t str, start: &str) -> Option<&'t str> {
    text.split_once(start).map(|(_, rest)| rest)
}

/// A text without entities of XML.
fn plain(text: &str) -> String {
    text.trim().replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_are_written_out() {
        let folder = tempfile_folder();
        let xml = "<ap><ap-name>two</ap-name>\n<ap-expression>myloop(i,0,decr(N), `P_`'i.CS', ` + ') > 1</ap-expression></ap>\n\
                   <ap><ap-name>last</ap-name><ap-expression>B.q`'X</ap-expression></ap>\n\
                   <property id=\"3\"  prop-type=\"reachability\"><formula>two &amp;&amp; last</formula></property>\n\
                   <property id=\"5\" prop-type=\"LTL\"><formula>G (two -> (!twoU(last)))</formula></property>\n\
                   <instance id=\"1\"> <parameters>N=2, X=7</parameters></instance>";
        fs::write(folder.join("f/f.xml"), xml).expect("a file is written");
        let model = Recorded { family: "f".into(), file: "f.1.dve".into(), states: None, goals: Vec::new() };
        assert_eq!(goal(&folder, &model, 3).as_deref(), Some("P_0.CS + P_1.CS > 1 && B.q7"));
        assert_eq!(goal(&folder, &model, 4), None);
        let (family, file) = ("f".to_owned(), "f.1.prop5.dve".to_owned());
        let property = RecordedProperty { family, file, number: 5, holds: true, states: None };
        let expected = "G ((P_0.CS + P_1.CS > 1) -> (!(P_0.CS + P_1.CS > 1) U ((B.q7))))";
        assert_eq!(formula(&folder, &property).as_deref(), Some(expected));
        let _ = fs::remove_dir_all(&folder);
    }

    fn tempfile_folder() -> std::path::PathBuf {
        let folder = std::env::temp_dir().join(format!("quotient-beem-{}", std::process::id()));
        fs::create_dir_all(folder.join("f")).expect("a folder is made");
        folder
    }
}
