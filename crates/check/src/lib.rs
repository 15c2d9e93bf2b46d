//! Explores every interleaving of a protocol
