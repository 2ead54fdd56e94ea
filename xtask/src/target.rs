//! Where the generated code goes.
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::part;
use crate::render::Renderer;

/// A file of the repository, made by templates: as a whole, or in the parts that its lines name.
#[derive(Debug)]
pub struct Target {
    /// From the root.
    pub path: &'static str,
    content: Content,
}

#[derive(Debug)]
enum Content {
    Whole(&'static str),
    Parts(&'static [&'static str]),
    Made(fn(&Renderer) -> Result<String, Error>),
}

const fn whole(path: &'static str, template: &'static str) -> Target {
    Target { path, content: Content::Whole(template) }
}

const fn parts(path: &'static str, templates: &'static [&'static str]) -> Target {
    Target { path, content: Content::Parts(templates) }
}

const fn made(path: &'static str, make: fn(&Renderer) -> Result<String, Error>) -> Target {
    Target { path, content: Content::Made(make) }
}

/// All of them.
pub const TARGETS: &[Target] = &[
    parts("bindings/abi/src/error.rs", &["rust/error_class.j2", "rust/class_of_code.j2"]),
    parts("bindings/abi/src/frame.rs", &["rust/frame_table.j2", "rust/frame.j2"]),
    parts("bindings/c/src/error.rs", &["rust/ojs_class.j2", "rust/same_classes.j2"]),
    made("core/engine/src/http/openapi.json", Renderer::openapi),
    whole("core/engine/src/http/operations.rs", "rust/operation_table.j2"),
    whole("docs/reference/operations.md", "docs/operations.md.j2"),
    made("tests/vectors/operations.json", Renderer::vectors),
    whole("include/ojs_frame.h", "c/ojs_frame.h.j2"),
    whole("include/ojs_operations.h", "c/ojs_operations.h.j2"),
    whole("tests/c/operation_calls.h", "c/operation_calls.h.j2"),
    whole("core/sdk/src/client/operations.rs", "rust/client_operations.j2"),
    whole("core/sdk/tests/support/operation_calls.rs", "rust/operation_calls.j2"),
    parts("core/sdk/src/environment.rs", &["rust/variables.j2"]),
    parts(
        "docs/languages.md",
        &["docs/settings.j2:client", "docs/settings.j2:worker", "docs/settings.j2:relay", "docs/variables.j2"],
    ),
    parts("go/context_request.go", &["go/request_info.j2"]),
    parts("go/envelope.go", &["go/envelope.j2"]),
    parts("go/errors.go", &["go/classes.j2", "go/error_fields.j2", "go/cancel_reasons.j2"]),
    whole("go/filters.go", "go/filters.go.j2"),
    whole("go/frame.go", "go/frame.go.j2"),
    parts(
        "go/job.go",
        &[
            "go/job_states.j2",
            "go/policy.j2:RetryPolicy",
            "go/policy.j2:UniquePolicy",
            "go/policy.j2:Train",
            "go/option_fields.j2",
            "go/option_set.j2",
        ],
    ),
    parts("go/middleware.go", &["go/enqueue_order.j2"]),
    whole("go/operations.go", "go/operations.go.j2"),
    whole("go/operation_calls_test.go", "go/operation_calls.go.j2"),
    parts("go/options.go", &["go/option_functions.j2"]),
    parts("go/outcome.go", &["go/outcomes.j2"]),
    whole("go/records.go", "go/records.go.j2"),
    whole("go/settings.go", "go/settings.go.j2"),
    parts("go/worker.go", &["go/worker_states.j2"]),
    parts(
        "java/src/main/java/org/openjobspec/Bulk.java",
        &["java/record.j2:BulkItem", "java/record.j2:BulkChange", "java/record.j2:BulkResult", "java/filter.j2:BulkTarget"],
    ),
    parts("java/src/main/java/org/openjobspec/CancelReason.java", &["java/cancel_reasons.j2"]),
    parts("java/src/main/java/org/openjobspec/DeadLetters.java", &["java/filter.j2:DeadLetterFilter"]),
    whole("java/src/main/java/org/openjobspec/Event.java", "java/record.j2:Event"),
    whole("java/src/main/java/org/openjobspec/Frames.java", "java/Frames.java.j2"),
    whole("java/src/main/java/org/openjobspec/Functions.java", "java/Functions.java.j2"),
    whole("java/src/main/java/org/openjobspec/Job.java", "java/record.j2:Job"),
    whole("java/src/main/java/org/openjobspec/JobFilter.java", "java/filter.j2:JobFilter"),
    parts("java/src/main/java/org/openjobspec/JobOptions.java", &["java/options.j2"]),
    whole("java/src/main/java/org/openjobspec/JobPage.java", "java/record.j2:JobPage"),
    whole("java/src/main/java/org/openjobspec/JobResult.java", "java/record.j2:JobResult"),
    parts("java/src/main/java/org/openjobspec/MiddlewareChain.java", &["java/enqueue_order.j2"]),
    whole("java/src/main/java/org/openjobspec/Operations.java", "java/Operations.java.j2"),
    whole("java/src/test/java/org/openjobspec/OperationCalls.java", "java/OperationCalls.java.j2"),
    parts("java/src/main/java/org/openjobspec/OJSException.java", &["java/error.j2", "java/classes.j2"]),
    parts("java/src/main/java/org/openjobspec/OJSWorker.java", &["java/worker_states.j2", "java/settings.j2:worker"]),
    parts("java/src/main/java/org/openjobspec/NativeClient.java", &["java/settings.j2:native_client"]),
    parts("java/src/main/java/org/openjobspec/NativeWorker.java", &["java/settings.j2:native_worker"]),
    parts("java/src/main/java/org/openjobspec/OJSClient.java", &["java/settings.j2:client"]),
    parts("java/src/main/java/org/openjobspec/Outcome.java", &["java/outcomes.j2"]),
    whole("java/src/main/java/org/openjobspec/Proxy.java", "java/setting_words.java.j2:Proxy"),
    parts("java/src/main/java/org/openjobspec/RetryPolicy.java", &["java/policy.j2:RetryPolicy"]),
    parts("java/src/main/java/org/openjobspec/Train.java", &["java/policy.j2:Train"]),
    whole("java/src/main/java/org/openjobspec/JobTrain.java", "java/record.j2:JobTrain"),
    parts("java/src/main/java/org/openjobspec/UniquePolicy.java", &["java/policy.j2:UniquePolicy"]),
    whole("java/src/main/java/org/openjobspec/UnknownTypes.java", "java/setting_words.java.j2:UnknownTypes"),
    whole("java/src/main/java/org/openjobspec/WorkflowStatus.java", "java/record.j2:WorkflowStatus"),
    whole("kotlin/src/main/kotlin/org/openjobspec/kotlin/Frames.kt", "kotlin/Frames.kt.j2"),
    whole("kotlin/src/main/kotlin/org/openjobspec/kotlin/Numbers.kt", "kotlin/Numbers.kt.j2"),
    whole("kotlin/src/main/kotlin/org/openjobspec/kotlin/Operations.kt", "kotlin/Operations.kt.j2"),
    whole("kotlin/src/main/kotlin/org/openjobspec/kotlin/OjsException.kt", "kotlin/Errors.kt.j2"),
    whole("kotlin/src/main/kotlin/org/openjobspec/kotlin/Options.kt", "kotlin/Options.kt.j2"),
    whole("kotlin/src/main/kotlin/org/openjobspec/kotlin/Policies.kt", "kotlin/Policies.kt.j2"),
    whole("kotlin/src/main/kotlin/org/openjobspec/kotlin/Records.kt", "kotlin/Records.kt.j2"),
    whole("kotlin/src/main/kotlin/org/openjobspec/kotlin/Settings.kt", "kotlin/Settings.kt.j2"),
    whole("kotlin/src/test/kotlin/org/openjobspec/kotlin/OperationCalls.kt", "kotlin/OperationCalls.kt.j2"),
    parts(
        "node/index.d.cts",
        &[
            "node/cancel_reasons.d.j2",
            "node/classes.d.j2",
            "node/job_states.d.j2",
            "node/operations.d.j2:client",
            "node/operations.d.j2:parts",
            "node/options.d.j2",
            "node/policy.d.j2:RetryPolicy",
            "node/policy.d.j2:UniquePolicy",
            "node/policy.d.j2:Train",
            "node/records.d.j2:jobs",
            "node/records.d.j2:answers",
            "node/settings.d.j2:client",
            "node/settings.d.j2:worker",
        ],
    ),
    parts("node/index.mjs", &["node/exports.mjs.j2"]),
    parts("node/lib/context.cjs", &["node/cancel_reasons.j2", "node/context.j2"]),
    whole("node/lib/errors.cjs", "node/errors.cjs.j2"),
    parts("node/lib/frame.cjs", &["node/frame.j2"]),
    parts("node/lib/middleware.cjs", &["node/enqueue_order.j2"]),
    whole("node/lib/operations.cjs", "node/operations.cjs.j2"),
    whole("node/lib/options.cjs", "node/options.cjs.j2"),
    whole("node/lib/records.cjs", "node/records.cjs.j2"),
    whole("node/lib/settings.cjs", "node/settings.cjs.j2"),
    parts("node/outbox.d.cts", &["node/settings.d.j2:relay"]),
    whole("node/test/operation_calls.mjs", "node/operation_calls.mjs.j2"),
    parts("node/lib/outcome.cjs", &["node/outcomes.j2"]),
    parts("node/lib/worker.cjs", &["node/worker_states.j2"]),
    parts("python/openjobspec/_outcome.py", &["python/outcomes.j2"]),
    whole("python/openjobspec/__init__.py", "python/__init__.py.j2"),
    whole("python/openjobspec/aio.py", "python/client.py.j2:asyncio"),
    whole("python/openjobspec/client.py", "python/client.py.j2:plain"),
    parts("python/openjobspec/context.py", &["python/cancel_reasons.j2", "python/context_frame.j2", "python/context.j2"]),
    whole("python/openjobspec/errors.py", "python/errors.py.j2"),
    parts("python/openjobspec/middleware.py", &["python/enqueue_order.j2"]),
    whole("python/openjobspec/operations.py", "python/operations.py.j2"),
    whole("python/openjobspec/options.py", "python/options.py.j2"),
    whole("python/openjobspec/records.py", "python/records.py.j2"),
    parts(
        "python/openjobspec/worker.py",
        &[
            "python/worker_options.j2:names",
            "python/worker_states.j2",
            "python/worker_options.j2:parameters",
            "python/worker_options.j2:settings",
        ],
    ),
    parts("ruby/lib/ojs/context.rb", &["ruby/cancel_reasons.j2", "ruby/context.j2"]),
    whole("ruby/lib/ojs/errors.rb", "ruby/errors.rb.j2"),
    parts("ruby/lib/ojs/middleware.rb", &["ruby/enqueue_order.j2"]),
    whole("ruby/lib/ojs/operations.rb", "ruby/operations.rb.j2"),
    whole("ruby/lib/ojs/records.rb", "ruby/records.rb.j2"),
    whole("ruby/lib/ojs/options.rb", "ruby/options.rb.j2"),
    parts("ruby/lib/ojs/outcome.rb", &["ruby/outcomes.j2"]),
    parts("ruby/lib/ojs/client.rb", &["ruby/settings.j2:client", "ruby/settings.j2:client_form"]),
    parts("ruby/lib/ojs/transport.rb", &["ruby/settings.j2:client_names"]),
    parts(
        "ruby/lib/ojs/worker.rb",
        &["ruby/worker_states.j2", "ruby/settings.j2:worker_names", "ruby/settings.j2:worker", "ruby/settings.j2:worker_form"],
    ),
    parts(
        "ruby/sig/ojs.rbs",
        &[
            "ruby/operations.rbs.j2",
            "ruby/records.rbs.j2",
            "ruby/classes.rbs.j2",
            "ruby/settings.j2:client_signature",
            "ruby/settings.j2:worker_signature",
        ],
    ),
    whole("ruby/test/operation_calls.rb", "ruby/operation_calls.rb.j2"),
    whole("swift/Sources/OpenJobSpec/Options.swift", "swift/Options.swift.j2"),
    whole("swift/Sources/OpenJobSpec/Policies.swift", "swift/Policies.swift.j2"),
];

/// What a file should be, and is not.
#[derive(Debug)]
pub struct Change {
    /// The first line that differs.
    pub line: usize,
    path: PathBuf,
    text: String,
}

impl Change {
    /// Makes it so.
    pub fn write(self) -> Result<(), Error> {
        std::fs::write(&self.path, self.text).map_err(|cause| Error::file(&self.path, cause))
    }
}

impl Target {
    /// How the file differs from what the schema says; `None` when it does not.
    pub fn change(&self, root: &Path, renderer: &Renderer) -> Result<Option<Change>, Error> {
        let path = root.join(self.path);
        let before = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(cause) if cause.kind() == std::io::ErrorKind::NotFound && !matches!(self.content, Content::Parts(_)) => {
                String::new()
            }
            Err(cause) => return Err(Error::file(&path, cause)),
        };
        let text = match self.content {
            Content::Whole(template) => renderer.render(template)?,
            Content::Made(make) => make(renderer)?,
            Content::Parts(templates) => self.with_parts(before.clone(), templates, renderer)?,
        };
        if text == before {
            return Ok(None);
        }
        let line = 1 + before.lines().zip(text.lines()).take_while(|(old, new)| old == new).count();
        Ok(Some(Change { line, path, text }))
    }

    fn with_parts(&self, mut text: String, templates: &[&str], renderer: &Renderer) -> Result<String, Error> {
        for template in templates {
            let missing = || Error::NoPlace { path: self.path.to_owned(), template: (*template).to_owned() };
            text = part::replaced(&text, template, &renderer.render(template)?).ok_or_else(missing)?;
        }
        Ok(text)
    }
}
