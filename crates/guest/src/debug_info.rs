//! Where in its source a node stands: from the calls on its stack, by way of what the rewriter has moved, to functions, files and lines.

use std::ops::Range;
use trivium_diagnostic::Diagnostic;

use wasmtime::WasmBacktrace;

use crate::inspect::inspect;
use crate::loaded::LoadedProgram;
use crate::processor::StackFrame;
use crate::rewrite::{Manner, Moved, moved};
use crate::source::{Lines, SourceLocation, dwarf, file, lines};
use crate::switching::Switching;
use crate::variables::{Variable, variables_in};

/// The program's own calls on a stack, the innermost first.
pub(crate) fn frames(stack: &WasmBacktrace, program: &LoadedProgram, switching: Switching) -> Vec<StackFrame> {
    let own = stack.frames().iter().filter_map(|frame| {
        let function = program.defined_function(frame.func_index(), switching)?;
        Some(StackFrame { function, offset: frame.func_offset().unwrap_or(0) as u32 })
    });
    own.collect()
}

/// Where the code of one build of a program stands in its source.
pub struct DebugInfo<'a> {
    program: &'a LoadedProgram,
    moved: Vec<Moved>,
    /// Where the code section begins in the module: debug information counts from there.
    code: u64,
    lines: Option<Lines<'a>>,
}

impl<'a> DebugInfo<'a> {
    pub(crate) fn new(program: &'a LoadedProgram, manner: Manner) -> Result<DebugInfo<'a>, Diagnostic> {
        let inspected = inspect(&program.bytes, &program.name)?;
        let code = inspected.code.as_ref().map_or(0, |code| code.range().start as u64);
        let moved = moved(&inspected, program.counters.reads(), manner)?;
        Ok(DebugInfo { program, moved, code, lines: lines(&program.bytes) })
    }

    /// The places of calls, the innermost first. A call of a function that the compiler has put into its caller has
    /// one more. What `trivium.h` itself does is the place that it is used at.
    pub fn places(&self, frames: &[StackFrame]) -> Vec<SourceLocation> {
        self.calls(frames).into_iter().map(|(place, _)| place).collect()
    }

    /// These places, each with the column at which the call stands, from 1, as far as it is known.
    fn calls(&self, frames: &[StackFrame]) -> Vec<(SourceLocation, Option<u32>)> {
        let mut places = Vec::new();
        for frame in frames {
            let before = places.len();
            self.places_of(*frame, &mut places);
            if places.len() == before {
                places
                    .push((SourceLocation { function: self.program.function_name(frame.function), line: None }, None));
            }
        }
        // Who calls `main` is nobody's business.
        if let Some(main) = places.iter().position(|(place, _)| place.function == "main") {
            places.truncate(main + 1);
        }
        let own = |(place, _): &(SourceLocation, _)| {
            !place.line.as_ref().is_some_and(|(file, _)| file.ends_with("/trivium.h"))
        };
        if places.iter().any(own) {
            places.retain(own);
        }
        places
    }

    /// The place that a stack is blamed on: the innermost that does not lie in the C library.
    pub fn place(&self, frames: &[StackFrame]) -> Option<SourceLocation> {
        SourceLocation::blamed(&self.places(frames)).cloned()
    }

    /// The program's static variables of which something lies in a range of its own memory, by address; none where nothing tells.
    pub fn variables(&self, range: &Range<u32>) -> Vec<Variable> {
        dwarf(&self.program.bytes).map_or(Vec::new(), |dwarf| variables_in(&dwarf, range))
    }

    /// What the result of a call is assigned to, as the source before the innermost call on the stack that assigns it tells.
    pub fn assigned(&self, frames: &[StackFrame]) -> Option<String> {
        self.calls(frames).iter().find_map(|(place, column)| {
            let (file, line) = place.line.as_ref()?;
            let text = std::fs::read_to_string(file).ok()?;
            assigned(&before_call(&text, *line as usize, column.map(|column| column as usize))?)
        })
    }

    fn places_of(&self, frame: StackFrame, places: &mut Vec<(SourceLocation, Option<u32>)>) -> Option<()> {
        let moved = self.moved.get(frame.function as usize)?;
        let at = moved.partition_point(|(to, _)| *to <= frame.offset).checked_sub(1)?;
        let address = u64::from(moved[at].1).checked_sub(self.code)?;
        let mut frames = self.lines.as_ref()?.find_frames(address).skip_all_loads().ok()?;
        while let Ok(Some(frame_of)) = frames.next() {
            let name = frame_of.function.as_ref().and_then(|function| function.raw_name().ok());
            let function = name.map_or_else(|| self.program.function_name(frame.function), |name| name.into_owned());
            let function = match function.as_str() {
                main if crate::inspect::is_main(main) => "main".into(),
                // The function that a translation of Split-C makes for what stands at a file's level.
                "splitc_allocate" => "the program's beginning".into(),
                _ => function,
            };
            let location = frame_of.location.filter(|location| location.line.is_some_and(|line| line > 0));
            let column = location.as_ref().and_then(|location| location.column).filter(|column| *column > 0);
            let line = location.and_then(|location| Some((file(location.file?), location.line?)));
            places.push((SourceLocation { function, line }, column));
        }
        Some(())
    }
}

/// So many lines before that of a call are looked at: an assignment may stand on several.
const LINES_BEFORE: usize = 4;

/// The source before a call, which stands on this line, and in this column if that is known, both counted from 1: some lines of it,
/// without comments.
fn before_call(text: &str, line: usize, column: Option<usize>) -> Option<String> {
    let last = line.checked_sub(1)?;
    let mut before = String::new();
    for (number, line) in text.lines().enumerate().take(last + 1).skip(last.saturating_sub(LINES_BEFORE)) {
        let end = column.filter(|_| number == last).and_then(|column| line.get(..column - 1)).unwrap_or(line);
        let directive = end.trim_start().starts_with('#');
        before += if directive { ";" } else { end.split("//").next().unwrap_or(end) };
        before.push('\n');
    }
    Some(before)
}

/// What is assigned to by the statement of C that this text is the beginning of, up to a call: `grid` in `double *grid = `.
fn assigned(before: &str) -> Option<String> {
    let assigns = |at: usize| {
        let around = (before[..at].chars().next_back(), before[at + 1..].chars().next());
        let compares = matches!(around.0, Some('=' | '!' | '<' | '>' | '+' | '-' | '*' | '/' | '|' | '&' | '^' | '%'));
        !compares && around.1 != Some('=')
    };
    // From the call back: over what is in brackets, out of the brackets that the call is in, and to the statement's beginning.
    let (mut inside, mut is_other_argument) = (0, false);
    for (at, c) in before.char_indices().rev() {
        match c {
            ')' | ']' => inside += 1,
            '(' | '[' if inside > 0 => inside -= 1,
            '(' | '[' => is_other_argument = false,
            '{' if inside == 0 && before[..at].trim_end().ends_with(['=', ',', '{', '(']) => is_other_argument = false,
            ';' | '{' | '}' if inside == 0 => return None,
            ',' if inside == 0 => is_other_argument = true,
            '=' if inside == 0 && !is_other_argument && assigns(at) => return name_before(&before[..at]),
            _ => {}
        }
    }
    None
}

/// The name of what is assigned to, before the sign that does it.
fn name_before(sign: &str) -> Option<String> {
    let left = sign.trim_end();
    let part_of_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '[' | ']' | '>');
    let mut begin = left.len();
    for (index, c) in left.char_indices().rev() {
        // The arrow of `p->x` is one; a pointer's star, or a space, ends the name.
        if !(part_of_name(c) || c == '-' && left[index..].starts_with("->")) {
            break;
        }
        begin = index;
    }
    let name = left[begin..].trim_start_matches('.');
    name.starts_with(|c: char| c.is_alphabetic() || c == '_').then(|| name.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The call is that of the last function whose name begins with `trivium_` or is `f`.
    fn name_on(text: &str) -> String {
        let call = text.rfind("trivium_").or(text.rfind("f(")).unwrap();
        let line = text[..call].matches('\n').count() + 1;
        let column = call - text[..call].rfind('\n').map_or(0, |at| at + 1) + 1;
        assigned(&before_call(text, line, Some(column)).unwrap()).unwrap_or_default()
    }

    #[test]
    fn the_source_before_a_call_tells_what_it_is_assigned_to() {
        assert_eq!(name_on("    double *grid = trivium_alloc_round_robin(8 * n);"), "grid");
        assert_eq!(name_on("    space->cells[2] = trivium_alloc_on(0, 64);"), "space->cells[2]");
        assert_eq!(name_on("    if (n == 3 && (lock = trivium_alloc_on(0, 4)) != 0)"), "lock");
        assert_eq!(name_on("    counts[node]= (int *)f();"), "counts[node]");
        assert_eq!(name_on("    return trivium_alloc_on(0, bytes);"), "");
        assert_eq!(name_on("    work(a <= b, c != d, f());"), "");
    }

    #[test]
    fn other_assignments_on_the_line_are_not_meant() {
        assert_eq!(
            name_on("    int me = trivium_node(); int *words = trivium_alloc_on(0, 64); int rest = 3;"),
            "words"
        );
        assert_eq!(name_on("    int me = 1, *words = trivium_alloc_on(0, 64);"), "words");
        assert_eq!(name_on("    for (int i = 0; i < 3; i++) rows[i] = trivium_alloc_on(i, 64);"), "rows[i]");
        assert_eq!(name_on("    for (int i = 0; i < 3; i++) keep(trivium_alloc_on(i, 64));"), "");
        assert_eq!(name_on("    int me = 1; keep(me = 2, trivium_alloc_on(0, 64));"), "");
        assert_eq!(name_on("    words = keep(2, trivium_alloc_on(0, 64));"), "words");
        assert_eq!(name_on("    me = 1, trivium_alloc_on(0, 64);"), "");
        assert_eq!(name_on("    struct both all = { .next = 0, .words = trivium_alloc_on(0, 64) };"), "words");
        assert_eq!(name_on("    int *all[] = { 0, trivium_alloc_on(0, 64) };"), "all[]");
    }

    #[test]
    fn an_assignment_may_stand_on_several_lines() {
        assert_eq!(name_on("int x = 3;\n  words =  // the words\n    trivium_alloc_on(0, 64);\n"), "words");
        assert_eq!(name_on("#define N 3 // a = b\n  trivium_alloc_on(0, 64);\n"), "");
        assert_eq!(name_on("int y = 4;\nint *f(void) {\n  return trivium_alloc_on(0, 64);\n}\n"), "");
    }
}
