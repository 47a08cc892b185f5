-- What operators say about groups of failed jobs. The mark is JSON.
CREATE TABLE ratchet_failure_mark (
    name        TEXT    NOT NULL,
    fingerprint TEXT    NOT NULL,
    at          INTEGER NOT NULL,
    mark        TEXT    NOT NULL,
    PRIMARY KEY (name, fingerprint)
) STRICT, WITHOUT ROWID;

DROP VIEW ratchet_v_failures;
CREATE VIEW ratchet_v_failures AS
SELECT g.name, g.fingerprint, g.jobs, g.first, g.last, g.reason, g.error_type, g.error, g.latest,
    CASE
        WHEN m.judgment = 'acknowledged' THEN 'acknowledged'
        WHEN m.judgment = 'resolved' THEN CASE WHEN g.last_at > m.at THEN 'reopened' ELSE 'resolved' END
        WHEN m.judgment LIKE '{"ignored"%' AND COALESCE(julianday(m.until) > julianday('now'), 1) THEN 'ignored'
        ELSE 'open'
    END AS state,
    m.actor AS marked_by,
    strftime('%Y-%m-%dT%H:%M:%S', m.at / 1000000, 'unixepoch') || printf('.%06dZ', m.at % 1000000) AS marked_at
FROM (
    SELECT name, fingerprint, jobs,
        strftime('%Y-%m-%dT%H:%M:%S', first / 1000000, 'unixepoch') || printf('.%06dZ', first % 1000000) AS first,
        strftime('%Y-%m-%dT%H:%M:%S', max(at) / 1000000, 'unixepoch') || printf('.%06dZ', max(at) % 1000000) AS last,
        max(at) AS last_at,
        reason, error_type, error, id AS latest
    FROM (
        SELECT *, count(*) OVER grouped AS jobs, min(at) OVER grouped AS first
        FROM (
            SELECT t.name, j.envelope -> 'failure' ->> 'fingerprint' AS fingerprint, j.finished_at AS at,
                j.envelope ->> 'reason' AS reason, j.envelope -> 'failure' ->> 'error_type' AS error_type,
                j.envelope -> 'failure' ->> 'message' AS error,
                lower(substr(hex(j.id), 1, 8) || '-' || substr(hex(j.id), 9, 4) || '-' || substr(hex(j.id), 13, 4) || '-' || substr(hex(j.id), 17, 4)
                || '-' || substr(hex(j.id), 21)) AS id
            FROM ratchet_job j
            JOIN ratchet_template t ON t.id = j.template
            WHERE j.state = 3 AND json_valid(j.envelope)
        )
        WINDOW grouped AS (PARTITION BY name, fingerprint)
    )
    GROUP BY name, fingerprint
) g
LEFT JOIN (
    SELECT name, fingerprint, at, mark ->> 'judgment' AS judgment, mark ->> '$.judgment.ignored.until' AS until,
        mark ->> '$.actor.name' AS actor
    FROM ratchet_failure_mark WHERE json_valid(mark)
) m ON m.name = g.name AND m.fingerprint = g.fingerprint;
