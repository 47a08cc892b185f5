-- One row if the job has failed: locked. Whether it is paused is judged by a later statement, which sees what the
-- transaction before has done.
SELECT o.job FROM ratchet.outcome o WHERE o.job = $1 AND o.state = 3 FOR UPDATE
