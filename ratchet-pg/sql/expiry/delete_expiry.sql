-- No rows. Removes the expiry of a job that was retried manually.
DELETE FROM ratchet.expiry WHERE job = $1
