-- Groups inside a group and with a lower id than the given one, newest first.
SELECT body, id FROM ratchet_group WHERE owner = ?1 AND id < ?2 ORDER BY id DESC LIMIT ?3
