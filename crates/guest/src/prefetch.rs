//! The host's processor is told what it is going to need. Where the data of many nodes take turns, each has left the nearer caches by its
//! next turn.

/// What lies here is going to be needed. It changes nothing.
#[inline(always)]
pub fn prefetch<T>(what: &T) {
    prefetch_at(std::ptr::from_ref(what).cast());
}

/// What lies here is going to be written, while another processor may have it. It changes nothing.
#[inline(always)]
pub fn prefetch_to_write<T>(what: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch reads nothing, and never faults, whatever lies there.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_ET0 }>(std::ptr::from_ref(what).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = what;
}

/// What lies at an address, which may be any, is going to be needed.
#[inline(always)]
pub(crate) fn prefetch_at(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch reads nothing, and never faults, whatever lies there.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}
