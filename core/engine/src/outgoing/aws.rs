//! Signs requests to services of Amazon with the operator's credentials (AWS Signature Version 4).
//!
//! Credentials come from where AWS's own programs look: environment, profile, web identity, the metadata of a container
//! or of a machine. They are the operator's, so the guard has no say in where they are fetched.
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use axum::http::{HeaderMap, Request, Response};
use bytes::Bytes;
use reqsign_aws_v4::{Credential, DefaultCredentialProvider, RequestSigner, StaticCredentialProvider};
use reqsign_core::{Context, Error, HttpSend, OsEnv, Signer};
use reqsign_file_read_tokio::TokioFileRead;
use reqwest::Client;
use sha2::{Digest, Sha256};

use super::answer::{AwsScope, Fault, Post};
use super::options::AwsOptions;

/// A service and a region.
type Scope = (&'static str, String);

/// Signers; each keeps its credentials until they end.
#[derive(Default)]
pub(super) struct Aws {
    signers: Mutex<HashMap<Scope, Arc<Signer<Credential>>>>,
}

impl fmt::Debug for Aws {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Aws").finish_non_exhaustive()
    }
}

impl Aws {
    /// The headers of a request, signed. `client` fetches credentials.
    pub(super) async fn signed(
        &self,
        post: &Post,
        scope: &AwsScope,
        options: &AwsOptions,
        client: &Client,
    ) -> Result<HeaderMap, Fault> {
        let region = scope.region.as_ref().or(options.region.as_ref());
        let region = region.ok_or_else(|| Fault::Unsigned("the region of AWS is not known: set AWS_REGION".to_owned()))?;
        let signer = self.signer(scope.service, region, options, client);
        let wrong = |error: &dyn fmt::Display| Fault::Unsigned(format!("the request could not be signed for AWS: {error}"));
        let (mut parts, ()) = Request::post(&post.url).body(()).map_err(|error| wrong(&error))?.into_parts();
        parts.headers = post.headers.clone();
        let sum = ojs_model::hex::encode(&Sha256::digest(&post.body));
        super::signed::add(&mut parts.headers, "x-amz-content-sha256", &sum);
        signer.sign(&mut parts, None).await.map_err(|error| wrong(&error))?;
        if !parts.headers.contains_key("authorization") {
            return Err(wrong(&"there are no credentials of AWS"));
        }
        Ok(parts.headers)
    }

    fn signer(&self, service: &'static str, region: &str, options: &AwsOptions, client: &Client) -> Arc<Signer<Credential>> {
        // Each entry is whole after every statement.
        let mut signers = self.signers.lock().unwrap_or_else(PoisonError::into_inner);
        let made = signers.entry((service, region.to_owned())).or_insert_with(|| {
            let context = Context::new().with_env(OsEnv).with_file_read(TokioFileRead).with_http_send(Plain(client.clone()));
            let builder = RequestSigner::new(service, region);
            Arc::new(match &options.access_key {
                Some(key) => {
                    let mut provider = StaticCredentialProvider::new(&key.id, &key.secret);
                    if let Some(token) = &key.session_token {
                        provider = provider.with_session_token(token);
                    }
                    Signer::new(context, provider, builder)
                }
                None => Signer::new(context, DefaultCredentialProvider::new(), builder),
            })
        });
        Arc::clone(made)
    }
}

/// Fetches credentials.
#[derive(Debug)]
struct Plain(Client);

impl HttpSend for Plain {
    async fn http_send(&self, request: Request<Bytes>) -> reqsign_core::Result<Response<Bytes>> {
        let failed = |error: reqwest::Error| Error::unexpected("no answer about credentials").with_source(error.without_url());
        let response = self.0.execute(request.try_into().map_err(failed)?).await.map_err(failed)?;
        let mut answer = Response::new(Bytes::new());
        *answer.status_mut() = response.status();
        *answer.headers_mut() = response.headers().clone();
        *answer.body_mut() = response.bytes().await.map_err(failed)?;
        Ok(answer)
    }
}
