-- No rows. Deletes deploys before a time.
DELETE FROM ratchet.deploy d WHERE d.ctid = ANY (ARRAY(
    SELECT o.ctid FROM ratchet.deploy o WHERE o.at < $1 ORDER BY o.at LIMIT $2
))
