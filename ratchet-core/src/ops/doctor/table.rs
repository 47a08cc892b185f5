//! [`CHECKS`]: everything that the doctor looks for.

use super::Check;
use super::Severity::{self, Error, Warning};

const fn check(
    id: &'static str,
    severity: Severity,
    healthy: &'static str,
    meaning: &'static str,
) -> Check {
    Check { id, severity, healthy, meaning }
}

/// Every check, ordered by id.
pub const CHECKS: [Check; 34] = [
    check(
        "ARC-01",
        Warning,
        "archived jobs are deleted after their retention",
        "No worker with these settings leads maintenance, or its purge window is too short.",
    ),
    check(
        "BRK-01",
        Warning,
        "no breaker is open",
        "Jobs of the service wait until the breaker closes.",
    ),
    check(
        "CLK-01",
        Warning,
        "the clocks agree",
        "Due times and leases use the clock of the store. Log lines of this host have other times.",
    ),
    check(
        "FLW-01",
        Warning,
        "no open batch is older than a day",
        "The batch does not end before the program that opened it seals it.",
    ),
    check(
        "JOB-01",
        Error,
        "live workers know every waiting job",
        "The jobs wait until a worker that knows their name starts.",
    ),
    check(
        "JOB-02",
        Error,
        "every job can be read",
        "The rows of these jobs are damaged or were written by a newer version. The jobs do not run.",
    ),
    check(
        "JOB-03",
        Warning,
        "no failed job needs attention",
        "Failed jobs stay until an operator retries them or their retention ends.",
    ),
    check(
        "JOB-04",
        Warning,
        "no run exceeds its timeout",
        "The handler does not return and holds a slot of its worker.",
    ),
    check("NOD-01", Error, "a worker is alive while jobs wait", "Nothing runs."),
    check(
        "NOD-02",
        Warning,
        "no dead node holds jobs",
        "The jobs of a dead node are rescued by the maintenance of a live worker.",
    ),
    check(
        "NOD-03",
        Warning,
        "all workers have the same version",
        "A deployment is in progress or was left half done.",
    ),
    check(
        "NOD-04",
        Warning,
        "no node has been quiet for an hour",
        "The node claims no jobs until it is resumed.",
    ),
    check(
        "OPR-01",
        Warning,
        "no operation waits for its operator",
        "The operation changes no more jobs until it is resumed or aborted.",
    ),
    check(
        "OPR-02",
        Warning,
        "every running operation makes progress",
        "No worker leads maintenance, or the pages of the operation fail.",
    ),
    check(
        "OUT-01",
        Warning,
        "no outcome or dead letter waits an hour for its sink",
        "No worker with the sink runs, or the sink does not accept what it is given.",
    ),
    check(
        "PGS-01",
        Warning,
        "no transaction of the database is open for ten minutes",
        "The server cannot remove rows that were deleted after the transaction began. Claims become slower.",
    ),
    check(
        "PGS-02",
        Warning,
        "deleted rows are removed",
        "Claims and counts read rows that were deleted.",
    ),
    check(
        "PGS-03",
        Error,
        "the server vacuums",
        "Deleted rows are never removed, and the server stops before its transaction ids run out.",
    ),
    check(
        "PGS-04",
        Warning,
        "the server has free connections",
        "Programs that need another connection fail.",
    ),
    check(
        "PGS-05",
        Warning,
        "the connection to the server is encrypted or local",
        "Others on the network can read and change jobs.",
    ),
    check(
        "PGS-06",
        Warning,
        "a partition covers the present",
        "New jobs are stored in the partition for the rest, which is purged row by row.",
    ),
    check(
        "QUE-01",
        Error,
        "a worker serves every queue with waiting jobs",
        "The jobs wait until a worker serves their queue.",
    ),
    check(
        "QUE-02",
        Warning,
        "no paused queue has waiting jobs",
        "The jobs wait until the queue is resumed.",
    ),
    check(
        "QUE-03",
        Warning,
        "no due job waits longer than ten minutes",
        "The workers do not keep up, or the limits of the queue are too low.",
    ),
    check(
        "QUE-04",
        Warning,
        "no queue has been paused for a day",
        "The pause may have been forgotten.",
    ),
    check(
        "SCH-01",
        Error,
        "a live worker knows the job of every schedule",
        "The schedule does not fire. A worker that knows the job fires it.",
    ),
    check(
        "SCH-02",
        Error,
        "no schedule is overdue",
        "No live worker runs the maintenance that fires schedules.",
    ),
    check(
        "SCH-03",
        Warning,
        "no schedule is paused",
        "The schedule submits nothing until it is resumed.",
    ),
    check(
        "SQL-01",
        Error,
        "the file is not damaged",
        "Rows can be lost or wrong. The check runs only when it is requested.",
    ),
    check(
        "SQL-02",
        Warning,
        "the write-ahead log is short",
        "A process keeps a read transaction open, so the log grows and reads become slower.",
    ),
    check(
        "SQL-03",
        Warning,
        "the file has little unused space",
        "The file is larger than its content.",
    ),
    check("STO-01", Error, "every table and index exists", "Statements fail or read whole tables."),
    check(
        "STO-02",
        Warning,
        "a commit waits for the disk",
        "Jobs that were submitted, and outcomes, can be lost in a crash of the machine.",
    ),
    check(
        "STO-03",
        Error,
        "a worker leads maintenance",
        "Orphans are not rescued, schedules do not fire, and operations and purges do not run.",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn o_11_checks_are_ordered_and_distinct() {
        assert!(CHECKS.is_sorted_by(|a, b| a.id < b.id));
        assert!(CHECKS.len() >= 25);
    }
}
