-- No rows. Deletes the records of jobs that can be read again or no longer exist.
DELETE FROM ratchet.unreadable WHERE job = ANY($1::uuid[])
