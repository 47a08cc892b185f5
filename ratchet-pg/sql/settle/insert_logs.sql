-- No rows. Inserts log lines of handlers, in order.
INSERT INTO ratchet.log (job, run, after, level, message)
SELECT x.job, x.run, x.after, x.level, x.message
FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::smallint[], $5::text[]) WITH ORDINALITY
    AS x(job, run, after, level, message, place)
ORDER BY x.place
