//! A store in front of the real one that fails on everything that a refused command has left behind: the suite runs on
//! it as on the others.
use std::path::PathBuf;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use ojs_engine::error::{Applied, Refusal, StoreError};
use ojs_engine::store::seam::{Checkup, Store};
use ojs_engine::typed::{Asked, Submitted};

use crate::contents::of_file;

/// Commands one after the other, so that what changes between two looks is the command's doing.
pub struct Checked {
    store: Arc<dyn Store>,
    file: PathBuf,
    turn: tokio::sync::Mutex<()>,
}

impl Checked {
    /// `file` is where the store keeps its rows.
    pub fn between(store: Arc<dyn Store>, file: PathBuf) -> Arc<dyn Store> {
        Arc::new(Self { store, file, turn: tokio::sync::Mutex::default() })
    }
}

impl Store for Checked {
    fn submit(&self, command: Arc<dyn Submitted>) -> BoxFuture<'_, Applied<()>> {
        Box::pin(async move {
            let _turn = self.turn.lock().await;
            let what = format!("{command:?}");
            let before = of_file(&self.file);
            let answer = self.store.submit(command).await;
            if let Some(Ok(error)) = answer.clone().err().map(Refusal::into_error) {
                let after = of_file(&self.file);
                assert_eq!(after, before, "{what} was refused ({error}) and has left something behind");
            }
            answer
        })
    }

    fn ask(&self, query: Arc<dyn Asked>) -> BoxFuture<'_, Applied<()>> {
        self.store.ask(query)
    }

    fn sweep(&self) -> BoxFuture<'_, Applied<()>> {
        Box::pin(async move {
            let _turn = self.turn.lock().await;
            self.store.sweep().await
        })
    }

    fn probe(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        self.store.probe()
    }

    fn checkup(&self) -> Option<Arc<Checkup>> {
        self.store.checkup()
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.store.close()
    }

    fn name(&self) -> &'static str {
        self.store.name()
    }
}
