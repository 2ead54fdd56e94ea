//! Both medians, their ratio and its spread.
use std::path::Path;

use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{Attribute, Cell, CellAlignment, Color, ContentArrangement, Table};
use serde::Serialize;

use super::{Contest, Version};
use crate::Result;
use crate::conditions::Conditions;
use crate::report::{Better, median, show};

/// What is not slower than this counts as equally fast.
const EQUAL: f64 = 0.97;

/// One line of the table, with the values of every turn.
#[derive(Debug, Serialize)]
struct Row {
    name: String,
    unit: &'static str,
    better: Better,
    ours: Vec<f64>,
    theirs: Vec<f64>,
    /// Of each pair of turns; above 1 this version is better.
    ratios: Vec<f64>,
    ratio: f64,
    conditions: String,
}

impl Row {
    fn new(name: String, unit: &'static str, better: Better, ours: Vec<f64>, theirs: Vec<f64>, conditions: String) -> Self {
        let of_pair = |(ours, theirs): (&f64, &f64)| match better {
            Better::More => ours / theirs,
            Better::Less => theirs / ours,
        };
        let ratios: Vec<f64> = ours.iter().zip(&theirs).map(of_pair).collect();
        Self { name, unit, better, ratio: median(&ratios), ours, theirs, ratios, conditions }
    }

    fn spread(&self) -> String {
        let min = self.ratios.iter().copied().fold(f64::INFINITY, f64::min);
        let max = self.ratios.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        format!("{min:.3} – {max:.3}")
    }

    fn cells(&self) -> Vec<Cell> {
        let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
        let color = if self.ratio < EQUAL { Color::Red } else { Color::Green };
        vec![
            Cell::new(&self.name).add_attribute(Attribute::Bold),
            right(show(median(&self.ours))),
            right(show(median(&self.theirs))),
            Cell::new(self.unit),
            right(format!("{:.3}", self.ratio)).fg(color).add_attribute(Attribute::Bold),
            Cell::new(self.spread()),
            Cell::new(if self.ratio < EQUAL { format!("SLOWER, below {EQUAL}") } else { format!("ok ≥ {EQUAL}") }).fg(color),
            Cell::new(&self.conditions),
        ]
    }
}

/// All rows so far.
pub struct Comparison {
    conditions: Conditions,
    ours: String,
    theirs: String,
    rows: Vec<Row>,
    shown: usize,
}

impl Comparison {
    /// Nothing measured yet.
    pub fn new(conditions: Conditions, ours: &Version, theirs: &Version) -> Self {
        Self { conditions, ours: ours.to_string(), theirs: theirs.to_string(), rows: Vec::new(), shown: 0 }
    }

    /// The machine, and what is compared.
    pub fn heading(&self) -> String {
        format!(
            "{}This version: {}\nAgainst: {}\nRatios are medians of those of each pair of turns; above 1 this version is better.",
            self.conditions, self.ours, self.theirs
        )
    }

    /// Adds what a contest has given.
    pub fn add(&mut self, contest: &Contest, ours: &[Vec<f64>], theirs: &[Vec<f64>]) {
        let column = |turns: &[Vec<f64>], at: usize| turns.iter().filter_map(|values| values.get(at).copied()).collect();
        for (at, line) in contest.lines.iter().enumerate() {
            let name = if line.name.is_empty() { contest.title.clone() } else { format!("{}, {}", contest.title, line.name) };
            let (ours, theirs) = (column(ours, at), column(theirs, at));
            self.rows.push(Row::new(name, line.unit, line.better, ours, theirs, contest.conditions.clone()));
        }
    }

    /// The rows that were not shown yet.
    pub fn latest(&mut self) -> Table {
        let mut table = Table::new();
        table.load_preset(UTF8_FULL_CONDENSED).set_content_arrangement(ContentArrangement::Dynamic);
        table.set_header(["measured", "ours", "against", "unit", "ratio", "min – max", "verdict", "conditions"]);
        table.add_rows(self.rows.iter().skip(self.shown).map(Row::cells));
        self.shown = self.rows.len();
        table
    }

    /// Writes every turn.
    pub fn save(&self, file: &Path) -> Result<()> {
        let whole = serde_json::json!({
            "conditions": self.conditions, "ours": self.ours, "theirs": self.theirs, "rows": self.rows
        });
        crate::report::write(file, &serde_json::to_string_pretty(&whole)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(better: Better, ours: &[f64], theirs: &[f64]) -> Row {
        Row::new("x".to_owned(), "ms", better, ours.to_vec(), theirs.to_vec(), String::new())
    }

    #[test]
    fn a_ratio_is_that_of_pairs_and_above_one_means_better() {
        // The machine was half as fast in the last pair: the ratio does not see it.
        let rates = row(Better::More, &[110.0, 110.0, 55.0], &[100.0, 100.0, 50.0]);
        assert!((rates.ratio - 1.1).abs() < 1e-9, "{rates:?}");
        let times = row(Better::Less, &[2.0, 2.0], &[1.0, 1.0]);
        assert!((times.ratio - 0.5).abs() < 1e-9 && times.spread() == "0.500 – 0.500", "{times:?}");
    }

    #[test]
    fn a_table_shows_each_row_once() {
        let mut comparison = Comparison::new(Conditions::read(&std::env::temp_dir()), &Version::default(), &Version::default());
        comparison.rows.push(row(Better::More, &[100.0], &[90.0]));
        assert!(comparison.latest().to_string().contains("1.111"));
        comparison.rows.push(row(Better::More, &[90.0], &[100.0]));
        let second = comparison.latest().to_string();
        assert!(second.contains("0.900") && second.contains("SLOWER") && !second.contains("1.111"), "{second}");
    }
}
