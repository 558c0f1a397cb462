//! Time, by turns: in every round each candidate works for some milliseconds, so that a busy moment of the machine hits all
//! alike; the median of the rounds counts. Time is that of the processor: what the system meanwhile gave to others is not
//! the candidate's.

use crate::shapes::Random;
use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// Something whose calls are timed.
pub trait Run {
    fn run(&mut self, calls: usize);
}

impl Run for Box<dyn Run + '_> {
    fn run(&mut self, calls: usize) {
        (**self).run(calls);
    }
}

/// How much time is spent.
#[derive(Clone, Copy)]
pub struct Effort {
    /// At most, with eight candidates.
    pub rounds: usize,
    /// How long one measurement is.
    pub work: Duration,
    /// How long all measurements of one candidate may take; then its rounds are fewer, but three at least.
    pub most: Duration,
}

impl Effort {
    pub const FULL: Effort =
        Effort { rounds: 31, work: Duration::from_micros(2500), most: Duration::from_millis(1500) };
    pub const QUICK: Effort = Effort { rounds: 7, work: Duration::from_micros(1500), most: Duration::from_millis(100) };
}

/// Nanoseconds a call of each run.
pub fn measure<R: Run>(runs: &mut [R], effort: Effort) -> Vec<f64> {
    // Few are done soon, perhaps all in one busy moment: they get more rounds.
    let more = (8 / runs.len().max(1)).max(1);
    let effort = Effort { rounds: effort.rounds * more, most: effort.most * more as u32, ..effort };
    let plans: Vec<Plan> = runs.iter_mut().map(|run| Plan::new(run, effort)).collect();
    let mut times: Vec<Vec<f64>> = vec![Vec::new(); runs.len()];
    let mut order: Vec<usize> = (0..runs.len()).collect();
    let mut random = Random(effort.rounds as u64);
    for round in 0..effort.rounds {
        // Another order in each round: nobody always finds in the caches what the same neighbour left there.
        random.shuffle(&mut order);
        for &index in &order {
            let plan = plans[index];
            if round < plan.rounds {
                // What the others left in the caches is not this one's cost.
                runs[index].run(plan.warm);
                let started = processor_time();
                runs[index].run(plan.calls);
                times[index].push((processor_time() - started).as_secs_f64() * 1e9 / plan.calls as f64);
            }
        }
    }
    times.into_iter().map(median).collect()
}

/// How long this thread has been working.
pub fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

pub fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    let middle = times.len() / 2;
    if times.len() % 2 == 1 { times[middle] } else { (times[middle - 1] + times[middle]) / 2.0 }
}

/// How often one run is called.
#[derive(Clone, Copy)]
struct Plan {
    rounds: usize,
    /// Before each measurement.
    warm: usize,
    calls: usize,
}

impl Plan {
    /// Tries it out: doubles the calls until they take long enough to tell.
    fn new(run: &mut impl Run, effort: Effort) -> Plan {
        let mut calls = 1;
        let call = loop {
            let started = processor_time();
            run.run(calls);
            let time = processor_time() - started;
            // The first call of all is slower than those that follow.
            if time * 2 > effort.work && calls > 1 || time > effort.most {
                break time.as_secs_f64() / calls as f64;
            }
            calls *= 2;
        };
        let fits = |time: Duration| (time.as_secs_f64() / call) as usize;
        let calls = fits(effort.work).max(1);
        let one = call * calls as f64;
        let rounds = (effort.most.as_secs_f64() / one) as usize;
        Plan { rounds: rounds.clamp(3.min(effort.rounds), effort.rounds), warm: calls / 4, calls }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_stands_in_the_middle() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), 2.5);
    }

    #[test]
    fn more_work_takes_longer() {
        struct Work(u64);
        impl Run for Work {
            fn run(&mut self, calls: usize) {
                for _ in 0..calls as u64 * self.0 {
                    std::hint::black_box(self.0);
                }
            }
        }
        let times = measure(&mut [Work(1000), Work(4000)], Effort::QUICK);
        assert!(times[1] > times[0] * 2.0, "{times:?}");
    }
}
