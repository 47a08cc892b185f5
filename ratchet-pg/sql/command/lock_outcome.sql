-- One row, locked, if the job has failed. A later statement checks whether it is paused, because that statement sees
-- the changes of the transaction that held the lock before.
SELECT o.job FROM ratchet.outcome o WHERE o.job = $1 AND o.state = 3 FOR UPDATE
