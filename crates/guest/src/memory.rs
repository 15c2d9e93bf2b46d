//! A node's memory, as the rest of the product reads and writes it.

use crate::prefetch::prefetch_at;
use std::cell::Cell;
use std::rc::Rc;

use crate::processor::{ProgramFault, ReadModifyWrite};

/// A node's private memory (stack, globals, `malloc`) ends here at the latest, in bytes: 1 GiB but for a page of
/// WebAssembly.
pub const PRIVATE_LIMIT: u32 = SHARED_BASE - 0x1_0000;
/// Here compiled code keeps what is not the program's, out of its reach: the count of work (8 bytes; the fast build counts down). What
/// the host looks at whenever it is asked lies beside it, in one line of the host's cache, with the first of the values that are put aside.
pub(crate) const HOST_PAGE: u32 = PRIVATE_LIMIT;
/// Where the surplus of work is: 8 bytes.
pub(crate) const SURPLUS: u32 = HOST_PAGE + 8;
/// How often compiled code has missed in its [TLB](crate::translations): 8 bytes.
pub(crate) const TLB_MISSES: u32 = HOST_PAGE + 16;
/// Where values are put aside while the host is asked, 8 bytes for each.
pub(crate) const ASIDE: u32 = HOST_PAGE + 24;
/// Shared memory starts at this byte address, on every node.
pub const SHARED_BASE: u32 = 0x4000_0000;
/// Shared memory ends before this byte address: there are 2 GiB of it. The last GiB of a node's addresses is the host's.
pub const SHARED_END: u32 = 0xc000_0000;

/// What is shared of private memory begins and ends at multiples of so many bytes: WebAssembly's pages, which no host's are larger than.
pub const PART_UNIT: u32 = 0x1_0000;

/// Contents of shared ranges are kept in pieces of so many bytes, as most hosts' pages have.
const PIECE: u32 = 4096;

/// A handle to a node's memory.
///
/// It may be used whenever the host runs: between two `resume`s, after the program has finished,
/// and inside the callbacks of [`Processor`](crate::Processor). Once the node is dropped, every
/// use gives a [`ProgramFault`]. It is neither `Send` nor `Sync`, as the node is not.
#[derive(Clone)]
pub struct Memory {
    base: *mut u8,
    length: usize,
    alive: Rc<Cell<bool>>,
}

impl Memory {
    /// # Safety
    /// `base..base + length` must be readable and writable, and must not move, as long as `alive`
    /// is true; whoever unmaps it sets `alive` to false first.
    pub(crate) unsafe fn new(base: *mut u8, length: usize, alive: Rc<Cell<bool>>) -> Memory {
        Memory { base, length, alive }
    }

    #[inline]
    fn checked(&self, addr: u32, length: usize) -> Result<*mut u8, ProgramFault> {
        if !self.alive.get() {
            return Err(ProgramFault::new("the memory of a node that no longer exists was used"));
        }
        let end = (addr as usize).checked_add(length);
        if end.is_none_or(|end| end > self.length) {
            let message = format!("{length} bytes at {addr:#x} lie outside the node's memory");
            return Err(ProgramFault::new(message));
        }
        // SAFETY: `addr` is at most `length`, so the result lies in the mapping or at its end.
        Ok(unsafe { self.base.add(addr as usize) })
    }

    /// The host's processor is about to need what lies at `addr`. It changes nothing.
    #[inline]
    pub fn prefetch(&self, addr: u32) {
        prefetch_at(self.base.wrapping_add(addr as usize));
    }

    /// Copies memory from `addr` on into `into`; a [`ProgramFault`] if it does not lie in memory.
    pub fn read(&self, addr: u32, into: &mut [u8]) -> Result<(), ProgramFault> {
        let from = self.checked(addr, into.len())?;
        // SAFETY: `checked` has bounded the source, which lives as long as `alive`. Nothing else
        // touches it meanwhile: the handle is bound to the node's thread, on which Wasm code does
        // not run while host code does. No reference into Wasm memory is ever made by this crate,
        // so `into` cannot overlap it.
        unsafe { std::ptr::copy_nonoverlapping(from, into.as_mut_ptr(), into.len()) };
        Ok(())
    }

    /// Copies `bytes` to memory from `addr` on; a [`ProgramFault`] if they do not fit in memory.
    pub fn write(&self, addr: u32, bytes: &[u8]) -> Result<(), ProgramFault> {
        let to = self.checked(addr, bytes.len())?;
        // SAFETY: as in `read`.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
        Ok(())
    }

    /// Copies `bytes` bytes from `from` to `to`, which may overlap.
    pub(crate) fn copy(&self, to: u32, from: u32, bytes: u32) -> Result<(), ProgramFault> {
        let (to, from) = (self.checked(to, bytes as usize)?, self.checked(from, bytes as usize)?);
        // SAFETY: as in `read`, but that both lie in the mapping.
        unsafe { std::ptr::copy(from, to, bytes as usize) };
        Ok(())
    }

    /// From now on the `bytes` bytes from `part` on are those from `address` on: the same memory at two places, with the contents that
    /// `address` has now. A [`ProgramFault`] if one of them does not lie in memory, or the host refuses.
    pub(crate) fn share(&self, address: u32, part: u32, bytes: u32) -> Result<(), ProgramFault> {
        let length = bytes as usize;
        let (private, shared) = (self.checked(address, length)?, self.checked(part, length)?);
        let mut contents = vec![0; length];
        self.read(address, &mut contents)?;
        // Memory that nobody has used takes none of the host's.
        let used = |piece: &[u8]| piece.iter().any(|&byte| byte != 0);
        host_shares([private, shared], length).map_err(|error| {
            ProgramFault::new(format!("{bytes} bytes at {address:#x} cannot be shared: the host says \"{error}\""))
        })?;
        let pieces = contents.chunks(PIECE as usize).zip((address..).step_by(PIECE as usize));
        pieces.filter(|(piece, _)| used(piece)).try_for_each(|(piece, at)| self.write(at, piece))
    }

    /// Writes `byte` to each of `bytes` bytes from `addr` on.
    pub(crate) fn fill(&self, addr: u32, byte: u8, bytes: u32) -> Result<(), ProgramFault> {
        let to = self.checked(addr, bytes as usize)?;
        // SAFETY: as in `read`.
        unsafe { std::ptr::write_bytes(to, byte, bytes as usize) };
        Ok(())
    }

    /// Appends to `into` what lies at each of these places, given as an offset in shared memory and a number of bytes; a
    /// [`ProgramFault`] if one does not lie in memory.
    pub fn gather(&self, places: &[(u64, u32)], into: &mut Vec<u8>) -> Result<(), ProgramFault> {
        into.reserve(places.iter().map(|&(_, bytes)| bytes as usize).sum());
        for &(offset, bytes) in places {
            let from = self.checked(shared_address(offset)?, bytes as usize)?;
            // A word, which most lists are of, is one load and one store.
            if bytes == 8 {
                // SAFETY: as in `read`; `checked` has bounded the 8 bytes, which need not be aligned.
                into.extend_from_slice(&unsafe { from.cast::<[u8; 8]>().read() });
                continue;
            }
            let there = into.len();
            into.resize(there + bytes as usize, 0);
            // SAFETY: as in `read`.
            unsafe { std::ptr::copy_nonoverlapping(from, into[there..].as_mut_ptr(), bytes as usize) };
        }
        Ok(())
    }

    /// Writes to each of these places, given as [`Memory::gather`] has them, as many of `bytes` as belong there, one behind the other; a
    /// [`ProgramFault`] if one does not lie in memory, or there are too few bytes.
    pub fn scatter(&self, places: &[(u64, u32)], bytes: &[u8]) -> Result<(), ProgramFault> {
        let mut rest = bytes;
        for &(offset, bytes) in places {
            let to = self.checked(shared_address(offset)?, bytes as usize)?;
            let Some((now, later)) = rest.split_at_checked(bytes as usize) else {
                return Err(ProgramFault::new("fewer bytes than the places that they are for"));
            };
            rest = later;
            if let Ok(word) = <[u8; 8]>::try_from(now) {
                // SAFETY: as in `gather`.
                unsafe { to.cast::<[u8; 8]>().write(word) };
                continue;
            }
            // SAFETY: as in `read`.
            unsafe { std::ptr::copy_nonoverlapping(now.as_ptr(), to, now.len()) };
        }
        Ok(())
    }

    /// `size` (1 to 8) bytes at `addr`, little-endian, zero-extended.
    pub fn read_word(&self, addr: u32, size: u32) -> Result<u64, ProgramFault> {
        let mut word = [0; 8];
        self.read(addr, &mut word[..size.min(8) as usize])?;
        Ok(u64::from_le_bytes(word))
    }

    /// Writes the low `size` (1 to 8) bytes of `value` at `addr`, little-endian.
    pub fn write_word(&self, addr: u32, size: u32, value: u64) -> Result<(), ProgramFault> {
        self.write(addr, &value.to_le_bytes()[..size.min(8) as usize])
    }

    /// What compiled code last stored in the host's page: the work or its countdown, at [`HOST_PAGE`], the [`SURPLUS`], or [`TLB_MISSES`].
    pub(crate) fn counted(&self, address: u32) -> i64 {
        debug_assert!(self.alive.get() && address >= HOST_PAGE && (address as usize) < self.length);
        // SAFETY: memories of nodes are longer than this; the caller is the node, or runs inside it. It is aligned,
        // since memories begin at a page.
        i64::from_le(unsafe { self.base.add(address as usize).cast::<i64>().read() })
    }

    /// Sets what compiled code loads next.
    pub(crate) fn set_counted(&self, address: u32, number: i64) {
        debug_assert!(self.alive.get() && address >= HOST_PAGE && (address as usize) < self.length);
        // SAFETY: as in `counted`.
        unsafe { self.base.add(address as usize).cast::<i64>().write(number.to_le()) };
    }

    /// The 8 bytes at `addr`, little-endian.
    pub fn read_u64(&self, addr: u32) -> Result<u64, ProgramFault> {
        self.read_word(addr, 8)
    }

    /// Writes 8 bytes at `addr`, little-endian.
    pub fn write_u64(&self, addr: u32, value: u64) -> Result<(), ProgramFault> {
        self.write_word(addr, 8, value)
    }

    /// Performs an atomic read-modify-write on this memory and returns the old word.
    pub fn read_modify_write(&self, rmw: &ReadModifyWrite) -> Result<u64, ProgramFault> {
        let old = self.read_word(rmw.addr, rmw.size)?;
        self.write_word(rmw.addr, rmw.size, rmw.apply(old))?;
        Ok(old)
    }
}

/// The address of an offset in shared memory.
#[inline]
fn shared_address(offset: u64) -> Result<u32, ProgramFault> {
    let address = u32::try_from(offset).ok().and_then(|offset| offset.checked_add(SHARED_BASE));
    address.ok_or_else(|| ProgramFault::new(format!("shared offset {offset:#x} lies outside shared memory")))
}

/// Puts the same new, empty memory at two places of a node's memory. What was there is gone.
#[cfg(target_os = "linux")]
fn host_shares(places: [*mut u8; 2], length: usize) -> std::io::Result<()> {
    use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
    use rustix::mm::{MapFlags, ProtFlags, mmap};

    let memory = memfd_create("trivium-part", MemfdFlags::CLOEXEC)?;
    ftruncate(&memory, length as u64)?;
    for place in places {
        // SAFETY: the caller has bounded both places, which lie in the mapping of a WebAssembly memory: that is readable, writable, and does
        // not move, and whoever unmaps it unmaps all of its addresses, whatever lies there. No Rust reference into it exists, and compiled
        // code does not run while host code does. Its contents change from what they were to zero, which any bytes may.
        let at = unsafe {
            mmap(
                place.cast(),
                length,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED | MapFlags::FIXED,
                &memory,
                0,
            )
        }?;
        debug_assert_eq!(at.cast::<u8>(), place, "the place was fixed");
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn host_shares(_places: [*mut u8; 2], _length: usize) -> std::io::Result<()> {
    Err(std::io::Error::other("private memory can be shared on Linux only"))
}
