-- No rows: these jobs can be read, or are gone.
DELETE FROM ratchet.unreadable WHERE job = ANY($1::uuid[])
