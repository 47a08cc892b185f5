-- What operators say about groups.
SELECT mark FROM ratchet_failure_mark ORDER BY name, fingerprint
