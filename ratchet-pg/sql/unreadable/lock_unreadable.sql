-- The job, locked, if it cannot be read.
SELECT u.cause, u.why FROM ratchet.unreadable u WHERE u.job = $1 FOR UPDATE
