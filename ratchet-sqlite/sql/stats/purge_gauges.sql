-- Deletes the state of queues before a slot.
DELETE FROM ratchet_gauge
WHERE (tier, slot, queue) IN (SELECT tier, slot, queue FROM ratchet_gauge WHERE tier = ?1 AND slot < ?2 LIMIT ?3)
