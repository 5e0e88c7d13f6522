//! The numbers of a text that can be set from outside, and which are only sizes.

use quotient_ir::Source;
use quotient_promela::LANGUAGE;

fn sizes(text: &str) -> Vec<(String, i64, bool)> {
    let numbers = LANGUAGE.named_numbers(&Source::new("test", text));
    numbers.into_iter().map(|it| (it.name, it.value, it.is_size)).collect()
}

#[test]
fn sizes_of_promela() {
    let text = "#define N 4 /* N < 3 */\n#define TEXT hello\n#define K 2\nbyte x[N];\n\
        active [N] proctype p() { x[_pid % N] = 1; do :: x[0] < K od }\n";
    assert_eq!(sizes(text), [("N".to_owned(), 4, true), ("K".to_owned(), 2, false)]);
}
