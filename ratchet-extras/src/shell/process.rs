//! Runs a program in a process group of its own and ends the whole group with the run.

use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::pin::{Pin, pin};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use ratchet_core::{JobContext, JobError};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, Command};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{Sleep, sleep};

use super::capture::Capture;
use super::outcome::{ExitMeaning, ShellError, ShellOutput};
use super::policy::{Limits, Plan};

/// How long the output of a process that has left the group is waited for.
const DRAIN: Duration = Duration::from_secs(1);

/// Runs the program to its end. If the future is dropped, the group is killed.
pub(super) async fn run(ctx: &JobContext, plan: Plan) -> Result<ShellOutput, JobError> {
    let fail = |source| ShellError::Start { program: plan.path.clone(), source };
    let mut group = Group::spawn(&plan).map_err(fail)?;
    let mut output = Output::of(&mut group.child, &plan.limits);
    let cause = watch(ctx, &group, &mut output, &plan.limits).await.map_err(fail)?;
    // The leader is not reaped yet, so its id still denotes this group and no other.
    group.signal(Signal::KILL);
    let _ = tokio::time::timeout(DRAIN, output.read_to_end()).await;
    let status = group.reap().await.map_err(fail)?;
    let program = plan.path.clone();
    match cause {
        None => judge(&plan, status, output),
        Some(StopCause::Run) => Err(ShellError::Stopped { program }.into()),
        Some(StopCause::Time(limit)) => Err(ShellError::TimedOut { program, limit }.into()),
        Some(StopCause::Output(limit)) => {
            Err(ExitMeaning::Fatal.apply(ShellError::TooMuchOutput { program, limit }))
        }
    }
}

/// Why a program was ended.
#[derive(Debug, Clone, Copy)]
enum StopCause {
    /// The run is over: canceled, timed out or released.
    Run,
    /// The limit of the policy.
    Time(Duration),
    /// The limit of the policy.
    Output(u64),
}

/// Reads the output until the program has exited, and ends it if it must not continue.
async fn watch(
    ctx: &JobContext,
    group: &Group,
    output: &mut Output,
    limits: &Limits,
) -> io::Result<Option<StopCause>> {
    let mut exited = pin!(exited(group.id));
    let mut deadline = pin!(sleep(limits.max_runtime.unwrap_or(FAR)));
    let mut kill: Pin<Box<Sleep>> = Box::pin(sleep(FAR));
    let mut cause = None;
    loop {
        let stop = tokio::select! {
            biased;
            ended = &mut exited => return ended.map(|()| cause),
            () = ctx.cancellation().cancelled(), if cause.is_none() => StopCause::Run,
            () = &mut deadline, if cause.is_none() => StopCause::Time(limits.max_runtime.unwrap_or(FAR)),
            () = &mut kill, if cause.is_some() => {
                group.signal(Signal::KILL);
                kill = Box::pin(sleep(FAR));
                continue;
            }
            () = output.read_some(), if output.is_open() => {
                if cause.is_some() || output.total() <= limits.max_output {
                    continue;
                }
                group.signal(Signal::KILL);
                cause = Some(StopCause::Output(limits.max_output));
                continue;
            }
        };
        cause = Some(stop);
        group.signal(Signal::TERM);
        kill = Box::pin(sleep(limits.kill_grace));
    }
}

/// Longer than any program runs.
const FAR: Duration = Duration::from_hours(24 * 365);

/// A process group. It is killed on drop.
#[derive(Debug)]
struct Group {
    child: Child,
    id: Pid,
    reaped: bool,
}

impl Group {
    fn spawn(plan: &Plan) -> io::Result<Self> {
        let child = Command::new(&plan.path)
            .args(&plan.program.fixed_args)
            .args(&plan.args)
            .env_clear()
            .envs(&plan.env)
            .current_dir(&plan.working_dir)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()?;
        let id = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        let id = id.ok_or_else(|| io::Error::other("the process has no id"))?;
        Ok(Self { child, id, reaped: false })
    }

    fn signal(&self, signal: Signal) {
        if !self.reaped {
            // Fails only if no process of the group is left.
            let _ = kill_process_group(self.id, signal);
        }
    }

    async fn reap(&mut self) -> io::Result<ExitStatus> {
        let status = self.child.wait().await?;
        self.reaped = true;
        Ok(status)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // The runtime reaps the leader later.
        self.signal(Signal::KILL);
    }
}

/// Waits until the leader of a group has exited, without reaping it.
async fn exited(leader: Pid) -> io::Result<()> {
    // Listens before the first look, so that no exit is missed.
    let mut children = signal(SignalKind::child())?;
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    while waitid(WaitId::Pid(leader), look)?.is_none() {
        children.recv().await;
    }
    Ok(())
}

/// The outputs of a program, as far as they are read.
#[derive(Debug)]
struct Output {
    stdout: Stream,
    stderr: Stream,
}

impl Output {
    fn of(child: &mut Child, limits: &Limits) -> Self {
        let stdout = child.stdout.take().map(|pipe| Box::new(pipe) as Box<dyn Pipe>);
        let stderr = child.stderr.take().map(|pipe| Box::new(pipe) as Box<dyn Pipe>);
        Self { stdout: Stream::new(stdout, limits), stderr: Stream::new(stderr, limits) }
    }

    fn is_open(&self) -> bool {
        self.stdout.pipe.is_some() || self.stderr.pipe.is_some()
    }

    fn total(&self) -> u64 {
        self.stdout.capture.total() + self.stderr.capture.total()
    }

    /// Reads from one pipe. Nothing is lost if the future is dropped.
    async fn read_some(&mut self) {
        tokio::select! {
            () = self.stdout.read_some(), if self.stdout.pipe.is_some() => {}
            () = self.stderr.read_some(), if self.stderr.pipe.is_some() => {}
            else => {}
        }
    }

    async fn read_to_end(&mut self) {
        while self.is_open() {
            self.read_some().await;
        }
    }
}

trait Pipe: AsyncRead + Unpin + Send + std::fmt::Debug {}
impl<P: AsyncRead + Unpin + Send + std::fmt::Debug> Pipe for P {}

#[derive(Debug)]
struct Stream {
    /// `None` once it has ended.
    pipe: Option<Box<dyn Pipe>>,
    buffer: Box<[u8]>,
    capture: Capture,
}

impl Stream {
    fn new(pipe: Option<Box<dyn Pipe>>, limits: &Limits) -> Self {
        let buffer = vec![0; 16 * 1024].into_boxed_slice();
        Self { pipe, buffer, capture: Capture::new(limits.capture) }
    }

    async fn read_some(&mut self) {
        let Some(pipe) = &mut self.pipe else { return };
        match pipe.read(&mut self.buffer).await {
            Ok(0) | Err(_) => self.pipe = None,
            Ok(length) => self.capture.push(&self.buffer[..length]),
        }
    }
}

/// Translates the end of a program to the outcome of its job.
fn judge(plan: &Plan, status: ExitStatus, output: Output) -> Result<ShellOutput, JobError> {
    let program = plan.path.clone();
    let (stdout, stderr) = (output.stdout.capture.finish(), output.stderr.capture.finish());
    let Some(code) = status.code() else {
        let signal = status.signal().unwrap_or_default();
        return Err(ShellError::Signal { program, signal, stderr }.into());
    };
    match plan.program.meaning(code) {
        ExitMeaning::Success => Ok(ShellOutput { exit_code: code, stdout, stderr }),
        meaning => Err(meaning.apply(ShellError::Exit { program, code, stdout, stderr })),
    }
}
