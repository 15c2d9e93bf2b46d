//! Accesses that handlers perform, for the program of their node or for threads that wait for them.

use super::Export;
use super::lines::Lines;
use trivium_check::{Intent, WORD, WORDS_PER_BLOCK, checks_values};
use trivium_protocol::{BLOCK, GhostEvent};

impl Export<'_> {
    pub(super) fn performs(&self, out: &mut Lines) {
        if !self.has_blocks() {
            return;
        }
        if self.performs_for_threads() {
            self.asking(out);
            self.complete_with(out);
        }
        let block_bytes = WORD * u64::from(WORDS_PER_BLOCK);
        let inside = format!(
            "if at < b * {block_bytes} | at + bytes > b * {block_bytes} + {block_bytes} then error \"fault: an address is not in the block\"; end;"
        );
        let access = |name: &str,
                      more: &str,
                      (kind, operation, value): (u8, &str, &str),
                      out: &mut Lines,
                      body: &dyn Fn(&mut Lines)| {
            let head = format!("procedure {name}(me: Node; b: Obj_block; at: Int; bytes: Int; t: Int{more})");
            let locals = ["whose: Int".to_string()].into_iter().chain(self.ghost_locals()).collect::<Vec<_>>();
            out.routine(&head, &locals, |out| {
                out.line(&inside);
                if self.performs_for_threads() {
                    out.line(format!(
                        "if t > -1 then asked(t, b, at - b * {block_bytes}, {kind}, {operation}, {value}); end;"
                    ));
                    out.line("whose := (t < 0 ? me : node_of((t < 0 ? 0 : t)));");
                } else {
                    out.line("whose := me;");
                }
                if self.performs_for_programs() {
                    out.line("if t < -1 then whose := -2 - t; end;");
                }
                out.open(format!("if at = b * {block_bytes} then"));
                body(out);
                out.close("end;");
                if self.performs_for_threads() {
                    let found = if kind == 1 { "0" } else { "given" };
                    out.line(format!("if t > -1 then performed[t] := true; found[t] := {found}; end;"));
                }
            });
        };
        access("perform_read", "", (0, "0", "0"), out, &|out| self.performed_load(out));
        access("perform_write", "; value: Int", (1, "0", "value"), out, &|out| self.performed_store("value", out));
        if self.performs_for_values() {
            let most = self.most_word + 1;
            access("perform_rmw", "; op: Int; x: Int; y: Int", (2, "op", "x"), out, &|out| {
                out.line("if op > 2 then error \"fault: the model does not have the operation\"; end;");
                self.performed_load(out);
                let sum = if self.model.client.script.is_none() {
                    format!("((given + x) % {most})")
                } else {
                    "(given + x)".to_string()
                };
                self.performed_store(&format!("(op = 2 ? {sum} : (op = 0 | given = y ? x : given))"), out);
            });
        }
    }

    fn performed_load(&self, out: &mut Lines) {
        let word = self.block_word("me", "b");
        if checks_values(self.protocol()) {
            out.line(format!("if {word} != last[b] then error \"a read misses the last write\"; end;"));
        }
        if self.performs_for_values() {
            out.line(format!("given := {word};"));
        }
        self.tell(GhostEvent::Read, BLOCK, "b", "whose", &[word], out);
    }

    fn performed_store(&self, value: &str, out: &mut Lines) {
        let word = self.block_word("me", "b");
        out.line(format!("{word} := {value};"));
        if checks_values(self.protocol()) {
            out.line(format!("last[b] := {word};"));
        }
        self.tell(GhostEvent::Write, BLOCK, "b", "whose", &[word], out);
    }

    /// A thread for which an access is performed, by its node and its number there, and whether it waits for that.
    fn asking(&self, out: &mut Lines) {
        out.routine("function asker(n: Int; number: Int): Int", &["t: Int".into()], |out| {
            out.line("t := thread_at(n, number);");
            out.line("if t = -1 then error \"fault: an access is performed for no thread\"; end;");
            out.line("return t;");
        });
        out.comment("What is performed: 0 a load, 1 a store, 2 a read-modify-write; `skip` bytes behind the word that is looked at.");
        let head = "function waits_for(i: Int; b: Int; skip: Int; kind: Int; op: Int; value: Int): boolean";
        out.routine(head, &[], |out| {
            out.open("switch i");
            for (i, intent) in self.model.client.intents.iter().enumerate() {
                let same = match intent {
                    Intent::Read { .. } => "skip = 0 & kind = 0".to_string(),
                    Intent::Write { value, .. } => format!("skip = 0 & kind = 1 & value = {value}"),
                    Intent::WriteBeside { .. } => "skip != 0 & kind = 1".to_string(),
                    Intent::Rmw { value, .. } => format!("skip = 0 & kind = 2 & op = 0 & value = {value}"),
                    Intent::Store { .. } | Intent::Call { .. } => continue,
                };
                out.line(format!("case {i}: return b = {} & {same};", intent.object().id));
            }
            out.close("end;");
            out.line("return false;");
        });
        let head = "procedure asked(t: Int; b: Int; skip: Int; kind: Int; op: Int; value: Int)";
        out.routine(head, &[], |out| {
            out.line("if phase[t] != 1 then error \"fault: a thread does not wait for that\"; end;");
            out.line("if !waits_for(intent[t], b, skip, kind, op, value) then error \"fault: a thread does not wait for that\"; end;");
            out.line("if performed[t] then error \"fault: an access was performed before\"; end;");
        });
    }

    fn complete_with(&self, out: &mut Lines) {
        let head = "procedure complete_with(me: Node; b: Obj_block; number: Int; value: Int)";
        out.routine(head, &["t: Int".into(), "loads: boolean".into()], |out| {
            out.line("t := thread_at(me, number);");
            out.line("if t = -1 then error \"fault: nobody waits for that\"; end;");
            out.line("if phase[t] != 1 then error \"fault: nobody waits for that\"; end;");
            out.line("if block_of(intent[t]) != b then error \"fault: nobody waits for that\"; end;");
            out.line("if !performed[t] then error \"fault: nobody has performed that\"; end;");
            let intents = self.model.client.intents.iter().enumerate();
            let loading = intents.filter(|(_, intent)| matches!(intent, Intent::Read { .. } | Intent::Rmw { .. }));
            let loading: Vec<String> = loading.map(|(i, _)| format!("intent[t] = {i}")).collect();
            let loading = if loading.is_empty() { "false".to_string() } else { loading.join(" | ") };
            out.line(format!("loads := {loading};"));
            out.line("if loads & value != found[t] then error \"fault: a thread gets another value\"; end;");
            out.line("advance(t, loads, value);");
            out.line("phase[t] := 0;");
            out.line("intent[t] := 0;");
            out.line("performed[t] := false;");
            out.line("found[t] := 0;");
        });
    }
}
