//! Where in its source a program's code stands: functions, files and lines, out of the debug information that a C
//! compiler leaves in a module (DWARF). It is read only when somebody asks.

use std::borrow::Cow;
use std::fmt;

use addr2line::Context;
use addr2line::gimli::{self, EndianSlice, LittleEndian, SectionId};
use wasm_encoder::RawSection;
use wasmparser::{Parser, Payload};

use crate::inspect::inspect;

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
        self.line
            .as_ref()
            .is_some_and(|(file, _)| file.starts_with(IN_LIBRARY) || TRANSLATIONS.contains(&file.as_str()))
    }

    /// The place that a stack, the innermost call first, is blamed on: the innermost that does not lie in the C library.
    pub fn blamed(stack: &[SourceLocation]) -> Option<&SourceLocation> {
        stack.iter().find(|place| !place.is_library()).or(stack.first())
    }

    /// That place as a sentence tells where a program stands: with the function of the library that is called there, if it has not returned.
    pub fn standing(stack: &[SourceLocation]) -> Option<String> {
        let own = stack.iter().position(|place| !place.is_library());
        if own.is_none() && stack.iter().any(SourceLocation::is_translation) {
            return Some("before or after splitc_main".into());
        }
        let own = own.unwrap_or(0);
        let called = stack[..own].last().map_or(String::new(), |called| match called.function.as_str() {
            "splitc_get" | "splitc_put" => ", in `:=`".into(),
            "splitc_store" => ", in `:-`".into(),
            name => called_in_source(name).map_or(String::new(), |name| format!(", in a call of {name}")),
        });
        Some(format!("{}{called}", stack.get(own)?))
    }

    /// The functions of a stack as its program calls them, from the innermost to that with this number: of the library of Split-C those that
    /// the program itself calls.
    pub fn functions(stack: &[SourceLocation], own: usize) -> Vec<&str> {
        let (within, rest) = stack.split_at(own.min(stack.len()));
        let of_translation = within.iter().any(|place| place.is_translation() || place.function.starts_with("splitc_"));
        let mut names: Vec<&str> = match of_translation {
            true => within.last().and_then(|called| called_in_source(&called.function)).into_iter().collect(),
            false => within.iter().map(|place| place.function.as_str()).collect(),
        };
        names.extend(rest.first().map(|place| place.function.as_str()));
        names
    }

    /// Whether it lies in what a program in Split-C is translated to and has not written.
    pub fn is_translation(&self) -> bool {
        self.line.as_ref().is_some_and(|(file, _)| TRANSLATIONS.iter().chain(&LIBRARIES).any(|own| file.ends_with(own)))
    }
}

/// The file, in lines of its own, of what a translation adds to a program.
const TRANSLATIONS: [&str; 2] = ["<split-c>", "<c-star>"];

/// The files of the libraries of languages that are translated.
const LIBRARIES: [&str; 6] = ["split-c.c", "split-c.h", "cstar.c", "cstar.h", "cstar-interpret.c", "cstar-interpret.h"];

/// What a program in Split-C calls a function of its library by; none of one that stands for the language's own constructs.
fn called_in_source(function: &str) -> Option<&str> {
    match function.strip_prefix("splitc_") {
        None => Some(function),
        Some(name @ ("barrier" | "exit")) => Some(name),
        Some(_) => None,
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

/// What tells the lines of a module.
pub(crate) type Lines<'a> = Context<EndianSlice<'a, LittleEndian>>;

/// The folder of the C library, and of the compiler's own, in the names of their files.
const LIBRARY: &str = "/ziglang/lib/";

/// So the names of these files begin in messages, and no others.
const IN_LIBRARY: &str = "libc/";

/// A file as messages call it: as it was given to the compiler; of the C library without where that lies.
pub(crate) fn file(name: &str) -> String {
    match name.split_once(LIBRARY) {
        Some((_, within)) => format!("{IN_LIBRARY}{}", within.strip_prefix(IN_LIBRARY).unwrap_or(within)),
        None => {
            let plain = name.strip_prefix("./").unwrap_or(name);
            if plain.starts_with(IN_LIBRARY) { format!("./{plain}") } else { plain.to_string() }
        }
    }
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
pub(crate) fn lines(module: &[u8]) -> Option<Lines<'_>> {
    Context::from_dwarf(dwarf(module)?).ok()
}

/// The same, as it stands in the module.
pub(crate) fn dwarf(module: &[u8]) -> Option<gimli::Dwarf<EndianSlice<'_, LittleEndian>>> {
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
    gimli::Dwarf::load(load).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_library_are_told_from_its_folder_on() {
        assert_eq!(file("/x/site-packages/ziglang/lib/libc/musl/src/string/strlen.c"), "libc/musl/src/string/strlen.c");
        assert_eq!(file("./programs/hello.c"), "programs/hello.c");
        assert_eq!(file("/a/b.c"), "/a/b.c");
        assert_eq!(file("/x/ziglang/lib/c/pthread.zig"), "libc/c/pthread.zig");
        assert_eq!(file("libc/own.c"), "./libc/own.c", "a program's own folder of that name");
    }
}
