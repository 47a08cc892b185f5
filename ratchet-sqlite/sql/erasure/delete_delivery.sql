-- Deletes a message.
DELETE FROM ratchet_delivery WHERE number = ?1
