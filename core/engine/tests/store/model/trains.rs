//! Trains in the reference model: who leads, who waits, what a train does when its locomotive has ended.
use ojs_engine::command::{AdvanceTrain, HoldTrain};
use ojs_model::{JobId, JobState};
use rand::Rng;
use rand::rngs::StdRng;

use super::{First, LEASE_MS, Model};
use crate::support::Bench;
use crate::trains::{place, train};

/// Ids of the trains.
pub const TRAINS: [&str; 2] = ["x", "y"];

/// The train that a job is to join, and what it says of its end.
#[derive(Debug, Clone, Copy)]
pub struct Ticket {
    pub train: usize,
    hold_cancelled: bool,
    hold_discarded: bool,
}

impl Ticket {
    pub fn random(rng: &mut StdRng) -> Self {
        Self {
            train: rng.random_range(0..TRAINS.len()),
            hold_cancelled: rng.random_bool(0.3),
            hold_discarded: rng.random_bool(0.3),
        }
    }

    /// The option of a job.
    pub fn option(self) -> String {
        let word = |hold| if hold { "hold" } else { "advance" };
        format!(
            r#","train":{{"id":"{}","on_cancelled":"{}","on_discarded":"{}"}}"#,
            TRAINS[self.train],
            word(self.hold_cancelled),
            word(self.hold_discarded)
        )
    }
}

/// A job's place in its train.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Car {
    /// It has left, or has never had one.
    Left,
    /// It waits with this number.
    Waits(usize),
    /// It is the locomotive.
    Leads,
}

/// A train.
#[derive(Debug, Default, Clone)]
pub struct Train {
    locomotive: Option<JobId>,
    held: bool,
    /// Its locomotive was cancelled while it ran: when it may go on at the latest, and when the attempt began.
    drain: Option<(i64, i64)>,
    /// Number of the job that joined last.
    joined: usize,
}

impl Model {
    fn train_of(&self, id: JobId) -> Option<usize> {
        self.jobs[&id].ticket.map(|ticket| ticket.train)
    }

    fn waiting(&self, train: usize) -> Option<JobId> {
        let of_train = self.jobs.iter().filter(|(_, job)| job.ticket.is_some_and(|ticket| ticket.train == train));
        let waiting = of_train.filter_map(|(id, job)| if let Car::Waits(place) = job.car { Some((place, *id)) } else { None });
        waiting.min().map(|(_, id)| id)
    }

    /// A job joins its train, at the end. It becomes what it asked for when it leads.
    pub fn join(&mut self, id: JobId, now: i64) {
        let Some(train) = self.train_of(id) else { return };
        let leads = self.trains[train].locomotive.is_none() && !self.trains[train].held && self.waiting(train).is_none();
        self.trains[train].joined += 1;
        let place = self.trains[train].joined;
        let known = self.jobs.get_mut(&id).unwrap();
        if leads {
            known.car = Car::Leads;
            self.trains[train].locomotive = Some(id);
        } else {
            (known.car, known.state) = (Car::Waits(place), JobState::Pending);
            self.move_on(train, now);
        }
    }

    /// A new job takes the place of others, which are cancelled before trains go on: one that waits in its train does
    /// not become the locomotive first.
    pub fn replaced(&mut self, mut old: Vec<JobId>, now: i64) {
        old.sort_by_key(|id| !matches!(self.jobs[id].car, Car::Waits(_)));
        for id in old {
            let from = std::mem::replace(&mut self.jobs.get_mut(&id).unwrap().state, JobState::Cancelled);
            self.ended(id, from, now);
        }
    }

    /// The next car becomes the locomotive, when there is none and nothing holds the train.
    fn move_on(&mut self, train: usize, now: i64) {
        if self.trains[train].locomotive.is_some() || self.trains[train].held {
            return;
        }
        let Some(next) = self.waiting(train) else { return };
        self.trains[train].locomotive = Some(next);
        let step = self.step;
        let known = self.jobs.get_mut(&next).unwrap();
        known.car = Car::Leads;
        match known.first {
            First::Pending => {}
            First::Scheduled if known.due > now => known.state = JobState::Scheduled,
            _ => Self::enter(step, known),
        }
    }

    /// A job has ended. `from`: its state before.
    pub fn ended(&mut self, id: JobId, from: JobState, now: i64) {
        let Some(train) = self.train_of(id) else { return };
        let known = self.jobs.get_mut(&id).unwrap();
        match known.car {
            Car::Left => {}
            Car::Waits(_) => known.car = Car::Left,
            Car::Leads if known.state == JobState::Cancelled && from == JobState::Active => {
                self.trains[train].drain = Some((known.due, known.claimed_at));
            }
            Car::Leads => self.end_or_hold(train, id, now),
        }
    }

    fn end_or_hold(&mut self, train: usize, id: JobId, now: i64) {
        let known = self.jobs.get_mut(&id).unwrap();
        let ticket = known.ticket.unwrap();
        let holds = match known.state {
            JobState::Cancelled => ticket.hold_cancelled,
            JobState::Discarded => ticket.hold_discarded,
            _ => false,
        };
        if holds {
            self.trains[train].held = true;
        } else {
            known.car = Car::Left;
            self.trains[train].locomotive = None;
            self.move_on(train, now);
        }
    }

    fn end_drain(&mut self, train: usize, now: i64) {
        self.trains[train].drain = None;
        let locomotive = self.trains[train].locomotive.unwrap();
        self.end_or_hold(train, locomotive, now);
    }

    /// The worker of a cancelled job has reported it.
    pub fn reported(&mut self, id: JobId, now: i64) {
        let drains = self.train_of(id).filter(|train| self.trains[*train].drain.is_some());
        if let Some(train) = drains.filter(|train| self.trains[*train].locomotive == Some(id)) {
            self.end_drain(train, now);
        }
    }

    /// The worker has sent a heartbeat that names a job; `before` is the time of its heartbeat before.
    pub fn beaten(&mut self, named: JobId, before: Option<i64>, now: i64) {
        for train in 0..TRAINS.len() {
            let Some((until, began)) = self.trains[train].drain else { continue };
            if self.trains[train].locomotive == Some(named) {
                self.trains[train].drain = Some((until.max(now + LEASE_MS), began));
            } else if before.is_some_and(|before| before > began) {
                self.end_drain(train, now);
            }
        }
    }

    /// Leases of cancelled jobs are over, or their worker is dead.
    pub fn drained(&mut self, dead: bool, now: i64) {
        for train in 0..TRAINS.len() {
            if self.trains[train].drain.is_some_and(|(until, _)| dead || until <= now) {
                self.end_drain(train, now);
            }
        }
    }

    /// A discarded job runs again: in its place when it holds its train, else at the end.
    pub fn rejoin(&mut self, id: JobId, now: i64) {
        let (Some(train), step) = (self.train_of(id), self.step) else { return };
        let known = self.jobs.get_mut(&id).unwrap();
        known.first = First::Available;
        if known.car == Car::Leads {
            self.trains[train].held = false;
            return;
        }
        Self::enter(step, known);
        self.join(id, now);
    }

    fn exists(&self, train: usize) -> bool {
        self.trains[train].held || self.trains[train].locomotive.is_some()
    }

    /// An operator holds a train, or lets it go on; the answer must say the same.
    pub async fn operate(&mut self, b: &Bench, train: usize, hold: bool) {
        let (id, by) = (TRAINS[train].to_owned(), "operator".to_owned());
        let answer = if hold {
            b.engine.store().execute(HoldTrain { id, by }).await
        } else {
            b.engine.store().execute(AdvanceTrain { id, job: None, by }).await
        };
        let allowed = self.exists(train) && (hold || self.trains[train].held);
        assert_eq!(answer.is_ok(), allowed, "hold {hold} of {:?}", self.trains[train]);
        if !allowed {
            return;
        }
        self.trains[train].held = hold;
        let ended = self.trains[train].locomotive.filter(|id| self.jobs[id].state.is_terminal());
        match ended {
            _ if hold => {}
            Some(_) if self.trains[train].drain.is_some() => {}
            Some(id) => {
                self.jobs.get_mut(&id).unwrap().car = Car::Left;
                self.trains[train].locomotive = None;
                self.move_on(train, b.now());
            }
            None => self.move_on(train, b.now()),
        }
    }

    /// Both agree on who leads, who waits, and in which order.
    pub async fn check_trains(&self, b: &Bench) {
        for (number, name) in TRAINS.iter().enumerate() {
            let known = &self.trains[number];
            let Ok(view) = train(b, name).await else {
                assert!(!self.exists(number), "there is no train {name}: {known:?}");
                continue;
            };
            assert_eq!(view.row.locomotive, known.locomotive, "the locomotive of {name}");
            let mut cars: Vec<(usize, JobId)> = Vec::new();
            for (id, job) in self.jobs.iter().filter(|(_, job)| job.ticket.is_some_and(|ticket| ticket.train == number)) {
                match job.car {
                    Car::Left => {}
                    Car::Leads => cars.push((0, *id)),
                    Car::Waits(place) => cars.push((place, *id)),
                }
            }
            cars.sort_unstable();
            let told: Vec<JobId> = view.cars.iter().map(|(car, _)| car.job).collect();
            assert_eq!(told, cars.iter().map(|(_, id)| *id).collect::<Vec<_>>(), "the jobs of {name}, in their order");
            if let Some(id) = known.locomotive {
                assert!(place(b, id).await.1);
            }
        }
    }
}
