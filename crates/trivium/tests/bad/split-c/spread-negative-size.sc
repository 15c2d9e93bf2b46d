// A dimension below zero.
double dealt[3][-1]::;

int splitc_main(void) { return 0; }
//$ sim FILE -p stache -m typhoon -n 2
//! error: node 0: the program reports: split-c: a spread array of -1 elements: a size below zero, or too large
//!  --> FILE:2
//! note: node 0, cycle _ in the program's beginning
//! note: called from in __wasm_call_ctors, from libc/wasi/libc-bottom-half/crt/crt1-command.c:42 in _start
//= 1
