//! `trivium init`: a folder to begin in.

use crate::arguments::Init;
use crate::{Failure, library, output};
use trivium_diagnostic::Code;

/// The program that a new folder has.
const PROGRAM: &str = r#"/* sum.c: every node adds its number to a sum that all share. */
#include <stdio.h>

#include "trivium.h"

int main(void) {
    int *sum = trivium_alloc_on(0, sizeof *sum); /* shared, at home on node 0; zero */
    for (int node = 0; node < trivium_nodes(); node++) {
        if (node == trivium_node())
            *sum += node;
        trivium_barrier();
    }
    if (trivium_node() == 0)
        printf("the sum is %d\n", *sum);
    return 0;
}
"#;

/// What editors that ask clangd need. The headers lie beside it.
const COMPILE_FLAGS: &str = "-std=c17\n-Iinclude\n";

/// Makes a folder with a protocol, a program, and what editors need.
pub fn init(arguments: &Init) -> Result<u8, Failure> {
    let folder = &arguments.folder;
    if folder.exists() && !std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none()) {
        return Err(Failure::at(
            Code::File,
            "there is something already",
            folder.display(),
            "name a folder that does not exist yet, or an empty one",
        ));
    }
    std::fs::create_dir_all(folder).map_err(|error| {
        Failure::at(
            Code::File,
            format!("the folder cannot be made: {error}"),
            folder.display(),
            "name one where you may write",
        )
    })?;
    let protocol = library::protocol("msi", &[])?;
    let text = protocol.sources.files().next().map_or("", |(_, text)| text);
    let text = text.replacen("protocol msi", "protocol mine", 1);
    output::write_file(&folder.join("mine.tri"), text.as_bytes())?;
    output::write_file(&folder.join("sum.c"), PROGRAM.as_bytes())?;
    output::write_file(&folder.join("compile_flags.txt"), COMPILE_FLAGS.as_bytes())?;
    super::program::write_headers(&folder.join("include"))?;
    let shown = folder.display();
    let next = format!(
        "{shown}/mine.tri           a protocol: the directory protocol `msi`, to change\n\
         {shown}/sum.c              a program that shares a word\n\
         {shown}/include/           trivium.h, for editors; compile_flags.txt tells clangd of it\n\n\
         next:\n\
         \x20 cd {shown}\n\
         \x20 trivium show mine.tri\n\
         \x20 trivium check mine.tri --nodes 3\n\
         \x20 trivium sim sum.c -p mine.tri -m typhoon -n 4\n"
    );
    output::write(None, &next)?;
    Ok(0)
}
