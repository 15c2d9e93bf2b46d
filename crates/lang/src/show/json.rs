//! All of a compiled protocol as data.

use super::summary::*;
use serde_json::{Value, json as value};
use trivium_protocol::*;

/// The protocol as a JSON object: what [`table`](super::table) shows, with places in the text.
///
/// Keys: `name, about, promises, assumptions, invariants, leads_to, waits, ghosts, params, objects, records, lanes, messages, calls, tasks,
/// scenarios, waivers, processor, symmetry, roles`, and `shares` where lanes share outgoing queues. A role has `states`, `events`, `table` (state by event: `handle`, `defer`, `hold`,
/// `impossible` or `passes`; a path's `next` is null where the state stays) and `handlers`. A bound that depends on the number of nodes is `{constant, per_node}`.
pub fn json(protocol: &Protocol) -> Value {
    let mut all = without_shares(protocol);
    if !protocol.shares.is_empty() {
        all["shares"] = shares(protocol);
    }
    all
}

/// The queues that lanes share.
fn shares(protocol: &Protocol) -> Value {
    let of = |shared: &SharedQueue| {
        let lanes: Vec<_> = shared.lanes.iter().map(|id| &protocol.lanes[id.index()].name).collect();
        value!({ "lanes": lanes, "places": held(&shared.holds) })
    };
    protocol.shares.iter().map(of).collect()
}

fn without_shares(protocol: &Protocol) -> Value {
    value!({
        "name": protocol.name,
        "about": protocol.about,
        "files": protocol.sources.files().map(|(name, _)| name).collect::<Vec<_>>(),
        "promises": protocol.promises.iter().map(|p| protocol.promise_name(p)).collect::<Vec<_>>(),
        "assumptions": protocol.assumption_names(),
        "invariants": protocol.invariants.iter().map(|i| value!({
            "name": i.name,
            "object": protocol.objects[i.object.index()],
            "condition": claimed(protocol, i),
        })).collect::<Vec<_>>(),
        "leads_to": protocol.leads_to.iter().map(|l| value!({
            "name": l.name,
            "object": protocol.objects[l.from.object.index()],
            "each_node": l.each,
            "from": written(protocol, &l.from.condition),
            "to": written(protocol, &l.to.condition),
        })).collect::<Vec<_>>(),
        "waits": protocol.waits.iter().map(|w| value!({
            "call": protocol.ops[w.op.index()].name,
            "until": written(protocol, &w.until.condition),
        })).collect::<Vec<_>>(),
        "ghosts": protocol.ghosts.iter().map(|g| ghost(protocol, g)).collect::<Vec<_>>(),
        "params": protocol.params.iter().map(|p| value!({
            "name": p.name, "value": p.value, "from": p.from.name(), "default": p.declared, "lo": p.lo, "hi": p.hi,
            "check": p.check,
        })).collect::<Vec<_>>(),
        "objects": protocol.objects,
        "records": protocol.records.iter().map(|r| value!({
            "name": r.name, "fields": named(protocol, &r.fields),
        })).collect::<Vec<_>>(),
        "lanes": protocol.lanes.iter().map(|l| value!({
            "name": l.name, "order": if l.fifo { "fifo" } else { "unordered" },
            "holds": l.holds.as_ref().filter(|_| !l.queues).map(held), "queues": l.holds.as_ref().filter(|_| l.queues).map(held),
            "lossy": l.lossy, "duplicating": l.duplicating, "merged": l.merged,
            "behind": l.behind.map(|id| &protocol.lanes[id.index()].name),
        })).collect::<Vec<_>>(),
        "messages": protocol.messages.iter().map(|m| message(protocol, m)).collect::<Vec<_>>(),
        "calls": protocol.ops.iter().map(|o| value!({
            "name": o.name,
            "object": protocol.objects[o.object.index()],
            "args": named(protocol, &o.args),
            "result": o.result.as_ref().map(|ty| protocol.type_name(ty)),
        })).collect::<Vec<_>>(),
        "tasks": protocol.tasks.iter().map(|t| value!({
            "name": t.name, "role": protocol.roles[t.role.index()].name, "args": named(protocol, &t.args),
        })).collect::<Vec<_>>(),
        "scenarios": protocol.scenarios.iter().map(|s| value!({
            "name": s.name, "threads": s.threads.len(), "registers": s.outcome_names().collect::<Vec<_>>(),
            "forbid": s.forbid.as_ref().map(|f| written(protocol, f)),
        })).collect::<Vec<_>>(),
        "waivers": protocol.waivers.iter().map(|w| value!({"rule": w.rule, "reason": w.reason})).collect::<Vec<_>>(),
        "processor": if protocol.cached { "cached" } else { "tagged" },
        "symmetry": protocol.asymmetric.is_none(),
        "roles": tables(protocol).iter().map(|t| role(protocol, t)).collect::<Vec<_>>(),
    })
}

/// What a lane holds: a number, or a text where it depends on the number of nodes.
fn held(holds: &Formula) -> Value {
    match holds {
        Formula::Number(number) => value!(number),
        depends => value!(depends.to_string()),
    }
}

fn ghost(protocol: &Protocol, ghost: &Ghost) -> Value {
    let role = &protocol.roles[ghost.role.index()];
    value!({
        "name": role.name,
        "object": protocol.objects[role.object.index()],
        "vars": vars(protocol, role),
        "sees": ghost.clauses.iter().map(|(_, h)| role.handlers[h.index()].name.as_str()).collect::<Vec<_>>(),
    })
}

fn vars(protocol: &Protocol, role: &Role) -> Vec<Value> {
    let var = |v: &Var| {
        value!({
            "name": v.name, "type": protocol.type_name(&v.ty), "initial": v.initial, "hidden": v.name.starts_with('$'),
        })
    };
    role.vars.iter().map(var).collect()
}

fn message(protocol: &Protocol, message: &Message) -> Value {
    value!({
        "name": message.name,
        "lane": protocol.lanes[message.lane.index()].name,
        "args": named(protocol, &message.args),
        "payload": match message.payload {
            PayloadShape::Nothing => Value::Null,
            PayloadShape::Block => "block".into(),
            PayloadShape::Memory => "memory".into(),
            PayloadShape::List => "list".into(),
            PayloadShape::Bytes => "bytes".into(),
        },
        "role": protocol.roles[message.role.index()].name,
        "object": protocol.objects[message.object.index()],
    })
}

fn named(protocol: &Protocol, list: &[Named]) -> Vec<Value> {
    list.iter().map(|n| value!({"name": n.name, "type": protocol.type_name(&n.ty)})).collect()
}

fn bound(bound: Bound) -> Value {
    match bound.per_node {
        0 => bound.constant.into(),
        per_node => value!({"constant": bound.constant, "per_node": per_node}),
    }
}

fn role(protocol: &Protocol, table: &Table) -> Value {
    let role = table.role;
    value!({
        "name": role.name,
        "object": protocol.objects[role.object.index()],
        "lives": match role.kind {
            RoleKind::Home => "home",
            RoleKind::Elsewhere => "elsewhere",
            RoleKind::Everywhere => "everywhere",
            RoleKind::Agent => "agent",
            RoleKind::Ghost => "ghost",
        },
        "defers": role.defers.map(bound), "pushes_back": role.pushes_back,
        "vars": vars(protocol, role),
        "begins_in": begins_in(protocol, role).iter().map(|s| role.states[s.index()].name.as_str()).collect::<Vec<_>>(),
        "initially": role.initially.as_ref().map(|i| protocol.sources.place(i.span).to_string()),
        "states": role.states.iter().map(|s| state(protocol, role, s)).collect::<Vec<_>>(),
        "events": table.events,
        "table": role.states.iter().zip(&table.cells).zip(&role.table).map(|((s, cells), responses)| {
            let row = table.events.iter().zip(cells).zip(responses);
            let row: serde_json::Map<String, Value> =
                row.map(|((event, cell), response)| (event.clone(), self::cell(role, cell, response))).collect();
            value!({"state": s.name, "on": row})
        }).collect::<Vec<_>>(),
        "handlers": role.handlers.iter().map(|h| value!({
            "name": h.name,
            "event": protocol.event_name(h.event),
            "steps": bound(h.longest),
            "sends": protocol.lanes.iter().zip(&h.sends)
                .map(|(lane, sends)| (lane.name.clone(), bound(*sends)))
                .collect::<serde_json::Map<String, Value>>(),
            "place": protocol.sources.place(h.span).to_string(),
        })).collect::<Vec<_>>(),
    })
}

fn state(protocol: &Protocol, role: &Role, state: &State) -> Value {
    value!({
        "name": state.name,
        "access": if role.object == BLOCK { Value::from(state.access.to_string()) } else { Value::Null },
        "waiting": state.waiting,
        "awaits": state.awaits.iter().map(|m| protocol.messages[m.index()].name.clone()).collect::<Vec<_>>(),
        "cleared": state.dead.iter().map(|v| role.vars[v.index()].name.clone()).collect::<Vec<_>>(),
        "after": state.timer.map(bound),
        "place": protocol.sources.place(state.span).to_string(),
    })
}

fn cell(role: &Role, cell: &Cell, response: &Response) -> Value {
    match (cell, response) {
        (Cell::Handle(outcomes), Response::Handle(handlers)) => {
            let list = outcomes.iter().zip(handlers).map(|(outcome, handler)| {
                value!({
                    "handler": role.handlers[handler.index()].name,
                    "when": outcome.guard,
                    "paths": outcome.paths.iter().map(|path| value!({
                        "sends": path.sends.iter()
                            .map(|s| value!({"message": s.message, "to": s.to, "many": s.many}))
                            .collect::<Vec<_>>(),
                        "does": path.deeds,
                        "next": path.target.map(|t| role.states[t.index()].name.clone()),
                    })).collect::<Vec<_>>(),
                })
            });
            value!({"handle": list.collect::<Vec<_>>()})
        }
        (Cell::Defer, _) => "defer".into(),
        (Cell::Hold, _) => "hold".into(),
        (Cell::Stall, _) => "stall".into(),
        (Cell::Passes, _) => "passes".into(),
        _ => "impossible".into(),
    }
}
