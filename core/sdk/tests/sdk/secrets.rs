//! Passwords and tokens are in no error and in no text of an object.
use std::error::Error as StdError;
use std::fmt::Write;

use ojs::serverless::PushHandler;
use ojs::transport::{ConnectOptions, Proxy, ResendPolicy};
use ojs::{Client, Error, JobRequest, Worker};

const SECRET: &str = "hunter2";

/// All that an error says: its text, its structure, and those of its causes.
fn all(error: &Error) -> String {
    let mut said = format!("{error} {error:?}");
    let mut cause = error.source();
    while let Some(error) = cause {
        write!(said, " {error} {error:?}").unwrap();
        cause = error.source();
    }
    said
}

fn keeps_it(said: &str) {
    assert!(!said.is_empty() && !said.contains(SECRET), "{said}");
}

#[tokio::test]
async fn an_error_holds_no_password() {
    for password in ["hunter2", "hunter2@home", "p@hunter2", "hunter2:y", "hunter2/x"] {
        for url in [
            format!("http://app:{password}@127.0.0.1:1"),
            format!("http://app:{password}@127.0.0.1:port"),
            format!("gopher://app:{password}@127.0.0.1:1"),
            format!("postgres://app:{password}@127.0.0.1:1/jobs"),
            format!("postgres://app:{password}@127.0.0.1:port/jobs"),
        ] {
            let options = Client::builder().url(&url).auth_token(SECRET).proxy(Proxy::None).resend(ResendPolicy::never());
            keeps_it(&format!("{options:?}"));
            match options.connect().await {
                Ok(client) => {
                    keeps_it(&format!("{client:?}"));
                    keeps_it(&all(&client.get_job("x").await.unwrap_err()));
                }
                Err(error) => keeps_it(&all(&error)),
            }
        }
    }
}

#[test]
fn the_texts_of_settings_hold_no_secret() {
    let url = format!("postgres://app:{SECRET}@db/jobs");
    let mut options = ConnectOptions::default();
    options.auth_token = Some(SECRET.to_owned());
    options.headers.push(("Authorization".to_owned(), SECRET.to_owned()));
    keeps_it(&format!("{options:?}"));
    keeps_it(&format!("{:?}", Worker::builder().url(url.as_str()).connection(options)));
    keeps_it(&format!("{:?}", PushHandler::builder().ojs_url(url).auth_token(SECRET)));
}

#[test]
fn the_texts_of_objects_hold_no_arguments() {
    let request = JobRequest::new("mail.send", (SECRET,)).meta("note", SECRET);
    keeps_it(&format!("{request:?}"));
}
