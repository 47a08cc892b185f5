-- No rows. Deletes the state of queues before a slot.
DELETE FROM ratchet.gauge g WHERE g.ctid = ANY (ARRAY(
    SELECT o.ctid FROM ratchet.gauge o WHERE o.tier = $1 AND o.slot < $2 LIMIT $3
))
