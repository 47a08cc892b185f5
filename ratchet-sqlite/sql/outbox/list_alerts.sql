-- Alerts, newest first.
SELECT job, name, fingerprint, message, at, suppressed FROM ratchet_alert ORDER BY number DESC LIMIT ?1
