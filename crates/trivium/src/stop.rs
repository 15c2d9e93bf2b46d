//! Ctrl-C and SIGTERM: the first asks the work to end with what is known, the second ends the process.

use crate::{failure, out_file};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Between two looks at the clock.
const LOOK_EVERY: Duration = Duration::from_millis(20);

static STOP: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// The flag that long work looks at. The first call installs the signal handler.
pub fn flag() -> Arc<AtomicBool> {
    let flag = STOP.get_or_init(|| {
        let flag = Arc::new(AtomicBool::new(false));
        // Without a handler signals simply end the process, which is no error.
        if let Ok(signals) = Signals::new([SIGINT, SIGTERM]) {
            let seen = Arc::clone(&flag);
            std::thread::spawn(move || wait(signals, &seen));
        }
        flag
    });
    Arc::clone(flag)
}

/// Whether somebody has asked the work to end.
pub fn is_asked_for() -> bool {
    STOP.get().is_some_and(|flag| flag.load(Ordering::Relaxed))
}

/// A flag that is set when [`flag`] is, or when so much time has passed.
pub fn flag_after(limit: Duration) -> Arc<AtomicBool> {
    let (signalled, begun) = (flag(), Instant::now());
    let over = Arc::new(AtomicBool::new(false));
    let watched = Arc::downgrade(&over);
    std::thread::spawn(move || {
        // Until nobody looks at it any more.
        while let Some(over) = watched.upgrade() {
            if signalled.load(Ordering::Relaxed) || begun.elapsed() >= limit {
                over.store(true, Ordering::Relaxed);
                return;
            }
            drop(over);
            std::thread::sleep(LOOK_EVERY);
        }
    });
    over
}

fn wait(mut signals: Signals, flag: &AtomicBool) {
    for _ in signals.forever() {
        if flag.swap(true, Ordering::SeqCst) {
            out_file::forsake();
            std::process::exit(i32::from(failure::INCOMPLETE));
        }
    }
}
