//! Runs a compiled protocol's handlers against Mechanisms
