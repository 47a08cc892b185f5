-- How many jobs are archived, by queue and state.
SELECT queue, state, sum(change)::bigint AS n FROM ratchet_archive.tally GROUP BY queue, state HAVING sum(change) > 0
