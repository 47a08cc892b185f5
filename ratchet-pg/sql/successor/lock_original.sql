-- One row, locked, if the job has ended.
SELECT o.job FROM ratchet.outcome o WHERE o.job = $1 FOR UPDATE
