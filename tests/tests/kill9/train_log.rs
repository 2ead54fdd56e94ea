//! What the workers of the trains test have done, and whether the order of any train was broken.
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use super::train_worker::LEASE;

/// A run of a handler.
#[derive(Debug, Clone)]
struct Run {
    /// When its handler began, microseconds.
    began: u64,
    /// When its fetch was sent: the lease is not over before one lease after this.
    sent: u64,
    /// When its handler had ended; `None` for one whose process was killed.
    ended: Option<u64>,
    number: u64,
    epoch: u64,
    job: String,
}

/// All runs by train. Lines may arrive from several processes in any order.
#[derive(Default)]
pub struct Log {
    trains: Mutex<BTreeMap<u64, Vec<Run>>>,
    /// Jobs that may have left their train and joined it again at the end: they have no certain place.
    rejoined: Mutex<BTreeSet<String>>,
}

/// What the runs show.
#[derive(Debug, Default)]
pub struct Findings {
    pub runs: usize,
    /// Runs of a job after a later one of its train had begun.
    pub overtaken: Vec<String>,
    /// Runs that began while another one of their train had neither ended nor lost its lease.
    pub overlapping: Vec<String>,
    /// Runs that began later than one with a larger epoch: a resource would have refused their writes.
    pub late: usize,
}

impl Log {
    /// Takes in a line of a worker.
    pub fn take(&self, line: &str) {
        let Some(line) = line.strip_prefix('@') else { return };
        let words: Vec<&str> = line.split(' ').collect();
        let number = |at: usize| words[at].parse::<u64>().unwrap_or_else(|_| panic!("{line}"));
        let mut trains = self.trains.lock().unwrap_or_else(PoisonError::into_inner);
        match words[0] {
            "begin" => trains.entry(number(3)).or_default().push(Run {
                began: number(1),
                sent: number(2),
                ended: None,
                number: number(4),
                epoch: number(5),
                job: words[6].to_owned(),
            }),
            "end" => {
                let runs = trains.entry(number(3)).or_default();
                let run = runs.iter_mut().rfind(|run| run.epoch == number(2)).expect("a run that has begun");
                run.ended = Some(number(1));
            }
            _ => panic!("{line}"),
        }
    }

    /// This job may have joined its train again.
    pub fn may_rejoin(&self, id: &str) {
        self.rejoined.lock().unwrap_or_else(PoisonError::into_inner).insert(id.to_owned());
    }

    /// Compares all runs of each train with each other.
    pub fn judge(&self) -> Findings {
        let trains = self.trains.lock().unwrap_or_else(PoisonError::into_inner);
        let rejoined = self.rejoined.lock().unwrap_or_else(PoisonError::into_inner);
        let mut findings = Findings::default();
        for (train, runs) in trains.iter() {
            findings.runs += runs.len();
            let mut by_epoch = runs.clone();
            by_epoch.sort_by_key(|run| run.epoch);
            for pair in by_epoch.windows(2) {
                let told = || format!("train {train}: {:?}, then {:?}", pair[0], pair[1]);
                let placed = !pair.iter().any(|run| rejoined.contains(&run.job));
                if placed && pair[0].number > pair[1].number || pair[0].epoch == pair[1].epoch {
                    findings.overtaken.push(told());
                }
            }
            let mut by_time = runs.clone();
            by_time.sort_by_key(|run| run.began);
            for (at, run) in by_time.iter().enumerate() {
                let before = &by_time[..at];
                if before.iter().any(|other| other.epoch > run.epoch) {
                    findings.late += 1;
                    continue;
                }
                let lease = u64::try_from(LEASE.as_micros()).unwrap();
                let holds = |other: &&Run| other.ended.is_none_or(|ended| ended > run.began) && run.began < other.sent + lease;
                if let Some(other) = before.iter().find(holds) {
                    findings.overlapping.push(format!("train {train}: {run:?} beside {other:?}"));
                }
            }
        }
        findings
    }
}
