#![allow(missing_docs, clippy::all, clippy::print_stdout, clippy::disallowed_methods)]
use freshet_crew::*;
fn main() {
    let a: Vec<f64> = std::env::args().skip(1).map(|x| x.parse().unwrap()).collect();
    if a.is_empty() { return many(); }
    let s = Setting::new(a[0], a[1], a[2] as u32, a[3]).unwrap();
    println!("{:?} load {}", best_fixed(&s, None), best_load(&s));
    let t = std::time::Instant::now();
    let d = solve(&s, a.get(4).map(|x| *x as u32));
    let el = t.elapsed();
    match d { Ok(d) => {
        println!("{:?}\ngap {:e} iterations {} in {:?}", d.measures, d.gap, d.iterations, el);
        let t = d.policy.targets();
        if t.len() < 50 { println!("{t:?}") } else { println!("{:?}", t.iter().step_by(t.len()/20).collect::<Vec<_>>()) }
    } Err(e) => println!("{e}") }
}
fn many() {
    // lines "lambda mu K gamma N|-" in, results out
    for line in std::io::stdin().lines() {
        let line = line.unwrap();
        let f: Vec<&str> = line.split_whitespace().collect();
        let p = |i: usize| f[i].parse::<f64>().unwrap();
        let s = Setting::new(p(0), p(1), p(2) as u32, p(3)).unwrap();
        let n = f[4].parse::<u32>().ok();
        let t = std::time::Instant::now();
        match solve(&s, n) {
            Ok(d) => { let m = d.measures; let pol = &d.policy;
                println!("{line} {:e} {:e} {:e} {} {:e} {} {:e} {} {:.3} {} {}", m.cost, m.starvation, m.loss_rate, m.min_active, m.mean_active, m.max_active, d.gap, d.iterations, t.elapsed().as_secs_f64(), pol.targets()[0], pol.targets()[pol.targets().len()-1]) }
            Err(e) => println!("{line} error {e} {:.3}", t.elapsed().as_secs_f64()),
        }
    }
}
