//! Figures, and how they are shown: median, minimum, maximum, the guard, the goal, and what stands beside them.
use std::path::{Path, PathBuf};

use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{Attribute, Cell, CellAlignment, Color, ContentArrangement, Table};
use serde::Serialize;

use crate::Result;
use crate::conditions::Conditions;

/// Whether more is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// Throughput.
    More,
    /// Latency, memory, time.
    Less,
}

/// Whose figure it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// Ours.
    Ours,
    /// What the machine or a simpler program could do at most.
    Ceiling,
    /// Another system doing the same.
    Rival,
}

/// One line of the table: the same thing measured several times.
#[derive(Debug, Clone, Serialize)]
pub struct Figure {
    /// What was measured.
    pub name: String,
    /// Ours, ceiling or rival.
    pub side: Side,
    /// `jobs/s`, `ms`, `MB`.
    pub unit: &'static str,
    /// Which way is up.
    pub better: Better,
    /// One value per run.
    pub values: Vec<f64>,
    /// Must be reached.
    pub guard: Option<f64>,
    /// The guard holds on every machine: a run that misses it fails.
    pub strict: bool,
    /// Should be reached.
    pub goal: Option<f64>,
    /// Durability, connections, batch, payload.
    pub conditions: String,
}

impl Figure {
    /// Ours, without guard.
    pub fn ours(
        name: impl Into<String>,
        unit: &'static str,
        better: Better,
        values: Vec<f64>,
        conditions: impl Into<String>,
    ) -> Self {
        let (name, conditions) = (name.into(), conditions.into());
        Self { name, side: Side::Ours, unit, better, values, guard: None, strict: false, goal: None, conditions }
    }

    /// The same, as a ceiling.
    pub fn ceiling(
        name: impl Into<String>,
        unit: &'static str,
        better: Better,
        values: Vec<f64>,
        conditions: impl Into<String>,
    ) -> Self {
        Self { side: Side::Ceiling, ..Self::ours(name, unit, better, values, conditions) }
    }

    /// The same, as a rival.
    pub fn rival(
        name: impl Into<String>,
        unit: &'static str,
        better: Better,
        values: Vec<f64>,
        conditions: impl Into<String>,
    ) -> Self {
        Self { side: Side::Rival, ..Self::ours(name, unit, better, values, conditions) }
    }

    /// With the number it must reach and the one it should.
    pub fn bound(mut self, guard: f64, goal: Option<f64>) -> Self {
        self.guard = Some(guard);
        self.goal = goal;
        self
    }

    /// With a number that it must reach on every machine, because it is a ratio, a share, or far from what the slowest
    /// machine needs: a run that misses it fails.
    pub fn must(self, guard: f64) -> Self {
        Self { strict: true, ..self.bound(guard, None) }
    }

    /// With a number beside the guard that it should reach.
    pub fn wanted(self, goal: f64) -> Self {
        Self { goal: Some(goal), ..self }
    }

    /// What a run that fails says of it.
    fn missed(&self) -> Option<String> {
        let guard = self.guard.filter(|guard| self.strict && !self.reaches(*guard))?;
        let wanted = if self.better == Better::More { "least" } else { "most" };
        Some(format!("{}: {:.3} {}, {} is the {wanted}", self.name, self.median(), self.unit, show(guard)))
    }

    /// The middle value; the mean of the two middle ones.
    pub fn median(&self) -> f64 {
        median(&self.values)
    }

    fn range(&self) -> String {
        if self.values.len() < 2 {
            return String::new();
        }
        let min = self.values.iter().copied().fold(f64::INFINITY, f64::min);
        let max = self.values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        format!("{} – {}", show(min), show(max))
    }

    fn reaches(&self, bound: f64) -> bool {
        match self.better {
            Better::More => self.median() >= bound,
            Better::Less => self.median() <= bound,
        }
    }

    fn verdict(&self) -> Cell {
        let sign = if self.better == Better::More { "≥" } else { "≤" };
        match (self.guard, self.goal) {
            (_, Some(goal)) if self.reaches(goal) => Cell::new(format!("goal {sign} {}", show(goal))).fg(Color::Green),
            (Some(guard), None) if self.reaches(guard) => Cell::new(format!("ok {sign} {}", show(guard))).fg(Color::Green),
            (Some(guard), Some(goal)) if self.reaches(guard) => {
                Cell::new(format!("ok {sign} {}, goal {sign} {} missed", show(guard), show(goal))).fg(Color::Yellow)
            }
            (Some(guard), _) => Cell::new(format!("MISSED {sign} {}", show(guard))).fg(Color::Red).add_attribute(Attribute::Bold),
            (None, _) => Cell::new(""),
        }
    }
}

/// The middle value; the mean of the two middle ones.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[n / 2],
        n => f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]),
    }
}

/// Writes a report, in a folder that is made where it is not there.
pub fn write(file: &Path, text: &str) -> Result<()> {
    if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder)?;
    }
    Ok(std::fs::write(file, text)?)
}

/// All figures of a run, in groups: ours first, then what it is compared with.
pub struct Report {
    /// The machine.
    pub conditions: Conditions,
    groups: Vec<Vec<Figure>>,
    shown: usize,
    file: PathBuf,
}

impl Report {
    /// Empty; everything will be written to `file`.
    pub fn new(conditions: Conditions, file: PathBuf) -> Self {
        Self { conditions, groups: Vec::new(), shown: 0, file }
    }

    /// Adds figures that belong together; those beside ours show how ours relates to them.
    pub fn add(&mut self, group: Vec<Figure>) {
        self.groups.push(group);
    }

    /// Fails when a figure that was not shown yet misses a bound that holds on every machine.
    ///
    /// # Errors
    /// Names each of them, with its bound.
    pub fn hold_bounds(&self) -> Result<()> {
        let fresh = self.groups.get(self.shown..).unwrap_or_default();
        let missed: Vec<String> = fresh.iter().flatten().filter_map(Figure::missed).collect();
        if missed.is_empty() { Ok(()) } else { Err(format!("bounds are missed: {}", missed.join("; ")).into()) }
    }

    /// Prints the groups that were not shown yet, and writes all to the file: a run that is stopped later has not been for nothing.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn show(&mut self) -> Result<()> {
        if self.shown < self.groups.len() {
            println!("{}", table(self.groups.get(self.shown..).unwrap_or_default()));
            self.shown = self.groups.len();
        }
        write(&self.file, &self.to_json())
    }

    /// Everything, each run included.
    fn to_json(&self) -> String {
        let groups: Vec<Vec<serde_json::Value>> = self
            .groups
            .iter()
            .map(|group| {
                group
                    .iter()
                    .map(|figure| {
                        let mut value = serde_json::to_value(figure).unwrap_or_default();
                        value["median"] = figure.median().into();
                        value
                    })
                    .collect()
            })
            .collect();
        let whole = serde_json::json!({"conditions": self.conditions, "groups": groups});
        serde_json::to_string_pretty(&whole).unwrap_or_default()
    }
}

fn table(groups: &[Vec<Figure>]) -> Table {
    let mut table = Table::new();
    table.load_preset(UTF8_FULL_CONDENSED).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_header(["measured", "median", "unit", "min – max", "verdict", "ours to this", "conditions"]);
    for group in groups {
        for figure in group {
            let bold = if figure.side == Side::Ours { Attribute::Bold } else { Attribute::Reset };
            table.add_row([
                Cell::new(label(figure)).add_attribute(bold),
                Cell::new(show(figure.median())).set_alignment(CellAlignment::Right).add_attribute(bold),
                Cell::new(figure.unit),
                Cell::new(figure.range()),
                figure.verdict(),
                Cell::new(ratio(group, figure)).set_alignment(CellAlignment::Right),
                Cell::new(&figure.conditions),
            ]);
        }
    }
    table
}

fn label(figure: &Figure) -> String {
    match figure.side {
        Side::Ours => figure.name.clone(),
        Side::Ceiling => format!("  ceiling: {}", figure.name),
        Side::Rival => format!("  rival: {}", figure.name),
    }
}

/// How many times the ceiling or rival our figure of the same unit is.
fn ratio(group: &[Figure], figure: &Figure) -> String {
    let ours = group.iter().find(|f| f.side == Side::Ours && f.unit == figure.unit);
    match ours {
        Some(ours) if figure.side != Side::Ours => format!("{:.2} ×", ours.median() / figure.median()),
        _ => String::new(),
    }
}

/// Thousands with a blank, small numbers with two digits.
pub fn show(value: f64) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    if value.abs() < 100.0 {
        let text = format!("{value:.2}");
        return text.strip_suffix(".00").map_or(text.clone(), str::to_owned);
    }
    let digits = format!("{value:.0}");
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_verdicts() {
        let figure = Figure::ours("x", "jobs/s", Better::More, vec![3.0, 1.0, 2.0], "");
        assert!((figure.median() - 2.0).abs() < f64::EPSILON);
        assert!(figure.reaches(2.0) && !figure.reaches(2.5));
        let latency = Figure::ours("x", "ms", Better::Less, vec![1.0, 2.0], "");
        assert!((latency.median() - 1.5).abs() < f64::EPSILON);
        assert!(latency.reaches(1.5) && !latency.reaches(1.0));
        let verdict = |figure: Figure| figure.verdict().content();
        assert_eq!(verdict(figure.clone().bound(1.0, Some(2.0))), "goal ≥ 2");
        assert_eq!(verdict(figure.clone().bound(1.0, Some(3.0))), "ok ≥ 1, goal ≥ 3 missed");
        assert_eq!(verdict(figure.bound(3.0, None)), "MISSED ≥ 3");
    }

    #[test]
    fn each_group_is_shown_once_and_the_file_has_all_of_them_from_the_first_on() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("bench").join("all.json");
        let mut report = Report::new(Conditions::read(folder.path()), file.clone());
        let read = || serde_json::from_str::<serde_json::Value>(&std::fs::read_to_string(&file).unwrap()).unwrap();
        for groups in 1..=2 {
            report.add(vec![Figure::ours(format!("figure {groups}"), "ms", Better::Less, vec![1.0], "")]);
            report.show().unwrap();
            assert_eq!((report.shown, read()["groups"].as_array().unwrap().len()), (groups, groups));
        }
    }

    #[test]
    fn a_missed_bound_fails_the_run_only_where_it_holds_on_every_machine() {
        let folder = tempfile::tempdir().unwrap();
        let held = |figure: Figure| {
            let mut report = Report::new(Conditions::read(folder.path()), folder.path().join("all.json"));
            report.add(vec![figure]);
            report.hold_bounds().map_err(|error| error.to_string())
        };
        let ratio = |value| Figure::ours("ratio", "×", Better::Less, vec![value], "");
        assert_eq!(held(ratio(1.1).must(1.15)), Ok(()));
        assert_eq!(held(ratio(1.2).must(1.15)).unwrap_err(), "bounds are missed: ratio: 1.200 ×, 1.15 is the most");
        assert!(held(ratio(f64::NAN).must(1.15)).is_err(), "nothing was measured");
        assert_eq!(held(ratio(1.2).bound(1.15, None)), Ok(()));
        assert_eq!(held(ratio(1.1).must(1.15).wanted(1.0)), Ok(()), "a goal does not fail a run");
    }

    #[test]
    fn numbers_are_readable() {
        assert_eq!(show(1_234_567.8), "1 234 568");
        assert_eq!(show(0.456), "0.46");
        assert_eq!(show(25.0), "25");
        assert_eq!(show(999.0), "999");
    }
}
