use super::*;

#[test]
fn places() {
    let c = Channel::from_recall(1.0, 0.8, 0.8).unwrap();
    for (days, signals) in
        [(0.5, 0.0), (3.0, 0.0), (10.0, 0.0), (0.0, 1.0), (1.0, 1.0), (3.0, 5.0), (10.0, 10.0)]
    {
        let heard = Heard { days, signals };
        for p in [Counted::Harmonic, Counted::Freshness] {
            println!("{p:?} {heard:?} {} {}", c.value(p, heard), c.quick_value(p, heard));
        }
    }
}
