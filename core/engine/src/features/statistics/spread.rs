//! How long things took, in classes of about the same length.
use std::collections::BTreeMap;
use std::fmt::Write;

use crate::store::record::{Cell, Codec, Kind};

/// How often durations of about the same length occurred: four classes to the factor of two, so a percentile is off by 10 % at most.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Spread(BTreeMap<u8, u64>);

impl Spread {
    /// Adds a duration.
    pub fn add(&mut self, millis: i64) {
        *self.0.entry(class(millis)).or_default() += 1;
    }

    /// Adds another spread.
    pub fn merge(&mut self, other: &Self) {
        for (class, count) in &other.0 {
            *self.0.entry(*class).or_default() += count;
        }
    }

    /// How many durations there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.values().sum()
    }

    /// The duration that this share (0 to 1) of all do not exceed, milliseconds; `None` when there are none.
    #[must_use]
    pub fn percentile(&self, share: f64) -> Option<f64> {
        let total: u64 = self.0.values().sum();
        let rank = ((total as f64 * share).ceil() as u64).max(1);
        let mut seen = 0;
        let found = self.0.iter().find(|(_, count)| {
            seen += **count;
            seen >= rank
        });
        found.map(|(class, _)| middle(*class))
    }

    /// The average, as exact as the classes are; `None` when there are none.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        let total: u64 = self.0.values().sum();
        let sum: f64 = self.0.iter().map(|(class, count)| middle(*class) * *count as f64).sum();
        (total > 0).then(|| sum / total as f64)
    }

    /// `class:count,…`
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        for (class, count) in &self.0 {
            let comma = if out.is_empty() { "" } else { "," };
            // Writing to a String cannot fail.
            let _ = write!(out, "{comma}{class}:{count}");
        }
        out
    }

    /// Reads [`to_text`](Self::to_text); what is not of that form is left out.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let pair = |part: &str| {
            let (class, count) = part.split_once(':')?;
            Some((class.parse().ok()?, count.parse().ok()?))
        };
        Self(text.split(',').filter_map(pair).collect())
    }
}

/// 0 to 3 have a class each; from there on the two bits behind the first give the quarter of the octave.
fn class(millis: i64) -> u8 {
    let ms = millis.max(0).cast_unsigned();
    if ms < 4 {
        return ms as u8;
    }
    let octave = ms.ilog2();
    let quarter = (ms >> (octave - 2)) & 3;
    u8::try_from(u64::from(octave) * 4 + quarter - 4).unwrap_or(u8::MAX)
}

/// The middle of a class.
fn middle(class: u8) -> f64 {
    if class < 4 {
        return f64::from(class);
    }
    let (octave, quarter) = (i32::from(class / 4) + 1, f64::from(class % 4));
    2_f64.powi(octave) * (1.0 + (quarter + 0.5) / 4.0)
}

/// [`Spread::to_text`].
#[derive(Debug)]
pub struct SpreadText;

impl Codec<Spread> for SpreadText {
    const KIND: Kind = Kind::Text;

    fn cell(spread: &Spread) -> Cell<'_> {
        Cell::Text(spread.to_text().into())
    }

    fn read(cell: Cell<'_>) -> Option<Spread> {
        match cell {
            Cell::Text(text) => Some(Spread::parse(&text)).filter(|spread| spread.to_text() == *text),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_in_order_and_a_middle_is_near() {
        let mut last = 0;
        for ms in (0..5_000).chain([100_000, 3_600_000, i64::MAX]) {
            let class = class(ms);
            assert!(class >= last, "{ms}");
            last = class;
            if ms > 0 && ms < i64::MAX {
                let off = middle(class) / ms as f64;
                assert!((0.88..=1.13).contains(&off), "{ms}: {}", middle(class));
            }
        }
    }

    #[test]
    fn percentiles_follow_the_ranks() {
        let mut spread = Spread::default();
        assert_eq!(spread.percentile(0.5), None);
        (0..98).for_each(|_| spread.add(2));
        spread.add(1000);
        spread.add(1000);
        assert_eq!((spread.percentile(0.5), spread.percentile(0.95)), (Some(2.0), Some(2.0)));
        assert!((900.0..1100.0).contains(&spread.percentile(0.99).unwrap()));
        assert!((20.0..25.0).contains(&spread.mean().unwrap()), "98 of 2 and 2 of 1000");
        assert_eq!(Spread::default().mean(), None);
        assert_eq!(Spread::parse(&spread.to_text()), spread);
        assert_eq!(Spread::parse("nonsense,1:x"), Spread::default());
    }
}
