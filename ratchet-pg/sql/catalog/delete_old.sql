-- No rows. Removes entries that were not seen for $1 microseconds.
DELETE FROM ratchet.catalog WHERE last_seen < ratchet.now_micros() - $1
