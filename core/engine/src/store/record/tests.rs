//! One exercise for the records of every store. The memory store says what is right; each SQL store must say the same.
use ojs_model::{JobId, JobState};
use proptest::prelude::*;

use super::{Cells, Change, Field, Plain, Read, Reader, Record, RecordTables, Records, Scan, record};

record! {
    /// Something with every kind of column.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Probe in "probes" {
        key ("line", "place");
        fixed ("note");
        unique TAG = "probes_tag" ("tag");
        index DUE = "probes_due" ("due_at") positive;
        /// First column of the key.
        pub line: String,
        /// Second column of the key.
        pub place: i64,
        /// Stays as it was inserted.
        pub note: String = "it's",
        /// When it is due; 0 is never.
        pub due_at: i64 = 0,
        /// Unique.
        pub tag: Vec<u8>,
        /// A share.
        pub share: f64,
        /// Yes or no.
        pub open: bool = false,
        /// Above 2^31: its bits stand in a signed column of PostgreSQL.
        pub count: u32,
        /// An id, or none.
        pub job: Option<ojs_model::JobId>,
    }
}

record! {
    /// Something that the store numbers.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Numbered in "probe_numbers" {
        numbered ("num");
        fixed ("name");
        remember Emptiness;
        unique NAME = "probe_numbers_name" ("name");
        /// Its number.
        pub num: i64,
        /// Its name.
        pub name: String,
        /// What changes.
        pub value: i64,
    }
}

record! {
    /// Something that connections keep in memory.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Kept in "probe_kept" {
        key ("one");
        remember Everything;
        /// Always true.
        pub one: bool,
        /// What changes.
        pub reason: String,
    }
}

/// The tables of the exercise.
pub const PROBES: &[&super::Table] = &[Probe::TABLE, Numbered::TABLE, Kept::TABLE];

fn probe(line: &str, place: i64, due_at: i64) -> Probe {
    let tag = format!("{line}{place}").into_bytes();
    let job = (place % 2 == 0).then(|| ojs_model::JobId::derived(0, &place.to_le_bytes()));
    Probe { line: line.into(), place, note: "n".into(), due_at, tag, share: 0.5, open: place > 2, count: u32::MAX - 1, job }
}

/// Whole numbers of all sizes, with those at the ends of the types of fields.
pub fn whole() -> impl Strategy<Value = i64> {
    let ends: Vec<i64> = vec![i16::MAX.into(), u16::MAX.into(), i32::MAX.into(), u32::MAX.into()];
    let beside_an_end = (prop::sample::select(ends), 0..2_i64).prop_map(|(end, more)| end + more);
    prop_oneof![any::<i64>(), any::<i32>().prop_map(i64::from), -3..20_i64, beside_an_end]
}

/// Checks that a field of any type reads the first column of a row as it would read its cell: whole numbers are read
/// without one.
pub fn reads_its_cell(row: &impl Cells) {
    macro_rules! same {
        ($($field:ty),*) => {$(
            let taken = Reader::new(Probe::TABLE, row).take::<$field, Plain>().ok();
            let of_cell = row.cell(0).ok().and_then(<$field as Field>::read);
            assert_eq!(format!("{taken:?}"), format!("{of_cell:?}"), stringify!($field));
        )*};
    }
    same!(i64, u32, i32, u16, bool, JobState, f64, String, Vec<u8>, JobId, Option<i64>, Option<u32>, Option<bool>);
}

/// Does everything that can be done with records, and returns what came of it.
pub fn exercise(tables: &mut dyn RecordTables) -> Vec<String> {
    let mut told = Vec::new();
    macro_rules! tell {
        ($what:expr) => {
            told.push(format!("{}: {:?}", told.len(), $what))
        };
    }
    let mut records = Records::<Probe, _>::of(tables);
    for (line, place, due) in [("a", 1, 0), ("a", 2, 30), ("a", 3, 10), ("b", 1, 20), ("b", -5, 0), ("c", 9, 20)] {
        tell!(records.insert(&probe(line, place, due)));
    }
    tell!(records.insert(&probe("a", 1, 5)));
    tell!(records.insert(&Probe { tag: b"a1".to_vec(), ..probe("z", 1, 5) }));
    tell!(records.get(&("a", 2_i64)));
    tell!(records.get(&("a", 4_i64)));
    tell!(records.find(Probe::TAG, &b"b1".to_vec(), Read::Held));
    tell!(records.find(Probe::KEY, &("none", 4_i64), Read::Reserved));
    tell!(records.find_all(Probe::TAG, &[b"a1".to_vec(), b"no".to_vec(), b"c9".to_vec()]));
    let names = |found: crate::error::Result<Vec<Probe>>| -> Vec<(String, i64)> {
        found.unwrap().into_iter().map(|one| (one.line, one.place)).collect()
    };
    let (a, two, twenty) = ("a", 2_i64, 20_i64);
    tell!(names(records.scan(&Scan::over(Probe::KEY))));
    tell!(names(records.scan(&Scan::over(Probe::KEY).descending().limit(2))));
    tell!(names(records.scan(&Scan::over(Probe::KEY).limit(2).skip(1))));
    tell!(names(records.scan(&Scan::over(Probe::KEY).under(&a).from(&two))));
    tell!(names(records.scan(&Scan::over(Probe::KEY).under(&a).above(&two))));
    tell!(names(records.scan(&Scan::over(Probe::KEY).under(&a).below(&two))));
    tell!(names(records.scan(&Scan::over(Probe::KEY).after(&("a", 2_i64)))));
    tell!(names(records.scan(&Scan::over(Probe::KEY).after(&("b", 1_i64)).descending())));
    tell!(names(records.scan(&Scan::over(Probe::KEY).under(&a).after(&2_i64))));
    tell!(names(records.scan(&Scan::over(Probe::DUE).to(&twenty).hold(Read::HeldIfFree))));
    tell!(names(records.scan(&Scan::over(Probe::DUE).after(&(20_i64, "b", 1_i64)))));
    tell!(names(records.scan(&Scan::over(Probe::DUE).only("line", &a).only("open", &true))));
    tell!(records.count(&Scan::over(Probe::DUE).from(&twenty)));
    tell!(records.first(Scan::over(Probe::DUE)));
    let known = Probe { note: "other".into(), due_at: 7, share: 1.25, ..probe("a", 1, 0) };
    tell!(records.put_all(&[known, probe("d", 1, 40)]));
    tell!(records.scan(&Scan::over(Probe::DUE)));
    tell!(names(records.take(&Scan::over(Probe::DUE).limit(1))));
    let all_of_a = Change::Remove(Scan::over(Probe::KEY).under(&a).above(&two));
    tell!(records.change(&[Change::Put(probe("e", 1, 0).cells()), all_of_a]));
    tell!(records.delete(&("c", 9_i64)));
    tell!(names(records.scan(&Scan::over(Probe::KEY))));

    let mut records = Records::<Numbered, _>::of(tables);
    tell!(records.scan(&Scan::over(Numbered::KEY)));
    let fresh = |name: &str| Numbered { num: 0, name: name.into(), value: 1 };
    let first = records.insert(&fresh("x")).unwrap().unwrap();
    tell!(records.insert(&fresh("y")).unwrap().unwrap() - first);
    tell!(records.insert(&fresh("x")));
    tell!(records.put(&Numbered { num: first, name: "other".into(), value: 5 }));
    tell!(records.find(Numbered::NAME, &"x", Read::Plain).unwrap().map(|one| (one.num == first, one.name, one.value)));
    tell!(records.count(&Scan::over(Numbered::KEY)));
    tell!(records.put(&Numbered { num: first + 77, ..fresh("x") }));

    let mut records = Records::<Kept, _>::of(tables);
    tell!(records.get(&true));
    tell!(records.put(&Kept { one: true, reason: "r".into() }));
    tell!(records.get(&true));
    tell!(records.put(&Kept { one: true, reason: "s".into() }));
    tell!(records.get(&true));
    tell!(records.delete(&true));
    tell!(records.get(&true));
    told
}

#[test]
fn a_value_that_cannot_be_read_is_an_error_that_names_table_column_and_key() {
    struct Row;
    impl super::Cells for Row {
        fn cell(&self, column: usize) -> crate::error::Result<super::Cell<'_>> {
            Ok(match column {
                0 => super::Cell::text("a"),
                7 => super::Cell::Integer(-1),
                4 => super::Cell::bytes(b"t"),
                5 => super::Cell::Real(0.5),
                2 => super::Cell::text("n"),
                8 => super::Cell::Null,
                _ => super::Cell::Integer(1),
            })
        }
    }
    let fault = Probe::read(&mut super::Reader::new(Probe::TABLE, &Row)).unwrap_err().to_string();
    assert!(fault.contains("probes.count of the record with line = Text(\"a\"), place = Integer(1)"), "{fault}");
    assert!(fault.ends_with("Integer(-1)"), "{fault}");
}

#[test]
fn the_exercise_of_the_memory_store_is_what_it_should_be() {
    let told = exercise(&mut crate::store::memory::MemoryTables::default());
    let has = |text: &str| assert!(told.iter().any(|line| line.contains(text)), "{text}: {told:#?}");
    has("6: Ok(None)");
    has("7: Ok(None)");
    has(r#"13: [("a", 1), ("a", 2), ("a", 3), ("b", -5), ("b", 1), ("c", 9)]"#);
    has(r#"14: [("c", 9), ("b", 1)]"#);
    has(r#"19: [("a", 3), ("b", -5), ("b", 1), ("c", 9)]"#);
    has(r#"22: [("a", 3), ("b", 1), ("c", 9)]"#);
    has(r#"23: [("c", 9), ("a", 2)]"#);
    has(r#"24: [("a", 3)]"#);
    has(r#"32: [("a", 2), ("b", -5), ("b", 1), ("d", 1), ("e", 1)]"#);
}
