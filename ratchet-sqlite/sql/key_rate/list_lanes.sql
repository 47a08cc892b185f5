-- The lanes of a queue whose time has come, the earliest first.
SELECT lane, slot_key FROM ratchet_aside WHERE queue = ?1 AND back <= ?2 ORDER BY back LIMIT ?3
