-- Alerts, newest first.
SELECT job, at, suppressed, name, fingerprint, message FROM ratchet.alert ORDER BY id DESC LIMIT $1
