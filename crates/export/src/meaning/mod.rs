//! What the steps, rules and promises of a protocol mean, in the system that is explored: as a model ([`crate::model`]) for other checkers.
//!
//! The model is the same transition system as [`trivium_check::explore`] walks: one rule an event, one firing a
//! transition, the same states. So without symmetry the two count the same states and the same firings, and agree
//! on the verdict. What the model contains in place of the engine is generated from the compiled protocol; what it
//! contains in place of the explorer (threads, channels, promises) follows `docs/semantics.md`, sections 4 to 7.
//!
//! Sets are numbers, one bit an element; `none` is -1, a truth value 0 or 1, a message's data 0 (none) or one more
//! than the word (where ranges of memory travel: see [`memory`]). Whatever is not in use has the least value of its type.
//!
//! It must not know how a model is written in a checker's language, but for the limits that these languages set.

mod arrays;
mod bodies;
mod cache;
mod expressions;
mod ghosts;
mod handlers;
mod late;
mod mark;
mod memory;
mod names;
mod network;
mod performs;
mod promises;
mod queues;
mod records;
mod steps;
mod system;
mod threads;
mod trials;
mod types;

use crate::model::Program;
use crate::refused;
use std::sync::Arc;
use trivium_check::{Intent, Outline, System, WORDS_PER_BLOCK};
use trivium_diagnostic::Diagnostic;
use trivium_engine::Engine;
use trivium_protocol::orders::depends_on_order;
use trivium_protocol::walk::{any_step, code, each_step, performs_for_threads};
use trivium_protocol::{
    BLOCK, ExprKind, MessageId, Operation, PayloadShape, PerformFor, PerformKind, Promise, Protocol, Role, RoleId,
    Step, StepKind,
};

/// Most nodes, and most elements of a set, since sets are numbers here.
const MOST_ELEMENTS: i64 = 40;

/// The operations that models have.
const MODELLED: [Operation; 3] = [Operation::Exchange, Operation::CompareExchange, Operation::Add];

/// The model of a protocol, and of the system in which it is explored. `channel` is that of [`crate::murphi::murphi()`].
///
/// # Errors
/// When such a system cannot be made of the protocol, or no checker's language can express it.
pub(crate) fn model(protocol: &Arc<Protocol>, system: &System, channel: u32) -> Result<Program, Diagnostic> {
    // A store that is open would be settled by whoever performs it for its thread: the model has those that begin with their values.
    let late_values = system.late_values && !performs_for_threads(protocol);
    let system = &System { late_values, ..system.clone() };
    let outline = Outline::new(protocol, system)?;
    let export = Export::new(&outline, system, channel)?;
    let mut program = Program { head: export.head(system), ..Program::default() };
    export.types(&mut program);
    export.variables(&mut program);
    export.basics(&mut program);
    export.memory(&mut program);
    export.lanes(&mut program);
    export.tasks(&mut program);
    export.records(&mut program);
    export.ghosts(&mut program);
    export.thread_accesses(&mut program);
    export.interventions(&mut program);
    export.handlers(&mut program);
    export.trials(&mut program);
    export.initially(&mut program);
    export.settling(&mut program);
    export.rules(&mut program);
    export.promises(&mut program);
    Ok(program)
}

/// What is translated.
struct Export<'m> {
    model: &'m Outline,
    channel: u32,
    /// Words of each node's memory, and words of a block among them.
    words: u32,
    stride: u32,
    /// The greatest value of a word of memory.
    most_word: u64,
    /// The greatest value of a word in a variable or an argument.
    most_declared: i64,
    /// Whether messages carry ranges of memory, or lists.
    moves_memory: bool,
    threads_per_node: usize,
    values: u32,
    /// Outgoing queues in which handlers ask for room.
    asked: Vec<usize>,
}

impl<'m> Export<'m> {
    fn new(model: &'m Outline, system: &System, channel: u32) -> Result<Export<'m>, Diagnostic> {
        let (words, stride) = match model.words {
            Some(words) => (words, WORDS_PER_BLOCK),
            None => (model.objects[BLOCK.index()], 1),
        };
        let stored = model.client.intents.iter().map(|intent| match intent {
            Intent::Write { value, .. } | Intent::Rmw { value, .. } => model.marked.unwrap_or(*value),
            // A word that a call passes may be stored too.
            Intent::Call { .. } => u64::from(system.values - 1),
            _ => 0,
        });
        let stored = stored.max().unwrap_or(0);
        let moves_memory =
            model.protocol().messages.iter().any(|m| matches!(m.payload, PayloadShape::Memory | PayloadShape::List));
        let most_declared = if moves_memory { memory::BASE - 1 } else { types::MOST_WORD };
        let most_word = if model.words.is_some() { most_declared.cast_unsigned() } else { stored };
        let most_word = most_word.max(model.garbage);
        let threads_per_node = model.client.threads_of.iter().map(Vec::len).max().unwrap_or(0).max(1);
        let export = Export {
            model,
            channel: channel.max(1),
            words,
            stride,
            most_word,
            most_declared,
            moves_memory,
            threads_per_node,
            values: system.values,
            asked: queues::asked(model.protocol()),
        };
        export.check()?;
        Ok(export)
    }

    fn check_homes(&self) -> Result<(), Diagnostic> {
        let Some((object, at)) = self.model.placed else { return Ok(()) };
        let kind = &self.model.protocol().objects[object.kind.index()];
        let regular = (0..self.model.objects[object.kind.index()]).map(|id| (id % self.model.nodes).to_string());
        let regular: Vec<String> = regular.collect();
        Err(refused(
            format!(
                "{kind} {} is at home at node {at}; in exported models object i is at node i mod the number of nodes",
                object.id
            ),
            format!("give such homes, whatever the file says: `--homes {kind}={}`", regular.join("/")),
        ))
    }

    /// What handlers tell ghosts.
    fn check_told(&self) -> Result<(), Diagnostic> {
        let protocol = self.protocol();
        let mut told = None;
        for handler in code(protocol) {
            each_step(&handler.steps, &mut |step| match &step.kind {
                StepKind::Elsewhere(_, role, _) if protocol.is_ghost(*role) => told = told.or(Some(*role)),
                _ => {}
            });
        }
        let Some(ghost) = told else { return Ok(()) };
        let name = &self.role(ghost).name;
        Err(refused(
            format!("handlers tell the ghost `{name}` something, which cannot be exported"),
            "check it here; or let the ghost hear accesses and calls, which a model tells it",
        ))
    }

    /// Images, and calls with a body.
    fn check_bodies(&self) -> Result<(), Diagnostic> {
        let protocol = self.protocol();
        if let Some(image) = protocol.images.first() {
            let kind = &protocol.objects[image.object.index()];
            return Err(refused(
                format!("the image of {kind} cannot be exported"),
                "a model knows the lines of blocks alone: check it here; or let a role play the line, and messages its misses",
            ));
        }
        if let Some(op) = protocol.ops.iter().find(|op| op.body.is_some()) {
            return Err(refused(
                format!("`{}` has a body, which cannot be exported", op.name),
                "check it here; or let a handler answer the call, and a task do what the body does",
            ));
        }
        Ok(())
    }

    /// What checkers' languages, or this use of them, cannot express.
    fn check(&self) -> Result<(), Diagnostic> {
        if i64::from(self.model.nodes) > MOST_ELEMENTS {
            return Err(refused(
                format!("{} nodes cannot be exported", self.model.nodes),
                format!("a set of nodes is a number of {MOST_ELEMENTS} bits in the model: use fewer nodes"),
            ));
        }
        let protocol = self.protocol();
        let unsure = self.model.lanes.iter().position(|lane| lane.behind.is_some() && !lane.fifo);
        if let Some(lane) = unsure {
            return Err(refused(
                format!(
                    "lane `{}` cannot be exported: it is behind another, and keeps no order itself",
                    protocol.lanes[lane].name
                ),
                "declare it `fifo`, or leave `behind` out",
            ));
        }
        if let Some(copies) = protocol.promises.iter().find(|promise| matches!(promise, Promise::Copies(_))) {
            return Err(refused(
                format!("the promise `{}` cannot be exported", protocol.promise_name(copies)),
                "a model knows nothing of copies: check it here; or write the protocol without this promise and without `assume quiet`, with a scenario that stores, copies and loads",
            ));
        }
        // What a call returns at once whose object is gone: one of a scenario, or one that was held while another thread's call freed it.
        let shares = self.model.client.threads_of.iter().any(|threads| threads.len() > 1);
        if let Some(made) = protocol.made.first().filter(|_| shares || self.model.client.script.is_some()) {
            let kind = &protocol.objects[made.object.index()];
            let (what, help) = match shares {
                true => ("several threads on a node, where", "export it with one thread on each node"),
                false => ("a scenario, where", "export the protocol without a scenario"),
            };
            return Err(refused(format!("{what} handlers make objects (`{kind}`), cannot be exported"), help));
        }
        self.check_bodies()?;
        self.check_told()?;
        self.check_operations()?;
        self.check_queues()?;
        self.check_homes()?;
        for role in &protocol.roles {
            for var in &role.vars {
                self.check_type(&var.name, &var.ty)?;
            }
        }
        let told = protocol.messages.iter().map(|message| &message.args);
        let told =
            told.chain(protocol.ops.iter().map(|op| &op.args)).chain(protocol.tasks.iter().map(|task| &task.args));
        told.flatten().try_for_each(|arg| self.check_type(&arg.name, &arg.ty))?;
        self.check_arrays()
    }

    /// Of what read-modify-writes can make of a word, the models have what `check`'s own clients ask for, and sums.
    fn check_operations(&self) -> Result<(), Diagnostic> {
        let other = |step: &Step| {
            let StepKind::Perform(perform) = &step.kind else { return None };
            let number = perform.args.iter().rev().nth(2).filter(|_| perform.kind == PerformKind::Rmw)?;
            let ExprKind::Constant(number) = number.kind else { return None };
            Operation::of_number(number.constant).filter(|operation| !MODELLED.contains(operation))
        };
        let mut found = None;
        for handler in code(self.protocol()) {
            each_step(&handler.steps, &mut |step| found = found.or_else(|| Some((handler, other(step)?))));
        }
        let Some((handler, operation)) = found else { return Ok(()) };
        Err(refused(
            format!("`{}` of the handler `{}` cannot be exported", operation.name(), handler.name),
            "exported models have the operations exchange, compare_exchange and add; `trivium check` has all",
        ))
    }

    /// Whether handlers perform accesses for threads that wait for them.
    fn performs_for_threads(&self) -> bool {
        performs_for_threads(self.protocol())
    }

    /// Whether handlers perform accesses for programs of other nodes.
    fn performs_for_programs(&self) -> bool {
        self.any_step(|step| matches!(step, StepKind::Perform(perform) if perform.whose == PerformFor::ProgramOf))
    }

    /// Whether handlers perform accesses that give a value.
    fn performs_for_values(&self) -> bool {
        self.any_step(|step| matches!(step, StepKind::Perform(perform) if perform.asked() || perform.kind == PerformKind::Rmw || perform.result.is_some()))
    }

    fn any_step(&self, is: fn(&StepKind) -> bool) -> bool {
        any_step(self.protocol(), is)
    }

    fn protocol(&self) -> &'m Protocol {
        self.model.protocol()
    }

    fn engine(&self) -> &'m Engine {
        &self.model.engine
    }

    fn role(&self, role: RoleId) -> &'m Role {
        &self.protocol().roles[role.index()]
    }

    fn roles(&self) -> impl Iterator<Item = (RoleId, &'m Role)> + use<'m> {
        self.protocol().roles.iter().enumerate().map(|(id, role)| (RoleId::at(id), role))
    }

    fn message_lane(&self, message: MessageId) -> usize {
        self.protocol().messages[message.index()].lane.index()
    }

    /// What is explored, in words.
    fn head(&self, system: &System) -> Vec<String> {
        let model = self.model;
        let mut lines = vec![format!(
            "{} nodes, {} objects of each kind, {} values, {} threads; at most {} messages in a channel.",
            model.nodes,
            system.objects,
            system.values,
            model.client.threads.len(),
            self.channel
        )];
        for param in &self.protocol().params {
            let (name, value) = (&param.name, param.value);
            let (from, default) = (param.from.name(), param.declared);
            lines.push(format!("Parameter {name} = {value} ({from}; sim and run take {default})."));
        }
        if code(self.protocol()).any(depends_on_order) {
            let order = "Nodes of a set are taken in ascending order, as by `trivium check --ascending`, and not in every order.";
            lines.push(order.into());
        }
        lines
    }
}
