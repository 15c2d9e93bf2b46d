//! Ctrl-C: the first asks the work to end with what is known, the second ends the process.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

static STOP: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// The flag that long work looks at. The first call installs the signal handler.
pub fn flag() -> Arc<AtomicBool> {
    let flag = STOP.get_or_init(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&flag);
        // Without a handler Ctrl-C simply ends the process, which is no error.
        let _ = ctrlc::set_handler(move || {
            if seen.swap(true, Ordering::SeqCst) {
                std::process::exit(i32::from(crate::failure::INCOMPLETE));
            }
        });
        flag
    });
    Arc::clone(flag)
}
