-- The group with this id.
SELECT body FROM ratchet_group WHERE id = ?1
