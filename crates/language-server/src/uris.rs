//! Addresses of files: `file:///a%20b/c.m` and paths.

use std::path::{Path, PathBuf};

use lsp_types::Uri;

/// The path of a file, if it is one on this machine.
pub(crate) fn path_of(uri: &Uri) -> Option<PathBuf> {
    let rest = uri.as_str().strip_prefix("file://")?;
    let path = &rest[rest.find('/')?..];
    let decoded = decoded(path)?;
    // `/c:/folder` is a path of another system.
    let is_drive = decoded.as_bytes().get(2) == Some(&b':');
    Some(PathBuf::from(if cfg!(windows) && is_drive { &decoded[1..] } else { &decoded }))
}

/// The address of a path.
pub(crate) fn uri_of(path: &Path) -> Option<Uri> {
    let path = path.to_string_lossy();
    let path = if cfg!(windows) { path.replace('\\', "/") } else { path.into_owned() };
    let mut address = String::from(if path.starts_with('/') { "file://" } else { "file:///" });
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'-' | b'_' | b'.' | b'~' | b':') {
            address.push(byte as char);
        } else {
            address.push_str(&format!("%{byte:02X}"));
        }
    }
    address.parse().ok()
}

fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte == b'%' {
            let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &rest[2..];
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{path_of, uri_of};

    #[test]
    fn paths_come_back() {
        for path in ["/a/b.m", "/with space/ü#%.pml"] {
            let uri = uri_of(Path::new(path)).expect("an address");
            assert_eq!(path_of(&uri).as_deref(), Some(Path::new(path)), "{}", uri.as_str());
        }
        for other in ["untitled:Untitled-1", "file://", "file:///%zz"] {
            assert_eq!(other.parse().ok().and_then(|uri| path_of(&uri)), None, "{other}");
        }
    }
}
