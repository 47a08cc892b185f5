-- No rows. Inserts lines of the attempt history.
INSERT INTO ratchet.attempt (job, run, started_at, finished_at, due, duration, node, attempt, generation, result, error,
    note)
SELECT * FROM unnest(
    $1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::uuid[], $8::integer[],
    $9::integer[], $10::smallint[], $11::text[], $12::text[]
)
