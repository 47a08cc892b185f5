-- No rows. Deletes marks that are older than so long.
DELETE FROM ratchet.failure_mark WHERE at < ratchet.now_micros() - $1
