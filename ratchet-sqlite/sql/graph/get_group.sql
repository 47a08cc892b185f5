-- One group.
SELECT body FROM ratchet_group WHERE id = ?1
