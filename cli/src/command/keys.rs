//! `ojs keys`: who may talk to a server. Works on the file; a running server notices.
use std::path::PathBuf;

use clap::{Args, Subcommand};
use ojs_engine::access::{KeyFile, KeyFileError, Role};
use ojs_engine::clock::{Clock, SystemClock};
use ojs_model::envelope::check_tenant;

use crate::failure::Failure;
use crate::output::{Output, print, rows};

const EXAMPLES: &str = "\
Roles: producer adds jobs and reads those whose id it knows; worker runs jobs; viewer looks at everything and
changes nothing; operator adds, cancels, retries, pauses and looks at everything; admin may do everything. Give --role more than once to join them.

Examples:
  ojs keys add shop --role producer --role worker       prints the key, once
  ojs keys add ann --role viewer                        for a person who looks at the dashboard
  ojs keys list
  ojs keys revoke shop
  ojs server --keys ojs-keys.json";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Keys {
    /// The file that the server reads with --keys. It holds sums of keys, never keys.
    #[arg(long, global = true, value_name = "FILE", env = "OJS_KEYS", default_value = "ojs-keys.json")]
    keys: PathBuf,
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Make a key and print it. It cannot be shown again.
    Add {
        /// What logs call it.
        name: String,
        /// producer, worker, viewer, operator or admin.
        #[arg(long = "role", required = true)]
        roles: Vec<Role>,
        /// Bind the key to a tenant: it sees and changes what belongs to this tenant, and nothing else.
        #[arg(long, value_name = "TENANT")]
        tenant: Option<String>,
    },
    /// List names and roles.
    List,
    /// Take a key out. Servers refuse it within two seconds.
    Revoke {
        /// The name it was made with.
        name: String,
    },
}

impl From<KeyFileError> for Failure {
    fn from(error: KeyFileError) -> Self {
        match error {
            KeyFileError::Taken(_) | KeyFileError::Unknown(_) => Self::partly(error.to_string()),
            other => Self::setting(other.to_string()),
        }
    }
}

/// Carries out one of the actions.
///
/// # Errors
/// A file that cannot be read or written, a name that is taken or unknown.
pub fn run(command: Keys, output: Output) -> Result<(), Failure> {
    let path = &command.keys;
    match command.action {
        Action::Add { name, roles, tenant } => {
            if let Some(tenant) = &tenant {
                check_tenant("--tenant", tenant).map_err(|error| Failure::usage(error.message, "for example --tenant acme"))?;
            }
            let key = KeyFile::change(path, true, |file| {
                let key = file.add(&name, roles, SystemClock.now())?;
                if let Some(tenant) = &tenant {
                    file.bind(&name, tenant)?;
                }
                Ok(key)
            })?;
            if output.json { print(&serde_json::json!({"name": name, "key": key}).to_string())? } else { print(&key)? }
        }
        Action::List => {
            let file = KeyFile::read(path)?;
            if output.json {
                print(&serde_json::to_string(&file).unwrap_or_default())?;
            } else {
                let roles = |roles: &[Role]| roles.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
                print(&rows(
                    &["name", "roles", "tenant", "created"],
                    file.keys.iter().map(|k| {
                        vec![k.name.clone(), roles(&k.roles), k.tenant.clone().unwrap_or_default(), k.created_at.clone()]
                    }),
                ))?;
            }
        }
        Action::Revoke { name } => {
            KeyFile::change(path, false, |file| file.revoke(&name))?;
            print(&format!("{name}: revoked"))?;
        }
    }
    Ok(())
}
