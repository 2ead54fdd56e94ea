//! Times of the command line.
use std::time::SystemTime;

use ojs_model::Timestamp;
use ojs_model::duration::length;

/// A time, or how long ago (`90s`, `2h`, `7d`, `PT2H`), as RFC 3339 text.
///
/// # Errors
/// What is neither.
pub fn when(text: &str) -> Result<String, String> {
    if let Ok(time) = Timestamp::parse(text) {
        return Ok(time.to_string());
    }
    let ago = length(text).map_err(|_| "a time such as 2026-01-31T00:00:00Z, or how long ago, such as 90s, 2h or 7d")?;
    let millis = i64::try_from(ago.as_millis()).unwrap_or(i64::MAX);
    Ok(Timestamp::from_millis(now().as_millis().saturating_sub(millis)).to_string())
}

/// The time by the clock of this machine.
pub fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// `90_000` → `1 min`
pub fn span(ms: i64) -> String {
    match ms {
        ..60_000 => format!("{} s", ms / 1_000),
        60_000..7_200_000 => format!("{} min", ms / 60_000),
        7_200_000..172_800_000 => format!("{} h", ms / 3_600_000),
        _ => format!("{} d", ms / 86_400_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_lengths_before_now() {
        assert_eq!(when("2026-01-31T01:00:00+01:00").unwrap(), "2026-01-31T00:00:00.000Z");
        let at = now().as_millis();
        for (text, seconds) in [("90s", 90), ("2h", 7200), ("7d", 604_800), ("PT2H", 7200), ("P1D", 86_400)] {
            let ago = at - Timestamp::parse(&when(text).unwrap()).unwrap().as_millis();
            assert!((seconds * 1000 - 60_000..=seconds * 1000).contains(&ago), "{text}: {ago}");
        }
        for text in ["", "yesterday", "2026-01-31", "h", "-2h", "d"] {
            assert!(when(text).is_err(), "{text}");
        }
    }
}
