//! What may be on a disk after the power went: everything that was synced, and any part of the rest.
use std::path::Path;

use rand::Rng;
use rand::rngs::StdRng;

/// One thing that was done to a file.
pub struct Record {
    /// Length of the journal behind this record.
    pub end: u64,
    kind: u32,
    file: usize,
    offset: usize,
    bytes: Vec<u8>,
}

const WRITE: u32 = 1;
const TRUNCATE: u32 = 2;
const SYNC: u32 = 3;
const FAILED_SYNC: u32 = 4;
/// What disks write whole.
const SECTOR: usize = 512;

/// Reads the journal that `faults/disk.c` writes.
pub fn journal(path: &Path) -> Vec<Record> {
    let bytes = std::fs::read(path).unwrap();
    let number = |at: usize, size: usize| bytes[at..at + size].iter().rev().fold(0_u64, |n, byte| n << 8 | u64::from(*byte));
    let (mut records, mut at) = (Vec::new(), 0);
    // A killed server may have left half a record.
    while at + 24 <= bytes.len() {
        let (kind, file, offset, length) = (number(at, 4), number(at + 4, 4), number(at + 8, 8), number(at + 16, 8));
        let (start, length) = (at + 24, usize::try_from(length).unwrap());
        let Some(written) = bytes.get(start..start + length) else { break };
        at = start + length;
        records.push(Record {
            end: at as u64,
            kind: u32::try_from(kind).unwrap(),
            file: usize::try_from(file).unwrap() - 1,
            offset: usize::try_from(offset).unwrap(),
            bytes: written.to_vec(),
        });
    }
    records
}

/// How many syncs have failed.
pub fn failed_syncs(records: &[Record]) -> usize {
    records.iter().filter(|record| record.kind == FAILED_SYNC).count()
}

/// What has become of a record when the power goes.
#[derive(Clone, Copy, PartialEq)]
enum Fate {
    /// A sync has succeeded behind it.
    Safe,
    /// On the disk or not.
    Open,
    /// Not on the disk: the sync behind it failed, and later ones take it for written.
    Lost,
}

fn fates(records: &[Record]) -> Vec<Fate> {
    let mut fates = vec![Fate::Open; records.len()];
    for (index, record) in records.iter().enumerate() {
        let fate = match record.kind {
            SYNC => Fate::Safe,
            FAILED_SYNC => Fate::Lost,
            _ => continue,
        };
        for (earlier, known) in records.iter().zip(&mut fates).take(index) {
            if earlier.file == record.file && *known == Fate::Open {
                *known = fate;
            }
        }
    }
    fates
}

/// The database and its log as they may be found when the power goes behind these records.
pub fn after_power_cut(records: &[Record], random: &mut StdRng) -> [Vec<u8>; 2] {
    let mut files = [Vec::new(), Vec::new()];
    for (record, fate) in records.iter().zip(fates(records)) {
        let safe = fate == Fate::Safe;
        // What was not synced got there or not, in any order, or in part.
        if fate == Fate::Lost || !safe && random.random_bool(0.5) {
            continue;
        }
        let file: &mut Vec<u8> = &mut files[record.file];
        match record.kind {
            WRITE => {
                let mut bytes = &record.bytes[..];
                if !safe && bytes.len() > SECTOR && random.random_bool(0.3) {
                    bytes = &bytes[..random.random_range(1..=bytes.len() / SECTOR) * SECTOR];
                }
                file.resize(file.len().max(record.offset + bytes.len()), 0);
                file[record.offset..record.offset + bytes.len()].copy_from_slice(bytes);
            }
            TRUNCATE => file.resize(record.offset, 0),
            _ => {}
        }
    }
    files
}
