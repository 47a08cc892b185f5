-- Returns a pending job that can be read again to its place.
UPDATE ratchet_job SET ready = ?2, sort_key = ?3 WHERE seq = ?1 AND state = 0
