//! Whether requests go through a proxy.
use std::str::FromStr;

use crate::error::Error;

/// Through which proxy requests go. Those to a loopback address go through none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Proxy {
    /// The one that `HTTP_PROXY`, `HTTPS_PROXY` or `ALL_PROXY` names, for hosts that `NO_PROXY` does not name. As
    /// text `environment`.
    #[default]
    Environment,
    /// None: those variables are not read. As text `none`.
    None,
}

impl FromStr for Proxy {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self, Error> {
        match word {
            "environment" => Ok(Self::Environment),
            "none" => Ok(Self::None),
            _ => Err(Error::validation("proxy", format!("must be 'environment' or 'none', got '{word}'"))),
        }
    }
}
