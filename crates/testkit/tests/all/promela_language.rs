//! Small Promela models, one for each part of the language: as many states as SPIN stores, the same end
//! states, the quotient of as many states as the whole; and `never` claims, violated where SPIN says so.

use std::path::Path;
use std::time::Duration;

use quotient::languages::{Language, LoadOptions, load};
use quotient_ir::{DeadlockMode, Layout, Model, PropertyId, PropertyKind, Source};
use quotient_search::{SearchOptions, Silent, Subject, Verdict};
use quotient_systems::SymmetrySource;
use quotient_testkit::promela::{Counts, count, load_promela, order};
use quotient_testkit::search::{check, check_with, plan};
use quotient_testkit::spin::Spin;

/// What a model shows, its text, how many states SPIN stores and how many symmetries there are.
const MODELS: &[(&str, &str, u64, u32)] = &[
    (
        "a message of one bit holds a byte",
        r#"chan q = [1] of { bit }; chan r = [0] of { bool }; chan s = [1] of { bool, bit }; byte x, y; bool b;
active proctype P() { q!3; q?x; assert(x == 3); s!2,3; s?x,y; assert(x + y == 1); r!2; r!5 }
active proctype Q() { r?x; assert(x == 2); r?b; assert(b) }"#,
        13,
        1,
    ),
    (
        "hidden variables that are assigned before they are used",
        r#"hidden byte h = 3; hidden byte g[2]; unsigned x : 2; chan q = [1] of { byte };
active [2] proctype P() { do :: x < 3 -> atomic { h = x; x = h + 1 }; g[x % 2] = x
  :: d_step { x > 0 -> h = 0; do :: h < x -> h++ :: else -> break od; x = h - 1 } :: break od }
active proctype Q() { q!x; atomic { q?h; if :: h > 0 -> x = h :: else -> h = 2 fi } }"#,
        463,
        1,
    ),
    (
        "lines that separate statements in an inline, where arguments stand for its parameters",
        r#"byte x, y;
inline pass(from, to) {
  atomic {
    (from > 0)
    from--
    to++
  }
}
active proctype P() { x = 2; pass(x,
    y)
  pass(x, y) assert(y == 2) }"#,
        6,
        1,
    ),
    (
        "counters of wide types keep processes alike",
        r#"int inside; short total;
active [3] proctype P() { do :: atomic { inside < 2 -> inside++; total = inside * 3 }; inside--; total = -total od }"#,
        82,
        6,
    ),
    (
        "a loop that creates processes behind one that does not, and other creations behind it",
        r#"bool ready[2]; byte t = 2;
proctype W(byte id) { end: do :: t == id -> ready[id] = !ready[id]; t = 2 od }
proctype M() { end: do :: t == 2 -> t = 0 :: t == 2 -> t = 1 od }
init { byte i; for (i : 0 .. 1) { ready[i] = true } for (i : 0 .. 1) { run W(i) } run M(); i = 5 }"#,
        89,
        1,
    ),
    (
        "priorities of types, of processes and of statements",
        r#"byte x;
proctype R() { x = 0 }
active [2] proctype P() priority 2 { x++; _priority = 1; x++ }
init { run R() priority 3; run R(); x = 7; set_priority(0, 5); assert(get_priority(_pid) == 1); x = get_priority(0) }"#,
        186,
        1,
    ),
    (
        "priorities that never change keep processes alike",
        r#"byte x; bool busy[3];
active [3] proctype P() priority 2 { end: do :: atomic { x < 2 -> x++ }; busy[_pid] = true; busy[_pid] = false; x-- od }
active proctype Q() { do :: x == 2 -> x = 2 :: x == 0 -> x = 0 od }"#,
        37,
        6,
    ),
    (
        "messages shorter and longer than their channel, where assertions do not count",
        r#"chan q = [2] of { byte, byte }; chan r = [2] of { byte }; chan z = [0] of { bool, byte };
active proctype P() { byte x = 3, y = 4; q!1; q?x,y; assert(x == 1 && y == 0); r!7,8; r?x,y; assert(x == 7 && y == 0);
  q!5,6; q?x; z!true; q!1,2; if :: q?[1] -> skip fi }
active proctype Q() { bool b; byte n = 9; z?b,n; assert(b && n == 0) }"#,
        22,
        1,
    ),
    (
        "labels in blocks of their own, and in an inline twice",
        r#"byte x;
inline upto(n) { skip; again: x++; if :: x < n -> goto again :: else fi }
active proctype P() { upto(3); upto(5); { skip; again: x--; if :: x > 2 -> goto again :: else fi } }"#,
        21,
        1,
    ),
    (
        "inlines with values, patterns in brackets, loops with a stray separator, options that declare",
        r#"inline sum(a, b) { int t; t = a + b; return t }
int x; chan q = [1] of { byte, byte };
active proctype P() { x = sum(1, 2); q!1,2; q?(_,x); byte i; for (i : 0 .. 1); { x++ }
  if :: x == 4 -> byte y; y = 1 :: else x = 0 fi; assert(y == 1) }"#,
        20,
        1,
    ),
    (
        "structures as parameters",
        r#"typedef S { byte a; byte b }
chan c = [1] of { byte };
typedef M { chan to; S s }
proctype Q(M m; byte n) { m.to!m.s.b + n }
init { M m; m.to = c; m.s.b = 3; run Q(m, 1); byte r; c?r; assert(r == 4) }"#,
        14,
        1,
    ),
    (
        "a deterministic step that begins with a rendezvous",
        r#"chan r = [0] of { byte }; byte x;
active [2] proctype P() { byte l; d_step { r?l; do :: l > 0 -> l--; x++ :: else -> break od } }
active proctype Q() { r!2; r!1 }"#,
        7,
        1,
    ),
    (
        "else beside a rendezvous",
        r#"chan q = [0] of { byte }; byte x;
active proctype P() { do :: q!1 -> x++ :: else -> break od }
active proctype Q() { q?_ }
active proctype R() { if :: q?2 -> x = 5 :: else -> x = 6 fi }"#,
        27,
        1,
    ),
    (
        "skips in a row, which SPIN drops in options",
        r#"byte x;
active proctype P() { skip; skip; do :: printf("x") -> skip; skip; x++; skip; skip; L: skip; skip; if :: x > 2 -> break :: else fi od }
never { do :: x == 9 -> skip; skip; skip; break :: else od }"#,
        22,
        1,
    ),
    (
        "message names as numbers",
        r#"mtype = { a, b, c }; mtype m, n[2]; chan q = [1] of { mtype };
active proctype P() { m = 7; n[1] = 300; q!m + 2; q?m; assert(m == 9 && n[1] == 44); m = b }"#,
        8,
        1,
    ),
    (
        "sizes by variables, characters, the preprocessor of C",
        r#"byte n = 2, k; byte a[n], z[k];
#define ALL(first, ...) first = 1; ALL_BUT(__VA_ARGS__)
#define ALL_BUT(second, rest...) second = 2; printf("%d", rest)
#if (0x10 >> 2 == 4 ? defined(n) || 1L : 0) && ~0 < 0 /* it's C */
active [n] proctype P() { ALL(a[0], a[_pid], 3); z[7] = '\n' }
#else
don't read this
#endif"#,
        47,
        1,
    ),
    (
        "names of messages without commas, parameters of several types, a process number kept",
        r#"mtype = { A B, C, };
mtype m = B; byte n;
proctype Q(byte a, b; chan c) { c!a+b }
init { chan z = [2] of { byte }; pid p; p = run Q(1,2,z); byte r; z?r; n = p; assert(r == 3); assert n == 1 }"#,
        16,
        1,
    ),
    (
        "macros of several lines, inlines with variables",
        r#"#define N 3
#define inc(x) x++; \
   if :: x > N -> x = 0 :: else fi
byte c;
inline upd(v, k) { byte tmp; tmp = v + k; v = tmp % (N+2); }
active [2] proctype P() { byte l; do :: upd(c, 1) :: inc(l) :: c == 2 -> break od }"#,
        16811,
        1,
    ),
    (
        "loops over numbers, sorted send, random receive, polls",
        r#"chan q = [3] of { mtype, byte };
mtype = { msg, ack };
byte x;
active proctype S() { byte i; for (i : 1 .. 3) { q ! msg(i) } ; q!!ack,0 }
active proctype R() { byte v; do :: q ? msg(v) -> x = v :: q ?? ack,v -> break :: q ?? [ack,0] && len(q) == 1 -> x = 9; q?_,_; break od }"#,
        68,
        1,
    ),
    (
        "structures in structures",
        r#"typedef In { byte f; bit g[2] }; typedef Out { In i[2]; short k = -3 };
Out o; Out oo[2];
active proctype P() { o.i[1].f = 3; oo[1].i[0].g[1] = 1; oo[0].k++; assert(o.k == -3); if :: oo[0].k < 0 -> o.i[1].g[oo[1].i[0].g[1]] = 1 :: else fi }"#,
        8,
        1,
    ),
    (
        "escapes and timeouts",
        r#"byte x; bool stop;
active proctype P() { { do :: x < 3 -> x++ :: x == 3 -> x = 0 od } unless { stop -> x = 7 } }
active proctype K() { stop = true }
active proctype T() { timeout -> x = 99 }"#,
        26,
        1,
    ),
    (
        "channels as locks, progress and end labels",
        r#"byte cnt; chan lock = [1] of { bit };
active [3] proctype P() { 
again: lock?1 -> cnt++; progress: assert(cnt == 1); cnt--; lock!1; goto again }
init { lock!1; end: false }"#,
        14,
        6,
    ),
    (
        "types, operators, declarations behind statements",
        r#"byte x = 1, y[4] = 2; int z = -1; unsigned u : 3 = 5; bit b = 1; bool t = true; short sh = 1 << 3;
active proctype P() { y[x] = y[0] * 3 - z; u = u + 6; sh = sh >> 1; z = ~z; x = (b && t -> 4 : 5); x = x ^ 3 | 8 & y[1]; assert(!(x == 0)); if :: z >= 0 -> skip :: else -> z = z / 2 fi; byte w[2] = 7; w[1] = x % 5; x = w[1] }"#,
        14,
        1,
    ),
    (
        "named kinds of messages",
        r#"mtype:fruit = { apple, pear }; mtype:col = { red, green };
mtype:fruit f = apple; mtype:col c; mtype any;
chan ch = [1] of { mtype:fruit, mtype:col };
active proctype P() { c = red; ch!f,c; any = green; printf("%e %e\n", f, c); printm(f) }
active proctype Q() { mtype:fruit ff; mtype:col cc; ch?ff,cc; if :: ff == pear -> assert(false) :: ff == apple -> skip fi }"#,
        23,
        1,
    ),
    (
        "processes that end and are waited for",
        r#"byte n; 
proctype W(byte id) { n = n + id; }
init { byte i; do :: i < 3 -> run W(i); i++ :: i >= 3 -> break od; (_nr_pr == 1) -> assert(n == 3) }"#,
        122,
        1,
    ),
    (
        "rendezvous with constants",
        r#"chan c = [0] of { byte, byte }; byte g;
active proctype S() { do :: c!1,2 :: c!2,3 od }
active proctype R() { byte a; do :: c?1,a -> g = a :: c?2,_ -> g = 0 :: atomic { g == 2 -> g = 1 } od }"#,
        11,
        1,
    ),
    (
        "loops over arrays, selections",
        r#"int a[4] = {3, 1, 2, 0}; byte i, s;
active proctype P() { for (i in a) { s = s + a[i] } ; select (s : 2 .. 5); assert(s > 1) }"#,
        27,
        1,
    ),
    (
        "provided clauses, enabled, labels of others",
        r#"byte x;
active proctype A() provided (x < 2) { do :: x++ od }
active proctype B() { do :: x > 0 -> foo: x-- od }
active proctype C() { if :: B@foo -> skip :: enabled(0) -> skip fi; if :: x == 5 -> x = 0 :: else fi }"#,
        30,
        1,
    ),
    (
        "active processes and arithmetic on their numbers",
        r#"bool flag[2]; byte turn; byte ncrit;
active [2] proctype user() {
	assert(_pid == 0 || _pid == 1);
again:
	flag[_pid] = 1;
	turn = _pid;
	(flag[1 - _pid] == 0 || turn == 1 - _pid);
	cs: ncrit++;
	assert(ncrit == 1);	/* critical section */
	ncrit--;
	flag[_pid] = 0;
	goto again
}
ltl mutex { [] !(user[0]@cs && user[1]@cs) }"#,
        55,
        1,
    ),
    (
        "conditional text",
        r#"#define true1 (1)
#ifdef FOO
#error no
#else
# define K 2
#endif
#if K == 2 && !defined(BAR)
byte arr[K*2];
#endif
init { atomic { int i = 0; do :: i < K*2 -> arr[i] = i; i++ :: else -> break od; } 
 if :: arr[3] == 3 :: arr[2] == 9 fi
 ; }"#,
        4,
        1,
    ),
    (
        "a label at a loop stands behind its first assignment",
        r#"byte a[2];
active proctype P0() {
  byte l = _pid % 2;
begin:
  for (l : 0 .. 1) { a[1] = 1 }
  if :: timeout fi;
  goto begin
}
active proctype P1() { if :: timeout -> if :: else -> skip fi fi }"#,
        14,
        1,
    ),
    (
        "escapes in escapes behind a label",
        r#"byte x; byte l; bool s;
chan c = [1] of { byte };
active proctype P0() {
end1:
  {
    {
      c?1
    } unless { l < 2 -> l = 5 }
  } unless { x == 0 -> x = 7 }
}
active proctype P1() { x = 3; x = 0; l = 7; l = 0 }"#,
        33,
        1,
    ),
    (
        "three escapes that are equals",
        r#"byte x; byte l, m;
active proctype P0() {
foo:  { { { { x < 9 } unless { l < 2 -> l = 5 } } unless { x == 0 -> x = 7 }} unless { m == 0 -> m = 5 } }
}"#,
        6,
        1,
    ),
    (
        "an end label at an escape",
        r#"byte x = 3; byte s;
active proctype P0() {
  s = 1; s = 2;
end1:
  {  x == 5; x = 0 } unless { x == 0 -> x = 7 };
  s = 4; if :: s == 4 -> goto end1 :: else fi
}
active proctype P1() { x = 5; x = 0 }"#,
        42,
        1,
    ),
    (
        "labels at nothing",
        r#"byte x;
active proctype P0() {
  do :: x < 2 -> x++; if :: x == 1 -> goto L :: else -> break fi; L: od;
  x = 1;
  M:
}"#,
        11,
        1,
    ),
    (
        "a label before a separator",
        r#"byte x;
active proctype P0() {
  begin:
  ;
  x = 1
}"#,
        4,
        1,
    ),
    (
        "channels in structures",
        r#"typedef C { chan a = [1] of { byte }; chan b[2] = [2] of { byte, bit }; int n = 3; }
C g; C h[2];
byte x;
proctype P(chan k) { C l; l.a!1; l.b[1]!x,1; k!2; h[1].a = l.a; h[1].a?x; x = 0 }
init { h[0].b[1]!3,0; run P(g.a); g.a?x; atomic { run P(h[0].a); run P(h[0].a) } }"#,
        639,
        8,
    ),
    (
        "an array of channels, one for each process",
        r#"chan box[3] = [1] of { byte };
active [3] proctype P() { byte v; end: do :: box[_pid]!1 :: box[_pid]?v -> v = 0 od }"#,
        27,
        6,
    ),
    (
        "rings by arithmetic on process numbers",
        r#"byte token[4];
active [4] proctype P() { do :: token[_pid] == 0 -> token[(_pid + 1) % 4] = 1 :: token[_pid] == 1 -> token[_pid] = 0 od }"#,
        624,
        4,
    ),
    (
        "processes that end in any order but leave by age",
        r#"byte done;
active [3] proctype P() { done++ }"#,
        15,
        1,
    ),
];

/// A model that looks at the numbers of states: loops, selections, jumps behind labels, declarations as steps,
/// blocks, escapes.
const NUMBERS_OF_STATES: &str = r#"typedef M { byte v }
byte x, ar[2]; chan q = [2] of { M };
inline increase(v) { v++; byte more = 4; more++ }
active proctype P() {
  byte i; M m; x = 1; byte late, later = 3; byte last[2];
  for (i : 1 .. 2) { x = i; skip } for (i in ar) { ar[i] = i } q!m; for (m in q) { x = m.v }
  select (i : 1 .. 2); select (late : x .. x + 1); increase(x);
  end1: do :: x = 3; break :: break od;
  if :: goto X :: skip; skip; printf("a"); skip; x = 1 fi;
X: { x = 2 } unless { x == 3 };
endY: goto Z;
Z: do :: x == 1 -> do :: x == 2 -> break :: else -> goto W od :: else -> break od;
W: atomic { if :: x == 1 -> x = 2 :: else fi; x = 4 } d_step { if :: x == 1 -> x = 2 :: else fi; x = 4 }
  L: { x = 3; K: skip } i++
}
active proctype W() {
  byte v;
  do :: v = pc_value(0) >> 4 :: v = pc_value(0) & 15 :: v = pc_value(1) + pc_value(2) :: v < pc_value(0) od
}"#;

/// Models with `never` claims, and whether these are violated.
const CLAIMS: &[(&str, bool)] = &[
    (
        r#"byte x;
active proctype A() { atomic { x = 1; x = 0 }; x = 2 }
never { do :: x == 1 -> break :: else od }"#,
        false,
    ),
    (
        r#"byte x;
active proctype A() { x = 1 }
never { do :: true :: x == 1 -> break od; x == 1; x == 1; x == 1 }"#,
        true,
    ),
    (
        r#"byte x;
active proctype A() { x = 0; x = 1; x = 2; x = 3}
never { x == 0; x == 0; x == 1; x == 2; x == 3; x == 3 }"#,
        true,
    ),
    (
        r#"byte x;
active proctype A() { atomic { x = 1; x == 0 ; x = 2} }
active proctype B() { if :: x == 1 -> skip :: x == 7 fi }
never { do :: atomic { x == 1 -> assert(!(x == 1)) } :: else od }"#,
        true,
    ),
    (
        r#"byte x;
active [2] proctype A() { do :: x < 3 -> x++ :: x == 3 -> x = 0 od }
never { T0_init: if :: (! (x < 3)) -> goto accept_all :: (1) -> goto T0_init fi; accept_all: skip }"#,
        true,
    ),
    (
        r#"byte x;
active [2] proctype A() { do :: x < 3 -> x++ :: x == 3 -> x = 0 od }
never { T0_init: do :: atomic { (! (x <= 4)) -> assert(!(! (x <= 4))) } :: (1) -> goto T0_init od; accept_all: skip }"#,
        false,
    ),
    (
        r#"byte x; mtype = {go}; chan c = [0] of {mtype};
active proctype A() { c!go; x = 1; c?go }
active proctype B() { c?go; x = 5; timeout -> x = 6 }
never { x == 0; x == 0; do :: x == 1 -> break :: x == 5 -> break :: x == 6 :: else od; do :: x == 5 :: x == 6 -> break :: else od  }"#,
        true,
    ),
];

/// Models with a `trace` or `notrace`, and whether it is violated. Beside a rendezvous it stands behind the processes:
/// SPIN takes process 0 for a trace that comes first.
const TRACES: &[(&str, bool)] = &[
    (
        r#"mtype = { a, b }; chan q = [2] of { mtype, byte }; chan r = [1] of { byte };
trace { do :: q!a,_; q!b,3 od }
active proctype P() { q!a,1; q!b,3; r!1; r!2 }
active proctype Q() { mtype m; byte x; q?m,x; q?m,x; r?x; r?x }"#,
        false,
    ),
    (
        r#"mtype = { a, b }; chan q = [2] of { mtype, byte };
trace { do :: q!a,_; q!b,3 od }
active proctype P() { q!a,1; q!b,4 }
active proctype Q() { mtype m; byte x; q?m,x; q?m,x }"#,
        true,
    ),
    (
        r#"mtype = { a, b }; chan q1 = [1] of { mtype }; chan q2 = [1] of { mtype };
trace { end: do :: q1!a; q2?b od }
active proctype P() { q1!a; q2?b; q1!a; q2?b }
active proctype Q() { q1?a; q2!b; q1?a; q2!b }"#,
        false,
    ),
    (
        r#"mtype = { a, b }; chan q1 = [2] of { mtype }; chan q2 = [1] of { mtype };
trace { do :: q1!a; q2?b od }
active proctype P() { q1!a; q1!a; q2?b }
active proctype Q() { q1?a; q2!b; q1?a }"#,
        true,
    ),
    (
        r#"chan q = [2] of { byte };
notrace { q!1; q!2 }
active proctype P() { if :: q!1 :: q!3 fi; q!2 }
active proctype Q() { byte x; q?x; q?x }"#,
        true,
    ),
    (
        r#"chan q = [2] of { byte };
notrace { q!1; q!2 }
active proctype P() { if :: q!2 :: q!3 fi; q!1; q!2 }
active proctype Q() { byte x; q?x; q?x; q?x }"#,
        false,
    ),
    (
        r#"chan q = [0] of { byte };
active proctype P() { q!1; q!2; q!1 }
active proctype Q() { byte x; q?x; q?x; q?x; if :: q?x :: x == 1 fi }
trace { do :: q!1; q?1; q!2; q?2 od }"#,
        false,
    ),
    (
        r#"chan q = [0] of { byte };
active proctype P() { q!1; q!2 }
active proctype Q() { q?1 }
trace { do :: q!1 od }"#,
        true,
    ),
    (
        r#"chan q = [3] of { byte };
trace { do :: q!3 :: q?1 od }
active proctype P() { q!3; q!!1; q!!3 }
active proctype Q() { byte x; q?1; q??3; q?x }"#,
        true,
    ),
    (
        r#"chan q[2] = [1] of { byte };
trace { q[1]!1; q[1]!2 }
active [2] proctype P() { byte x; q[_pid]!1; q[_pid]?x; d_step { q[_pid]!2; q[_pid]?x } }"#,
        false,
    ),
    (
        r#"chan q = [2] of { byte };
trace { q!1; q!2 }
active proctype P() { if :: q!1 :: q!1; q!2 fi; end: false }"#,
        false,
    ),
    (
        r#"chan q = [2] of { byte };
notrace { q!1; q!2 }
active proctype P() { if :: q!1 :: q!3 fi; end: false }"#,
        false,
    ),
    (
        r#"chan q[2] = [1] of { byte };
trace { q[1]!1 }
active [2] proctype P() { byte x; q[_pid]!1; q[_pid]?x; atomic { q[_pid]!1; q[_pid]?x } }"#,
        true,
    ),
];

/// The verdicts on all properties by a search with symmetries, which must be those of one without.
fn verdicts(model: &Model) -> Vec<(String, bool)> {
    let options = SearchOptions { deadlock: DeadlockMode::Off, ..SearchOptions::default() };
    let layout = Layout::new(model).expect("a layout");
    let properties: Vec<PropertyId> = model.properties.indices().collect();
    let plan = plan(model, &layout, &properties, SymmetrySource::Detected, None).expect("a plan");
    let whole = check(model, &options, &mut Silent).expect("a report");
    let reduced = check_with(model, &layout, &plan, &options, &mut Silent).expect("a report");
    assert_eq!(reduced.verdict, whole.verdict);
    if whole.verdict == Verdict::Holds {
        assert_eq!(reduced.represented, whole.represented);
    }
    let named = |subject| match subject {
        Subject::Property(id) => model.properties[id].name.clone(),
        _ => None,
    };
    let reports = whole.properties.iter();
    reports.filter_map(|it| Some((named(it.subject)?, it.verdict == Verdict::Violated))).collect()
}

fn write(folder: &Path, text: &str) -> std::path::PathBuf {
    let path = folder.join("model.pml");
    std::fs::write(&path, text).expect("a model can be written");
    path
}

#[test]
fn every_part_of_the_language() {
    let spin = Spin::find_or_skip("small Promela models against SPIN");
    let folder = tempfile::tempdir().expect("a folder");
    for &(what, text, states, symmetries) in MODELS {
        let path = write(folder.path(), text);
        let model = load_promela(&path, &[], true).unwrap_or_else(|errors| panic!("{what}: {errors:?}"));
        let counts = count(&model, 200_000);
        assert_eq!(counts.states, states, "{what}");
        assert_eq!(order(&model), symmetries.to_string(), "{what}");
        verdicts(&model);
        if let Some(spin) = &spin {
            compare(spin, &path, &counts, what);
        }
    }
}

/// SPIN counts the same.
fn compare(spin: &Spin, path: &Path, counts: &Counts, what: &str) {
    let answer = spin.run(path, &[], Duration::from_secs(60)).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!((answer.states, answer.deadlock), (counts.states, counts.deadlock), "{what}");
}

#[test]
fn numbers_of_states() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = write(folder.path(), NUMBERS_OF_STATES);
    let model = load_promela(&path, &[], true).expect("the model is right");
    let counts = count(&model, 200_000);
    assert_eq!(counts.states, 1859);
    if let Some(spin) = Spin::find_or_skip("the numbers of states of a Promela model against SPIN") {
        compare(&spin, &path, &counts, "numbers of states");
    }
}

#[test]
fn traces_of_events() {
    let spin = Spin::find_or_skip("traces against SPIN");
    let folder = tempfile::tempdir().expect("a folder");
    for &(text, violated) in TRACES {
        let path = write(folder.path(), text);
        let model = load_promela(&path, &[], false).unwrap_or_else(|errors| panic!("{text}: {errors:?}"));
        let found = count(&model, 10_000);
        assert_eq!(found.fault.is_some(), violated, "{text}: {:?}", found.fault);
        verdicts(&model);
        let Some(spin) = &spin else { continue };
        let answer = spin.run(&path, &[], Duration::from_secs(60)).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(answer.error, violated, "{text}: {}", answer.message);
        let model = load_promela(&path, &[], true).expect("it could be read");
        compare(spin, &path, &count(&model, 10_000), text);
    }
}

#[test]
fn claims_that_come_to_their_end() {
    let spin = Spin::find_or_skip("`never` claims against SPIN");
    let folder = tempfile::tempdir().expect("a folder");
    let options = LoadOptions { watch_claims: true, ..LoadOptions::default() };
    for &(text, violated) in CLAIMS {
        let model =
            load(Source::new("model.pml", text), Language::Promela, &options).expect("the model is right").model;
        assert_eq!(verdicts(&model), [("never".to_owned(), violated)], "{text}");
        if let Some(spin) = &spin {
            let path = write(folder.path(), text);
            let found = spin.violates_claim(&path, Duration::from_secs(60)).expect("spin answers");
            assert_eq!(found, violated, "{text}");
        }
    }
}

#[test]
fn claims_that_ask_for_cycles_are_automata() {
    let text = "byte x; active proctype A() { do :: x = 1 - x od }\nnever { accept: do :: x == 0 :: x == 1 od }";
    let options = LoadOptions { watch_claims: true, ..LoadOptions::default() };
    let loaded = load(Source::new("model.pml", text), Language::Promela, &options).expect("the model is right");
    let kinds: Vec<PropertyKind> = loaded.model.properties.iter().map(|property| property.kind).collect();
    assert_eq!(kinds, [PropertyKind::Temporal]);
}
