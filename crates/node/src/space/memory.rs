//! A node's memory, as its handlers read and write it: by byte offset in shared memory.

use trivium_engine::number::index;
use trivium_guest::{PRIVATE_LIMIT, SHARED_BASE};

/// The shared memory of a node.
pub enum NodeMemory {
    /// That of a running program.
    Program(trivium_guest::Memory),
    /// Memory without a program, for measurements of single accesses, and tests.
    Plain(Vec<u8>),
}

impl NodeMemory {
    /// What lies at an offset is going to be needed.
    #[inline]
    pub fn prefetch(&self, offset: u64) {
        if let (NodeMemory::Program(memory), Ok(address)) = (self, address(offset)) {
            memory.prefetch(address);
        }
    }

    /// Reads bytes from an offset on.
    ///
    /// # Errors
    /// They do not lie in memory.
    pub fn read(&self, offset: u64, into: &mut [u8]) -> Result<(), String> {
        match self {
            NodeMemory::Program(memory) => memory.read(address(offset)?, into).map_err(|fault| fault.message),
            NodeMemory::Plain(bytes) => {
                let from = bytes.get(index(offset)..).and_then(|rest| rest.get(..into.len()));
                into.copy_from_slice(from.ok_or_else(|| outside(offset))?);
                Ok(())
            }
        }
    }

    /// Writes bytes from an offset on.
    ///
    /// # Errors
    /// They do not lie in memory.
    pub fn write(&mut self, offset: u64, bytes: &[u8]) -> Result<(), String> {
        match self {
            NodeMemory::Program(memory) => memory.write(address(offset)?, bytes).map_err(|fault| fault.message),
            NodeMemory::Plain(all) => {
                let to = all.get_mut(index(offset)..).and_then(|rest| rest.get_mut(..bytes.len()));
                to.ok_or_else(|| outside(offset))?.copy_from_slice(bytes);
                Ok(())
            }
        }
    }

    /// A word of a program's memory, by its address; nothing where there is no program, or no such word.
    pub fn word_of_program(&self, address: u32, size: u32) -> Option<u64> {
        match self {
            NodeMemory::Program(memory) => memory.read_word(address, size).ok(),
            NodeMemory::Plain(_) => None,
        }
    }

    /// Appends what lies at each of these places: an offset and a number of bytes.
    ///
    /// # Errors
    /// One does not lie in memory.
    pub fn gather(&self, places: &[(u64, u32)], into: &mut Vec<u8>) -> Result<(), String> {
        if let NodeMemory::Program(memory) = self {
            return memory.gather(places, into).map_err(|fault| fault.message);
        }
        places.iter().try_for_each(|&(offset, length)| {
            let there = into.len();
            into.resize(there + length as usize, 0);
            self.read(offset, &mut into[there..])
        })
    }

    /// Writes bytes to these places, one after the other, which need as many as there are.
    ///
    /// # Errors
    /// One does not lie in memory.
    pub fn scatter(&mut self, places: &[(u64, u32)], bytes: &[u8]) -> Result<(), String> {
        if let NodeMemory::Program(memory) = self {
            return memory.scatter(places, bytes).map_err(|fault| fault.message);
        }
        let mut rest = bytes;
        places.iter().try_for_each(|&(offset, length)| {
            let (now, later) = rest.split_at_checked(length as usize).ok_or_else(|| outside(offset))?;
            rest = later;
            self.write(offset, now)
        })
    }

    /// Reads bytes of the program's own memory, as [`NodeMemory::write_private`] writes them. Memory without a program has at
    /// each byte address the number of it, as the explored systems of `check` have.
    ///
    /// # Errors
    /// They do not lie below shared memory.
    pub fn read_private(&self, at: u64, into: &mut [u8]) -> Result<(), String> {
        let end = at.saturating_add(into.len() as u64);
        match (self, u32::try_from(at)) {
            (NodeMemory::Program(memory), Ok(from)) if end <= u64::from(PRIVATE_LIMIT) => {
                memory.read(from, into).map_err(|fault| fault.message)
            }
            (NodeMemory::Plain(_), _) => {
                into.iter_mut().zip(at.to_le_bytes()).for_each(|(to, byte)| *to = byte);
                Ok(())
            }
            _ => Err(format!("address {at:#x} does not lie in the program's own memory")),
        }
    }

    /// Writes bytes of the program's own memory, from a byte address on as the program sees it. Memory without a
    /// program has none, and takes no notice.
    ///
    /// # Errors
    /// They do not lie below shared memory.
    pub fn write_private(&mut self, at: u64, bytes: &[u8]) -> Result<(), String> {
        let end = at.saturating_add(bytes.len() as u64);
        match (self, u32::try_from(at)) {
            (NodeMemory::Program(memory), Ok(to)) if end <= u64::from(PRIVATE_LIMIT) => {
                memory.write(to, bytes).map_err(|fault| fault.message)
            }
            (NodeMemory::Plain(_), _) => Ok(()),
            _ => Err(format!("address {at:#x} does not lie in the program's own memory")),
        }
    }
}

fn address(offset: u64) -> Result<u32, String> {
    u32::try_from(offset).ok().and_then(|offset| offset.checked_add(SHARED_BASE)).ok_or_else(|| outside(offset))
}

fn outside(offset: u64) -> String {
    format!("shared offset {offset:#x} lies outside shared memory")
}
