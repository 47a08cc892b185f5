-- Every count, before it is counted anew.
DELETE FROM ratchet_count
