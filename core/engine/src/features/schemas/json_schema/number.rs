//! Numbers of JSON as the specification compares them: 1 and 1.0 are the same.
use std::cmp::Ordering;

use serde_json::{Number, Value};

fn whole(number: &Number) -> Option<i128> {
    let integer = number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
    integer.or_else(|| {
        let float = number.as_f64()?;
        // Within 2^64 a double without a fraction is a whole number that i128 holds exactly.
        (float.fract() == 0.0 && float.abs() < 1.8e19).then_some(float as i128)
    })
}

fn float(number: &Number) -> f64 {
    number.as_f64().unwrap_or(f64::NAN)
}

/// Whether it has no fraction.
pub(super) fn is_integer(number: &Number) -> bool {
    whole(number).is_some() || float(number).fract() == 0.0
}

/// Which of two numbers is larger.
pub(super) fn compare(a: &Number, b: &Number) -> Ordering {
    match (whole(a), whole(b)) {
        (Some(a), Some(b)) => a.cmp(&b),
        _ => float(a).total_cmp(&float(b)),
    }
}

/// Whether one number is a whole multiple of another.
pub(super) fn is_multiple(number: &Number, of: &Number) -> bool {
    if let (Some(number), Some(of)) = (whole(number), whole(of)) {
        return of != 0 && number % of == 0;
    }
    let quotient = float(number) / float(of);
    // Decimal fractions have no exact doubles: 0.0075 / 0.0001 is 74.99999999999999.
    quotient.is_finite() && (quotient - quotient.round()).abs() <= 1e-9 * quotient.abs().max(1.0)
}

/// Whether two values are the same.
pub(super) fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => compare(a, b) == Ordering::Equal,
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, value)| b.get(name).is_some_and(|other| same(value, other)))
        }
        _ => a == b,
    }
}

/// A text that two values share when they are the same, and only then.
pub(super) fn canonical(value: &Value, out: &mut String) {
    match value {
        Value::Number(number) => match whole(number) {
            Some(whole) => out.push_str(&whole.to_string()),
            None => out.push_str(&float(number).to_string()),
        },
        Value::Array(items) => {
            out.push('[');
            for item in items {
                canonical(item, out);
                out.push(',');
            }
            out.push(']');
        }
        Value::Object(members) => {
            let mut names: Vec<&String> = members.keys().collect();
            names.sort_unstable();
            out.push('{');
            for name in names {
                ojs_model::json::push_string(out, name);
                out.push(':');
                canonical(members.get(name).unwrap_or(&Value::Null), out);
                out.push(',');
            }
            out.push('}');
        }
        Value::String(text) => ojs_model::json::push_string(out, text),
        Value::Bool(_) | Value::Null => out.push_str(&value.to_string()),
    }
}
