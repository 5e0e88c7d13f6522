//! How two processes of a search recognise each other on a new connection.
//!
//! The one that connects says which process it is and which one it wants. Each then shows that it knows the secret, by a
//! code (HMAC-SHA-256, RFC 2104) over both indices, the numbers of processes and workers, its own role and a fresh number
//! of each side: an answer is of no use on another connection, for another process, or in the other direction. The one
//! that connects comes first, since anybody can reach the other. At last both compare what they search.
//!
//! Nothing is encrypted: who can read or change the connection itself is not kept out. A tunnel does that.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The first bytes of a connection, with the version of the protocol.
const MAGIC: &[u8; 10] = b"quotient\x00\x01";
/// How long the other side may take for a message.
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest description of a search, in bytes.
const MOST_FACTS: usize = 1 << 20;

const NONCE_BYTES: usize = 32;
const CODE_BYTES: usize = 32;
const HELLO_BYTES: usize = MAGIC.len() + 16 + NONCE_BYTES;

/// What a search is about: names and values.
pub(super) type Facts = [(String, String)];

/// Who talks to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parties {
    /// The process that connects.
    pub(super) from: u32,
    /// The process that it connects to.
    pub(super) to: u32,
    pub(super) processes: u32,
    /// The number of workers of each process.
    pub(super) workers: u32,
}

/// Why two processes do not work together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Mismatch {
    #[error("it does not have the same secret")]
    Secret,
    #[error("it is not the process that was expected there")]
    Index,
    #[error("it takes part in a search with another number of processes, or of workers")]
    Size,
    #[error("another process with this index is there already")]
    Taken,
    #[error("it is not quotient, or of another version")]
    Stranger,
    #[error("it closed the connection")]
    Closed,
    #[error("it did not answer in time")]
    Silent,
    #[error("it searches something else: {}", .0.join("; "))]
    Search(Vec<String>),
    #[error("{0}")]
    Connection(String),
}

/// The answers of the process that was connected to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Continue = 0,
    Secret = 1,
    Index = 2,
    Size = 3,
    Taken = 4,
}

impl Answer {
    fn of(byte: u8) -> Result<(), Mismatch> {
        match byte {
            0 => Ok(()),
            1 => Err(Mismatch::Secret),
            2 => Err(Mismatch::Index),
            3 => Err(Mismatch::Size),
            4 => Err(Mismatch::Taken),
            _ => Err(Mismatch::Stranger),
        }
    }
}

/// The two roles, which have different codes.
#[derive(Clone, Copy, Debug)]
enum Role {
    Connecting = 1,
    Accepting = 2,
}

/// The code by which a side shows that it knows the secret.
fn code(secret: &[u8], role: Role, parties: Parties, nonces: [&[u8; NONCE_BYTES]; 2]) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).expect("a key of any length can be used");
    mac.update(MAGIC);
    mac.update(&[role as u8]);
    mac.update(&encode(parties));
    nonces.iter().for_each(|nonce| mac.update(*nonce));
    mac
}

fn encode(Parties { from, to, processes, workers }: Parties) -> [u8; 16] {
    let mut bytes = [0; 16];
    for (place, number) in bytes.chunks_exact_mut(4).zip([from, to, processes, workers]) {
        place.copy_from_slice(&number.to_le_bytes());
    }
    bytes
}

fn decode(bytes: &[u8]) -> Parties {
    let number = |place: usize| u32::from_le_bytes(bytes[4 * place..][..4].try_into().expect("four bytes"));
    Parties { from: number(0), to: number(1), processes: number(2), workers: number(3) }
}

fn fresh() -> Result<[u8; NONCE_BYTES], Mismatch> {
    let mut nonce = [0; NONCE_BYTES];
    getrandom::fill(&mut nonce)
        .map_err(|error| Mismatch::Connection(format!("the system has no random numbers: {error}")))?;
    Ok(nonce)
}

/// Introduces this process on a connection that it has opened.
pub(super) fn connect(stream: &mut TcpStream, parties: Parties, secret: &[u8], facts: &Facts) -> Result<(), Mismatch> {
    limit(stream, Some(PATIENCE))?;
    let own = fresh()?;
    let mut hello = Vec::with_capacity(HELLO_BYTES);
    hello.extend_from_slice(MAGIC);
    hello.extend_from_slice(&encode(parties));
    hello.extend_from_slice(&own);
    send(stream, &hello)?;
    let mut answer = [0];
    receive(stream, &mut answer)?;
    Answer::of(answer[0])?;
    let mut other = [0; NONCE_BYTES];
    receive(stream, &mut other)?;
    let nonces = [&own, &other];
    send(stream, &code(secret, Role::Connecting, parties, nonces).finalize().into_bytes())?;
    receive(stream, &mut answer)?;
    Answer::of(answer[0])?;
    let mut shown = [0; CODE_BYTES];
    receive(stream, &mut shown)?;
    code(secret, Role::Accepting, parties, nonces).verify_slice(&shown).map_err(|_| Mismatch::Secret)?;
    compare(stream, facts)?;
    limit(stream, None)
}

/// Lets a process introduce itself on a connection that this one has accepted. `claim` says whether the place of a
/// process is free, and takes it. Returns the index of the other.
pub(super) fn accept(
    stream: &mut TcpStream,
    (index, processes, workers): (u32, u32, u32),
    secret: &[u8],
    facts: &Facts,
    claim: impl FnOnce(u32) -> bool,
) -> Result<u32, Mismatch> {
    limit(stream, Some(PATIENCE))?;
    let mut hello = [0; HELLO_BYTES];
    receive(stream, &mut hello)?;
    let (magic, rest) = hello.split_at(MAGIC.len());
    if magic != MAGIC {
        return Err(Mismatch::Stranger);
    }
    let parties = decode(rest);
    let other: [u8; NONCE_BYTES] = rest[16..].try_into().expect("the rest is a nonce");
    let refuse = |stream: &mut TcpStream, answer: Answer| {
        send(stream, &[answer as u8])?;
        Answer::of(answer as u8)
    };
    if (parties.processes, parties.workers) != (processes, workers) {
        refuse(stream, Answer::Size)?;
    }
    // The process with the greater index connects.
    if parties.to != index || parties.from <= index || parties.from >= processes {
        refuse(stream, Answer::Index)?;
    }
    let own = fresh()?;
    send(stream, &[Answer::Continue as u8])?;
    send(stream, &own)?;
    let nonces = [&other, &own];
    let mut shown = [0; CODE_BYTES];
    receive(stream, &mut shown)?;
    if code(secret, Role::Connecting, parties, nonces).verify_slice(&shown).is_err() {
        refuse(stream, Answer::Secret)?;
    }
    if !claim(parties.from) {
        refuse(stream, Answer::Taken)?;
    }
    send(stream, &[Answer::Continue as u8])?;
    send(stream, &code(secret, Role::Accepting, parties, nonces).finalize().into_bytes())?;
    compare(stream, facts)?;
    limit(stream, None)?;
    Ok(parties.from)
}

/// Both tell what they search.
fn compare(stream: &mut TcpStream, facts: &Facts) -> Result<(), Mismatch> {
    let text = facts.iter().map(|(name, value)| format!("{name}\0{value}")).collect::<Vec<_>>().join("\x01");
    send(stream, &(text.len() as u32).to_le_bytes())?;
    send(stream, text.as_bytes())?;
    let mut length = [0; 4];
    receive(stream, &mut length)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > MOST_FACTS {
        return Err(Mismatch::Stranger);
    }
    let mut bytes = vec![0; length];
    receive(stream, &mut bytes)?;
    let text = String::from_utf8(bytes).map_err(|_| Mismatch::Stranger)?;
    let theirs: Vec<(&str, &str)> = text.split('\x01').filter_map(|fact| fact.split_once('\0')).collect();
    match differences(facts, &theirs) {
        differences if differences.is_empty() => Ok(()),
        differences => Err(Mismatch::Search(differences)),
    }
}

/// What differs, in words: it is long if it is a hash.
fn differences(ours: &Facts, theirs: &[(&str, &str)]) -> Vec<String> {
    let own: Vec<(&str, &str)> = ours.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let value = |facts: &[(&str, &str)], name: &str| {
        facts.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned())
    };
    let mut found = Vec::new();
    let new = theirs.iter().filter(|(name, _)| value(&own, name).is_none());
    for (name, _) in own.iter().chain(new) {
        let words = match (value(&own, name), value(theirs, name)) {
            (own, other) if own == other => continue,
            _ if name.starts_with("the ") => format!("{name} differs"),
            (Some(own), Some(other)) => format!("{name} is {own} here and {other} there"),
            (Some(own), None) => format!("{name} is {own} here and not given there"),
            (None, other) => format!("{name} is not given here and {} there", other.unwrap_or_default()),
        };
        found.push(words);
    }
    found
}

fn limit(stream: &TcpStream, patience: Option<Duration>) -> Result<(), Mismatch> {
    let set = stream.set_read_timeout(patience).and_then(|()| stream.set_write_timeout(patience));
    set.map_err(|error| failure(&error))
}

fn send(stream: &mut TcpStream, bytes: &[u8]) -> Result<(), Mismatch> {
    stream.write_all(bytes).map_err(|error| failure(&error))
}

fn receive(stream: &mut TcpStream, bytes: &mut [u8]) -> Result<(), Mismatch> {
    stream.read_exact(bytes).map_err(|error| failure(&error))
}

fn failure(error: &io::Error) -> Mismatch {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Mismatch::Silent,
        io::ErrorKind::UnexpectedEof
        | io::ErrorKind::ConnectionReset
        | io::ErrorKind::ConnectionAborted
        | io::ErrorKind::BrokenPipe => Mismatch::Closed,
        _ => Mismatch::Connection(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpListener};
    use std::thread;

    use super::*;

    fn facts(value: &str) -> Vec<(String, String)> {
        vec![("version".to_owned(), "1".to_owned()), ("the text".to_owned(), value.to_owned())]
    }

    /// Both sides of a handshake between process 1, which connects, and process 0.
    fn shake(
        parties: Parties,
        secrets: [&'static str; 2],
        texts: [&'static str; 2],
    ) -> (Result<(), Mismatch>, Result<u32, Mismatch>) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("there is a port");
        let address = listener.local_addr().expect("it is bound");
        let accepting = thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("somebody connects");
            accept(&mut stream, (0, 2, 1), secrets[1].as_bytes(), &facts(texts[1]), |_| true)
        });
        let mut stream = TcpStream::connect(address).expect("somebody listens");
        let connected = connect(&mut stream, parties, secrets[0].as_bytes(), &facts(texts[0]));
        drop(stream);
        (connected, accepting.join().expect("it does not panic"))
    }

    const PARTIES: Parties = Parties { from: 1, to: 0, processes: 2, workers: 1 };

    #[test]
    fn members_recognise_each_other() {
        assert_eq!(shake(PARTIES, ["a", "a"], ["x", "x"]), (Ok(()), Ok(1)));
    }

    #[test]
    fn others_are_refused() {
        let wrong = Err(Mismatch::Secret);
        assert_eq!(shake(PARTIES, ["a", "b"], ["x", "x"]), (wrong, Err(Mismatch::Secret)));
        let differs = Mismatch::Search(vec!["the text differs".to_owned()]);
        assert_eq!(shake(PARTIES, ["a", "a"], ["x", "y"]), (Err(differs.clone()), Err(differs)));
        for parties in [Parties { to: 1, ..PARTIES }, Parties { from: 0, ..PARTIES }, Parties { from: 7, ..PARTIES }] {
            assert_eq!(shake(parties, ["a", "a"], ["x", "x"]), (Err(Mismatch::Index), Err(Mismatch::Index)));
        }
        let larger = Parties { processes: 3, ..PARTIES };
        assert_eq!(shake(larger, ["a", "a"], ["x", "x"]), (Err(Mismatch::Size), Err(Mismatch::Size)));
    }

    #[test]
    fn codes_are_bound_to_roles_indices_and_nonces() {
        let (first, second) = ([1; NONCE_BYTES], [2; NONCE_BYTES]);
        let show = |role, parties, nonces| code(b"secret", role, parties, nonces).finalize().into_bytes().to_vec();
        let codes = [
            show(Role::Connecting, PARTIES, [&first, &second]),
            show(Role::Accepting, PARTIES, [&first, &second]),
            show(Role::Connecting, Parties { from: 0, to: 1, ..PARTIES }, [&first, &second]),
            show(Role::Connecting, Parties { workers: 2, ..PARTIES }, [&first, &second]),
            show(Role::Connecting, PARTIES, [&second, &first]),
        ];
        for (position, one) in codes.iter().enumerate() {
            assert!(codes[..position].iter().all(|other| other != one));
        }
    }
}
