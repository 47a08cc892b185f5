-- One row: backlog, oldest unfinished checkpoint, and counts of a pipeline, with the store's clock.
SELECT count(*) FILTER (WHERE NOT finished) AS backlog, min(at) FILTER (WHERE NOT finished) AS oldest,
    count(*) FILTER (WHERE finished) AS finished, COALESCE(sum(repeats), 0)::bigint AS repeats, ratchet.now_micros() AS now
FROM ratchet.hand_off WHERE pipeline = $1
