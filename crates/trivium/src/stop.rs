//! Ctrl-C and SIGTERM: the first asks the work to end with what is known, the second ends the process.

use crate::{failure, out_file};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

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

fn wait(mut signals: Signals, flag: &AtomicBool) {
    for _ in signals.forever() {
        if flag.swap(true, Ordering::SeqCst) {
            out_file::forsake();
            std::process::exit(i32::from(failure::INCOMPLETE));
        }
    }
}
