//! The search language of job lists: `state:discarded queue:mail,billing args.0:42 -error:Timeout "Ada Lovelace"`.
//!
//! A search is a list of terms, all of which a job must match. Terms that a list can be walked by (one state, one
//! queue, one type, times) become part of the [`JobFilter`]; the others are compared with the jobs that the walk finds.
mod fits;
mod read;

use ojs_model::JobState;

use crate::store::rows::JobFilter;

/// What a client searches for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Search {
    terms: Vec<Term>,
    /// The id of the tenant that the search names.
    pub tenant: Option<String>,
    since: Option<i64>,
    until: Option<i64>,
}

#[derive(Debug, Clone, PartialEq)]
struct Term {
    /// Jobs match that do not match `what`.
    not: bool,
    what: What,
}

/// Any one of several values is enough.
#[derive(Debug, Clone, PartialEq)]
enum What {
    States(Vec<JobState>),
    Queues(Vec<String>),
    /// Types, or starts of types that end in `*`.
    Types(Vec<String>),
    Tags(Vec<String>),
    /// Texts, in lower case, in the type, the code or the message of the latest error.
    Errors(Vec<String>),
    Number(Number, Sign, i64),
    /// A member of the arguments or of the metadata.
    Member(Part, Vec<String>, Vec<String>),
    /// Texts, in lower case, anywhere in the arguments or in the metadata.
    Within(Part, Vec<String>),
    /// A text, in lower case, in the type, the arguments, the metadata or the latest error.
    Text(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Number {
    Priority,
    Attempt,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    Equal,
    Less,
    AtMost,
    More,
    AtLeast,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Args,
    Meta,
}

impl Part {
    const fn name(self) -> &'static str {
        match self {
            Self::Args => "args",
            Self::Meta => "meta",
        }
    }
}

impl What {
    /// Whether it is compared with what the client sent, which is not part of the row of a job.
    fn needs_body(&self) -> bool {
        matches!(self, Self::Tags(_) | Self::Member(..) | Self::Within(..) | Self::Text(_))
    }

    /// Whether it is compared with the errors of a job.
    fn needs_errors(&self) -> bool {
        matches!(self, Self::Errors(_) | Self::Text(_))
    }
}

impl Search {
    /// Takes the terms out that a list is walked by, and adds them to its filter. A filter that names another state,
    /// queue or type already keeps it, and the term is compared.
    pub fn narrow(&mut self, filter: &mut JobFilter) {
        self.terms.retain(|term| match (&term.what, term.not) {
            (What::States(states), false) if states.len() == 1 && filter.state.is_none() => {
                filter.state = states.first().copied();
                false
            }
            _ => true,
        });
        self.narrow_but_states(filter);
    }

    /// The same, but for states.
    pub fn narrow_but_states(&mut self, filter: &mut JobFilter) {
        filter.since = filter.since.max(self.since);
        filter.until = match (filter.until, self.until) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        self.terms.retain(|term| match (&term.what, term.not) {
            (What::Queues(names), false) if names.len() == 1 && filter.queue.is_none() => {
                filter.queue = names.first().cloned();
                false
            }
            (What::Types(names), false) if names.len() == 1 && filter.job_type.is_none() => {
                filter.job_type = names.first().cloned();
                false
            }
            _ => true,
        });
    }

    /// Whether nothing is left to compare.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Whether a job in this state can match.
    #[must_use]
    pub fn allows(&self, state: JobState) -> bool {
        self.terms.iter().all(|term| match &term.what {
            What::States(states) => states.contains(&state) != term.not,
            _ => true,
        })
    }
}
