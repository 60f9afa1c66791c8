//! Programs that the owner's configuration names: run without a shell, with nothing of ours in their
//! environment, and ended with all that they have begun if they take too long.

use std::process::Stdio;
use std::time::Duration;

use rustix::process::Pid;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::mail;
use crate::sender::{DeliveryError, Envelope, FailureKind, Receipt, Sender};
use crate::target::{RawCommand, Target};
use crate::template::{FIELDS, cut, line, value};
use crate::tree;

/// What is kept of its output, and what it may write at most.
const KEPT: usize = 4 * 1024;
const MOST: usize = 1 << 20;
/// Variables of ours that a program gets.
const INHERITED: [&str; 6] = ["PATH", "HOME", "LANG", "TZ", "TMPDIR", "USER"];
/// The longest value of a variable.
const LONGEST: usize = 32 * 1024;

pub(crate) fn unknown(name: &str) -> DeliveryError {
    let what = format!("no command `{name}` is named under [commands] in the configuration");
    DeliveryError::new(what, FailureKind::Transient)
}

pub(crate) async fn send(
    sender: &Sender,
    target: &Target,
    command: &RawCommand,
    parcel: &Envelope<'_>,
) -> Result<Receipt, DeliveryError> {
    let line = sender.commands.get(&command.name).ok_or_else(|| unknown(&command.name))?;
    let mut run = prepare(line, parcel).ok_or_else(|| unknown(&command.name))?;
    let input = input(target, parcel);
    let mark = tree::mark();
    run.env(tree::MARK, &mark);
    let child = run.spawn().map_err(|error| {
        DeliveryError::new(
            format!("`{}` cannot be run: {error}", command.name),
            FailureKind::Transient,
        )
    })?;
    let name = &command.name;
    let done = timeout(sender.limit, attend(Group::new(child, mark), &input)).await;
    let (code, output) = match done {
        Ok(Ok(done)) => done,
        Ok(Err(what)) => {
            return Err(DeliveryError::new(format!("`{name}` {what}"), FailureKind::Transient));
        }
        Err(_) => {
            let what = format!("`{name}` took longer than {:?} and was ended", sender.limit);
            return Err(DeliveryError::new(what, FailureKind::Transient));
        }
    };
    let said = cut(&crate::template::line(&String::from_utf8_lossy(&output)), 300);
    if code != Some(0) {
        let how = match code {
            Some(code) => format!("ended with {code}"),
            None => "was ended by a signal".to_owned(),
        };
        let mut trouble = DeliveryError::new(format!("`{name}` {how}"), FailureKind::Transient);
        trouble.response = Some(said);
        return Err(trouble);
    }
    Ok(Receipt {
        kind: target.kind(),
        to: target.redacted_address(),
        id: parcel.id.to_owned(),
        sent: format!("{} bytes on its standard input", input.len()),
        answer: if said.is_empty() { "ended with 0".to_owned() } else { said },
    })
}

fn prepare(words: &[String], parcel: &Envelope<'_>) -> Option<Command> {
    let (program, arguments) = words.split_first()?;
    let mut run = Command::new(program);
    run.args(arguments).env_clear();
    for name in INHERITED {
        if let Some(value) = std::env::var_os(name) {
            run.env(name, value);
        }
    }
    let entries = &parcel.payload.entries;
    run.env("FRESHET_DESTINATION", parcel.name)
        .env("FRESHET_DELIVERY", parcel.id)
        .env("FRESHET_COUNT", entries.len().to_string());
    if let [entry] = entries.as_slice() {
        for field in FIELDS {
            // A variable cannot hold a zero byte, and some programs fall over others.
            let value = cut(&line(&value(entry, field)), LONGEST);
            run.env(format!("FRESHET_{}", field.to_ascii_uppercase()), value);
        }
    }
    if let Some(gap) = parcel.payload.gap {
        run.env("FRESHET_GAP", format!("{}-{}", gap.from, gap.to));
    }
    run.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A group of its own, so that it can be ended with all that it has begun.
    run.process_group(0).kill_on_drop(true).current_dir("/");
    Some(run)
}

/// What it reads: the text that its owner wants, or a line of JSON for each entry.
fn input(target: &Target, parcel: &Envelope<'_>) -> Vec<u8> {
    if target.text.is_some() {
        return mail::text(target, parcel.payload, usize::MAX).into_bytes();
    }
    let mut lines = Vec::new();
    for entry in &parcel.payload.entries {
        lines.extend(serde_json::to_vec(entry).unwrap_or_default());
        lines.push(b'\n');
    }
    lines
}

/// A program and all that it has begun. Dropped, they end.
struct Group {
    child: Child,
    running: Option<Pid>,
    mark: String,
}

impl Group {
    fn new(child: Child, mark: String) -> Self {
        let running = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        Self { child, running, mark }
    }

    /// When it ends, others may get its number: nothing is to be ended any more.
    async fn end(&mut self) -> std::io::Result<std::process::ExitStatus> {
        let status = self.child.wait().await;
        self.running = None;
        status
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(group) = self.running {
            tree::end(group, &self.mark);
        }
    }
}

/// Gives a program what it reads, takes what it writes, and waits for its end.
async fn attend(mut group: Group, input: &[u8]) -> Result<(Option<i32>, Vec<u8>), String> {
    let stdin = group.child.stdin.take();
    let (out, err) = (group.child.stdout.take(), group.child.stderr.take());
    let give = async {
        if let Some(mut stdin) = stdin {
            // Who does not want to read it all need not.
            let _ = stdin.write_all(input).await;
        }
    };
    let read = async {
        let (out, err) = tokio::join!(take(out), take(err));
        let mut both = out?;
        both.extend(err?);
        Ok::<_, String>(both)
    };
    let mut read = std::pin::pin!(read);
    let mut output = None;
    let mut give = std::pin::pin!(give);
    let mut given = false;
    let status = loop {
        tokio::select! {
            () = &mut give, if !given => given = true,
            done = &mut read, if output.is_none() => output = Some(done?),
            status = group.end() => break status,
        }
    };
    let status = status.map_err(|error| format!("cannot be waited for: {error}"))?;
    let output = match output {
        Some(output) => output,
        // What it has begun may hold its output open: what has come by then is enough.
        None => match timeout(Duration::from_millis(200), read).await {
            Ok(output) => output?,
            Err(_) => Vec::new(),
        },
    };
    Ok((status.code(), output))
}

/// Some of what a program writes. Who writes without end is stopped.
async fn take(stream: Option<impl AsyncRead + Unpin>) -> Result<Vec<u8>, String> {
    let Some(mut stream) = stream else { return Ok(Vec::new()) };
    let (mut kept, mut all) = (Vec::new(), 0);
    let mut piece = vec![0; 16 * 1024];
    while let Ok(length @ 1..) = stream.read(&mut piece).await {
        all += length;
        let room = KEPT - kept.len().min(KEPT);
        kept.extend_from_slice(&piece[..length.min(room)]);
        if all > MOST {
            return Err(format!("wrote more than {MOST} bytes and was ended"));
        }
    }
    Ok(kept)
}
