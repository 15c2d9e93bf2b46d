//! Handlers whose price their machine gives as a whole (`[handlers]`): which of a protocol's they are.

use super::pricing::Given;
use crate::machine::Machine;
use crate::machine::handlers::{self, HandlerPrice};
use crate::machine::price::Price;
use trivium_diagnostic::Code;
use trivium_engine::number::{fit, index};
use trivium_node::{NodeError, Protocols};
use trivium_protocol::{HandlerId, Protocol, RoleId};

/// The prices of single handlers.
#[derive(Debug, Default)]
pub(crate) struct GivenPrices {
    prices: Vec<Given>,
    /// By protocol, role and handler: the number of its price, and one; 0 if it has none. Empty if none has.
    of: Vec<Vec<Vec<u16>>>,
}

impl GivenPrices {
    /// Those of a machine for these protocols. What it says of others means nothing here.
    pub fn new(machine: &Machine, protocols: &Protocols) -> GivenPrices {
        let mut given = GivenPrices::default();
        if machine.handlers.is_empty() {
            return given;
        }
        let none = |protocol: &Protocol| protocol.roles.iter().map(|role| vec![0; role.handlers.len()]).collect();
        given.of = protocols.engines.iter().map(|engine| none(engine.protocol())).collect();
        for (key, price) in handlers::all(&machine.handlers) {
            let Some(prices) = price.prices() else { continue };
            let after = Price { cycles: price.after, ..Price::default() };
            given.prices.push(Given { prices, after });
            let number = fit(given.prices.len(), "a price of a handler, of which there are at most 65535");
            for (protocol, of) in protocols.engines.iter().zip(&mut given.of) {
                let handlers = named(protocol.protocol(), key);
                handlers.for_each(|(role, handler)| of[role.index()][handler.index()] = number);
            }
        }
        given
    }

    /// That of a handler, with its number.
    #[inline(always)]
    pub fn of(&self, protocol: usize, role: RoleId, handler: Option<HandlerId>) -> Option<(u16, &Given)> {
        if self.prices.is_empty() {
            return None;
        }
        let number = self.of[protocol][role.index()][handler?.index()];
        self.prices.get(index(u64::from(number).checked_sub(1)?)).map(|given| (number, given))
    }
}

/// The handlers of a name: a state's clauses for an event.
fn named<'a>(
    protocol: &'a Protocol,
    [of, role_name, state, event]: [&'a str; 4],
) -> impl Iterator<Item = (RoleId, HandlerId)> + 'a {
    let roles = (0..).map(RoleId).zip(&protocol.roles);
    let roles = roles.filter(move |(_, role)| protocol.name == of && role.name == role_name);
    roles.flat_map(move |(id, role)| {
        let handlers = (0..).map(HandlerId).zip(&role.handlers);
        let is_meant = move |name: &str| name.split_once('.') == Some((state, event));
        handlers.filter(move |(_, handler)| is_meant(&handler.name)).map(move |(handler, _)| (id, handler))
    })
}

/// That a machine gives prices only of handlers that these protocols have; of other protocols it may say anything.
///
/// # Errors
/// A name that is none of a handler, with its line.
pub(crate) fn check_handlers(machine: &Machine, protocols: &Protocols) -> Result<(), NodeError> {
    let known = |name: &str| protocols.engines.iter().map(|engine| engine.protocol()).find(|p| p.name == name);
    let mut prices = handlers::all(&machine.handlers).filter_map(|(key, price)| Some((key, price, known(key[0])?)));
    let wrong = prices.find(|(key, _, protocol)| named(protocol, *key).next().is_none());
    wrong.map_or(Ok(()), |(key, price, protocol)| Err(unknown(key, price, protocol)))
}

fn unknown([name, role, state, event]: [&str; 4], price: &HandlerPrice, protocol: &Protocol) -> NodeError {
    let names =
        protocol.roles.iter().flat_map(|role| role.handlers.iter().map(move |h| format!("{}.{}", role.name, h.name)));
    let names: Vec<String> = names.collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let wanted = format!("{role}.{state}.{event}");
    let help = match crate::machine::load::nearest(&wanted, &names) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`trivium show` prints the roles, states and events of a protocol".to_string(),
    };
    let what = format!("`handlers.{name}.{wanted}` is the price of a handler that `{name}` does not have");
    let error = NodeError::input(Code::Machine, what).help(help);
    match &price.place {
        Some(place) => error.at(place),
        None => error,
    }
}
