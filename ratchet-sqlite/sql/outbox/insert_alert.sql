-- Inserts an alert.
INSERT INTO ratchet_alert (job, name, fingerprint, message, at) VALUES (?1, ?2, ?3, ?4, ?5)
