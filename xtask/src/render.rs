//! Templates: `xtask/templates/<language>/<what>.j2`, in the notation of Jinja.
use std::path::{Path, PathBuf};

use minijinja::{Environment, UndefinedBehavior, context};

use crate::error::Error;
use crate::filters;
use crate::header::{self, Header};
use crate::operation::{self, Group};
use crate::record::Record;
use crate::schema::Schema;
use crate::{openapi, vector};

/// Macros that several templates import.
const SHARED: &[(&str, &str)] = &[
    ("go/arguments.j2", include_str!("../templates/go/arguments.j2")),
    ("java/arguments.j2", include_str!("../templates/java/arguments.j2")),
    ("kotlin/arguments.j2", include_str!("../templates/kotlin/arguments.j2")),
    ("node/arguments.j2", include_str!("../templates/node/arguments.j2")),
    ("ruby/arguments.j2", include_str!("../templates/ruby/arguments.j2")),
    ("rust/arguments.j2", include_str!("../templates/rust/arguments.j2")),
];

/// The schema, and what makes code of it.
pub struct Renderer {
    environment: Environment<'static>,
    templates: PathBuf,
    schema: Schema,
    groups: Vec<Group>,
    records: Vec<Record>,
    header: Header,
}

impl Renderer {
    /// For the repository in this folder.
    pub fn new(root: &Path, schema: Schema, groups: Vec<Group>, records: Vec<Record>) -> Result<Self, Error> {
        let mut environment = Environment::new();
        // A name that is misspelt is an error, not an empty text.
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_trim_blocks(true);
        environment.set_lstrip_blocks(true);
        environment.set_keep_trailing_newline(true);
        environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
        filters::register(&mut environment, &groups);
        for (name, source) in SHARED {
            environment.add_template(name, source).map_err(|cause| Error::Template { name: (*name).to_owned(), cause })?;
        }
        Ok(Self { environment, templates: root.join("xtask/templates"), schema, groups, records, header: header::read(root)? })
    }

    /// The OpenAPI document.
    pub fn openapi(&self) -> Result<String, Error> {
        Ok(openapi::text(&self.groups)?)
    }

    /// The vectors of the operations.
    pub fn vectors(&self) -> Result<String, Error> {
        Ok(vector::text(&self.groups)?)
    }

    /// The code that a template makes: `go/classes.j2`, or `go/policy.j2:RetryPolicy`, which gives it a `subject`.
    pub fn render(&self, name: &str) -> Result<String, Error> {
        let (name, subject) = name.split_once(':').unwrap_or((name, ""));
        let path = self.templates.join(name);
        let source = std::fs::read_to_string(&path).map_err(|cause| Error::file(&path, cause))?;
        let schema = minijinja::Value::from_serialize(&self.schema);
        let (groups, records, header) = (&self.groups, &self.records, &self.header);
        let (filters, parameter_words) = (operation::filters(groups), operation::words(groups));
        let (common_errors, unreadable) = (operation::COMMON_ERRORS, operation::UNREADABLE);
        self.environment
            .render_named_str(
                name,
                &source,
                context! { subject, groups, records, header, filters, parameter_words, common_errors, unreadable, ..schema },
            )
            .map_err(|cause| Error::Template { name: name.to_owned(), cause })
    }
}
