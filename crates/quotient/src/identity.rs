//! The source files of a model: their names and the SHA-256 of their bytes, so that a result, a certificate or a
//! checkpoint can identify the text.

use std::fmt;

use sha2::{Digest, Sha256};

/// The SHA-256 of some bytes. Displayed as 64 hexadecimal digits, as `sha256sum` does.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TextHash([u8; 32]);

impl TextHash {
    /// The hash of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }
}

impl fmt::Display for TextHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

impl fmt::Debug for TextHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

/// A file that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextFile {
    /// Its name, as it is called in messages.
    pub name: String,
    /// The hash of its bytes.
    pub hash: TextHash,
}

impl TextFile {
    pub(crate) fn new(name: impl Into<String>, bytes: &[u8]) -> Self {
        Self { name: name.into(), hash: TextHash::of(bytes) }
    }
}

/// The hash of the texts of a model: the hash of its file or, for several files, the hash of their concatenated hashes,
/// in the order in which they were read. Names do not matter.
pub(crate) fn hash_of(files: &[TextFile]) -> Option<TextHash> {
    match files {
        [] => None,
        [file] => Some(file.hash),
        files => Some(TextHash::of(&files.iter().flat_map(|file| file.hash.0).collect::<Vec<u8>>())),
    }
}

#[cfg(test)]
mod tests {
    use super::{TextFile, TextHash, hash_of};

    #[test]
    fn the_hash_is_that_of_sha256sum() {
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(TextHash::of(b"abc").to_string(), expected);
        assert_eq!(hash_of(&[TextFile::new("a", b"abc")]), Some(TextHash::of(b"abc")));
    }

    #[test]
    fn several_files_have_another_hash_than_each() {
        let files = [TextFile::new("a", b"abc"), TextFile::new("b", b"def")];
        let hash = hash_of(&files);
        assert!(files.iter().all(|file| hash != Some(file.hash)));
        assert_ne!(hash, hash_of(&[files[1].clone(), files[0].clone()]));
        assert_eq!(hash_of(&[]), None);
    }
}
