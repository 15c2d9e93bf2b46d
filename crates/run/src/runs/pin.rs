//! Threads that stay on one of the host's processors, and that have one of their own from the beginning.

use std::time::{Duration, Instant};

/// Computes for so long. A host that was idle may give several threads, or a guest's processors, one processor until they have all been busy
/// for some tenths of a second.
pub(crate) fn warm_up(time: Duration) {
    let begun = Instant::now();
    while begun.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// Keeps this thread, the `number`-th of a run, on that of the processors that it may use, which begin again behind the last.
///
/// # Errors
/// The host cannot do that.
#[cfg(target_os = "linux")]
pub(crate) fn pin(number: usize) -> Result<(), String> {
    let told = |what: &str| {
        format!("thread {number} of the run cannot be kept on a processor: {what}: {}", std::io::Error::last_os_error())
    };
    let bytes = size_of::<libc::cpu_set_t>();
    // SAFETY: a set of processors is plain numbers, of which all may be zero; the two calls read and write one of that many bytes; and
    // the macros look at numbers below `CPU_SETSIZE` only.
    unsafe {
        let mut allowed: libc::cpu_set_t = std::mem::zeroed();
        if libc::sched_getaffinity(0, bytes, &raw mut allowed) != 0 {
            return Err(told("which it may use is not known"));
        }
        let usable: Vec<usize> =
            (0..libc::CPU_SETSIZE as usize).filter(|&cpu| libc::CPU_ISSET(cpu, &allowed)).collect();
        let Some(&cpu) = usable.get(number % usable.len().max(1)) else {
            return Err(told("it may use none"));
        };
        let mut only: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu, &mut only);
        if libc::sched_setaffinity(0, bytes, &raw const only) != 0 {
            return Err(told("it is refused"));
        }
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn pin(_: usize) -> Result<(), String> {
    Err("threads can be kept on processors on Linux only: leave out --pin".into())
}
