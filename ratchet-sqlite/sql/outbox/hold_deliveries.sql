-- Holds deliveries (a list of numbers) that were handed out.
UPDATE ratchet_delivery SET held_until = ?2 WHERE number IN (SELECT value FROM json_each(?1))
