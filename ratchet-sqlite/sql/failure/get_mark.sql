-- What an operator says about a group.
SELECT mark FROM ratchet_failure_mark WHERE name = ?1 AND fingerprint = ?2
