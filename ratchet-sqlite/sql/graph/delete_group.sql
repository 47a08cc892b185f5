-- Deletes a group.
DELETE FROM ratchet_group WHERE id = ?1
