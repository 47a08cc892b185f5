-- Jobs that run in order form a graph per concurrency key. Its row has the last job, for which the next one waits.
ALTER TABLE ratchet.graph ADD COLUMN last uuid;

-- The graph of the sequence of a key, as `sequence_id` in Rust computes it.
CREATE FUNCTION ratchet.sequence_id(key text) RETURNS uuid
LANGUAGE sql IMMUTABLE STRICT SET search_path = pg_catalog, pg_temp AS $body$
    SELECT encode(set_byte(set_byte(h.id, 6, get_byte(h.id, 6) & 15 | 128), 8, get_byte(h.id, 8) & 63 | 128), 'hex')::uuid
    FROM (SELECT substr(sha256('ratchet sequence'::bytea || '\x00'::bytea || convert_to(key, 'UTF8')), 1, 16)) AS h(id)
$body$;

-- Locks a sequence. Returns the job that the next one must wait for, or null if there is none.
CREATE FUNCTION ratchet.lock_sequence(sequence uuid, after_failure text) RETURNS uuid
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $body$
DECLARE
    last_job uuid;
    came boolean;
    ended smallint;
BEGIN
    INSERT INTO ratchet.graph AS g (id) VALUES (sequence)
    ON CONFLICT (id) DO UPDATE SET last = g.last RETURNING g.last INTO last_job;
    SELECT m.wait IS NULL OR m.wait NOT LIKE '%"fired":0%', o.state INTO came, ended
    FROM ratchet.member m LEFT JOIN ratchet.outcome o ON o.job = m.job WHERE m.job = last_job;
    -- 3 is the state of a failed job.
    IF NOT FOUND OR (came AND ended IS NOT NULL AND (ended <> 3 OR after_failure = 'skip')) THEN
        RETURN NULL;
    END IF;
    RETURN last_job;
END
$body$;

-- Adds a job to a sequence that is locked.
CREATE FUNCTION ratchet.join_sequence(sequence uuid, job uuid, follows uuid, after_failure text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $body$
BEGIN
    INSERT INTO ratchet.member (job, graph, delay, linked, first_match, wait)
    VALUES (join_sequence.job, sequence, 0, true, false, CASE WHEN follows IS NOT NULL
        THEN '{"mode":"all","edges":1,"fired":0,"dead":0,"follows":"' || follows || '"}' END);
    IF follows IS NOT NULL THEN
        INSERT INTO ratchet.edge (parent, ordinal, child, parent_group, child_group, condition)
        VALUES (follows, 0, join_sequence.job, false, false, '{"turn":"' || after_failure || '"}');
    END IF;
    UPDATE ratchet.graph g SET last = join_sequence.job WHERE g.id = sequence;
END
$body$;

REVOKE EXECUTE ON FUNCTION ratchet.sequence_id(text), ratchet.lock_sequence(uuid, text),
    ratchet.join_sequence(uuid, uuid, uuid, text) FROM PUBLIC;
