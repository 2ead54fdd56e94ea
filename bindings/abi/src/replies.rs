//! Answers to calls of an event loop: they are collected, and the loop fetches all of them after one wake-up.
use std::sync::{Arc, Mutex};

use crate::doorbell::Doorbell;
use crate::error::AbiError;
use crate::process::Owner;
use crate::sync::lock;

#[derive(Debug)]
struct Waiting<T> {
    list: Vec<(u64, T)>,
    rung: bool,
}

/// Where answers wait for an event loop. `T` is the answer.
#[derive(Debug)]
pub struct Replies<T> {
    owner: Owner,
    answers: Mutex<Waiting<T>>,
    doorbell: Box<dyn Doorbell>,
}

impl<T> Replies<T> {
    /// A box with its bell.
    #[must_use]
    pub fn new(doorbell: Box<dyn Doorbell>) -> Arc<Self> {
        Arc::new(Self { owner: Owner::current(), answers: Mutex::new(Waiting { list: Vec::new(), rung: false }), doorbell })
    }

    /// Puts the answer to call number `ticket` in; from any thread.
    pub fn put(&self, ticket: u64, answer: T) {
        let ring = {
            let mut answers = lock(&self.answers);
            answers.list.push((ticket, answer));
            !std::mem::replace(&mut answers.rung, true)
        };
        if ring {
            self.doorbell.ring();
        }
    }

    /// Takes everything out; what comes from now on rings again.
    ///
    /// # Errors
    /// Forked.
    pub fn take(&self) -> Result<Vec<(u64, T)>, AbiError> {
        self.owner.check("an event loop's client")?;
        self.doorbell.quiet();
        let mut answers = lock(&self.answers);
        answers.rung = false;
        Ok(std::mem::take(&mut answers.list))
    }
}
