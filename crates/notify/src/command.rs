//! Commands from the configuration: run without a shell, with a minimal environment, and killed with all their
//! descendants if they exceed the time limit.

use std::process::Stdio;
use std::time::Duration;

use rustix::process::Pid;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::mail;
use crate::process_tree;
use crate::sender::{DeliveryError, Envelope, FailureKind, Receipt, Sender};
use crate::target::{RawCommand, Target};
use crate::template::{FIELDS, field_value, to_line, truncate};

/// Bytes of output that are stored.
const STORED_OUTPUT_BYTES: usize = 4 * 1024;
/// Bytes of output after which a command is killed.
const MAX_OUTPUT_BYTES: usize = 1 << 20;
/// Environment variables that a command inherits.
const INHERITED_VARIABLES: [&str; 6] = ["PATH", "HOME", "LANG", "TZ", "TMPDIR", "USER"];
/// Maximum length of the value of a variable.
const MAX_VARIABLE_LEN: usize = 32 * 1024;

pub(crate) fn unknown_command(name: &str) -> DeliveryError {
    let message = format!("command `{name}` is not defined in [commands] of the configuration");
    DeliveryError::new(message, FailureKind::Transient)
}

pub(crate) async fn send(
    sender: &Sender,
    target: &Target,
    command: &RawCommand,
    envelope: &Envelope<'_>,
) -> Result<Receipt, DeliveryError> {
    let words = sender.commands.get(&command.name).ok_or_else(|| unknown_command(&command.name))?;
    let mut run = prepare(words, envelope).ok_or_else(|| unknown_command(&command.name))?;
    let input = standard_input(target, envelope);
    let mark = process_tree::new_mark();
    run.env(process_tree::MARK_VARIABLE, &mark);
    let child = run.spawn().map_err(|error| {
        DeliveryError::new(
            format!("cannot run `{}`: {error}", command.name),
            FailureKind::Transient,
        )
    })?;
    let name = &command.name;
    let finished =
        timeout(sender.command_timeout, communicate(ProcessGroup::new(child, mark), &input)).await;
    let (code, output) = match finished {
        Ok(Ok(result)) => result,
        Ok(Err(reason)) => {
            return Err(DeliveryError::new(format!("`{name}` {reason}"), FailureKind::Transient));
        }
        Err(_) => {
            let message = format!(
                "`{name}` exceeded the time limit of {:?} and was killed",
                sender.command_timeout
            );
            return Err(DeliveryError::new(message, FailureKind::Transient));
        }
    };
    let output = truncate(&crate::template::to_line(&String::from_utf8_lossy(&output)), 300);
    if code != Some(0) {
        let status = match code {
            Some(code) => format!("exited with code {code}"),
            None => "was killed by a signal".to_owned(),
        };
        let mut error = DeliveryError::new(format!("`{name}` {status}"), FailureKind::Transient);
        error.response = Some(output);
        return Err(error);
    }
    Ok(Receipt {
        kind: target.kind(),
        to: target.redacted_address(),
        id: envelope.id.to_owned(),
        sent: format!("{} bytes on its standard input", input.len()),
        answer: if output.is_empty() { "exited with code 0".to_owned() } else { output },
    })
}

fn prepare(words: &[String], envelope: &Envelope<'_>) -> Option<Command> {
    let (program, arguments) = words.split_first()?;
    let mut run = Command::new(program);
    run.args(arguments).env_clear();
    for name in INHERITED_VARIABLES {
        if let Some(value) = std::env::var_os(name) {
            run.env(name, value);
        }
    }
    let entries = &envelope.payload.entries;
    run.env("FRESHET_DESTINATION", envelope.name)
        .env("FRESHET_DELIVERY", envelope.id)
        .env("FRESHET_COUNT", entries.len().to_string());
    if let [entry] = entries.as_slice() {
        for field in FIELDS {
            // A variable cannot contain a zero byte, and other control characters break some programs.
            let value = truncate(&to_line(&field_value(entry, field)), MAX_VARIABLE_LEN);
            run.env(format!("FRESHET_{}", field.to_ascii_uppercase()), value);
        }
    }
    if let Some(gap) = envelope.payload.gap {
        run.env("FRESHET_GAP", format!("{}-{}", gap.from, gap.to));
    }
    run.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A process group of its own, so that all its children can be killed with it.
    run.process_group(0).kill_on_drop(true).current_dir("/");
    Some(run)
}

/// Returns the standard input of a command: the text of the template, or a line of JSON per entry.
fn standard_input(target: &Target, envelope: &Envelope<'_>) -> Vec<u8> {
    if target.text.is_some() {
        return mail::text(target, envelope.payload, usize::MAX).into_bytes();
    }
    let mut lines = Vec::new();
    for entry in &envelope.payload.entries {
        lines.extend(serde_json::to_vec(entry).unwrap_or_default());
        lines.push(b'\n');
    }
    lines
}

/// A command and all its descendants: killed on drop.
struct ProcessGroup {
    child: Child,
    running: Option<Pid>,
    mark: String,
}

impl ProcessGroup {
    fn new(child: Child, mark: String) -> Self {
        let running = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        Self { child, running, mark }
    }

    /// Waits for the exit of the command. After that its process id may be reused: nothing is killed on drop.
    async fn wait(&mut self) -> std::io::Result<std::process::ExitStatus> {
        let status = self.child.wait().await;
        self.running = None;
        status
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        if let Some(group) = self.running {
            process_tree::kill_tree(group, &self.mark);
        }
    }
}

/// Writes the standard input of a command, reads its output, and waits for its exit.
async fn communicate(
    mut group: ProcessGroup,
    input: &[u8],
) -> Result<(Option<i32>, Vec<u8>), String> {
    let stdin = group.child.stdin.take();
    let (out, err) = (group.child.stdout.take(), group.child.stderr.take());
    let write = async {
        if let Some(mut stdin) = stdin {
            // A command need not read all of its input.
            let _ = stdin.write_all(input).await;
        }
    };
    let read = async {
        let (out, err) = tokio::join!(read_output(out), read_output(err));
        let mut both = out?;
        both.extend(err?);
        Ok::<_, String>(both)
    };
    let mut read = std::pin::pin!(read);
    let mut output = None;
    let mut write = std::pin::pin!(write);
    let mut is_written = false;
    let status = loop {
        tokio::select! {
            () = &mut write, if !is_written => is_written = true,
            bytes = &mut read, if output.is_none() => output = Some(bytes?),
            status = group.wait() => break status,
        }
    };
    let status = status.map_err(|error| format!("cannot wait for the process: {error}"))?;
    let output = match output {
        Some(output) => output,
        // Children may keep the output open: do not wait for them.
        None => match timeout(Duration::from_millis(200), read).await {
            Ok(output) => output?,
            Err(_) => Vec::new(),
        },
    };
    Ok((status.code(), output))
}

/// Reads the output of a command and returns its beginning; fails if the command writes too much.
async fn read_output(stream: Option<impl AsyncRead + Unpin>) -> Result<Vec<u8>, String> {
    let Some(mut stream) = stream else { return Ok(Vec::new()) };
    let (mut stored, mut total) = (Vec::new(), 0);
    let mut piece = vec![0; 16 * 1024];
    while let Ok(length @ 1..) = stream.read(&mut piece).await {
        total += length;
        let room = STORED_OUTPUT_BYTES - stored.len().min(STORED_OUTPUT_BYTES);
        stored.extend_from_slice(&piece[..length.min(room)]);
        if total > MAX_OUTPUT_BYTES {
            return Err(format!("wrote more than {MAX_OUTPUT_BYTES} bytes and was killed"));
        }
    }
    Ok(stored)
}
