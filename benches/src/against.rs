//! `--against`: another version of the programs beside this one, in turns.
//!
//! The machine gets faster and slower while it measures. So the two take turns that are short, in the order A B B A, on the same disk, and each
//! pair of turns gives a ratio of its own: what is slow for both cancels.
mod contests;
mod table;
mod version;

use std::path::Path;

use crate::Result;
use crate::conditions::Conditions;
use crate::progress::Progress;
use crate::report::Better;
use crate::scenario::Plan;

pub use contests::Part;
use table::Comparison;
pub use version::Version;

/// One line of the table.
pub struct Line {
    name: &'static str,
    unit: &'static str,
    better: Better,
}

/// One turn of one version.
type Turn<'a> = Box<dyn Fn(&Version, usize) -> Result<Vec<f64>> + 'a>;

/// What both versions do in turns.
pub struct Contest<'a> {
    title: String,
    conditions: String,
    lines: &'a [Line],
    /// One turn of one version: a value per line. The number is that of the pair.
    turn: Turn<'a>,
}

/// Measures the parts, prints a table for each contest when it has ended, and writes all to `file` each time.
pub fn run(plan: &Plan, parts: &[Part], theirs: &Version, file: &Path) -> Result<()> {
    let ours = Version::this(plan)?;
    let mut comparison = Comparison::new(Conditions::read(&plan.dir), &ours, theirs);
    println!("{}", comparison.heading());
    let mut failed = None;
    for part in parts {
        // What one part lacks does not end the others.
        if let Err(error) = part.contests(plan, theirs, |contest| {
            hold(plan, &contest, &ours, theirs, &mut comparison)?;
            println!("{}", comparison.latest());
            comparison.save(file)
        }) {
            if parts.len() == 1 {
                return Err(error);
            }
            eprintln!("ojs-bench: {}: {error}", part.name());
            failed.get_or_insert(format!("{} was not measured: the message is above", part.name()));
        }
    }
    println!("Every turn: {}", file.display());
    failed.map_or(Ok(()), |text| Err(text.into()))
}

/// All turns of a contest.
fn hold(plan: &Plan, contest: &Contest, ours: &Version, theirs: &Version, comparison: &mut Comparison) -> Result<()> {
    let bar = Progress::new(&contest.title, plan.runs * 2);
    let (mut mine, mut other) = (Vec::new(), Vec::new());
    for pair in 0..plan.runs {
        for is_ours in order(pair) {
            bar.set_message(if is_ours { "this version" } else { "the other version" });
            let (version, values) = if is_ours { (ours, &mut mine) } else { (theirs, &mut other) };
            values.push((contest.turn)(version, pair)?);
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    comparison.add(contest, &mine, &other);
    Ok(())
}

/// Whose turns come in this pair, ours as true: A B, then B A, so that neither is always the first.
fn order(pair: usize) -> [bool; 2] {
    [pair.is_multiple_of(2), !pair.is_multiple_of(2)]
}

#[cfg(test)]
mod tests {
    #[test]
    fn turns_are_taken_as_a_b_b_a() {
        let turns: String = (0..4).flat_map(super::order).map(|ours| if ours { 'A' } else { 'B' }).collect();
        assert_eq!(turns, "ABBAABBA");
    }
}
