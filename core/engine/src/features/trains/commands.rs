//! What is asked of trains.
use ojs_model::{JobId, OjsError};

use crate::error::{Applied, StoreError};
use crate::features::trains::records::{TrainRow, TrainState, TrainView};
use crate::kernel::transaction::Transaction;
use crate::kernel::typed::{Command, Query};
use crate::store::tables::Tables;

/// Hold a train: no further job of it starts.
#[derive(Debug, Clone)]
pub struct HoldTrain {
    /// Its id.
    pub id: String,
    /// Who holds it.
    pub by: String,
}

impl Command for HoldTrain {
    type Reply = TrainView;

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<TrainView> {
        let tenant = tenant_in(transaction.tables);
        let row = transaction.hold_train(tenant, &self.id, &self.by)?;
        Ok(view(transaction.tables, row, 0, CARS_SHOWN)?)
    }
}

/// End the hold of a train. A locomotive that has ended leaves it.
#[derive(Debug, Clone)]
pub struct AdvanceTrain {
    /// Its id.
    pub id: String,
    /// Only if this job is the locomotive.
    pub job: Option<JobId>,
    /// Who advances it.
    pub by: String,
}

impl Command for AdvanceTrain {
    type Reply = TrainView;

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<TrainView> {
        let tenant = tenant_in(transaction.tables);
        let row = transaction.advance_train(tenant, &self.id, self.job, &self.by)?;
        Ok(view(transaction.tables, row, 0, CARS_SHOWN)?)
    }
}

/// Cars that an answer to a command shows.
const CARS_SHOWN: usize = 100;

/// A train with a page of its cars.
#[derive(Debug, Clone)]
pub struct GetTrain {
    /// Its id.
    pub id: String,
    /// Only cars behind this position.
    pub after: i64,
    /// Most cars.
    pub limit: usize,
}

impl Query for GetTrain {
    type Reply = TrainView;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<TrainView> {
        let tenant = tenant_in(tables);
        let row = tables.find_train(tenant, &self.id)?.ok_or_else(|| OjsError::not_found("train", &self.id))?;
        Ok(view(tables, row, self.after, self.limit)?)
    }
}

/// A page of trains by id.
#[derive(Debug, Clone)]
pub struct ListTrains {
    /// Only those in this state. Held ones are in the order in which they were held.
    pub state: Option<TrainState>,
    /// Page size.
    pub limit: usize,
    /// Trains to skip.
    pub offset: usize,
    /// Only those behind this id. Not for held ones, which have another order.
    pub behind: Option<String>,
}

impl Query for ListTrains {
    /// The page, each train with the number of its cars, and how many trains there are in all.
    type Reply = (Vec<(TrainRow, usize)>, usize);

    fn answer(&self, tables: &mut dyn Tables) -> Applied<Self::Reply> {
        let tenant = tenant_in(tables);
        let (rows, total) = tables.trains(tenant, self.state, self.behind.as_deref(), self.limit, self.offset)?;
        let mut page = Vec::with_capacity(rows.len());
        for row in rows {
            let cars = tables.count_cars(row.num, i64::MAX)?;
            page.push((row, cars));
        }
        Ok((page, total))
    }

    fn is_search(&self) -> bool {
        true
    }
}

/// How many trains there are, how many of them are held, and how many cars.
#[derive(Debug, Clone)]
pub struct CountTrains;

impl Query for CountTrains {
    type Reply = [usize; 3];

    fn answer(&self, tables: &mut dyn Tables) -> Applied<[usize; 3]> {
        Ok(tables.count_trains()?)
    }
}

/// Number of the tenant whose trains the caller means: its own, and the default one when it has none.
fn tenant_in(tables: &mut dyn Tables) -> i64 {
    tables.names().scope.num().unwrap_or(0)
}

fn view(tables: &mut dyn Tables, row: TrainRow, after: i64, limit: usize) -> Result<TrainView, StoreError> {
    let cars = tables.cars(row.num, after, limit)?;
    let ids: Vec<JobId> = cars.iter().map(|car| car.job).collect();
    let jobs = tables.outcomes(&ids)?;
    let states = jobs.into_iter().map(|job| job.map(|(row, _)| row.state));
    let total = tables.count_cars(row.num, i64::MAX)?;
    Ok(TrainView { row, cars: cars.into_iter().zip(states).collect(), total })
}
