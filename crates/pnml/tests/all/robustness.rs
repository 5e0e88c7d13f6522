//! No PNML text makes the front end panic, hang, exhaust the stack or the memory: nets and properties with everything in
//! the language, changed at random, and texts that ask for too much.

use quotient_kit::LoadOptions;
use quotient_language_testkit::robustness::{self, examples, survives_cuts, survives_damage};
use quotient_language_testkit::switches::number_from;
use quotient_pnml::LANGUAGE;

fn read(text: &str) -> Result<(), Vec<&'static str>> {
    robustness::read(text, &LANGUAGE, &LoadOptions::default())
}

/// Something of everything.
const SNIPPETS: &[&str] = &[
    r#"<pnml><net id="n" type="symmetricnet"><declaration><structure><declarations><namedsort id="A" name="A"><cyclicenumeration><feconstant id="a" name="a"/><feconstant id="b" name="b"/></cyclicenumeration></namedsort><namedsort id="I" name="I"><finiteintrange start="-1" end="2"/></namedsort><namedsort id="P" name="P"><productsort><usersort declaration="A"/><usersort declaration="I"/></productsort></namedsort><partition id="pt" name="pt"><usersort declaration="A"/><partitionelement id="p1" name="p1"><useroperator declaration="a"/></partitionelement><partitionelement id="p2" name="p2"><useroperator declaration="b"/></partitionelement></partition><variabledecl id="x" name="x"><usersort declaration="A"/></variabledecl><variabledecl id="y" name="y"><usersort declaration="P"/></variabledecl></declarations></structure></declaration><page id="g"><place id="p"><type><structure><usersort declaration="P"/></structure></type><hlinitialMarking><structure><add><subterm><tuple><subterm><useroperator declaration="a"/></subterm><subterm><all><usersort declaration="I"/></all></subterm></tuple></subterm></add></structure></hlinitialMarking></place><place id="q"><type><structure><usersort declaration="A"/></structure></type></place><referencePlace id="r" ref="q"/><transition id="t"><condition><structure><and><subterm><inequality><subterm><variable refvariable="x"/></subterm><subterm><successor><subterm><useroperator declaration="b"/></subterm></successor></subterm></inequality></subterm><subterm><equality><subterm><partitionelementof refpartition="pt"><subterm><variable refvariable="x"/></subterm></partitionelementof></subterm><subterm><useroperator declaration="p1"/></subterm></equality></subterm></and></structure></condition></transition><arc id="i" source="p" target="t"><hlinscription><structure><variable refvariable="y"/></structure></hlinscription></arc><arc id="o" source="t" target="r"><hlinscription><structure><subtract><subterm><all><usersort declaration="A"/></all></subterm><subterm><variable refvariable="x"/></subterm></subtract></structure></hlinscription></arc></page></net></pnml>"#,
    r#"<pnml><net id="n" type="ptnet"><page id="g"><place id="p"><name><text>P &amp; Q</text></name><initialMarking><text> 3 </text></initialMarking></place><place id="q"/><transition id="t"/><arc id="a" source="p" target="t"><inscription><text>2</text></inscription></arc><arc id="b" source="t" target="q"/></page></net></pnml>"#,
];

const WORDS: &[&str] = &[
    "<",
    ">",
    "/",
    "\"",
    "&",
    "&x;",
    "&#65;",
    "<!--",
    "-->",
    "<![CDATA[",
    "<!DOCTYPE x>",
    "<place id=\"p\"/>",
    "<all/>",
    "<tuple>",
    "</tuple>",
    "<subterm>",
    "</subterm>",
    "<subtract>",
    "</subtract>",
    "<dot/>",
    " id=\"p\"",
    " value=\"99999999999999999999\"",
    " end=\"9223372036854775807\"",
    "0",
    "-1",
    "4294967295",
    "é",
    "\n",
];

#[test]
fn changed_texts_are_read_or_refused() {
    let mut texts: Vec<String> = SNIPPETS.iter().map(|text| (*text).to_owned()).collect();
    texts.extend(examples("pnml"));
    texts.sort();
    survives_damage(&LANGUAGE, &texts, WORDS, number_from("QUOTIENT_PNML_CHANGES", 3000));
}

#[test]
fn cut_off_texts_are_refused() {
    survives_cuts(&LANGUAGE, SNIPPETS);
}

#[test]
fn snippets_are_read() {
    for text in SNIPPETS {
        assert_eq!(read(text), Ok(()), "{text}");
    }
}

#[test]
fn texts_that_ask_for_too_much() {
    let net = |body: &str| format!("<pnml><net id=\"n\" type=\"ptnet\"><page id=\"p\">{body}</page></net></pnml>");
    let deep = format!("{}{}", "<page id=\"x\">".repeat(100_000), "</page>".repeat(100_000));
    assert_eq!(read(&net(&deep)), Err(vec!["nested-too-deeply"]));
    // Entities that stand for others are not expanded.
    let bomb = "<!DOCTYPE x [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]><pnml>&b;</pnml>";
    assert_eq!(read(bomb), Err(vec!["document-type"]));
    assert_eq!(read(&net("<place id=\"p\"><name><text>&b;</text></name></place>")), Err(vec!["unknown-entity"]));
    let many = net("<place id=\"p\"><initialMarking><text>99999999999999</text></initialMarking></place>");
    assert_eq!(read(&many), Err(vec!["no-number"]));
    let sort = |size: &str| {
        let range = format!("<finiteintrange start=\"1\" end=\"{size}\"/>");
        net(&format!(
            "<place id=\"p\"><type><structure><productsort>{range}{range}</productsort></structure></type></place>"
        ))
    };
    assert_eq!(read(&sort("100000")), Err(vec!["too-large"]));
    assert_eq!(read(&sort("10000000000")), Err(vec!["no-range", "no-range"]));
    let declared = |declarations: &str, body: &str| {
        net(&format!(
            "<declaration><structure><declarations>{declarations}</declarations></structure></declaration>{body}"
        ))
    };
    // Sorts that are made of others have more and more components.
    let doubled = |level: usize| {
        let of = format!("<usersort declaration=\"s{}\"/>", level - 1);
        format!("<namedsort id=\"s{level}\" name=\"s\"><productsort>{of}{of}</productsort></namedsort>")
    };
    let sorts: String = (1..60).map(doubled).collect();
    let sorts = format!("<namedsort id=\"s0\" name=\"s\"><dot/></namedsort>{sorts}");
    assert!(read(&declared(&sorts, "")).is_err_and(|codes| codes.contains(&"too-large")));
    let itself = "<namedsort id=\"s\" name=\"s\"><productsort><usersort declaration=\"s\"/></productsort></namedsort>";
    assert_eq!(read(&declared(itself, "")), Err(vec!["cyclic-sort"]));
    // Conditions in conditions.
    let condition = (0..200).fold("<booleanconstant value=\"true\"/>".to_owned(), |inner, _| {
        format!("<xor>{inner}<booleanconstant value=\"true\"/></xor>")
    });
    let guarded = |condition: &str| {
        format!("<transition id=\"t\"><condition><structure>{condition}</structure></condition></transition>")
    };
    assert_eq!(read(&net(&guarded(&condition))), Ok(()));
    // A number that is not in its class.
    let range = "<finiteintrange start=\"-1\" end=\"2\"/>";
    let outside = "<successor><finiteintrangeconstant value=\"9223372036854775807\"><finiteintrange start=\"-1\" \
                   end=\"2\"/></finiteintrangeconstant></successor>";
    let compared = |left: &str, right: &str| guarded(&format!("<equality>{left}{right}</equality>"));
    assert_eq!(read(&net(&compared(outside, outside))), Err(vec!["out-of-range", "out-of-range"]));
    // Parts of a partition are no values.
    let members = |value: i64| format!("<finiteintrangeconstant value=\"{value}\">{range}</finiteintrangeconstant>");
    let part = |id: &str, values: &[i64]| {
        let members: String = values.iter().map(|&value| members(value)).collect();
        format!("<partitionelement id=\"{id}\" name=\"{id}\">{members}</partitionelement>")
    };
    let partition = format!(
        "<partition id=\"h\" name=\"h\">{range}{}{}</partition><variabledecl id=\"x\" name=\"x\">{range}</variabledecl>",
        part("low", &[-1, 0]),
        part("high", &[1, 2])
    );
    let (x, low) = ("<variable refvariable=\"x\"/>", "<useroperator declaration=\"low\"/>");
    let part_of = format!("<partitionelementof refpartition=\"h\">{x}</partitionelementof>");
    assert_eq!(read(&declared(&partition, &compared(&part_of, low))), Ok(()));
    assert_eq!(read(&declared(&partition, &compared(x, low))), Err(vec!["wrong-sort"]));
    // The token of a sort of dots may have the name of the sort, as TAPAAL writes it; other sorts have no such token.
    let marked = |sort: &str| {
        format!(
            "<place id=\"p\"><type><structure><usersort declaration=\"{sort}\"/></structure></type><hlinitialMarking>\
             <structure><useroperator declaration=\"{sort}\"/></structure></hlinitialMarking></place>"
        )
    };
    let dots = "<namedsort id=\"B\" name=\"B\"><dot/></namedsort>";
    assert_eq!(read(&declared(dots, &marked("B"))), Ok(()));
    assert_eq!(read(&declared("", &marked("dot"))), Ok(()));
    let numbers = "<namedsort id=\"B\" name=\"B\"><finiteintrange start=\"0\" end=\"2\"/></namedsort>";
    assert_eq!(read(&declared(numbers, &marked("B"))), Err(vec!["unknown-name"]));
    // An inscription that lists most of a large class, and one place with many transitions.
    let constants: String = (0..3000).map(|it| format!("<feconstant id=\"c{it}\" name=\"c{it}\"/>")).collect();
    let class =
        format!("<namedsort id=\"C\" name=\"C\"><finiteenumeration>{constants}</finiteenumeration></namedsort>");
    let terms: String = (1..3000).map(|it| format!("<useroperator declaration=\"c{it}\"/>")).collect();
    let listed = format!(
        "<place id=\"p\"><type><structure><usersort declaration=\"C\"/></structure></type></place><transition id=\"t\"/>\
         <arc id=\"a\" source=\"p\" target=\"t\"><hlinscription><structure><add>{terms}</add></structure>\
         </hlinscription></arc>"
    );
    assert_eq!(read(&declared(&class, &listed)), Err(vec!["too-large"]));
    let many: String = (0..3000).map(|it| format!("<place id=\"p{it}\"/><transition id=\"t{it}\"/>")).collect();
    assert_eq!(read(&net(&many)), Ok(()));
}

/// Formulas that name others several times do not grow.
#[test]
fn formulas_in_formulas() {
    let net = "<pnml><net id=\"n\" type=\"ptnet\"><place id=\"p\"/></net></pnml>";
    let count =
        "<integer-le><tokens-count><place>p</place></tokens-count><integer-constant>1</integer-constant></integer-le>";
    let read_with = |formula: &str| {
        let text = format!("<property-set><property><id>f</id><formula>{formula}</formula></property></property-set>");
        let source = quotient_ir::Source::new("n.pnml", net).followed_by(&quotient_ir::Source::new("f.xml", text));
        LANGUAGE.load(source, &LoadOptions::default()).map(|_| ())
    };
    for operator in ["equivalence", "exclusive-disjunction", "implication"] {
        let nested = |inner: &str, levels: usize| {
            (0..levels).fold(inner.to_owned(), |inner, _| format!("<{operator}>{inner}{count}</{operator}>"))
        };
        let always = |inner: &str| format!("<all-paths><globally>{inner}</globally></all-paths>");
        assert!(read_with(&always(&nested(count, 200))).is_ok(), "{operator}");
        let temporal = format!("<all-paths><finally>{count}</finally></all-paths>");
        assert!(read_with(&nested(&temporal, 60)).is_ok(), "{operator}");
    }
}
