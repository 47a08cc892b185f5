-- No rows. Inserts checkpoints, or counts repeats of existing ones.
INSERT INTO ratchet.hand_off AS h (pipeline, key, job, at, repeats, checkpoint, tenant, correlation_id)
SELECT x.pipeline, x.key, x.job, $1, x.repeats, x.checkpoint, x.tenant, x.correlation_id
FROM unnest($2::text[], $3::text[], $4::uuid[], $5::bigint[], $6::text[], $7::text[], $8::text[]) WITH ORDINALITY
    AS x(pipeline, key, job, repeats, checkpoint, tenant, correlation_id, place)
ORDER BY x.place
ON CONFLICT (pipeline, key) DO UPDATE SET repeats = h.repeats + EXCLUDED.repeats + 1
