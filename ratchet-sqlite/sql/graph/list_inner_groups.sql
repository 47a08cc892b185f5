-- The groups in a group, newest first, older than one.
SELECT body, id FROM ratchet_group WHERE owner = ?1 AND id < ?2 ORDER BY id DESC LIMIT ?3
