-- No rows. Removes the dead rows that claims and settlements have left, so that counts do not read them. Takes no lock
-- that anything waits for, and skips a table that is being vacuumed.
VACUUM (SKIP_LOCKED, TRUNCATE false) ratchet.ready, ratchet.scheduled, ratchet.lease, ratchet.tally
