-- Deletes acknowledged deliveries (a list of numbers).
DELETE FROM ratchet_delivery WHERE number IN (SELECT value FROM json_each(?1))
