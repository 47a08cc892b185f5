-- Groups without an owner and with a lower id than the given one, newest first.
SELECT body, id FROM ratchet_group WHERE owner IS NULL AND id < ?1 ORDER BY id DESC LIMIT ?2
