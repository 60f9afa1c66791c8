//! Why there is no answer, and whose fault that is.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use thiserror::Error;
use url::Url;

use crate::connect::MOST_HEADERS;
use crate::decode::Coding;

/// Whose fault it is that a fetch failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Blame {
    /// The host's: all its sources may wait.
    Host,
    /// The source's: it may wait alone.
    Source,
    /// Our own: nobody is judged by it.
    Us,
}

/// Why a fetch failed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FetchError {
    /// It is not our turn there.
    #[error("{host} is to be left alone for now")]
    NoTurn {
        /// The host.
        host: String,
    },
    /// The name has no address.
    #[error("there is no host {host}")]
    NoSuchHost {
        /// The name.
        host: String,
    },
    /// No name server answered.
    #[error("no name server said where {host} is{}", if *.theirs { ": its own do not work" } else { "" })]
    NoNameServer {
        /// The name.
        host: String,
        /// Whether ours answered, but those of the name did not answer it soundly.
        theirs: bool,
    },
    /// No connection to any of the host's addresses.
    #[error("cannot connect to {address}: {kind}")]
    Connect {
        /// The last one that was tried.
        address: SocketAddr,
        /// What the system said.
        kind: io::ErrorKind,
        /// Whether this machine lacks something: a network, free handles.
        ours: bool,
    },
    /// No secure connection.
    #[error("no secure connection to {host}: {fault}")]
    Tls {
        /// The name.
        host: String,
        /// What is wrong.
        fault: TlsFault,
    },
    /// The proxy did not let us through.
    #[error("the proxy did not connect to the host: {}", StatusText(*.status))]
    Proxy {
        /// What it answered, if it did.
        status: Option<u16>,
    },
    /// There is no way to the proxy.
    #[error("cannot connect to the proxy {proxy}: {}", Kind(*.kind))]
    NoProxy {
        /// Its host and port.
        proxy: String,
        /// What the system said; `None` if nobody knows its name.
        kind: Option<io::ErrorKind>,
    },
    /// Something took too long.
    #[error("{phase} took longer than {after:?}")]
    Timeout {
        /// What.
        phase: Phase,
        /// The limit.
        after: Duration,
    },
    /// Something is larger than it may be.
    #[error("{what} is larger than {limit} bytes{}", Or(*.what))]
    TooLarge {
        /// What.
        what: Size,
        /// The limit.
        limit: u64,
    },
    /// What came is not HTTP, or breaks its rules.
    #[error("the answer is not sound HTTP: {fault}")]
    Protocol {
        /// How.
        fault: ProtocolFault,
    },
    /// The connection ended within the body.
    #[error("the body ended after {got} bytes{}", Of(*.declared))]
    Truncated {
        /// Bytes on the wire.
        got: u64,
        /// What `Content-Length` promised.
        declared: Option<u64>,
    },
    /// The body is not what `Content-Encoding` says.
    #[error("the body is not {coding}: it {}", if *.ended { "ends too early" } else { "makes no sense" })]
    Encoding {
        /// What was said.
        coding: Coding,
        /// Whether it was sound as far as it went.
        ended: bool,
    },
    /// An encoding, or a number of them, that is not read.
    #[error("the body has the encoding `{coding}`, which is not read")]
    UnknownEncoding {
        /// As the host has it.
        coding: String,
    },
    /// A redirect to where the fetch has been.
    #[error("the redirects go in a circle: {url} again")]
    RedirectLoop {
        /// Where.
        url: Box<Url>,
    },
    /// More redirects than are followed.
    #[error("more than {limit} redirects")]
    TooManyRedirects {
        /// The limit.
        limit: u32,
    },
    /// A redirect from https to http.
    #[error("a redirect from https to http: {to}")]
    Downgrade {
        /// Where to.
        to: Box<Url>,
    },
    /// A redirect that says not or not soundly where to.
    #[error("a redirect ({status}) to {}", Place(.to.as_deref()))]
    NoLocation {
        /// The status.
        status: u16,
        /// What it says instead, as far as it may be shown.
        to: Option<String>,
    },
    /// A status that is neither content nor an absence.
    #[error("status {status}")]
    Status {
        /// The status.
        status: u16,
    },
    /// A URL that cannot be asked for.
    #[error("the URL is longer than {limit} bytes, or has no place in a request")]
    Url {
        /// The longest.
        limit: usize,
    },
    /// A local file that cannot be read.
    #[error("cannot read {path}: {kind}")]
    File {
        /// Its path.
        path: String,
        /// What the system said.
        kind: io::ErrorKind,
    },
    /// What came could not be put where it was to go.
    #[error("what came cannot be put aside: {kind}")]
    Aside {
        /// What the system said.
        kind: io::ErrorKind,
    },
    /// A command that did not succeed.
    #[error("the command `{name}` failed{}", Code(*.code))]
    Command {
        /// Its name in the settings.
        name: String,
        /// Its exit code; `None` if it did not start, or was ended.
        code: Option<i32>,
    },
}

/// A part of a fetch that has a limit of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// From a name to addresses.
    Resolve,
    /// To a connection.
    Connect,
    /// To the proxy, or from there to the host: it does not say which.
    Proxy,
    /// To a secure connection.
    Tls,
    /// To the end of the answer's head.
    FirstByte,
    /// Between two pieces of the body.
    Idle,
    /// The whole body.
    Body,
    /// The fetch with all its redirects.
    Total,
    /// A local command or file.
    Local,
}

/// What has a limit of size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Size {
    /// The head of the answer.
    Head,
    /// The body as it is sent.
    Wire,
    /// What stands around the pieces of the body.
    Frames,
    /// The body after decompression.
    Body,
}

/// What can be wrong with a secure connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
pub enum TlsFault {
    /// The certificate is too old.
    #[error("its certificate has expired")]
    Expired,
    /// The certificate is too new.
    #[error("its certificate is not valid yet")]
    NotYetValid,
    /// The certificate is another host's.
    #[error("its certificate is for another name")]
    WrongName,
    /// Nobody whom we trust has signed the certificate.
    #[error("its certificate is signed by nobody who is trusted")]
    UnknownIssuer,
    /// The certificate says of itself that it is one of an authority (RFC 5280 §4.2.1.9).
    #[error("its certificate is that of an authority, which signs others and is for no host")]
    Authority,
    /// The certificate was taken back.
    #[error("its certificate has been revoked")]
    Revoked,
    /// The certificate was changed, or signed by another.
    #[error("the signature of its certificate is wrong")]
    Signature,
    /// The certificate is not for servers.
    #[error("its certificate is not one for servers")]
    Purpose,
    /// Something else is wrong with the certificate.
    #[error("its certificate cannot be read, or has what nobody here knows")]
    Certificate,
    /// The host ended the handshake with an alert.
    #[error("it declined")]
    Alert,
    /// No version or cipher in common.
    #[error("it has no version or cipher in common with us")]
    Incompatible,
    /// What came is not TLS.
    #[error("it does not speak TLS")]
    Garbage,
    /// The connection ended.
    #[error("it closed the connection")]
    Closed,
}

/// What can be wrong with an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
pub enum ProtocolFault {
    /// The connection ended before there was one.
    #[error("the connection closed without one")]
    Closed,
    /// Its head cannot be read.
    #[error("its head makes no sense")]
    Head,
    /// Its body is not framed as its head says.
    #[error("its body is badly framed")]
    Framing,
    /// The stream was reset, with this code (RFC 9113 §7).
    #[error("the stream was reset with code {0}")]
    Reset(u32),
    /// The connection was given up, with this code (RFC 9113 §7).
    #[error("the connection was given up with code {0}")]
    GoAway(u32),
    /// "Not modified" without having been asked.
    #[error("it says not modified, but was not asked")]
    Unasked,
}

impl FetchError {
    /// Whose fault it is.
    #[must_use]
    pub fn blame(&self) -> Blame {
        match self {
            Self::NoTurn { .. }
            | Self::Connect { ours: true, .. }
            | Self::NoNameServer { theirs: false, .. }
            | Self::Proxy { .. }
            | Self::NoProxy { .. }
            | Self::Aside { .. }
            | Self::Timeout { phase: Phase::Proxy, .. } => Blame::Us,
            Self::File { .. } | Self::Command { .. } | Self::Url { .. } => Blame::Source,
            Self::Timeout { phase: Phase::Local | Phase::Body | Phase::Total, .. } => Blame::Source,
            Self::NoSuchHost { .. }
            | Self::NoNameServer { .. }
            | Self::Connect { .. }
            | Self::Tls { .. }
            | Self::Timeout { .. }
            | Self::Protocol { .. } => Blame::Host,
            Self::Status { status } => match status {
                // Too slow, misled, too early, too many: of all that is asked of it. Below 200 and from
                // 600 on nothing is defined: some hosts turn all robots away with 999.
                ..200 | 408 | 421 | 425 | 429 | 500.. => Blame::Host,
                _ => Blame::Source,
            },
            Self::TooLarge { .. }
            | Self::Truncated { .. }
            | Self::Encoding { .. }
            | Self::UnknownEncoding { .. }
            | Self::RedirectLoop { .. }
            | Self::TooManyRedirects { .. }
            | Self::Downgrade { .. }
            | Self::NoLocation { .. } => Blame::Source,
        }
    }

    /// Its name for programs.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::NoTurn { .. } => "no-turn",
            Self::NoSuchHost { .. } => "no-such-host",
            Self::NoNameServer { .. } => "no-name-server",
            Self::Connect { .. } => "connect",
            Self::Tls { .. } => "tls",
            Self::Proxy { .. } | Self::NoProxy { .. } => "proxy",
            Self::Timeout { .. } => "timeout",
            Self::TooLarge { .. } => "too-large",
            Self::Aside { .. } => "not-put-aside",
            Self::Protocol { .. } => "protocol",
            Self::Truncated { .. } => "truncated",
            Self::Encoding { .. } => "encoding",
            Self::UnknownEncoding { .. } => "unknown-encoding",
            Self::RedirectLoop { .. } => "redirect-loop",
            Self::TooManyRedirects { .. } => "too-many-redirects",
            Self::Downgrade { .. } => "downgrade",
            Self::NoLocation { .. } => "no-location",
            Self::Status { .. } => "status",
            Self::Url { .. } => "url",
            Self::File { .. } => "file",
            Self::Command { .. } => "command",
        }
    }
}

impl Blame {
    /// Its name for programs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Source => "source",
            Self::Us => "us",
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Resolve => "resolving the name",
            Self::Connect => "connecting",
            Self::Proxy => "connecting through the proxy",
            Self::Tls => "securing the connection",
            Self::FirstByte => "waiting for the answer",
            Self::Idle => "waiting for more of the body",
            Self::Body => "reading the body",
            Self::Total => "the fetch with its redirects",
            Self::Local => "reading it",
        })
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Head => "the head of the answer",
            Self::Wire => "the body on the wire",
            Self::Frames => "what frames the pieces of the body",
            Self::Body => "the decompressed body",
        })
    }
}

struct Or(Size);
struct StatusText(Option<u16>);
struct Kind(Option<io::ErrorKind>);
struct Place<'a>(Option<&'a str>);
struct Of(Option<u64>);
struct Code(Option<i32>);

impl fmt::Display for Or {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Size::Head => write!(f, ", or has more than {MOST_HEADERS} lines"),
            Size::Wire | Size::Frames | Size::Body => Ok(()),
        }
    }
}

impl fmt::Display for StatusText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(status) => write!(f, "it answered {status}"),
            None => f.write_str("it gave no sound answer"),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(kind) => write!(f, "{kind}"),
            None => f.write_str("nobody knows its name"),
        }
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(to) => write!(f, "`{to}`, which is no URL"),
            None => f.write_str("nowhere"),
        }
    }
}

impl fmt::Display for Of {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |length| write!(f, " of {length}"))
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |code| write!(f, " with code {code}"))
    }
}
