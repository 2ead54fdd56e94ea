//! What the limits of a key keep its jobs from.
use crate::error::StoreError;
use crate::features::limits::records::LimitRow;
use crate::features::limits::rules::look;
use crate::kernel::explanation::{Explanation, Reason};
use crate::kernel::holds::Holds;
use crate::kernel::job::JobRow;
use crate::store::record::Records;
use crate::store::selection::Selection;
use crate::store::tables::Tables;

/// Most jobs named that use a key.
const NAMED: usize = 10;

/// A key that is full.
pub(super) fn explain(tables: &mut dyn Tables, row: &JobRow, found: &mut Explanation) -> Result<(), StoreError> {
    if row.limit == 0 || !row.holds.contains(Holds::LIMIT) {
        return Ok(());
    }
    let Some(key): Option<LimitRow> = Records::of(tables).get(&row.limit)? else { return Ok(()) };
    let name = key.key.clone();
    let of_key = |reason: Reason| reason.detail("key", &*name).link(format!("/rate-limits/{name}"));
    let gate = match look(tables, key, found.at.as_millis()) {
        Ok(gate) => gate,
        Err(fault) => {
            found.add(of_key(Reason::new("key_unreadable", fault.to_string())));
            return Ok(());
        }
    };
    let (most, used) = (gate.most, gate.used);
    let reason = match gate.strategy {
        _ if gate.free > 0 => Reason::new("key_opening", format!("Key '{name}' has room again: the next claims let it go.")),
        "concurrency" => {
            let holders = tables.select(&Selection::Running { key: row.limit }, NAMED)?;
            let ids: Vec<String> = holders.iter().map(|row| row.id.to_string()).collect();
            let reason = Reason::new("key_concurrency", format!("Key '{name}' may have {most} active jobs, and has {used}."));
            reason.detail("active_job_ids", ids).detail("limit", most).detail("active", used)
        }
        "rate" => Reason::new("key_rate", format!("Key '{name}' has started {used} jobs; its rate allows {most} in a period."))
            .until(gate.next_at),
        "throttle" => Reason::new("key_throttle", format!("Key '{name}' spaces its jobs evenly.")).until(gate.next_at),
        _ => Reason::new("key_held", format!("A worker has said that nothing of key '{name}' may start."))
            .until(gate.next_at)
            .command(format!("ojs rate-limits get {name}")),
    };
    found.add(of_key(reason));
    Ok(())
}
