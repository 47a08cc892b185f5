-- What operators say about groups of failed jobs. The mark is JSON.
CREATE TABLE ratchet.failure_mark (
    name text COLLATE "C" NOT NULL,
    fingerprint text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    mark text NOT NULL,
    PRIMARY KEY (name, fingerprint)
);

CREATE OR REPLACE VIEW ratchet.v_failures AS
SELECT g.*,
    CASE
        WHEN m.judgment = '"acknowledged"' THEN 'acknowledged'
        WHEN m.judgment = '"resolved"' THEN CASE WHEN g.last > m.at THEN 'reopened' ELSE 'resolved' END
        WHEN m.judgment ? 'ignored' AND NOT COALESCE((m.judgment #>> '{ignored,until}')::timestamptz
            <= ratchet.readable_time(ratchet.now_micros()), false) THEN 'ignored'
        ELSE 'open'
    END AS state,
    m.actor AS marked_by, m.at AS marked_at
FROM (
    SELECT j.name, o.fingerprint, count(*) AS jobs,
        min(e.at) AS first, max(e.at) AS last,
        (array_agg(o.reason ORDER BY e.at DESC, o.job))[1] AS reason,
        (array_agg(e.failure ->> 'error_type' ORDER BY e.at DESC, o.job))[1] AS error_type,
        (array_agg(e.failure ->> 'message' ORDER BY e.at DESC, o.job))[1] AS error,
        (array_agg(o.job ORDER BY e.at DESC, o.job))[1] AS latest
    FROM ratchet.outcome o
    JOIN ratchet.job j ON j.id = o.job
    CROSS JOIN LATERAL (
        SELECT (body ->> 'at')::timestamptz AS at, body -> 'failure' AS failure FROM ratchet.readable_json(o.envelope) body
    ) e
    WHERE o.state = 3 AND NOT EXISTS (SELECT FROM ratchet.paused p WHERE p.job = o.job)
    GROUP BY j.name, o.fingerprint
) g
LEFT JOIN (
    SELECT f.name, f.fingerprint, ratchet.readable_time(f.at) AS at, ratchet.readable_json(f.mark) -> 'judgment' AS judgment,
        ratchet.readable_json(f.mark) #>> '{actor,name}' AS actor
    FROM ratchet.failure_mark f
) m ON m.name = g.name AND m.fingerprint = g.fingerprint;
