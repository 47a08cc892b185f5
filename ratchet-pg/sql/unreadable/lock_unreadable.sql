-- The record of a job that cannot be read, locked.
SELECT u.cause, u.why FROM ratchet.unreadable u WHERE u.job = $1 FOR UPDATE
