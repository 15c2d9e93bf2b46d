//! What whole handlers cost, where a source gives that and not what it is made of (`[handlers]`).

use crate::machine::price::{DispatchPrices, Price, Prices, RecordPrices, SendPrices};
use serde::Deserialize;
use std::collections::BTreeMap;
use trivium_diagnostic::{Code, Diagnostic};

/// The price of a handler that is given: cycles of the engine's own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HandlerPrice {
    /// Up to its first effect; without it, the handler costs what the price list says, and `source` tells where that is from.
    pub fixed: Option<u64>,
    /// For each of its effects that are counted here.
    #[serde(default)]
    pub per: PerEffect,
    /// Behind its last effect: nobody waits for it, but the engine is busy.
    #[serde(default)]
    pub after: u64,
    /// The row of a study that gives it.
    pub id: Option<String>,
    /// That no source gives it.
    pub source: Option<HandlerSource>,
    /// With `source`: the misses whose published sums it was chosen for, kind and place as `trivium miss` names them (`read remote`); of other
    /// misses it makes a prediction. Without it, any.
    #[serde(default)]
    pub fits: Vec<String>,
    /// Where it stands in the machine's file.
    #[serde(skip)]
    pub place: Option<String>,
}

/// What kinds of misses there are, and where they find what they need, as `trivium miss` names them.
const MISSES: ([&str; 3], [&str; 4]) = (["read", "write", "upgrade"], ["local", "remote", "home", "third"]);

/// Where a price is from that no row gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HandlerSource {
    /// Ours: chosen so that sums come out that are published.
    Calibration,
}

/// Cycles for each effect of a kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PerEffect {
    /// A message that it sends, whatever is in it.
    pub send: u64,
    /// The first look at each record.
    pub record: u64,
    /// A visited element of a set or list.
    pub element: u64,
    /// A question whether a lane has room.
    pub room: u64,
    /// A task that it starts.
    pub start: u64,
    /// A word that it loads.
    pub load: u64,
    /// A word that it stores.
    pub store: u64,
    /// A look at a line of the processor's cache.
    pub probe: u64,
    /// A plain step.
    pub step: u64,
}

/// Prices of handlers by protocol, role, and then by both parts of their names: state and event.
pub type HandlerPrices = BTreeMap<String, BTreeMap<String, BTreeMap<String, BTreeMap<String, HandlerPrice>>>>;

/// All of them, with their keys in the machine's file.
pub(crate) fn all(prices: &HandlerPrices) -> impl Iterator<Item = ([&str; 4], &HandlerPrice)> {
    prices.iter().flat_map(|(protocol, roles)| {
        roles.iter().flat_map(move |(role, states)| {
            states.iter().flat_map(move |(state, events)| {
                let of = move |(event, price)| ([protocol, role, state, event].map(String::as_str), price);
                events.iter().map(of)
            })
        })
    })
}

/// The same, to be changed.
pub(crate) fn all_mut(prices: &mut HandlerPrices) -> impl Iterator<Item = (String, &mut HandlerPrice)> {
    prices.iter_mut().flat_map(|(protocol, roles)| {
        roles.iter_mut().flat_map(move |(role, states)| {
            states.iter_mut().flat_map(move |(state, events)| {
                let key = move |event: &str| format!("handlers.{protocol}.{role}.{state}.{event}");
                events.iter_mut().map(move |(event, price)| (key(event), price))
            })
        })
    })
}

impl super::Machine {
    /// The handlers whose prices rows of studies give, as results name them, each with its row.
    pub fn given_handlers(&self) -> Vec<(String, String)> {
        let given = all(&self.handlers).filter_map(|(name, price)| Some((name.join("."), price.id.clone()?)));
        given.collect()
    }
}

impl HandlerPrice {
    /// What the price says of itself: the row that it is from, or `calibration`.
    pub fn origin(&self) -> &str {
        match (&self.id, self.source) {
            (Some(id), _) => id,
            (None, Some(HandlerSource::Calibration)) => "calibration",
            (None, None) => "",
        }
    }

    /// Whether the sum of a miss (`read remote`) with this handler on its way is no prediction, since the price was given, or chosen for that sum.
    pub(crate) fn is_of_the_sum(&self, miss: &str) -> bool {
        self.source.is_none() || self.fits.is_empty() || self.fits.iter().any(|fits| fits == miss)
    }

    /// The price list of a handler that costs this; none if it costs what that of the machine says.
    pub(crate) fn prices(&self) -> Option<Prices> {
        let plain = |cycles: u64| Price { cycles, ..Price::default() };
        let fixed = plain(self.fixed?);
        let PerEffect { send, record, element, room, start, load, store, probe, step } = self.per;
        Some(Prices {
            dispatch: DispatchPrices {
                fault: fixed.clone(),
                message: fixed.clone(),
                call: fixed.clone(),
                task: fixed.clone(),
                timer: fixed.clone(),
                replay: fixed,
            },
            record: RecordPrices { home: plain(record), other: plain(record), ..RecordPrices::default() },
            send: SendPrices { header: plain(send), data_header: plain(send), ..SendPrices::default() },
            element: plain(element),
            room: plain(room),
            start: plain(start),
            load: plain(load),
            store: plain(store),
            probe: plain(probe),
            step: plain(step),
            ..Prices::default()
        })
    }

    /// What its type alone cannot say.
    pub(crate) fn validate(&self, [protocol, role, state, event]: [&str; 4]) -> Result<(), Diagnostic> {
        let key = format!("handlers.{protocol}.{role}.{state}.{event}");
        let error = |what: String, help: &str| Err(Diagnostic::new(Code::Machine, what).help(help));
        if self.id.is_some() == self.source.is_some() {
            let what = format!("`{key}` does not say where it is from, or says it twice");
            return error(what, "write `id = \"..\"`, the row of a study, or `source = \"calibration\"`");
        }
        let (kinds, places) = MISSES;
        let is_miss = |fits: &String| {
            fits.split_once(' ').is_some_and(|(kind, place)| kinds.contains(&kind) && places.contains(&place))
        };
        if self.source.is_none() && !self.fits.is_empty() {
            return error(format!("`{key}` says what it fits, and is no calibration"), "leave out `fits`");
        }
        if let Some(unknown) = self.fits.iter().find(|fits| !is_miss(fits)) {
            let what = format!("`{key}` fits `{unknown}`, which is no miss");
            return error(
                what,
                "a miss is a kind (read, write, upgrade) and a place (local, remote, home, third): `read remote`",
            );
        }
        if self.fixed.is_none() && (self.id.is_some() || self.after > 0 || self.per != PerEffect::default()) {
            let what = format!("`{key}` has no `fixed`, so that the price list would count as well");
            return error(what, "add `fixed = CYCLES`: what the handler takes up to its first effect; 0 is possible");
        }
        Ok(())
    }
}
