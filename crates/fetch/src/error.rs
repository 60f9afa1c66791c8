//! Fetch errors and who is to blame for them.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use thiserror::Error;
use url::Url;

use crate::connect::MAX_HEADER_LINES;
use crate::decode::ContentCoding;

/// Party that is to blame for a failed fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FetchBlame {
    /// The host: a scheduler may back off from all its sources.
    Host,
    /// The source: a scheduler may back off from it alone.
    Source,
    /// This machine, its settings or its proxy: neither the host nor the source is judged.
    Us,
}

/// Reason for which a fetch failed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FetchError {
    /// The request hook did not allow a request to the host.
    #[error("request to {host} postponed: its rate limit or cooldown does not allow one yet")]
    Postponed {
        /// Host of the request.
        host: String,
    },
    /// The host name has no address.
    #[error("cannot resolve {host}: the name has no address")]
    NoSuchHost {
        /// Host name.
        host: String,
    },
    /// The DNS lookup failed.
    #[error("cannot resolve {host}: {}", DnsCause(*.servfail))]
    DnsFailure {
        /// Host name.
        host: String,
        /// True if our DNS server answered with SERVFAIL: the name servers of the domain are broken,
        /// not ours.
        servfail: bool,
    },
    /// No address of the host accepted a connection.
    #[error("cannot connect to {address}: {kind}")]
    Connect {
        /// Address that was tried last.
        address: SocketAddr,
        /// Error of the operating system.
        kind: io::ErrorKind,
        /// True if this machine lacks something: a network or free file handles.
        is_local: bool,
    },
    /// The TLS handshake failed.
    #[error("TLS connection to {host} failed: {fault}")]
    Tls {
        /// Host name.
        host: String,
        /// Cause.
        fault: TlsFault,
    },
    /// The proxy did not connect to the host.
    #[error("the proxy did not connect to the host: {}", ProxyStatus(*.status))]
    Proxy {
        /// Status of the proxy's response, if it sent one.
        status: Option<u16>,
    },
    /// The proxy cannot be reached.
    #[error("cannot connect to the proxy {proxy}: {}", ProxyCause(*.kind))]
    ProxyUnreachable {
        /// Host and port of the proxy.
        proxy: String,
        /// Error of the operating system; `None` if the name of the proxy does not resolve.
        kind: Option<io::ErrorKind>,
    },
    /// A time limit was exceeded.
    #[error("{phase} took longer than {after:?}{}", TimeoutSetting(*.phase))]
    Timeout {
        /// Part of the fetch that took too long.
        phase: TimeoutPhase,
        /// Limit.
        after: Duration,
    },
    /// A size limit was exceeded.
    #[error("{part} is larger than {limit} bytes{}", HeaderLineLimit(*.part))]
    TooLarge {
        /// Part of the response that is too large.
        part: ResponsePart,
        /// Limit in bytes.
        limit: u64,
    },
    /// The response violates HTTP.
    #[error("invalid HTTP response: {fault}")]
    Protocol {
        /// Violation.
        fault: ProtocolFault,
    },
    /// The connection ended within the body.
    #[error("the body ended early, after {received} {}", ExpectedLength(*.declared))]
    Truncated {
        /// Bytes received, before decompression.
        received: u64,
        /// Value of `Content-Length`.
        declared: Option<u64>,
    },
    /// The body cannot be decoded as `Content-Encoding` says.
    #[error("cannot decode the body as {coding}: {}", if *.truncated { "it ends too early" } else { "invalid data" })]
    Decode {
        /// Coding that the response declares.
        coding: ContentCoding,
        /// True if the data is valid as far as it goes.
        truncated: bool,
    },
    /// The response uses an unknown content coding, or too many of them.
    #[error("unsupported content encoding `{coding}`")]
    UnsupportedCoding {
        /// Coding as the response declares it.
        coding: String,
    },
    /// A redirect leads to a URL that the fetch has already requested.
    #[error("redirect loop: {url} was already requested")]
    RedirectLoop {
        /// Target of the redirect.
        url: Box<Url>,
    },
    /// The limit of redirects was exceeded.
    #[error("more than {limit} redirects (limit: `limits.redirects`)")]
    TooManyRedirects {
        /// Limit.
        limit: u32,
    },
    /// A redirect leads from https to http.
    #[error("redirect from https to http not followed: {to} (`downgrade = true` allows it)")]
    Downgrade {
        /// Target of the redirect.
        to: Box<Url>,
    },
    /// A redirect has no `Location` header, or one that is not a URL.
    #[error("invalid redirect ({status}): {}", LocationCause(.location.as_deref()))]
    InvalidLocation {
        /// Status of the response.
        status: u16,
        /// Value of the `Location` header, redacted and shortened for display.
        location: Option<String>,
    },
    /// The status is neither a success, a redirect, 404 nor 410.
    #[error("status {status}")]
    Status {
        /// Status of the response.
        status: u16,
    },
    /// The URL cannot be sent in a request.
    #[error("the URL is longer than {max_len} bytes or cannot be sent in a request")]
    UrlNotSendable {
        /// Maximum length of a URL, in bytes.
        max_len: usize,
    },
    /// A local file cannot be read.
    #[error("cannot read `{path}`: {kind}")]
    File {
        /// Path of the file.
        path: String,
        /// Error of the operating system.
        kind: io::ErrorKind,
    },
    /// The body could not be written to its sink.
    #[error("cannot write the body to disk: {kind}")]
    SinkWrite {
        /// Error of the operating system.
        kind: io::ErrorKind,
    },
    /// A local command failed.
    #[error("command `{name}` {}", ExitCause(*.code))]
    Command {
        /// Name of the command in the settings.
        name: String,
        /// Exit code; `None` if the command did not start or was killed.
        code: Option<i32>,
    },
}

/// Part of a fetch that has a time limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TimeoutPhase {
    /// DNS lookup.
    Resolve,
    /// TCP connection and HTTP/2 preface.
    Connect,
    /// Connection to the proxy, or from there to the host: a proxy does not say which.
    Proxy,
    /// TLS handshake.
    Tls,
    /// From the request to the end of the response head.
    FirstByte,
    /// Pause between two pieces of the body.
    Idle,
    /// Whole body.
    Body,
    /// Whole fetch, with its redirects.
    Total,
    /// Local command or file.
    Local,
}

/// Part of a response that has a size limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ResponsePart {
    /// Status line and headers.
    Head,
    /// Body as it is sent, before decompression.
    EncodedBody,
    /// Chunk headers and other framing of the body.
    Framing,
    /// Body after decompression.
    DecodedBody,
}

/// Cause of a failed TLS handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
pub enum TlsFault {
    /// The certificate has expired.
    #[error("its certificate has expired")]
    Expired,
    /// The certificate is not valid yet.
    #[error("its certificate is not valid yet")]
    NotYetValid,
    /// The certificate is for another host name.
    #[error("its certificate is for another host name")]
    WrongName,
    /// No trusted authority has signed the certificate.
    #[error("its certificate is not signed by a trusted authority (`roots` adds authorities)")]
    UnknownIssuer,
    /// The certificate is marked as an authority's (RFC 5280 §4.2.1.9).
    #[error("its certificate is that of an authority (CA:TRUE), which cannot identify a host")]
    CaCertificate,
    /// The certificate has been revoked.
    #[error("its certificate has been revoked")]
    Revoked,
    /// The signature of the certificate is invalid.
    #[error("the signature of its certificate is invalid")]
    BadSignature,
    /// The certificate is not for servers.
    #[error("its certificate is not for servers")]
    WrongPurpose,
    /// Any other fault of the certificate.
    #[error("its certificate is malformed or has an unsupported extension")]
    InvalidCertificate,
    /// The host ended the handshake with an alert.
    #[error("it rejected the handshake; it may require a client certificate")]
    Rejected,
    /// Client and host have no version or cipher in common.
    #[error("no TLS version or cipher in common")]
    Incompatible,
    /// The host does not speak TLS.
    #[error("it does not speak TLS on this port")]
    NotTls,
    /// The connection ended during the handshake.
    #[error("it closed the connection during the handshake")]
    Closed,
}

/// Violation of HTTP by a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
pub enum ProtocolFault {
    /// The connection ended before the response.
    #[error("the connection closed before a response")]
    Closed,
    /// The status line or a header is malformed.
    #[error("malformed status line or headers")]
    Head,
    /// The body is not framed as the head says.
    #[error("malformed framing of the body")]
    Framing,
    /// The HTTP/2 stream was reset with this code (RFC 9113 §7).
    #[error("the stream was reset with code {0}")]
    Reset(u32),
    /// The HTTP/2 connection was closed with this code (RFC 9113 §7).
    #[error("the connection was closed by GOAWAY with code {0}")]
    GoAway(u32),
    /// The response is 304 Not Modified, and the request was unconditional.
    #[error("304 Not Modified to an unconditional request")]
    UnexpectedNotModified,
}

impl FetchError {
    /// Returns the party to blame.
    #[must_use]
    pub fn blame(&self) -> FetchBlame {
        match self {
            Self::Postponed { .. }
            | Self::Connect { is_local: true, .. }
            | Self::DnsFailure { servfail: false, .. }
            | Self::Proxy { .. }
            | Self::ProxyUnreachable { .. }
            | Self::SinkWrite { .. }
            | Self::Timeout { phase: TimeoutPhase::Proxy, .. } => FetchBlame::Us,
            Self::File { .. } | Self::Command { .. } | Self::UrlNotSendable { .. } => {
                FetchBlame::Source
            }
            Self::Timeout {
                phase: TimeoutPhase::Local | TimeoutPhase::Body | TimeoutPhase::Total,
                ..
            } => FetchBlame::Source,
            Self::NoSuchHost { .. }
            | Self::DnsFailure { .. }
            | Self::Connect { .. }
            | Self::Tls { .. }
            | Self::Timeout { .. }
            | Self::Protocol { .. } => FetchBlame::Host,
            Self::Status { status } => match status {
                // Request timeout, misdirected, too early, too many requests: they concern the host as a
                // whole. Below 200 and from 600 on nothing is defined: some hosts reject all robots
                // with 999.
                ..200 | 408 | 421 | 425 | 429 | 500.. => FetchBlame::Host,
                _ => FetchBlame::Source,
            },
            Self::TooLarge { .. }
            | Self::Truncated { .. }
            | Self::Decode { .. }
            | Self::UnsupportedCoding { .. }
            | Self::RedirectLoop { .. }
            | Self::TooManyRedirects { .. }
            | Self::Downgrade { .. }
            | Self::InvalidLocation { .. } => FetchBlame::Source,
        }
    }

    /// Returns the stable name for programs.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Postponed { .. } => "no-turn",
            Self::NoSuchHost { .. } => "no-such-host",
            Self::DnsFailure { .. } => "no-name-server",
            Self::Connect { .. } => "connect",
            Self::Tls { .. } => "tls",
            Self::Proxy { .. } | Self::ProxyUnreachable { .. } => "proxy",
            Self::Timeout { .. } => "timeout",
            Self::TooLarge { .. } => "too-large",
            Self::SinkWrite { .. } => "not-put-aside",
            Self::Protocol { .. } => "protocol",
            Self::Truncated { .. } => "truncated",
            Self::Decode { .. } => "encoding",
            Self::UnsupportedCoding { .. } => "unknown-encoding",
            Self::RedirectLoop { .. } => "redirect-loop",
            Self::TooManyRedirects { .. } => "too-many-redirects",
            Self::Downgrade { .. } => "downgrade",
            Self::InvalidLocation { .. } => "no-location",
            Self::Status { .. } => "status",
            Self::UrlNotSendable { .. } => "url",
            Self::File { .. } => "file",
            Self::Command { .. } => "command",
        }
    }
}

impl FetchBlame {
    /// Returns the stable name for programs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Source => "source",
            Self::Us => "us",
        }
    }
}

impl fmt::Display for TimeoutPhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Resolve => "resolving the host name",
            Self::Connect => "connecting",
            Self::Proxy => "connecting through the proxy",
            Self::Tls => "the TLS handshake",
            Self::FirstByte => "waiting for the response",
            Self::Idle => "waiting for more of the body",
            Self::Body => "reading the body",
            Self::Total => "the fetch with its redirects",
            Self::Local => "reading the file or command",
        })
    }
}

impl fmt::Display for ResponsePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Head => "the response head",
            Self::EncodedBody => "the body on the wire",
            Self::Framing => "the framing of the body",
            Self::DecodedBody => "the decompressed body",
        })
    }
}

struct DnsCause(bool);
struct HeaderLineLimit(ResponsePart);
struct ProxyStatus(Option<u16>);
struct ProxyCause(Option<io::ErrorKind>);
struct TimeoutSetting(TimeoutPhase);
struct LocationCause<'a>(Option<&'a str>);
struct ExpectedLength(Option<u64>);
struct ExitCause(Option<i32>);

impl fmt::Display for DnsCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            true => "the name servers of its domain failed (SERVFAIL)",
            false => "no DNS server answered (`dns` sets other servers)",
        })
    }
}

impl fmt::Display for HeaderLineLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            ResponsePart::Head => write!(f, ", or has more than {MAX_HEADER_LINES} lines"),
            ResponsePart::EncodedBody | ResponsePart::Framing | ResponsePart::DecodedBody => Ok(()),
        }
    }
}

impl fmt::Display for ProxyStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(407) => f.write_str("status 407 (`basic` of the proxy sets its credentials)"),
            Some(status) => write!(f, "status {status}"),
            None => f.write_str("invalid response"),
        }
    }
}

impl fmt::Display for ProxyCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(kind) => write!(f, "{kind}"),
            None => f.write_str("its name has no address"),
        }
    }
}

/// Names the setting of a time limit. The limits of the body and of the whole fetch can come from the
/// caller instead.
impl fmt::Display for TimeoutSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.0 {
            TimeoutPhase::Resolve | TimeoutPhase::Connect | TimeoutPhase::Proxy => "connect",
            TimeoutPhase::Tls => "tls",
            TimeoutPhase::FirstByte => "first_byte",
            TimeoutPhase::Idle => "idle",
            TimeoutPhase::Local => "body",
            TimeoutPhase::Body | TimeoutPhase::Total => return Ok(()),
        };
        write!(f, " (limit: `limits.{name}`)")
    }
}

impl fmt::Display for LocationCause<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(location) => write!(f, "`{location}` is not a URL"),
            None => f.write_str("it has no `Location` header"),
        }
    }
}

impl fmt::Display for ExpectedLength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(length) => write!(f, "of {length} bytes"),
            None => f.write_str("bytes"),
        }
    }
}

impl fmt::Display for ExitCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(code) => write!(f, "failed with exit code {code}"),
            None => f.write_str("did not start or was killed"),
        }
    }
}
