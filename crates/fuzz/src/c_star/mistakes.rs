//! Mistakes of the compiler of C* and of its library, which random programs find.

/// A mistake: in a file, a text that stands there once, and what stands in its place.
pub struct Mistake {
    pub name: &'static str,
    pub file: &'static str,
    pub text: &'static str,
    pub instead: &'static str,
}

impl Mistake {
    /// The file with the mistake.
    pub fn in_source(&self, source: &str) -> String {
        source.replacen(self.text, self.instead, 1)
    }
}

const HEADER: &str = "programs/include/cstar.h";
const LIBRARY: &str = "programs/include/cstar.c";
const COMMUNICATION: &str = "crates/front/src/dialect/c_star/communication.rs";
const EXPRESSIONS: &str = "crates/front/src/dialect/c_star/expressions.rs";
const FLOW: &str = "crates/front/src/dialect/c_star/flow.rs";
const PARALLEL: &str = "crates/front/src/dialect/c_star/parallel.rs";
const STATEMENTS: &str = "crates/front/src/dialect/c_star/mod.rs";

pub const MISTAKES: [Mistake; 36] = [
    Mistake {
        name: "a context is not given back where it is left",
        file: LIBRARY,
        text: "    cstar_widen(context);\n    free(context->mask);",
        instead: "    free(context->mask);",
    },
    Mistake {
        name: "`else` is about the same positions as `where`",
        file: LIBRARY,
        text: "context->mask[i] = !context->mask[i] &&",
        instead: "context->mask[i] = context->mask[i] &&",
    },
    Mistake {
        name: "`else` forgets the context around `where`",
        file: LIBRARY,
        text: "!context->mask[i] && (!context->outer || context->outer[i]);",
        instead: "!context->mask[i];",
    },
    Mistake {
        name: "positions that are not active become so in an inner `where`",
        file: LIBRARY,
        text: "memset(mask, 0, (size_t)state->count);",
        instead: "memset(mask, 1, (size_t)state->count);",
    },
    Mistake {
        name: "`everywhere` keeps the context",
        file: LIBRARY,
        text: "    shape->state->context = 0;\n    return context;",
        instead: "    return context;",
    },
    Mistake {
        name: "a run with one inactive position is taken for whole",
        file: LIBRARY,
        text: "{begin, end, !hole}",
        instead: "{begin, end, 1}",
    },
    Mistake {
        name: "a local variable does not begin with zeros where positions are not active",
        file: LIBRARY,
        text: "if (!is_filled || shape->state->context) memset",
        instead: "if (!is_filled) memset",
    },
    Mistake {
        name: "blocks are one position larger than they must be",
        file: LIBRARY,
        text: "(all + nodes - 1) / nodes",
        instead: "(all + nodes) / nodes",
    },
    Mistake {
        name: "the least of no position is 0",
        file: HEADER,
        text: "operator == CSTAR_MIN ? MOST :",
        instead: "operator == CSTAR_MIN ? 0 :",
    },
    Mistake {
        name: "a node's second child is left out of the tree",
        file: HEADER,
        text: "child <= 2 * node + 2 &&",
        instead: "child <= 2 * node + 1 &&",
    },
    Mistake {
        name: "nodes are a chain and no tree",
        file: HEADER,
        text: "int child = 2 * node + 1; child <= 2 * node + 2 &&",
        instead: "int child = node + 1; child <= node + 1 &&",
    },
    Mistake {
        name: "a run does not end where what is near goes on at another node",
        file: LIBRARY,
        text: "least(*count, least(rest, shape->size[last] - (int)begin))",
        instead: "least(*count, shape->size[last] - (int)begin)",
    },
    Mistake {
        name: "a run does not end where what is near goes on in another rectangle",
        file: LIBRARY,
        text: "state->across ? state->columns - (int)begin % state->columns : state->block - position;",
        instead: "state->block - position;",
    },
    Mistake {
        name: "what a statement gets is read while it writes it",
        file: PARALLEL,
        text: "is_some_and(|variable| !self.written.contains(&self.name_of(variable)))",
        instead: "is_some()",
    },
    Mistake {
        name: "no barrier between writing and getting",
        file: FLOW,
        text: "        _ if is(WRITE, GET) => \"written, then got\",\n",
        instead: "",
    },
    Mistake {
        name: "no barrier between getting and writing",
        file: FLOW,
        text: "        _ if is(GET, WRITE) => \"got, then written\",\n",
        instead: "",
    },
    Mistake {
        name: "no barrier between sending and reading",
        file: FLOW,
        text: "        _ if is(SENDS, READ) => \"sent, then read\",\n",
        instead: "",
    },
    Mistake {
        name: "of a loop only the first round is looked at",
        file: FLOW,
        text: "            if next == begin {",
        instead: "            if next == begin || begin.is_some() {",
    },
    Mistake {
        name: "what is scalar and has effects is done at each position",
        file: EXPRESSIONS,
        text: "let is_before = has_effects(self.draft, expression);",
        instead: "let is_before = false;",
    },
    Mistake {
        name: "behind `||` those positions communicate at which the first operand is true",
        file: COMMUNICATION,
        text: "self.narrowed(left, is_or, ",
        instead: "self.narrowed(left, false, ",
    },
    Mistake {
        name: "`s -= x` subtracts something else than the sum",
        file: EXPRESSIONS,
        text: "if self.word(op) == \"-=\" { \"CSTAR_ADD\" } else { self.operator(op) };\n            if let",
        instead: "if self.word(op) == \"-=\" { \"CSTAR_XOR\" } else { self.operator(op) };\n            if let",
    },
    Mistake {
        name: "in an inner statement of `with` the shape around it is current",
        file: STATEMENTS,
        text: "let before = self.current.replace(shape.clone());\n                self.statement(inner);",
        instead: "let before = self.current.clone();\n                self.statement(inner);",
    },
    Mistake {
        name: "no barrier between writing and sending",
        file: FLOW,
        text: "        _ if is(WRITE, SENDS) => \"written, then sent\",\n",
        instead: "",
    },
    Mistake {
        name: "rectangles at the right end are as wide as the others",
        file: LIBRARY,
        text: "int width = least(state->columns, shape->size[1] - side * state->columns);",
        instead: "int width = state->columns;",
    },
    Mistake {
        name: "what is near is looked for in the first row",
        file: HEADER,
        text: "for (int i = 0; i < shape->rank - 1; i++) indices[i] += run->others[i];",
        instead: "for (int i = 1; i < shape->rank - 1; i++) indices[i] += run->others[i];",
    },
    Mistake {
        name: "values are taken before all nodes have posted theirs",
        file: LIBRARY,
        text: "    cstar_barrier(\"values that are sent\");\n",
        instead: "",
    },
    Mistake {
        name: "what a function has done is forgotten when it returns",
        file: FLOW,
        text: "state.done.join(&summary.leaves);\n        state",
        instead: "state",
    },
    Mistake {
        name: "each reduction has the memory of the one before",
        file: LIBRARY,
        text: "    turn ^= 1;\n",
        instead: "",
    },
    Mistake {
        name: "behind `:` positions stay chosen for all that follows",
        file: COMMUNICATION,
        text: "        self.inside(no, ahead);\n        self.then(ahead, &format!(\"cstar_widen(&{name}); \"));\n",
        instead: "        self.inside(no, ahead);\n",
    },
    Mistake {
        name: "behind the labels of `switch` nothing is looked at",
        file: FLOW,
        text: "self.entries.push(Some(state.clone()));",
        instead: "self.entries.push(None);",
    },
    Mistake {
        name: "what is combined by different operators may come in any order",
        file: FLOW,
        text: "sends != SEND && sends.is_power_of_two()",
        instead: "sends & SEND == 0",
    },
    Mistake {
        name: "the lesser of two is found in the type of its place",
        file: HEADER,
        text: "(to == value || operator < CSTAR_MIN)",
        instead: "1",
    },
    Mistake {
        name: "a node comes to its parent in the tree before what it has sent is there",
        file: LIBRARY,
        text: "    cstar_sync();\n    trivium_fence();\n",
        instead: "",
    },
    Mistake {
        name: "a single value is passed on where the one before may not be read yet",
        file: LIBRARY,
        text: "if (++since > RING) {",
        instead: "if (++since > 99) {",
    },
    Mistake {
        name: "what is posted is not taken before the next is posted or combined",
        file: HEADER,
        text: "    if (cstar_is_posted) cstar_barrier(\"posted, then combined\");\n",
        instead: "",
    },
    Mistake {
        name: "what is sent beyond a border goes around",
        file: LIBRARY,
        text: "    if (to < 0 || to >= size) return -1;\n",
        instead: "    to = (to + size) % size;\n",
    },
];
