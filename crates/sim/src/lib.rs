//! Simulates programs and protocols on modelled machines
