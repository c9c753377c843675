//! What the walls cost: from the wish to start a program until it has ended, with them and without.

use std::time::Instant;

use swarm_process::containment::Containment;
use swarm_process::launcher::Launcher;

use crate::person::Person;
use crate::run::Start;

/// So many starts, of which the middle one counts.
const STARTS: usize = 20;

pub async fn measure(person: &Person, nets: &[(String, Containment)], launcher: &Launcher) {
    for (word, net) in nets {
        let mut middle = [0.0; 2];
        for (walls, middle) in [false, true].into_iter().zip(&mut middle) {
            let start = Start { person, net, launcher, walls, network: true };
            let mut times = Vec::with_capacity(STARTS);
            for _ in 0..STARTS {
                let begun = Instant::now();
                start.run("rights").await;
                times.push(begun.elapsed());
            }
            times.sort();
            *middle = times[STARTS / 2].as_secs_f64() * 1000.0;
        }
        let [without, with] = middle;
        println!("a start in {word}: {without:.1} ms without walls, {with:.1} ms with them");
    }
}
