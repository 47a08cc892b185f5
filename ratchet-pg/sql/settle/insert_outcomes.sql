-- No rows. Inserts outcomes of jobs. The leases are locked, so none of the jobs has an outcome yet.
WITH ended AS (
    INSERT INTO ratchet.outcome (job, at, due, version, run, lease, node, started_at, duration, attempts, crashes,
        deferrals, generation, attempt, state, result, cause, output, envelope, reason, fingerprint)
    SELECT job, $1, due, version, run, lease, node, started_at, duration, attempts, crashes, deferrals, generation,
        attempt, state, result, cause, output, envelope, reason, fingerprint
    FROM unnest(
        $2::uuid[], $3::bigint[], $4::bigint[], $5::bigint[], $6::uuid[], $7::uuid[], $8::bigint[], $9::bigint[],
        $10::integer[], $11::integer[], $12::integer[], $13::integer[], $14::integer[], $15::smallint[], $16::smallint[],
        $17::smallint[], $18::text[], $19::text[], $20::text[], $21::text[]
    ) AS o(job, due, version, run, lease, node, started_at, duration, attempts, crashes, deferrals, generation, attempt,
        state, result, cause, output, envelope, reason, fingerprint)
    RETURNING job, state, tableoid AS part
)
INSERT INTO ratchet.tally (queue, state, part, change)
SELECT q.queue, e.state, e.part, count(*)
FROM ended e JOIN unnest($2::uuid[], $22::text[]) AS q(job, queue) USING (job)
GROUP BY q.queue, e.state, e.part
