use quotient_ir::{Budget, Interrupt};
use quotient_symmetry::{PartialSymmetry, most_permutations};
fn main() {
    for path in std::env::args().skip(1) {
        let model = match quotient::Model::from_path(&path) { Ok(m) => m, Err(_) => continue };
        let props: Vec<_> = model.ir().properties.iter_enumerated().map(|(i, _)| i).collect();
        let budget = Budget::new(u64::MAX, Interrupt::new());
        let t = std::time::Instant::now();
        let m = most_permutations(model.ir(), model.layout(), &budget).map(|n| n.to_string());
        let (u0, t0) = (budget.used(), t.elapsed());
        match PartialSymmetry::new(model.ir(), model.layout(), &props, &budget) {
            Ok(mut p) => { let (u1, t1) = (budget.used(), t.elapsed()); let s = p.sharing().map(|s| s.order.to_string().len()); println!("{path}: most {:?} {u0} {t0:?}; new {u1} {t1:?}; sharing {} {:?} {s:?}", m.map(|m| m.len()), budget.used(), t.elapsed()); }
            Err(e) => println!("{path}: {e} {} {:?}", budget.used(), t.elapsed()),
        }
    }
}
