-- No rows. Removes entries that were not seen for $1 microseconds.
DELETE FROM ratchet.catalogue WHERE last_seen < ratchet.now_micros() - $1
