//! What the keywords mean, that nothing takes long, and which schemas are refused.
use serde_json::{Value, json};

use super::compatibility::breaking_changes;
use super::compile::Schema;

fn read(schema: Value) -> Schema {
    Schema::compile(&schema).unwrap_or_else(|fault| panic!("{schema}: {fault:?}"))
}

/// For each schema: values that match it, and values that do not.
fn cases() -> Vec<(Value, Vec<Value>, Vec<Value>)> {
    vec![
        (json!({}), vec![json!(null), json!([1])], vec![]),
        (json!({"not": {}}), vec![], vec![json!(1)]),
        (json!({"type": "integer"}), vec![json!(1), json!(1.0), json!(u64::MAX)], vec![json!(1.5), json!("1"), json!(true)]),
        (json!({"type": ["null", "string"]}), vec![json!(null), json!("")], vec![json!(0), json!([])]),
        (json!({"enum": [1, {"a": [2]}]}), vec![json!(1.0), json!({"a": [2.0]})], vec![json!("1"), json!({"a": 2})]),
        (json!({"const": 0}), vec![json!(0.0)], vec![json!(false), json!(null)]),
        (json!({"multipleOf": 0.0001}), vec![json!(0.0075), json!("x")], vec![json!(0.00751)]),
        (json!({"minimum": 1, "exclusiveMaximum": 3}), vec![json!(1), json!(2.9)], vec![json!(0.9), json!(3)]),
        (json!({"maximum": u64::MAX}), vec![json!(u64::MAX)], vec![json!(1e300)]),
        (json!({"minLength": 2, "maxLength": 3}), vec![json!("äö"), json!("äöü"), json!(1)], vec![json!("ä"), json!("äöüß")]),
        (json!({"maxLength": 0}), vec![json!("")], vec![json!("a")]),
        (json!({"pattern": "^[A-Z]{3}$"}), vec![json!("EUR"), json!(1)], vec![json!("EURO"), json!("eur")]),
        (json!({"minItems": 1, "maxItems": 2}), vec![json!([1]), json!({})], vec![json!([]), json!([1, 2, 3])]),
        (
            json!({"uniqueItems": true}),
            vec![json!([1, "1", [1]])],
            vec![json!([1, 1.0]), json!([{"a": 1, "b": 2}, {"b": 2, "a": 1}])],
        ),
        (json!({"contains": {"const": 1}, "maxContains": 1}), vec![json!([0, 1])], vec![json!([0]), json!([1, 1])]),
        (json!({"contains": {"const": 1}, "minContains": 0}), vec![json!([])], vec![]),
        (
            json!({"prefixItems": [{"type": "string"}], "items": {"type": "integer"}}),
            vec![json!([]), json!(["a", 1])],
            vec![json!([1]), json!(["a", "b"])],
        ),
        (json!({"items": [{"type": "string"}], "additionalItems": false}), vec![json!(["a"])], vec![json!(["a", 1])]),
        (
            json!({"required": ["a"], "minProperties": 2}),
            vec![json!({"a": 1, "b": 1}), json!(1)],
            vec![json!({"b": 1, "c": 1}), json!({"a": 1})],
        ),
        (
            json!({"properties": {"a": {"type": "string"}}, "patternProperties": {"^x": {"type": "integer"}}, "additionalProperties": false}),
            vec![json!({"a": "", "x1": 1})],
            vec![json!({"a": 1}), json!({"x1": ""}), json!({"b": 1})],
        ),
        (json!({"propertyNames": {"maxLength": 1}}), vec![json!({"a": 1})], vec![json!({"ab": 1})]),
        (json!({"dependentRequired": {"a": ["b"]}}), vec![json!({"b": 1}), json!({"a": 1, "b": 1})], vec![json!({"a": 1})]),
        (json!({"dependentSchemas": {"a": {"maxProperties": 1}}}), vec![json!({"a": 1})], vec![json!({"a": 1, "b": 1})]),
        (
            json!({"dependencies": {"a": ["b"], "c": {"maxProperties": 1}}}),
            vec![json!({"c": 1})],
            vec![json!({"a": 1}), json!({"c": 1, "d": 1})],
        ),
        (json!({"allOf": [{"minimum": 1}, {"maximum": 2}]}), vec![json!(1)], vec![json!(0), json!(3)]),
        (json!({"anyOf": [{"minimum": 1}, {"type": "string"}]}), vec![json!(1), json!("")], vec![json!(0)]),
        (json!({"oneOf": [{"minimum": 1}, {"maximum": 2}]}), vec![json!(0), json!(3)], vec![json!(1)]),
        (
            json!({"if": {"minimum": 5}, "then": {"multipleOf": 5}, "else": {"const": 1}}),
            vec![json!(10), json!(1)],
            vec![json!(6), json!(2)],
        ),
        (json!({"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}}), vec![json!("")], vec![json!(1)]),
        (json!({"$ref": "#a", "$defs": {"x": {"$anchor": "a", "type": "string"}}}), vec![json!("")], vec![json!(1)]),
        (
            json!({"$id": "urn:x", "$ref": "urn:x#/$defs/a%25b", "$defs": {"a%b": {"type": "null"}}}),
            vec![json!(null)],
            vec![json!(1)],
        ),
        (
            json!({"properties": {"next": {"$ref": "#"}, "n": {"type": "integer"}}, "required": ["n"]}),
            vec![json!({"n": 1, "next": {"n": 2}})],
            vec![json!({"n": 1, "next": {}})],
        ),
        (
            json!({"allOf": [{"properties": {"a": true}}], "unevaluatedProperties": false}),
            vec![json!({"a": 1})],
            vec![json!({"a": 1, "b": 1})],
        ),
        (json!({"prefixItems": [true], "unevaluatedItems": {"type": "string"}}), vec![json!([1, "a"])], vec![json!([1, 2])]),
        (json!({"format": "email", "title": 1, "x-own": {"type": 12}}), vec![json!("no address")], vec![]),
    ]
}

#[test]
fn keywords_mean_what_the_specification_says() {
    for (schema, matching, others) in cases() {
        let compiled = read(schema.clone());
        for value in matching {
            assert_eq!(compiled.differences(&value), [], "{schema} {value}");
        }
        for value in others {
            assert_ne!(compiled.differences(&value), [], "{schema} {value}");
        }
    }
}

#[test]
fn a_difference_says_where_and_what_and_never_shows_the_value() {
    let schema = read(json!({
        "prefixItems": [{"properties": {"amount": {"type": "integer"}, "a/b": {"maxLength": 3}}, "required": ["currency"]}],
    }));
    let found = schema.differences(&json!([{"amount": "secret", "a/b": "secret"}]));
    let told: Vec<_> = found.iter().map(|found| (found.path.as_str(), found.place.as_str(), found.rule)).collect();
    assert!(told.contains(&("/0/amount", "args[0].amount", "type")), "{told:?}");
    assert!(told.contains(&("/0", "args[0]", "required")) && told.contains(&("/0/a~1b", "args[0].a/b", "maxLength")), "{told:?}");
    assert!(found.iter().any(|found| found.message == "required property 'currency' is missing"), "{found:?}");
    assert!(found.iter().any(|found| found.message == "must be integer, got string"), "{found:?}");
    assert!(!format!("{found:?}").contains("secret"));
}

#[test]
fn at_most_ten_differences_are_named() {
    let found = read(json!({"items": {"type": "string"}})).differences(&json!(vec![1; 50]));
    assert_eq!(found.len(), 10);
}

/// Each level doubles the work: 2 to the power of 40 comparisons, were they all made.
#[test]
fn a_schema_that_would_take_for_ever_is_given_up() {
    let mut definitions = serde_json::Map::new();
    for level in 0..40 {
        let next = json!({"$ref": format!("#/$defs/l{}", level + 1)});
        definitions.insert(format!("l{level}"), json!({"anyOf": [{"allOf": [next, false]}, {"allOf": [next, false]}]}));
    }
    definitions.insert("l40".into(), json!(true));
    let schema = read(json!({"$ref": "#/$defs/l0", "$defs": definitions}));
    let found = schema.differences(&json!([]));
    assert_eq!((found.len(), found[0].rule), (1, "maximum of steps"));
}

#[test]
fn a_schema_that_refers_to_itself_ends() {
    let found = read(json!({"$ref": "#"})).differences(&json!([]));
    assert_eq!(found[0].rule, "maximum of steps");
    let found = read(json!({"not": {"$ref": "#"}})).differences(&json!([]));
    assert_eq!(found[0].rule, "maximum of steps");
}

#[test]
fn long_texts_and_lists_use_up_the_steps() {
    let text = "a".repeat(100_000);
    let pattern = read(json!({"items": {"pattern": "b$"}}));
    assert_eq!(pattern.differences_within(&json!([text, text, text]), 20_000)[0].rule, "maximum of steps");
    let unique = read(json!({"uniqueItems": true}));
    let numbers: Vec<u32> = (0..30_000).collect();
    assert_eq!(unique.differences_within(&json!(numbers), 10_000)[0].rule, "maximum of steps");
    assert_eq!(unique.differences(&json!(numbers)), []);
}

#[test]
fn what_is_no_schema_is_refused_with_its_place() {
    let fault = |schema: Value| Schema::compile(&schema).map(|_| ()).unwrap_err();
    let place = |schema: Value| fault(schema).path;
    assert_eq!(place(json!({"properties": {"amount": {"type": "int"}}})), "/properties/amount/type");
    assert_eq!(place(json!({"minimum": "1"})), "/minimum");
    assert_eq!(place(json!({"minLength": -1})), "/minLength");
    assert_eq!(place(json!({"required": "a"})), "/required");
    assert_eq!(place(json!({"properties": []})), "/properties");
    assert_eq!(place(json!({"items": 3})), "/items");
    assert_eq!(place(json!({"allOf": []})), "/allOf");
    assert_eq!(place(json!({"multipleOf": 0})), "/multipleOf");
    assert_eq!(place(json!({"$defs": {"unused": {"type": 1}}})), "/$defs/unused/type");
    assert_eq!(place(json!({"$schema": "http://json-schema.org/draft-04/schema#"})), "/$schema");
    assert_eq!(place(json!({"$ref": "#/$defs/none"})), "/$ref");
    let outside = fault(json!({"$ref": "https://example.com/a.json"}));
    assert!(outside.message.contains("lies outside of the schema"), "{outside:?}");
    let lookahead = fault(json!({"pattern": "(?=a)b"}));
    assert!(lookahead.message.contains("linear time"), "{lookahead:?}");
    let deep = (0..100).fold(json!({}), |inner, _| json!({"not": inner}));
    assert!(fault(deep).message.contains("nested more than"));
    let large = fault(json!({"pattern": "(a{1000}){1000}"}));
    assert_eq!(large.path, "/pattern");
}

#[test]
fn breaking_changes_are_found() {
    let before = json!({"prefixItems": [{
        "properties": {"a": {"type": "integer"}, "b": {"maxLength": 100}, "c": {"enum": ["x", "y"]}}, "required": ["a"],
    }]});
    let with = |change: &dyn Fn(&mut Value)| {
        let mut after = before.clone();
        change(&mut after["prefixItems"][0]);
        breaking_changes(&before, &after)
    };
    assert_eq!(with(&|_| ()), [""; 0]);
    assert_eq!(with(&|s| s["properties"]["d"] = json!({})), [""; 0], "an optional field");
    assert_eq!(with(&|s| s["properties"]["a"] = json!({"type": "number"})), [""; 0], "a wider type");
    assert_eq!(with(&|s| s["properties"]["b"] = json!({"maxLength": 200})), [""; 0]);
    assert_eq!(with(&|s| s["properties"]["c"] = json!({"enum": ["x", "y", "z"]})), [""; 0]);
    assert_eq!(with(&|s| s["required"] = json!(["a", "b"])), ["args[0]: required field 'b' was added"]);
    assert_eq!(
        with(&|s| s["properties"] = json!({"a": {"type": "integer"}, "b": {"maxLength": 100}})),
        ["args[0]: field 'c' was removed"]
    );
    assert_eq!(
        with(&|s| s["properties"]["a"] = json!({"type": "string"})),
        ["args[0].a: type 'integer' was changed to 'string'"]
    );
    assert_eq!(with(&|s| s["properties"]["b"] = json!({"maxLength": 50})), ["args[0].b: 'maxLength' was narrowed"]);
    assert_eq!(with(&|s| s["properties"]["c"] = json!({"enum": ["x"]})), ["args[0].c: values were removed from 'enum'"]);
    assert_eq!(with(&|s| s["additionalProperties"] = json!(false)), ["args[0]: 'additionalProperties' was set to false"]);
    assert_eq!(
        breaking_changes(&json!({"items": {}}), &json!({"items": {"type": "string"}})),
        ["args[]: type 'any' was changed to 'string'"]
    );
}
