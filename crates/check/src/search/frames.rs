//! Bytes in frames, so that a file is read only as far as it is what was written: each frame has its length and a hash
//! of itself and of all frames before it; an empty one ends them.

use super::pack::hash;
use std::io::{self, Read, Write};

/// Most bytes of a frame.
const FRAME: usize = 1 << 20;
/// Bytes before a frame: its length and its hash.
const HEAD: usize = 12;

/// Writes frames.
pub(crate) struct Framed<'w> {
    to: &'w mut dyn Write,
    buffer: Vec<u8>,
    hash: u64,
}

impl<'w> Framed<'w> {
    pub fn new(to: &'w mut dyn Write) -> Framed<'w> {
        Framed { to, buffer: Vec::with_capacity(FRAME), hash: 0 }
    }

    pub fn put(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let (now, rest) = bytes.split_at(bytes.len().min(FRAME - self.buffer.len()));
            self.buffer.extend_from_slice(now);
            bytes = rest;
            if self.buffer.len() == FRAME {
                self.frame()?;
            }
        }
        Ok(())
    }

    pub fn put_u32(&mut self, number: u32) -> io::Result<()> {
        self.put(&number.to_le_bytes())
    }

    pub fn put_u64(&mut self, number: u64) -> io::Result<()> {
        self.put(&number.to_le_bytes())
    }

    /// Bytes with their number.
    pub fn put_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.put_u64(bytes.len() as u64)?;
        self.put(bytes)
    }

    /// Writes what is left, and the end.
    pub fn finish(mut self) -> io::Result<()> {
        if !self.buffer.is_empty() {
            self.frame()?;
        }
        self.frame()
    }

    fn frame(&mut self) -> io::Result<()> {
        self.hash = chained(self.hash, &self.buffer);
        let length = u32::try_from(self.buffer.len()).unwrap_or(u32::MAX);
        self.to.write_all(&length.to_le_bytes())?;
        self.to.write_all(&self.hash.to_le_bytes())?;
        self.to.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }
}

/// The hash of a frame behind others.
fn chained(before: u64, frame: &[u8]) -> u64 {
    let mut both = [0; 16];
    both[..8].copy_from_slice(&before.to_le_bytes());
    both[8..].copy_from_slice(&hash(frame).to_le_bytes());
    hash(&both)
}

/// Why frames cannot be read.
#[derive(Debug)]
pub(crate) enum FrameError {
    /// The file ends before its end was written.
    Truncated,
    /// It is not what was written.
    Damaged,
    /// The system cannot read it.
    Failed(io::Error),
}

/// Reads frames.
pub(crate) struct Unframed<R> {
    from: R,
    buffer: Vec<u8>,
    at: usize,
    hash: u64,
}

impl<R: Read> Unframed<R> {
    pub fn new(from: R) -> Unframed<R> {
        Unframed { from, buffer: Vec::new(), at: 0, hash: 0 }
    }

    pub fn take(&mut self, mut into: &mut [u8]) -> Result<(), FrameError> {
        while !into.is_empty() {
            if self.at == self.buffer.len() {
                self.frame()?;
                if self.buffer.is_empty() {
                    return Err(FrameError::Damaged);
                }
            }
            let count = into.len().min(self.buffer.len() - self.at);
            let (now, rest) = into.split_at_mut(count);
            now.copy_from_slice(&self.buffer[self.at..self.at + count]);
            self.at += count;
            into = rest;
        }
        Ok(())
    }

    pub fn take_u32(&mut self) -> Result<u32, FrameError> {
        let mut bytes = [0; 4];
        self.take(&mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    pub fn take_u64(&mut self) -> Result<u64, FrameError> {
        let mut bytes = [0; 8];
        self.take(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// What [`Framed::put_all`] has written.
    pub fn take_all(&mut self) -> Result<Vec<u8>, FrameError> {
        let length = usize::try_from(self.take_u64()?).map_err(|_| FrameError::Damaged)?;
        let mut bytes = Vec::new();
        // Bit by bit: a wrong length would else ask for more memory than there is.
        while bytes.len() < length {
            let before = bytes.len();
            bytes.resize(length.min(before + FRAME), 0);
            self.take(&mut bytes[before..])?;
        }
        Ok(bytes)
    }

    /// Nothing may follow but the end.
    pub fn finish(mut self) -> Result<(), FrameError> {
        if self.at < self.buffer.len() {
            return Err(FrameError::Damaged);
        }
        self.frame()?;
        let mut more = [0];
        match self.from.read(&mut more) {
            Ok(0) if self.buffer.is_empty() => Ok(()),
            Ok(_) => Err(FrameError::Damaged),
            Err(error) => Err(FrameError::Failed(error)),
        }
    }

    fn frame(&mut self) -> Result<(), FrameError> {
        let mut head = [0; HEAD];
        self.read(&mut head)?;
        let [length, hash] = [&head[..4], &head[4..]].map(|bytes| {
            let mut number = [0; 8];
            number[..bytes.len()].copy_from_slice(bytes);
            u64::from_le_bytes(number)
        });
        let length = usize::try_from(length).ok().filter(|&length| length <= FRAME).ok_or(FrameError::Damaged)?;
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.resize(length, 0);
        self.read(&mut buffer)?;
        self.hash = chained(self.hash, &buffer);
        (self.buffer, self.at) = (buffer, 0);
        if self.hash == hash { Ok(()) } else { Err(FrameError::Damaged) }
    }

    fn read(&mut self, into: &mut [u8]) -> Result<(), FrameError> {
        self.from.read_exact(into).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => FrameError::Truncated,
            _ => FrameError::Failed(error),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written() -> Vec<u8> {
        let mut file = Vec::new();
        let mut framed = Framed::new(&mut file);
        framed.put_u32(7).unwrap();
        framed.put_all(&vec![5; FRAME + 9]).unwrap();
        framed.put_u64(u64::MAX).unwrap();
        framed.finish().unwrap();
        file
    }

    fn read(file: &[u8]) -> Result<(), FrameError> {
        let mut unframed = Unframed::new(file);
        assert_eq!(unframed.take_u32()?, 7);
        assert_eq!(unframed.take_all()?, vec![5; FRAME + 9]);
        assert_eq!(unframed.take_u64()?, u64::MAX);
        unframed.finish()
    }

    #[test]
    fn what_was_written_is_read_and_nothing_else() {
        let file = written();
        read(&file).unwrap();
        for cut in [0, 1, HEAD, 100, FRAME, FRAME + HEAD, file.len() - HEAD, file.len() - 1] {
            assert!(matches!(read(&file[..cut]), Err(FrameError::Truncated)), "{cut}");
        }
        for at in [0, 3, 4, 11, HEAD, 500, FRAME + HEAD, FRAME + HEAD + 5, file.len() - HEAD, file.len() - 1] {
            let mut wrong = file.clone();
            wrong[at] ^= 0x10;
            assert!(read(&wrong).is_err(), "{at}");
        }
        assert!(matches!(read(&[&file[..], b"x"].concat()), Err(FrameError::Damaged)));
    }
}
