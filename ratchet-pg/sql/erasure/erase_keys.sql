-- One row: how many idempotency keys of these jobs and graphs were replaced by digests. Locked in a fixed order.
WITH used AS MATERIALIZED (
    SELECT i.scope, i.key FROM unnest($1::text[], $2::text[], $3::uuid[]) AS k(scope, key, job)
    JOIN ratchet.idempotency i ON i.scope = k.scope AND i.key = k.key AND i.job = k.job
    ORDER BY i.scope, i.key FOR UPDATE OF i
),
gone AS (
    DELETE FROM ratchet.idempotency i USING used u WHERE i.scope = u.scope AND i.key = u.key
    RETURNING i.scope, i.key, i.job, i.expires
),
kept AS (
    INSERT INTO ratchet.erased_key (digest, job, expires)
    SELECT ratchet.key_digest(g.scope, g.key), g.job, g.expires FROM gone g
    ON CONFLICT (digest) DO UPDATE SET job = excluded.job, expires = excluded.expires
)
SELECT count(*) FROM gone
