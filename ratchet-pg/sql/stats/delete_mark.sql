-- No rows. Removes the mark of a slot. Waits for transactions that write to the slot.
DELETE FROM ratchet.stat_mark m WHERE m.tier = $1 AND m.slot = $2
