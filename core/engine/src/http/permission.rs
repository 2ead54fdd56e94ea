//! What routes need of a key.

/// What a route needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permission {
    /// Nothing: health and the like.
    Open,
    /// Add jobs, workflows.
    Enqueue,
    /// Fetch, report, beat.
    Work,
    /// Read a job, workflow or result whose id one knows.
    Read,
    /// List and watch everything.
    Inspect,
    /// Cancel, retry, pause, direct workers, register cron entries.
    Operate,
    /// Delete for good, configure, reset.
    Administer,
}

impl Permission {
    /// All, in the order of what they need.
    pub const ALL: [Self; 7] =
        [Self::Open, Self::Enqueue, Self::Work, Self::Read, Self::Inspect, Self::Operate, Self::Administer];

    /// Its name, as the table of operations writes it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Enqueue => "enqueue",
            Self::Work => "work",
            Self::Read => "read",
            Self::Inspect => "inspect",
            Self::Operate => "operate",
            Self::Administer => "administer",
        }
    }

    /// The scope of the admin API that it amounts to (extensions section 19).
    #[must_use]
    pub fn scope(self) -> &'static str {
        match self {
            Self::Open => "",
            Self::Enqueue | Self::Work => "ojs:data:write",
            Self::Read => "ojs:data:read",
            Self::Inspect => "ojs:admin:read",
            Self::Operate => "ojs:admin:write",
            Self::Administer => "ojs:admin:purge",
        }
    }
}
