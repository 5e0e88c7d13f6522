//! Names that Murphi accepts: the model's own if possible, otherwise with a suffix. Models from other languages may
//! have names that are keywords, contain other characters, or clash.

use rustc_hash::{FxHashMap, FxHashSet};

use super::kinds::Kinds;
use crate::index::{FunctionId, TableIndex, TypeId, VariableId};
use crate::model::{Function, Model};
use crate::types::TypeKind;

/// The words that cannot be names, in lower case; Murphi ignores case here. The operations of CMurphi are included.
const KEYWORDS: &[&str] = &[
    "alias",
    "array",
    "assert",
    "assume",
    "begin",
    "boolean",
    "by",
    "case",
    "choose",
    "clear",
    "const",
    "cover",
    "do",
    "elif",
    "else",
    "elseif",
    "elsif",
    "end",
    "endalias",
    "endchoose",
    "endexists",
    "endfor",
    "endforall",
    "endfunction",
    "endif",
    "endprocedure",
    "endrecord",
    "endrule",
    "endruleset",
    "endstartstate",
    "endswitch",
    "endwhile",
    "enum",
    "error",
    "exists",
    "false",
    "for",
    "forall",
    "function",
    "if",
    "invariant",
    "ismember",
    "isundefined",
    "liveness",
    "multiset",
    "multisetadd",
    "multisetcount",
    "multisetremove",
    "multisetremovepred",
    "of",
    "procedure",
    "put",
    "real",
    "record",
    "return",
    "rule",
    "ruleset",
    "scalarset",
    "startstate",
    "switch",
    "then",
    "to",
    "true",
    "type",
    "undefine",
    "union",
    "var",
    "while",
];

/// The names of everything global in a printed program, and which names are still free.
#[derive(Debug)]
pub(super) struct Names {
    variables: Vec<String>,
    functions: Vec<String>,
    types: FxHashMap<TypeId, String>,
    members: FxHashMap<TypeId, Vec<String>>,
    fields: FxHashMap<TypeId, Vec<String>>,
    globals: FxHashSet<String>,
    /// All names that occur in the model: generated ones avoid them, so that a local name never hides a generated one.
    taken: FxHashSet<String>,
}

impl Names {
    /// Chooses the names of the variables, functions, types, members and fields of a model. Enumerations and scalarsets
    /// that are printed as such need a declaration, and multisets a parameter type, so these get a name if they have
    /// none.
    pub(super) fn new(model: &Model, kinds: &Kinds) -> Self {
        let mut names = Self {
            variables: Vec::new(),
            functions: Vec::new(),
            types: FxHashMap::default(),
            members: FxHashMap::default(),
            fields: FxHashMap::default(),
            globals: FxHashSet::default(),
            taken: all_names(model).map(|name| acceptable(&name)).collect(),
        };
        // Variables first: states are displayed with their names.
        names.variables = model.variables.iter().map(|variable| names.global(&variable.name)).collect();
        for (ty, entry) in model.types.iter_enumerated() {
            if let TypeKind::Enumeration { members, .. } = &entry.kind {
                let members = match names.members.get(&kinds.same_as(ty)) {
                    Some(members) => members.clone(),
                    None => members.iter().map(|member| names.global(member)).collect(),
                };
                names.members.insert(ty, members);
            }
        }
        names.functions = model.functions.iter().map(|function| names.global(&function.name)).collect();
        for (ty, entry) in model.types.iter_enumerated() {
            if let TypeKind::Record { fields } = &entry.kind {
                let mut used = FxHashSet::default();
                let mut field_names = Vec::with_capacity(fields.len());
                for field in fields {
                    let plain = acceptable(&field.name);
                    let numbered = (2..).map(|number| format!("{plain}_{number}"));
                    let name = std::iter::once(plain.clone()).chain(numbered).find(|name| used.insert(name.clone()));
                    field_names.push(name.expect("some number is free"));
                }
                names.fields.insert(ty, field_names);
            }
            match &entry.name {
                _ if ty == Model::BOOLEAN || ty == Model::INTEGER => {}
                Some(name) => {
                    let name = names.global(name);
                    names.types.insert(ty, name);
                }
                None => {
                    let like = match &entry.kind {
                        TypeKind::Enumeration { .. } if kinds.is_named(ty) => "enumeration",
                        TypeKind::Scalarset { .. } if kinds.is_named(ty) => "scalar_set",
                        TypeKind::Multiset { .. } => "bag",
                        _ => continue,
                    };
                    let name = match names.types.get(&kinds.same_as(ty)) {
                        Some(name) => name.clone(),
                        None => names.generated(like),
                    };
                    names.types.insert(ty, name);
                }
            }
        }
        names
    }

    /// The name of a variable.
    pub(super) fn variable(&self, variable: VariableId) -> &str {
        &self.variables[variable.position()]
    }
    /// The name of a function.
    pub(super) fn function(&self, function: FunctionId) -> &str {
        &self.functions[function.position()]
    }
    /// The name of a type, if it has one.
    pub(super) fn ty(&self, ty: TypeId) -> Option<&str> {
        self.types.get(&ty).map(String::as_str)
    }
    /// The names of the members of an enumeration.
    pub(super) fn members(&self, ty: TypeId) -> &[String] {
        self.members.get(&ty).map_or(&[], Vec::as_slice)
    }
    /// The name of a field of a record.
    pub(super) fn field(&self, ty: TypeId, position: u32) -> Option<&str> {
        self.fields.get(&ty)?.get(position as usize).map(String::as_str)
    }
    /// A new global name like the given one.
    pub(super) fn generated(&mut self, like: &str) -> String {
        let name = self.unlike_all(&acceptable(like), &FxHashSet::default());
        self.taken.insert(name.clone());
        self.globals.insert(name.clone());
        name
    }
    /// A name for a local where the given ones are visible: its own if it is free.
    pub(super) fn local(&self, name: &str, visible: &FxHashSet<String>) -> String {
        let name = acceptable(name);
        if !self.globals.contains(&name) && !visible.contains(&name) {
            return name;
        }
        self.numbered(&name, visible)
    }
    /// A name for a generated local where the given ones are visible.
    pub(super) fn generated_local(&self, like: &str, visible: &FxHashSet<String>) -> String {
        self.unlike_all(&acceptable(like), visible)
    }

    /// The model's own name of something global, if it is still free.
    fn global(&mut self, name: &str) -> String {
        let mut name = acceptable(name);
        if self.globals.contains(&name) {
            name = self.numbered(&name, &FxHashSet::default());
            self.taken.insert(name.clone());
        }
        self.globals.insert(name.clone());
        name
    }
    fn unlike_all(&self, name: &str, visible: &FxHashSet<String>) -> String {
        if self.taken.contains(name) || visible.contains(name) { self.numbered(name, visible) } else { name.to_owned() }
    }
    fn numbered(&self, name: &str, visible: &FxHashSet<String>) -> String {
        (2u64..)
            .map(|number| format!("{name}_{number}"))
            .find(|candidate| !self.taken.contains(candidate) && !visible.contains(candidate))
            .expect("some number is free")
    }
}

/// Every name of a model that can become a name in the program.
fn all_names(model: &Model) -> impl Iterator<Item = String> + '_ {
    let locals = model
        .functions
        .iter()
        .map(|Function { locals, .. }| locals)
        .chain(model.starts.iter().map(|start| &start.locals))
        .chain(model.rules.iter().map(|rule| &rule.locals))
        .chain(model.properties.iter().map(|property| &property.locals))
        .flat_map(|locals| locals.iter().map(|local| local.name.clone()));
    let types = model.types.iter().flat_map(|entry| {
        let members = match &entry.kind {
            TypeKind::Enumeration { members, .. } => members.clone(),
            _ => Vec::new(),
        };
        entry.name.clone().into_iter().chain(members)
    });
    let variables = model.variables.iter().map(|variable| variable.name.clone());
    let functions = model.functions.iter().map(|function| function.name.clone());
    variables.chain(functions).chain(types).chain(locals)
}

/// The name itself if Murphi accepts it, otherwise one close to it.
fn acceptable(name: &str) -> String {
    let mut result: String =
        name.chars().map(|character| if character.is_ascii_alphanumeric() { character } else { '_' }).collect();
    if !result.starts_with(|first: char| first.is_ascii_alphabetic()) {
        result.insert(0, 'v');
    }
    if KEYWORDS.contains(&result.to_ascii_lowercase().as_str()) {
        result.push('_');
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_murphi_rejects_are_changed_a_little() {
        for (name, expected) in
            [("x", "x"), ("End", "End_"), ("_x", "v_x"), ("a.b'", "a_b_"), ("1st", "v1st"), ("", "v"), ("é", "v_")]
        {
            assert_eq!(acceptable(name), expected);
        }
    }

    #[test]
    fn keywords_are_sorted_for_the_reader_and_lower_case() {
        assert!(KEYWORDS.is_sorted());
        assert!(KEYWORDS.iter().all(|word| *word == word.to_ascii_lowercase()));
    }
}
