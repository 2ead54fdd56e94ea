//! The store, looked at without a server in between.
use std::path::Path;
use std::time::Duration;

use ojs_engine::StoreUrl;
use ojs_engine::schema::{self, Remark, Subject};

use super::check::apart;
use super::context::{Context, Samples};
use super::finding::{Finding, note, ok, skipped, warning};
use crate::failure::Failure;

/// A transaction that stays open for longer than this holds back vacuum.
const LONG_TRANSACTION: Duration = Duration::from_secs(30);
/// Commits that take longer are felt by every client.
const SLOW_COMMIT_SECONDS: f64 = 0.05;
/// A disk with less free space than this is nearly full.
const LITTLE_SPACE_BYTES: u64 = 1 << 30;

pub async fn schema(context: &Context) -> Result<Vec<Finding>, Failure> {
    look(context, Subject::Schema).await
}

pub async fn drift(context: &Context) -> Result<Vec<Finding>, Failure> {
    look(context, Subject::Drift).await
}

pub async fn sound(context: &Context) -> Result<Vec<Finding>, Failure> {
    let mut found = look(context, Subject::Sound).await?;
    if let Some(StoreUrl::Sqlite { path, .. }) = &context.store {
        let path = path.clone();
        found.extend(apart(move || space(&path)).await?);
    }
    Ok(found)
}

pub async fn durability(context: &Context) -> Result<Vec<Finding>, Failure> {
    look(context, Subject::Durability).await
}

pub async fn vacuum(context: &Context) -> Result<Vec<Finding>, Failure> {
    look(context, Subject::Vacuum).await
}

pub async fn transactions(context: &Context) -> Result<Vec<Finding>, Failure> {
    look(context, Subject::Transactions).await
}

pub async fn connections(context: &Context) -> Result<Vec<Finding>, Failure> {
    look(context, Subject::Connections).await
}

/// The database's clock.
pub async fn clock(context: &Context) -> Result<Vec<Finding>, Failure> {
    look(context, Subject::Clock).await
}

async fn look(context: &Context, subject: Subject) -> Result<Vec<Finding>, Failure> {
    let Some(store) = context.store.clone() else { return Ok(Vec::new()) };
    let url = store.to_string();
    let remarks = apart(move || schema::look(&store, subject, LONG_TRANSACTION)).await?;
    let remarks = remarks.map_err(|fault| Failure::setting(fault.to_string()))?;
    if remarks.is_empty() && subject != Subject::Clock {
        return Ok(vec![skipped("a store of this kind has no such thing, or is not there yet")]);
    }
    Ok(remarks.into_iter().map(|remark| finding(remark, &url)).collect())
}

fn finding(remark: Remark, url: &str) -> Finding {
    let Remark { check, ok: well, message, command } = remark;
    let found = if well { ok(message) } else { warning(message) }.seen("subject", check).seen("store", url);
    match command {
        // A statement of the database.
        Some(command) if url.starts_with("postgres") && !command.starts_with("ojs ") && !command.starts_with("timedatectl") => {
            found.cleared_by(psql(url.split('?').next().unwrap_or(url), &command))
        }
        Some(command) => found.cleared_by(command),
        None => found,
    }
}

/// The command that sends statements to a database. ALTER SYSTEM is refused beside other statements of the same `-c`.
fn psql(database: &str, statements: &str) -> String {
    let apart = statements.starts_with("ALTER SYSTEM ");
    let parts = if apart { statements.split("; ").collect() } else { vec![statements] };
    let quoted = parts.iter().map(|part| format!(" -c '{}'", part.replace('\'', "'\\''")));
    format!("psql '{database}'{}", quoted.collect::<String>())
}

/// The disk and the file system that hold a file.
fn space(path: &Path) -> Vec<Finding> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    let mut found = Vec::new();
    if let Ok(disk) = rustix::fs::statvfs(directory) {
        let (free, all) = (disk.f_bavail.saturating_mul(disk.f_frsize), disk.f_blocks.saturating_mul(disk.f_frsize));
        found.push(judge_space(free, all, directory));
    }
    if let Some(name) = network_file_system(directory) {
        let message =
            format!("the file is on {name}: locks of a network file system cannot be relied upon. Move it to a local disk");
        found.push(warning(message).seen("file_system", name).cleared_by(format!("mv {} /var/lib/ojs/", path.display())));
    }
    found
}

fn judge_space(free: u64, all: u64, directory: &Path) -> Finding {
    let said = format!("{} of {} MiB of the disk are free", free >> 20, all >> 20);
    let found = if free < LITTLE_SPACE_BYTES || free.saturating_mul(10) < all {
        let advice = "a full disk refuses jobs. Free some, or delete ended jobs";
        warning(format!("{said}: {advice}")).cleared_by(format!("du -xh {} | sort -h | tail", directory.display()))
    } else {
        ok(said)
    };
    found.seen("free_bytes", free).seen("disk_bytes", all)
}

#[cfg(target_os = "linux")]
fn network_file_system(directory: &Path) -> Option<&'static str> {
    // The numbers of statfs(2).
    const KINDS: &[(u32, &str)] =
        &[(0x6969, "NFS"), (0xff53_4d42, "CIFS"), (0xfe53_4d42, "SMB"), (0x00c3_6400, "Ceph"), (0x0102_1997, "9p")];
    let kind = u32::try_from(rustix::fs::statfs(directory).ok()?.f_type & 0xffff_ffff).ok()?;
    KINDS.iter().find(|(number, _)| *number == kind).map(|(_, name)| *name)
}

#[cfg(not(target_os = "linux"))]
fn network_file_system(_: &Path) -> Option<&'static str> {
    None
}

/// How long commits have taken since the server started.
pub async fn latency(context: &Context) -> Result<Vec<Finding>, Failure> {
    let Some((p99, commits)) = p99(context.metrics().await?, "ojs_store_commit_seconds") else {
        return Ok(vec![ok("no commit yet")]);
    };
    let most = p99 * 1000.0;
    // Of fewer than 100 values the bucket of the 99th percentile is that of the largest.
    let within = if commits < 100.0 {
        format!("each of the {commits:.0} commits so far took at most {most:.1} ms")
    } else {
        format!("99 of 100 commits took at most {most:.1} ms")
    };
    let found = if p99 > SLOW_COMMIT_SECONDS {
        let found = warning(format!("{within}: look at the disk, or at the way to the database"));
        found.cleared_by("iostat -x 1 5")
    } else if p99 <= 0.000_1 && context.config().await?.pointer("/backend/type").is_some_and(|kind| kind == "sqlite") {
        note(format!("{within}: no disk confirms that fast. It is memory, or it does not write what it confirms"))
    } else {
        ok(within)
    };
    Ok(vec![found.seen("p99_seconds", p99).seen("commits", commits)])
}

/// The upper bound of the bucket with the 99th percentile of a histogram without labels, and how many values it has.
fn p99(samples: &Samples, name: &str) -> Option<(f64, f64)> {
    let total = *samples.get(&format!("{name}_count"))?;
    if total < 1.0 {
        return None;
    }
    let prefix = format!("{name}_bucket{{le=\"");
    let bucket =
        |(key, count): (&String, &f64)| Some((key.strip_prefix(&prefix)?.strip_suffix("\"}")?.parse::<f64>().ok()?, *count));
    let reached = samples.iter().filter_map(bucket).filter(|(_, count)| *count >= total * 0.99);
    reached.map(|(bound, _)| bound).min_by(f64::total_cmp).map(|bound| (bound, total))
}

#[cfg(test)]
mod tests {
    use super::super::finding::Level;
    use super::*;

    #[test]
    fn a_disk_with_little_space_is_a_warning() {
        let level = |free: u64, all: u64| judge_space(free, all, Path::new("/x")).level;
        assert_eq!(level(100 << 30, 500 << 30), Level::Ok);
        assert_eq!(level(40 << 30, 500 << 30), Level::Warning, "less than a tenth");
        assert_eq!(level(900 << 20, 2 << 30), Level::Warning, "less than a gibibyte");
    }
}
