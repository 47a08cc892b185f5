-- What operators say about groups.
SELECT mark FROM ratchet.failure_mark ORDER BY name, fingerprint
