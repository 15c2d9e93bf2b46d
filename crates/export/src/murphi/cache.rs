//! Processors with caches of their own: lines, what engines do to them, and what leaves them (`docs/semantics.md`,
//! section 8). A line is a number as in `probe`: 0 absent, 1 shared, 2 exclusive, 3 leaving.

use super::Export;
use super::lines::Lines;
use trivium_protocol::{BLOCK, EventKind, Response, RoleId, StateId};

/// Hints of a processor.
const PREFETCHES: [EventKind; 2] = [EventKind::Prefetch, EventKind::PrefetchWrite];

impl Export<'_> {
    /// A node with threads hints that it may use a block, where a handler answers that.
    pub fn prefetches(&self, out: &mut Lines) {
        if self.model.client.script.is_some() {
            return;
        }
        for (event, is_home) in PREFETCHES.into_iter().flat_map(|event| [(event, false), (event, true)]) {
            let Some((role, column)) = self.answering(event, is_home).filter(|_| self.has_blocks()) else { continue };
            let states: Vec<String> = (0..self.role(role).states.len())
                .map(StateId::at)
                .filter(|&s| matches!(self.engine().response(role, s, event), Response::Handle(_)))
                .map(|s| format!("{}[me][o] = {}", self.state_var(role), self.state_name(role, s)))
                .collect();
            if states.is_empty() {
                continue;
            }
            let sign = if is_home { "=" } else { "!=" };
            let free = match (self.cached(), event) {
                (false, _) => "",
                (true, EventKind::Prefetch) => " & cache[me][o] = 0 & !requested(me, o)",
                (true, _) => " & cache[me][o] < 2 & !requested(me, o)",
            };
            let guard = format!(
                "thread_at(me, 0) != -1 & o % {} {sign} me & ({}){free} & ready{}_{column}(me, o){}",
                self.model.nodes,
                states.join(" | "),
                role.0,
                self.and_not_stalled(role, column, "me", "o", "me, -1")
            );
            out.open("ruleset me: Node; o: Obj_block do");
            self.rule(&self.protocol().event_name(event), &guard, "var fx: Effects;", out, |out| {
                if self.cached() {
                    out.line("hinted[me][o] := true;");
                }
                out.line("begin_effects(fx);");
                out.line(format!("on{}_{column}(me, o, me, -1, 0, -1, fx);", role.0));
                out.line("settle(me, -1, fx);");
            });
            out.close("end;");
            out.blank();
        }
    }

    /// Whether there are caches to describe.
    pub fn cached(&self) -> bool {
        self.protocol().cached && self.has_blocks()
    }

    /// Whether a cached processor may have a request outstanding for which no thread waits.
    pub fn hints_lines(&self) -> bool {
        self.cached()
            && PREFETCHES.iter().any(|&event| [false, true].iter().any(|&at| self.answering(event, at).is_some()))
    }

    /// A request for the block is answered, whoever waits for it.
    pub fn answered(&self, block: &str) -> String {
        let hinted = if self.hints_lines() { format!(" hinted[me][{block}] := false;") } else { String::new() };
        format!("overtaken[me][{block}] := false;{hinted}")
    }

    pub fn cache_variables(&self, out: &mut Lines) {
        if self.cached() {
            out.line("cache: array [Node] of array [Obj_block] of 0..3;");
            out.line("cached: array [Node] of array [Obj_block] of Word;");
            out.line("writes_back: array [Node] of array [Obj_block] of boolean;");
            out.line("overtaken: array [Node] of array [Obj_block] of boolean;");
        }
        if self.hints_lines() {
            out.line("hinted: array [Node] of array [Obj_block] of boolean;");
        }
    }

    pub fn first_caches(&self, out: &mut Lines) {
        if self.cached() {
            out.line("clear cache;");
            out.line(format!("for n: Node do for b: Obj_block do cached[n][b] := {}; end; end;", self.model.garbage));
            out.line(
                "for x: Node do for b: Obj_block do writes_back[x][b] := false; overtaken[x][b] := false; end; end;",
            );
        }
        if self.hints_lines() {
            out.line("for x: Node do for b: Obj_block do hinted[x][b] := false; end; end;");
        }
    }

    /// What a line allows, as a tag.
    pub fn cache_tag(&self, out: &mut Lines) {
        out.routine("function tag(me: Node; b: Obj_block): Int", &[], |out| {
            out.line("return (cache[me][b] = 3 ? 0 : cache[me][b]);");
        });
    }

    /// What an engine does to its processor's cache.
    pub fn interventions(&self, out: &mut Lines) {
        if !self.cached() {
            return;
        }
        let copy = format!("mem[me][b * {}]", self.stride);
        out.routine("function requested(me: Node; b: Obj_block): boolean", &[], |out| {
            if self.hints_lines() {
                out.line("if hinted[me][b] then return true; end;");
            }
            out.open("for t: Thread do");
            out.open("if node_of(t) = me & (phase[t] = 1 | phase[t] = 3) then");
            out.line("if block_of(intent[t]) = b then return true; end;");
            out.close("end;");
            out.close("end;");
            out.line("return false;");
        });
        out.routine("procedure fill(me: Node; b: Obj_block; to_: Int; var fx: Effects)", &[], |out| {
            out.line("if !requested(me, b) then error \"fault: the processor has not asked for this block\"; end;");
            out.open("if !(overtaken[me][b] & to_ = 1) then");
            out.line("cache[me][b] := to_;");
            out.line(format!("cached[me][b] := {copy};"));
            out.close("end;");
            out.line(self.answered("b"));
            out.line("fx.resumed[b] := true;");
        });
        out.routine("procedure upgrade(me: Node; b: Obj_block; var fx: Effects)", &[], |out| {
            out.line("if cache[me][b] != 1 then error \"fault: the line is not shared\"; end;");
            out.line("if !requested(me, b) then error \"fault: the processor has not asked for this block\"; end;");
            out.line("cache[me][b] := 2;");
            out.line(self.answered("b"));
            out.line("fx.resumed[b] := true;");
        });
        out.routine("procedure take(me: Node; b: Obj_block; to_: Int)", &[], |out| {
            out.line("if cache[me][b] = 0 | cache[me][b] = 3 then error \"fault: there is no line to take\"; end;");
            out.line(format!("{copy} := cached[me][b];"));
            out.open("if to_ = 1 then");
            out.line("cache[me][b] := 1;");
            out.middle("else");
            out.line("cache[me][b] := 0;");
            out.line(self.empty_line("b"));
            out.line("if requested(me, b) then overtaken[me][b] := true; end;");
            out.close("end;");
        });
        out.routine("procedure invalidate(me: Node; b: Obj_block)", &[], |out| {
            out.line(format!("if cache[me][b] != 3 then cache[me][b] := 0; {} end;", self.empty_line("b")));
            out.line("if requested(me, b) then overtaken[me][b] := true; end;");
        });
    }

    /// The line of a block has no contents.
    fn empty_line(&self, block: &str) -> String {
        format!("cached[me][{block}] := {};", self.model.garbage)
    }

    /// The role and column that answers an event for a block, at its home or elsewhere.
    pub(super) fn answering(&self, event: EventKind, is_home: bool) -> Option<(RoleId, usize)> {
        let role = self.engine().role_for(event, BLOCK, is_home)?;
        Some((role, self.role(role).column(event)?))
    }

    /// Whether an engine can hear now of what left: `leaves(me, o)`.
    fn leaves(&self, out: &mut Lines) {
        out.routine("function leaves(me: Node; o: Obj_block): boolean", &[], |out| {
            out.line("if cache[me][o] != 3 then return false; end;");
            for (event, written) in [(EventKind::Evict, "!writes_back"), (EventKind::WriteBack, "writes_back")] {
                for is_home in [false, true] {
                    let Some((role, column)) = self.answering(event, is_home) else { continue };
                    let sign = if is_home { "=" } else { "!=" };
                    let held: String = (0..self.role(role).states.len())
                        .map(|s| StateId::at(s))
                        .filter(|&s| *self.engine().response(role, s, event) == Response::Hold)
                        .map(|s| format!(" & {}[me][o] != {}", self.state_var(role), self.state_name(role, s)))
                        .collect();
                    let stalls = self.and_not_stalled(role, column, "me", "o", "me, -1");
                    out.line(format!(
                        "if {written}[me][o] & o % {} {sign} me then return ready{}_{column}(me, o){held}{stalls}; end;",
                        self.model.nodes, role.0
                    ));
                }
            }
            out.line("return false;");
        });
    }

    /// Caches give up lines, and engines hear of it.
    pub fn cache_rules(&self, out: &mut Lines) {
        if !self.cached() {
            return;
        }
        self.leaves(out);
        let heard = |is_home| self.answering(EventKind::Evict, is_home).is_some();
        out.open("ruleset me: Node; o: Obj_block do");
        self.rule("evict", "(cache[me][o] = 1 | cache[me][o] = 2) & !requested(me, o)", "", out, |out| {
            out.open("if cache[me][o] = 2 then");
            out.line("writes_back[me][o] := true;");
            out.line("cache[me][o] := 3;");
            out.middle("else");
            out.line(self.empty_line("o"));
            for is_home in [false, true] {
                let sign = if is_home { "=" } else { "!=" };
                let next = if heard(is_home) { 3 } else { 0 };
                out.line(format!("if o % {} {sign} me then cache[me][o] := {next}; end;", self.model.nodes));
            }
            out.close("end;");
        });
        self.rule("leave", "leaves(me, o)", "var fx: Effects; data: Int; back: boolean;", out, |out| {
            out.line("begin_effects(fx);");
            out.line("back := writes_back[me][o];");
            out.line("data := (back ? cached[me][o] + 1 : 0);");
            out.line("cache[me][o] := 0;");
            out.line(self.empty_line("o"));
            out.line("writes_back[me][o] := false;");
            for (event, written) in [(EventKind::Evict, "!back"), (EventKind::WriteBack, "back")] {
                for is_home in [false, true] {
                    let Some((role, column)) = self.answering(event, is_home) else { continue };
                    let sign = if is_home { "=" } else { "!=" };
                    out.line(format!(
                        "if {written} & o % {} {sign} me then on{}_{column}(me, o, me, -1, data, -1, fx); end;",
                        self.model.nodes, role.0
                    ));
                }
            }
            out.line("settle(me, -1, fx);");
        });
        out.close("end;");
        out.blank();
    }
}
