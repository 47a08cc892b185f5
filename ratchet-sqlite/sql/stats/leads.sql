-- One row if the node leads maintenance.
SELECT 1 FROM ratchet_leader WHERE one = 1 AND node = ?1 AND lease_until > ?2
