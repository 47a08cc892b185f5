-- No rows. Inserts alerts in order, each with its delivery.
WITH opened AS (
    INSERT INTO ratchet.alert (job, at, suppressed, name, fingerprint, message)
    SELECT x.job, $1, x.suppressed, x.name, x.fingerprint, x.message
    FROM unnest($2::uuid[], $3::bigint[], $4::text[], $5::text[], $6::text[]) WITH ORDINALITY
        AS x(job, suppressed, name, fingerprint, message, place)
    ORDER BY x.place
    RETURNING id
)
INSERT INTO ratchet.delivery (channel, alert) SELECT 0, id FROM opened ORDER BY id
