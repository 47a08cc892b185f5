-- No rows. Moves locked jobs of keys that have used up their rate to `blocked`, and notes when their lanes bring them back.
WITH moved AS (DELETE FROM ratchet.ready WHERE ctid = ANY ($1::text[]::tid[]) RETURNING *),
laned AS MATERIALIZED (
    SELECT m.*, 'rate:' || left(m.ckey, 100) || ':' || encode(sha256(convert_to(jsonb_build_array(
        m.queue, m.ckey, m.climit, m.name, m.job_version, m.service, m.judges)::text, 'UTF8')), 'hex') AS cause
    FROM moved m
),
stored AS (
    INSERT INTO ratchet.blocked (job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation,
        climit, keyed, queue, name, ckey, service, judges, cause)
    SELECT job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation, climit, keyed, queue,
        name, ckey, service, judges, cause
    FROM laned
)
INSERT INTO ratchet.key_lane (cause, queue, key, back, at)
SELECT DISTINCT l.cause, l.queue, l.ckey, x.back, $5::bigint
FROM laned l JOIN unnest($2::text[], $3::text[], $4::bigint[]) AS x(queue, key, back) ON x.queue = l.queue AND x.key = l.ckey
ON CONFLICT (cause) DO UPDATE SET back = excluded.back, at = excluded.at
