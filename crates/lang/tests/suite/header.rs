//! The generated C headers: their calls, their types, and names that C would not take.

use std::path::{Path, PathBuf};
use trivium_lang::{c_header, compile, compile_file};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn header_of(text: &str) -> String {
    match compile("test.tri", text, &Default::default()) {
        Ok(protocol) => c_header(&protocol),
        Err(errors) => panic!("{errors}"),
    }
}

/// Functions that programs call, with their parameters' types, from a header's text.
fn signatures(header: &str) -> Vec<String> {
    let lines = header.lines().filter(|l| l.starts_with("static inline ") || l.contains("import_name"));
    lines.map(|l| l.split(" {").next().unwrap().split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn remote_write_has_the_calls_that_programs_use() {
    let protocol = compile_file(&root().join("protocols/remote-write.tri"), &[]).unwrap();
    let header = c_header(&protocol);
    assert_eq!(
        signatures(&header),
        [
            "__attribute__((import_module(\"trivium:remote-write\"), import_name(\"open\")))",
            "static inline void remote_write_open(int32_t buffer, void *base)",
            "__attribute__((import_module(\"trivium:remote-write\"), import_name(\"put\")))",
            "static inline int remote_write_put(int32_t buffer, int64_t w)",
            "__attribute__((import_module(\"trivium:remote-write\"), import_name(\"finish\")))",
            "static inline int64_t remote_write_finish(int32_t buffer)",
        ]
    );
    assert!(header.contains("trivium_remote_write_open(buffer, (int64_t)(uintptr_t)base);"));
}

#[test]
fn every_type_has_its_c_type() {
    let header = header_of(
        "protocol all-types\nobject thing\nlane main buffered\n\
         op give(t: thing, a: address, w: word, n: node, m: node?, b: bool, i: 0..9, o: thing): node\n\
         op ready(t: thing): bool\nop tell(x: 0..3)\nop touch(b: block): address\n\
         role member of thing everywhere { state Only { on give { return me } on ready { return true } } }\n\
         role agent of node { state Only { on tell { return } } }\n\
         role cache of block everywhere { state Only { on touch { return 0 } } }\n",
    );
    assert!(header.contains(
        "static inline int32_t all_types_give(int32_t thing, void *a, int64_t w, int32_t n, int32_t m, int b, int64_t i, int32_t o)"
    ), "{header}");
    assert!(header.contains("static inline int all_types_ready(int32_t thing)"), "{header}");
    assert!(header.contains("static inline void all_types_tell(int64_t x)"), "{header}");
    assert!(header.contains("static inline void *all_types_touch(void *block)"), "{header}");
    assert!(header.contains("i is from 0 to 9"), "{header}");
}

#[test]
fn words_of_c_and_repeated_names_are_changed() {
    let header = header_of(
        "protocol odd\nobject register\nlane main buffered\nop go(r: register, register_: word, long: word)\n\
         role member of register everywhere { state Only { on go { return } } }\n",
    );
    assert!(header.contains("odd_go(int32_t register_, int64_t register__, int64_t long_)"), "{header}");
}

#[test]
fn a_protocol_without_calls_declares_nothing() {
    let protocol = compile_file(&root().join("protocols/msi.tri"), &[]).unwrap();
    let header = c_header(&protocol);
    assert!(header.starts_with("/* msi.h:"));
    assert!(header.contains("#ifndef TRIVIUM_MSI_H"));
    assert!(signatures(&header).is_empty());
}

#[test]
fn a_list_is_a_pointer_and_a_length_and_an_array_a_pointer() {
    let header = header_of(
        "protocol lists\nobject thing\nrecord pair { a: 0..2, b: node }\nlane main buffered\n\
         op give(t: thing, w: list of word up to 2, w_length: bool, p: list of pair up to 1, x: [3..4] of bool)\n\
         role member of thing everywhere { state Only { on give { return } } }\n",
    );
    let declared = "static inline void lists_give(int32_t thing, const int64_t *w, int64_t w_length, int w_length_, \
                    const int64_t *p, int64_t p_length, const int64_t *x)";
    assert!(header.contains(declared), "{header}");
    let passed = "trivium_lists_give(thing, w_length, w_length > 0 ? w[0] : 0, w_length > 1 ? w[1] : 0, w_length_, \
                  p_length, p_length > 0 ? p[0] : 0, p_length > 0 ? p[1] : 0, x[0], x[1]);";
    assert!(header.contains(passed), "{header}");
    let raw = "void trivium_lists_give(int64_t thing, int64_t w_length, int64_t, int64_t, int64_t w_length_, \
               int64_t p_length, int64_t, int64_t, int64_t, int64_t);";
    assert!(header.contains(raw), "{header}");
    assert!(header.contains("p points to p_length elements, at most 1, each a, b"), "{header}");
}
