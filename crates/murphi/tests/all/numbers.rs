//! The numbers of a text that can be set from outside, and which are only sizes.

use quotient_ir::Source;
use quotient_murphi::LANGUAGE;

fn sizes(text: &str) -> Vec<(String, i64, bool)> {
    let numbers = LANGUAGE.named_numbers(&Source::new("test", text));
    numbers.into_iter().map(|it| (it.name, it.value, it.is_size)).collect()
}

#[test]
fn sizes_of_murphi() {
    let text = "const N: 3; L: N - 1; K: 2; B: true;\n\
        type p: 0..L; s: scalarset(N); -- K\n\
        var x: array[p] of 0..N-1; y: p;\n\
        startstate y := 0; end;\n\
        rule y = K ==> y := (y + 1) % N; end;";
    let expected = [("N".to_owned(), 3, true), ("K".to_owned(), 2, false)];
    assert_eq!(sizes(text), expected);
}

#[test]
fn a_number_that_decides_is_no_size() {
    let text = "const N: 3; type p: 0..N-1; var y: p; startstate y := 0; end; rule N > 5 ==> y := 1; end;";
    assert_eq!(sizes(text), [("N".to_owned(), 3, false)]);
}
