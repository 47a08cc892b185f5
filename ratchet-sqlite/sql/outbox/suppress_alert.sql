-- Counts a suppressed alert.
UPDATE ratchet_alert SET suppressed = iif(suppressed BETWEEN 0 AND 4294967295, suppressed, 0) + 1 WHERE number = ?1
