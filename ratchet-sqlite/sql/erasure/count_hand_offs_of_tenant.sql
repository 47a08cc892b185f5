-- How many hand-offs a tenant has, at most a number.
SELECT count(*) FROM (SELECT 1 FROM ratchet_hand_off WHERE tenant = ?1 LIMIT ?2)
