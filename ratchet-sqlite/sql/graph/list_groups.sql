-- Groups that are in no other, newest first, older than one.
SELECT body, id FROM ratchet_group WHERE owner IS NULL AND id < ?1 ORDER BY id DESC LIMIT ?2
