//! What a feature declares. The `mod.rs` of its folder fills one [`Feature`] in, and `features::ALL` names it.
use std::sync::Arc;

use futures_util::future::BoxFuture;

use crate::engine::Engine;
use crate::error::Applied;
use crate::features::admin::records::Gauges;
use crate::http::route::Route;
use crate::kernel::hooks::Hooks;
use crate::metrics::Lines;
use crate::store::due::Due;
use crate::store::record::Table;

/// Asks for what the figures of a feature need beside the gauges, and returns what writes them.
pub(crate) type Figures = for<'a> fn(&'a Engine, &'a Arc<Gauges>) -> BoxFuture<'a, Applied<Lines>>;

/// All that one feature adds to the engine.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Feature {
    /// Where it takes part in transactions.
    pub hooks: Hooks,
    /// Its tables: they are made when a store is opened, and emptied when it is reset.
    pub tables: &'static [&'static Table],
    /// Its records that time makes due: a sweep is made when there are any.
    pub due: &'static [Due],
    /// Its routes below `/ojs/v1`.
    pub routes: fn() -> Vec<Route>,
    /// Its figures for `/metrics`.
    pub figures: Option<Figures>,
    /// The extensions that the manifest names because of it.
    pub extensions: &'static [Extension],
    /// The members of `capabilities` in the manifest that are true because of it.
    pub capabilities: &'static [&'static str],
}

impl Feature {
    /// A feature that adds nothing.
    pub const NONE: Self =
        Self { hooks: Hooks::NONE, tables: &[], due: &[], routes: Vec::new, figures: None, extensions: &[], capabilities: &[] };
}

/// An extension as the manifest names it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Extension {
    /// Official: its URN follows from its name.
    Official(&'static str),
    /// Experimental, or our own: its name and its URN.
    Own(&'static str, &'static str),
}

impl Extension {
    pub fn name(self) -> &'static str {
        match self {
            Self::Official(name) | Self::Own(name, _) => name,
        }
    }

    pub fn urn(self) -> String {
        match self {
            Self::Official(name) => format!("urn:ojs:ext:{name}"),
            Self::Own(_, urn) => urn.to_owned(),
        }
    }
}
