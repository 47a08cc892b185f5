-- A node leads no longer.
DELETE FROM ratchet_leader WHERE one = 1 AND node = ?1
