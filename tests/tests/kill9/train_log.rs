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
    /// What its handler was about to report when it ended.
    word: Option<String>,
}

impl Run {
    /// No other worker gets the job before this, unless this one reports it.
    fn leased_until(&self) -> u64 {
        self.sent + u64::try_from(LEASE.as_micros()).unwrap()
    }
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
    /// Runs of a job after a later one of its train had begun, and runs that share an epoch.
    pub overtaken: Vec<String>,
    /// Runs that began while another one of their train had neither ended nor lost its lease.
    pub overlapping: Vec<String>,
    /// Runs that began later than one with a larger epoch, when their own lease was over: a resource would have refused
    /// their writes.
    pub late: usize,
    /// Runs whose process was killed.
    pub cut: usize,
    /// Runs that failed or gave their job back.
    pub repeated: usize,
    /// Jobs with a run that was about to report them completed.
    pub completed: BTreeSet<String>,
}

impl Findings {
    /// Takes in the runs of one train. `rejoined`: jobs without a certain place.
    fn add(&mut self, train: u64, runs: &[Run], rejoined: &BTreeSet<String>) {
        self.runs += runs.len();
        for run in runs {
            match run.word.as_deref() {
                None => self.cut += 1,
                Some("fails" | "returns") => self.repeated += 1,
                Some("completes") => drop(self.completed.insert(run.job.clone())),
                Some(_) => {}
            }
        }
        let mut by_epoch: Vec<&Run> = runs.iter().collect();
        by_epoch.sort_by_key(|run| run.epoch);
        let told = |first: &Run, second: &Run| format!("train {train}: {first:?}, then {second:?}");
        let shared = by_epoch.windows(2).filter(|pair| pair[0].epoch == pair[1].epoch);
        self.overtaken.extend(shared.map(|pair| told(pair[0], pair[1])));
        by_epoch.retain(|run| !rejoined.contains(&run.job));
        let backwards = by_epoch.windows(2).filter(|pair| pair[0].number > pair[1].number);
        self.overtaken.extend(backwards.map(|pair| told(pair[0], pair[1])));
        let mut by_time: Vec<&Run> = runs.iter().collect();
        by_time.sort_by_key(|run| run.began);
        for (at, run) in by_time.iter().enumerate() {
            self.compare(train, run, &by_time[..at]);
        }
    }

    /// A run with those of its train that began before it.
    fn compare(&mut self, train: u64, run: &Run, before: &[&Run]) {
        let beside = match before.iter().find(|other| other.epoch > run.epoch) {
            // The worker was slow: the next run may have begun, but only after this one's lease.
            Some(_) if run.began >= run.leased_until() => {
                self.late += 1;
                None
            }
            Some(other) => Some(other),
            None => {
                before.iter().find(|other| other.ended.is_none_or(|ended| ended > run.began) && run.began < other.leased_until())
            }
        };
        self.overlapping.extend(beside.map(|other| format!("train {train}: {run:?} beside {other:?}")));
    }
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
                word: None,
            }),
            "end" => {
                let runs = trains.entry(number(3)).or_default();
                let run = runs.iter_mut().rfind(|run| run.epoch == number(2)).expect("a run that has begun");
                (run.ended, run.word) = (Some(number(1)), Some(words[4].to_owned()));
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
            findings.add(*train, runs, &rejoined);
        }
        findings
    }
}

/// A log of these lines, judged.
fn judged(lines: &[&str], rejoined: &[&str]) -> Findings {
    let log = Log::default();
    lines.iter().for_each(|line| log.take(line));
    rejoined.iter().for_each(|id| log.may_rejoin(id));
    log.judge()
}

/// Two jobs of train 7, the second one before the first one's retry: in order. One of train 8 beside them.
const SOUND: [&str; 8] = [
    "@begin 100 50 7 0 1 a",
    "@begin 110 50 8 0 1 x",
    "@end 200 1 7 fails",
    "@begin 300 250 7 0 2 a",
    "@end 400 2 7 completes",
    "@begin 450 420 7 1 3 b",
    "@end 500 3 7 completes",
    "not a line of a handler",
];

#[test]
fn a_history_in_order_is_sound() {
    let found = judged(&SOUND, &[]);
    assert!(found.overtaken.is_empty() && found.overlapping.is_empty(), "{found:?}");
    assert_eq!((found.runs, found.late, found.cut, found.repeated), (4, 0, 1, 1));
    assert_eq!(found.completed.into_iter().collect::<Vec<_>>(), ["a", "b"]);
}

#[test]
fn an_overtaken_job_is_found() {
    let lines = ["@begin 100 50 7 1 1 b", "@end 200 1 7 completes", "@begin 300 250 7 0 2 a", "@end 400 2 7 completes"];
    let found = judged(&lines, &[]);
    assert_eq!((found.overtaken.len(), found.overlapping.len()), (1, 0), "{found:?}");
    assert!(judged(&lines, &["b"]).overtaken.is_empty(), "a job that joined again at the end has no certain place");
    // Between the two a job without a certain place: they are compared all the same.
    let between = ["@begin 100 50 7 5 1 f", "@begin 300 250 7 0 2 a", "@begin 500 450 7 3 3 d"];
    let ended = ["@end 200 1 7 completes", "@end 400 2 7 completes", "@end 600 3 7 completes"];
    assert_eq!(judged(&[between, ended].concat(), &["a"]).overtaken.len(), 1);
}

#[test]
fn an_epoch_that_two_runs_share_is_found() {
    let lines = ["@begin 100 50 7 0 1 a", "@end 200 1 7 fails", "@begin 300 250 7 0 1 a"];
    assert_eq!(judged(&lines, &["a"]).overtaken.len(), 1);
}

#[test]
fn jobs_that_overlap_are_found() {
    // The first one runs until 900; the second one begins before, and before the first one's lease is over.
    let beside = ["@begin 100 50 7 0 1 a", "@begin 300 250 7 1 2 b", "@end 900 1 7 completes", "@end 950 2 7 completes"];
    let found = judged(&beside, &[]);
    assert_eq!((found.overtaken.len(), found.overlapping.len()), (0, 1), "{found:?}");
    // A run that was killed holds its train until its lease is over: then the next one is right.
    let killed = "@begin 100 50 7 0 1 a";
    assert_eq!(judged(&[killed, "@begin 1000049 900000 7 1 2 b"], &[]).overlapping.len(), 1);
    assert_eq!(judged(&[killed, "@begin 1000050 900000 7 1 2 b"], &[]).overlapping.len(), 0);
}

#[test]
fn a_run_that_begins_after_the_next_one_is_late_only_without_its_lease() {
    let second = "@begin 300 250 7 1 2 b";
    let found = judged(&[second, "@begin 400 50 7 0 1 a"], &[]);
    assert_eq!((found.overlapping.len(), found.late), (1, 0), "both had their lease: {found:?}");
    let found = judged(&[second, "@begin 1000050 50 7 0 1 a"], &[]);
    assert_eq!((found.overlapping.len(), found.late), (0, 1), "{found:?}");
}
