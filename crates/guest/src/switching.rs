//! How the nodes of a host thread take turns.

/// How the nodes of a host thread take turns. It changes nothing in what they do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Switching {
    /// By WebAssembly's stack switching: the programs of all nodes of a [`Stage`](crate::Stage) run in one store, each on
    /// a stack of its own.
    Stacks,
    /// By asynchronous calls of Wasmtime, which need a store for each node. Slower, but possible everywhere.
    Fibres,
}

impl Switching {
    /// All that are possible on this host, the fastest first.
    pub fn all() -> &'static [Switching] {
        // What Wasmtime's stack switching supports.
        match cfg!(all(target_arch = "x86_64", any(target_os = "linux", target_os = "macos"))) {
            true => &[Switching::Stacks, Switching::Fibres],
            false => &[Switching::Fibres],
        }
    }
}

/// The fastest that is possible on this host.
impl Default for Switching {
    fn default() -> Switching {
        Switching::all()[0]
    }
}
