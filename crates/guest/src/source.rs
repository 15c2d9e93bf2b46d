//! Where in its source a program's code stands: functions, files and lines, out of the debug information that a C
//! compiler leaves in a module (DWARF). It is read only when somebody asks.

use std::borrow::Cow;
use std::fmt;

use addr2line::Context;
use addr2line::gimli::{self, EndianSlice, LittleEndian, SectionId};
use wasm_encoder::RawSection;
use wasmparser::{Parser, Payload};
use wasmtime::WasmBacktrace;

use crate::error::Error;
use crate::inspect::inspect;
use crate::program::LoadedProgram;
use crate::rewrite::{Build, Moved, moved};
use crate::switching::Switching;

/// Whether a section of debug information is of use here; others are larger.
pub(crate) fn is_used(section: &str) -> bool {
    const USED: [SectionId; 9] = [
        SectionId::DebugAbbrev,
        SectionId::DebugAddr,
        SectionId::DebugInfo,
        SectionId::DebugLine,
        SectionId::DebugLineStr,
        SectionId::DebugRanges,
        SectionId::DebugRngLists,
        SectionId::DebugStr,
        SectionId::DebugStrOffsets,
    ];
    USED.iter().any(|used| used.name() == section)
}

/// The module without those custom sections that are not wanted.
pub(crate) fn with_custom(module: &[u8], wanted: impl Fn(&str) -> bool) -> wasmparser::Result<Vec<u8>> {
    let mut kept = wasm_encoder::Module::new();
    for payload in Parser::new(0).parse_all(module) {
        let payload = payload?;
        if matches!(&payload, Payload::CustomSection(section) if !wanted(section.name())) {
            continue;
        }
        if let Some((id, range)) = payload.as_section() {
            kept.section(&RawSection { id, data: &module[range] });
        }
    }
    Ok(kept.finish())
}

/// What a module is without its debug information: itself if it has none.
pub(crate) fn without_debug(module: &[u8]) -> Cow<'_, [u8]> {
    let is_debug =
        |payload: &Payload| matches!(payload, Payload::CustomSection(section) if section.name().starts_with(".debug_"));
    let mut payloads = Parser::new(0).parse_all(module).map_while(Result::ok);
    if !payloads.any(|payload| is_debug(&payload)) {
        return Cow::Borrowed(module);
    }
    with_custom(module, |section| section == "name").map_or(Cow::Borrowed(module), Cow::Owned)
}

/// A call on a node's stack, as it is known while the node runs: a place in compiled code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StackFrame {
    /// Which of the functions that the program defines.
    function: u32,
    /// The offset in its rewritten body.
    offset: u32,
}

/// The program's own calls on a stack, the innermost first.
pub(crate) fn frames(stack: &WasmBacktrace, program: &LoadedProgram, switching: Switching) -> Vec<StackFrame> {
    let own = stack.frames().iter().filter_map(|frame| {
        let function = program.defined_function(frame.func_index(), switching)?;
        Some(StackFrame { function, offset: frame.func_offset().unwrap_or(0) as u32 })
    });
    own.collect()
}

/// A place in a program's source.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceLocation {
    /// The function.
    pub function: String,
    /// The file and the line in it, if the program tells them.
    pub line: Option<(String, u32)>,
}

impl SourceLocation {
    /// Whether it lies in the C library.
    pub fn is_library(&self) -> bool {
        self.line.as_ref().is_some_and(|(file, _)| file.starts_with(IN_LIBRARY))
    }
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.line {
            Some((file, line)) => write!(f, "{file}:{line} in {}", self.function),
            None => write!(f, "in {}", self.function),
        }
    }
}

type Lines<'a> = Context<EndianSlice<'a, LittleEndian>>;

/// Where the code of one build of a program stands in its source.
pub struct DebugInfo<'a> {
    program: &'a LoadedProgram,
    moved: Vec<Moved>,
    /// Where the code section begins in the module: debug information counts from there.
    code: u64,
    lines: Option<Lines<'a>>,
}

impl<'a> DebugInfo<'a> {
    pub(crate) fn new(program: &'a LoadedProgram, build: Build, switching: Switching) -> Result<DebugInfo<'a>, Error> {
        let inspected = inspect(&program.bytes, &program.name)?;
        let code = inspected.code.as_ref().map_or(0, |code| code.range().start as u64);
        let moved = moved(&inspected, build, switching)?;
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
        let places = self.places(frames);
        places.iter().find(|place| !place.is_library()).or(places.first()).cloned()
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
            let function = if crate::inspect::is_main(&function) { "main".into() } else { function };
            let location = frame_of.location.filter(|location| location.line.is_some_and(|line| line > 0));
            let column = location.as_ref().and_then(|location| location.column).filter(|column| *column > 0);
            let line = location.and_then(|location| Some((file(location.file?), location.line?)));
            places.push((SourceLocation { function, line }, column));
        }
        Some(())
    }
}

/// The folder of the C library, and of the compiler's own, in the names of their files.
const LIBRARY: &str = "/ziglang/lib/";

/// So the names of these files begin in messages, and no others.
const IN_LIBRARY: &str = "libc/";

/// A file as messages call it: as it was given to the compiler; of the C library without where that lies.
fn file(name: &str) -> String {
    match name.split_once(LIBRARY) {
        Some((_, within)) => format!("{IN_LIBRARY}{}", within.strip_prefix(IN_LIBRARY).unwrap_or(within)),
        None => {
            let plain = name.strip_prefix("./").unwrap_or(name);
            if plain.starts_with(IN_LIBRARY) { format!("./{plain}") } else { plain.to_string() }
        }
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

/// Finds lines of a module's instructions.
pub(crate) struct Finder<'a> {
    lines: Option<Lines<'a>>,
    /// Where the code section begins.
    code: usize,
}

impl<'a> Finder<'a> {
    /// Of a module whose code section begins there.
    pub(crate) fn new(module: &'a [u8], code: usize) -> Finder<'a> {
        Finder { lines: lines(module), code }
    }

    /// Whether the module has any.
    pub(crate) fn knows_lines(&self) -> bool {
        self.lines.is_some()
    }

    /// The place of an instruction, by where it stands in the module; `function` is the module's name of the function, in which
    /// the compiler may have put the body of another.
    pub(crate) fn place(&self, instruction: usize, function: String) -> SourceLocation {
        self.inlined(instruction).unwrap_or(SourceLocation { function, line: None })
    }

    fn inlined(&self, instruction: usize) -> Option<SourceLocation> {
        let address = instruction.checked_sub(self.code)? as u64;
        let frame = self.lines.as_ref()?.find_frames(address).skip_all_loads().ok()?.next().ok()??;
        let name = frame.function.as_ref()?.raw_name().ok()?.into_owned();
        let function = if crate::inspect::is_main(&name) { "main".into() } else { name };
        let location = frame.location?;
        Some(SourceLocation { function, line: Some((file(location.file?), location.line.filter(|line| *line > 0)?)) })
    }
}

/// The file and line of an instruction of a module, by where it stands in it and where the code section begins.
pub(crate) fn line_of(module: &[u8], code: usize, instruction: usize) -> Option<(String, u32)> {
    let lines = lines(module)?;
    let location = lines.find_location(instruction.checked_sub(code)? as u64).ok()??;
    Some((file(location.file?), location.line.filter(|line| *line > 0)?))
}

/// Whether a function that a module defines belongs to the C library: by the file that it stands in, or by its name, which then is one that
/// is kept for libraries, in a module that does not tell. None if the module cannot be read.
pub(crate) fn is_of_library(module: &[u8], defined: u32, name: impl FnOnce() -> String) -> Option<bool> {
    let inspected = inspect(module, "").ok()?;
    let code = inspected.code?;
    let begin = code.range().start;
    let body = code.into_iter().nth(defined as usize)?.ok()?;
    let finder = Finder::new(module, begin);
    let first = body.get_operators_reader().ok()?.original_position();
    let place = finder.place(first, name());
    Some(if finder.knows_lines() { place.is_library() } else { place.function.starts_with("__") })
}

/// The debug information of a module, if it has what tells lines.
fn lines(module: &[u8]) -> Option<Lines<'_>> {
    let mut sections = std::collections::BTreeMap::new();
    for payload in Parser::new(0).parse_all(module) {
        if let Payload::CustomSection(section) = payload.ok()?
            && is_used(section.name())
        {
            sections.insert(section.name().to_string(), section.data());
        }
    }
    sections.get(SectionId::DebugLine.name())?;
    let load = |id: SectionId| -> Result<_, gimli::Error> {
        Ok(EndianSlice::new(sections.get(id.name()).copied().unwrap_or_default(), LittleEndian))
    };
    Context::from_dwarf(gimli::Dwarf::load(load).ok()?).ok()
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

    #[test]
    fn files_of_the_library_are_told_from_its_folder_on() {
        assert_eq!(file("/x/site-packages/ziglang/lib/libc/musl/src/string/strlen.c"), "libc/musl/src/string/strlen.c");
        assert_eq!(file("./programs/hello.c"), "programs/hello.c");
        assert_eq!(file("/a/b.c"), "/a/b.c");
        assert_eq!(file("/x/ziglang/lib/c/pthread.zig"), "libc/c/pthread.zig");
        assert_eq!(file("libc/own.c"), "./libc/own.c", "a program's own folder of that name");
    }
}
