//! Compiles, rewrites and runs WebAssembly programs
