-- A node leads no longer.
DELETE FROM ratchet_leader WHERE node = ?1
