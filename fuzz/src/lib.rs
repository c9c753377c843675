//! What reads bytes of strangers must neither panic nor hang, and must read again what it has written.
//!
//! Each target is a plain function over bytes. Built with `--cfg fuzzing` its binary is a fuzzer (libFuzzer); built
//! without, it replays files and folders and then tries random changes of them for as long as it is told
//! (`--for SECS`), which needs no tool at all.

pub mod plain;
pub mod targets;

pub use targets::{agent_output, config, daemon_frames, ledger_lines, plan_files};

/// The binary of one target.
#[macro_export]
macro_rules! target {
    ($name:ident) => {
        #[cfg(fuzzing)]
        libfuzzer_sys::fuzz_target!(|bytes: &[u8]| $crate::$name(bytes));

        #[cfg(not(fuzzing))]
        fn main() -> std::process::ExitCode {
            $crate::plain::run(stringify!($name), $crate::$name)
        }
    };
}
