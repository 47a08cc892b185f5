//! The program `ratchet`, run as a process against SQLite files.

mod archive;
mod audit;
mod codegen;
mod erasures;
mod exit_codes;
mod help;
mod keys;
mod operators;
mod output;
mod parity;
mod reencrypt;
mod serve;
mod stored;
mod stored_review;
