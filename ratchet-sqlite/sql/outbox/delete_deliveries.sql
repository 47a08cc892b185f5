-- Deliveries (a list of numbers) that have arrived.
DELETE FROM ratchet_delivery WHERE number IN (SELECT value FROM json_each(?1))
