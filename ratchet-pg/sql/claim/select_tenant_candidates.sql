-- Due jobs of some tenants of a queue, each after a position, in order, that the node knows. Excludes jobs whose key seems to have no free
-- slot or is known to be full or locked, jobs whose service is held back, and jobs that have expired.
SELECT r.*
FROM unnest($12::text[], $2::bigint[], $3::bigint[], $4::uuid[]) WITH ORDINALITY
    AS a(tenant, sort_key, due, job, place) CROSS JOIN LATERAL (
        SELECT r.ctid::text AS row_id, r.job, r.sort_key, r.due, r.crashes, r.ckey, r.climit, r.service,
            r.tenant
        FROM ratchet.ready r
        WHERE r.queue = $1 AND r.tenant = a.tenant AND (r.sort_key, r.due, r.job) > (a.sort_key, a.due, a.job)
            AND r.job_version <= ($6::integer[])[array_position($5::text[], r.name)]
            AND (r.judges IS NULL OR r.judges::jsonb <@ to_jsonb($5::text[]))
            AND (r.ckey IS NULL OR (
                NOT EXISTS (SELECT FROM unnest($9::text[], $10::integer[]) AS f(key, climit) WHERE f.key = r.ckey AND r.climit <= f.climit)
                AND (SELECT count(*) FROM ratchet.slot s WHERE s.key = r.ckey AND NOT s.probe) < r.climit))
            AND (r.service IS NULL OR r.service <> ALL ($8::text[]))
            AND (r.payload IS NOT NULL OR NOT EXISTS (SELECT FROM ratchet.expiry e WHERE e.job = r.job AND e.at <= $11))
        ORDER BY r.sort_key, r.due, r.job
        LIMIT $7
        FOR UPDATE SKIP LOCKED
    ) r
ORDER BY a.place, r.sort_key, r.due, r.job
