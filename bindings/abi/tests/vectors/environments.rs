//! What the variables of the environment say.
use ojs_abi::settings;
use serde_json::Value;

/// Fills in the settings, or the error.
pub fn make(cases: &mut Value) {
    for case in cases.as_array_mut().unwrap() {
        let said = settings::environment(&case["variables"].to_string());
        case["settings"] = said.as_ref().map_or(Value::Null, |text| serde_json::from_str(text).unwrap());
        case["error"] = said.err().map_or(Value::Null, |error| error.to_string().into());
    }
}
