//! The faults of the chaos test, chosen by a seed.

use std::time::Duration;

use fastrand::Rng;

/// A fault and its duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// SIGKILL of a worker. Another one replaces it.
    KillWorker(usize),
    /// SIGSTOP of a worker for longer than its lease, then SIGCONT: a zombie.
    FreezeWorker(usize, Duration),
    /// SIGKILL of the producer while it submits.
    KillProducer,
    /// All data is delayed, on every connection.
    SlowNetwork(Duration, Duration),
    /// All data is held back for a while and then passed on.
    SilentNetwork(Duration),
    /// All connections are closed.
    CutNetwork,
    /// All connections are dropped silently, and stay half open on both sides.
    ForgetConnections,
    /// The server is stopped immediately, as in a crash, and restarted.
    RestartServer,
    /// A table is locked for longer than the statement timeout.
    StatementTimeouts(Duration),
    /// The disk with the tables is full.
    DiskFull(Duration),
}

impl Fault {
    pub fn choose(rng: &mut Rng, workers: usize) -> Self {
        let mut between = |low: u64, high: u64| Duration::from_millis(rng.u64(low..high));
        let (short, long) = (between(500, 3000), between(2500, 6000));
        let slow = between(20, 400);
        let worker = rng.usize(..workers);
        match rng.u8(..16) {
            0..=3 => Self::KillWorker(worker),
            4..=6 => Self::FreezeWorker(worker, long),
            7 => Self::KillProducer,
            8 => Self::SlowNetwork(slow, short),
            9 => Self::SilentNetwork(long),
            10 | 11 => Self::CutNetwork,
            12 => Self::ForgetConnections,
            13 => Self::RestartServer,
            14 => Self::StatementTimeouts(short + Duration::from_millis(2000)),
            _ => Self::DiskFull(short),
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::KillWorker(_) => "SIGKILL of a worker",
            Self::FreezeWorker(..) => "SIGSTOP of a worker beyond its lease",
            Self::KillProducer => "SIGKILL of the producer",
            Self::SlowNetwork(..) => "slow network",
            Self::SilentNetwork(_) => "silent network",
            Self::CutNetwork => "connections cut",
            Self::ForgetConnections => "connections half open",
            Self::RestartServer => "server crashed and restarted",
            Self::StatementTimeouts(_) => "statements time out",
            Self::DiskFull(_) => "disk full",
        }
    }
}
