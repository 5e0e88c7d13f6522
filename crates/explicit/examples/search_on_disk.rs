//! Searches a Murphi model with a megabyte of memory and the rest on disk, and prints how many states it has:
//! what `bench/instructions` counts.

use quotient_explicit::check;
use quotient_ir::{Layout, Source};
use quotient_kit::LoadOptions;
use quotient_murphi::LANGUAGE;
use quotient_search::{SearchOptions, Silent, Spill};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, constants @ ..] = &arguments[..] else { panic!("which model? NAME=VALUE sets a constant of it") };
    let text = std::fs::read_to_string(path).expect("a model to read");
    let constant = |it: &String| it.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
    let constants = constants.iter().map(|it| constant(it).expect("a constant is NAME=VALUE")).collect();
    let options = LoadOptions { constants, ..LoadOptions::default() };
    let model = LANGUAGE.load(Source::new(path, text), &options).expect("a model").model;
    let layout = Layout::new(&model).expect("a layout");
    let options = SearchOptions {
        max_memory: Some(1 << 20),
        spill: Some(Spill { folder: std::env::temp_dir(), max_bytes: None }),
        ..SearchOptions::default()
    };
    let report = check(&model, &layout, None, &options, &mut Silent).expect("a report");
    #[expect(clippy::print_stdout, reason = "an example prints")]
    {
        println!("{}", report.states);
    }
}
