-- One more of the same.
UPDATE ratchet_alert SET suppressed = suppressed + 1 WHERE number = ?1
