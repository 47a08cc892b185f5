-- No rows. Raises or lowers the count of failed jobs.
INSERT INTO ratchet.tally (queue, state, part, change)
SELECT $2, 3, o.tableoid, $3 FROM ratchet.outcome o WHERE o.job = $1
