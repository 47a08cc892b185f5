-- Jobs that depend on one another, recurring jobs, and what runs set aside and hand on.

-- Conditions that must be judged after a job, as a JSON array of names: only a node that knows them all may run it.
ALTER TABLE ratchet.ready ADD COLUMN judges text;
ALTER TABLE ratchet.scheduled ADD COLUMN judges text;
ALTER TABLE ratchet.blocked ADD COLUMN judges text;
ALTER TABLE ratchet.paused ADD COLUMN judges text;

-- What was submitted together. Whoever changes anything in it locks this row first, before leases and keys: so counts are
-- exact, and nobody waits in a circle.
CREATE TABLE ratchet.graph (id uuid PRIMARY KEY);

-- Jobs that are part of a graph. While one waits for others, its moving row is in `blocked` under the cause `parent`.
CREATE TABLE ratchet.member (
    job uuid PRIMARY KEY,
    graph uuid NOT NULL,
    -- The group it counts in.
    grp uuid,
    -- How long it waits once it is released.
    delay bigint NOT NULL,
    -- Whether something waits for it.
    linked boolean NOT NULL,
    first_match boolean NOT NULL,
    judges text,
    -- What it waits for, as JSON; none once it was released.
    wait text,
    -- What its cancel goes back to, as JSON.
    root text
) WITH (fillfactor = 80);
CREATE INDEX member_group ON ratchet.member (graph, grp, job);

-- Chains, batches and workflows. The body is the whole record as JSON.
CREATE TABLE ratchet.job_group (
    id uuid PRIMARY KEY,
    graph uuid NOT NULL,
    owner uuid,
    -- None while it goes on.
    finished_at bigint,
    body text NOT NULL
) WITH (fillfactor = 50);
CREATE INDEX job_group_owner ON ratchet.job_group (owner, id);
CREATE INDEX job_group_graph ON ratchet.job_group (graph);
CREATE INDEX job_group_finished ON ratchet.job_group (finished_at) WHERE finished_at IS NOT NULL;

-- Who waits for whom. Either end is a job or a group; no two share an id.
CREATE TABLE ratchet.edge (
    parent uuid NOT NULL,
    ordinal integer NOT NULL,
    child uuid NOT NULL,
    parent_group boolean NOT NULL,
    child_group boolean NOT NULL,
    condition text NOT NULL,
    -- What became of it, as JSON; none while its parent has not ended.
    resolution text,
    PRIMARY KEY (parent, ordinal)
) WITH (fillfactor = 80);

-- Recurring jobs.
CREATE TABLE ratchet.schedule (
    name text PRIMARY KEY,
    version bigint NOT NULL,
    next bigint,
    paused boolean NOT NULL,
    body text NOT NULL
);
CREATE INDEX schedule_due ON ratchet.schedule (next) WHERE NOT paused;

-- Items that runs set aside.
CREATE TABLE ratchet.reject (
    job uuid NOT NULL,
    number bigint NOT NULL,
    run bigint NOT NULL,
    at bigint NOT NULL,
    job_name text NOT NULL,
    error_type text NOT NULL,
    fingerprint text NOT NULL,
    message text NOT NULL,
    payload text,
    PRIMARY KEY (job, number)
);

-- Checkpoints that runs hand on. The keys stay for ever.
CREATE TABLE ratchet.hand_off (
    number bigint GENERATED ALWAYS AS IDENTITY,
    pipeline text NOT NULL,
    key text NOT NULL,
    job uuid NOT NULL,
    at bigint NOT NULL,
    held_until bigint NOT NULL DEFAULT 0,
    repeats bigint NOT NULL DEFAULT 0,
    finished boolean NOT NULL DEFAULT false,
    checkpoint text NOT NULL,
    PRIMARY KEY (pipeline, key)
);
CREATE INDEX hand_off_waiting ON ratchet.hand_off (pipeline, number) WHERE NOT finished;

-- Drops the oldest range whose ids are all older than `cutoff`, with the successes that ended before it. What must stay moves
-- to the rest, unless it is more than `most`. Answers with how many jobs went; null if there was nothing to drop, -1 if too
-- much must stay. What belongs to graphs and rejects goes with its jobs.
CREATE FUNCTION ratchet.drop_part(cutoff bigint, most integer) RETURNS bigint LANGUAGE plpgsql AS $body$
DECLARE
    old record;
    base text;
    key text;
    kept uuid[];
    ended bigint;
    leaf oid;
BEGIN
    IF NOT pg_try_advisory_xact_lock(hashtextextended(__HOME__ || ' parts', 0)) THEN
        RETURN NULL;
    END IF;
    SELECT p.* INTO old FROM ratchet.part p WHERE p.ends <= cutoff ORDER BY p.starts LIMIT 1;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    PERFORM set_config('lock_timeout', '500', true), set_config('statement_timeout', '0', true),
        set_config('enable_seqscan', 'on', true);
    -- Nobody submits into the past, so this stops nobody; claims go on reading.
    EXECUTE format('LOCK TABLE %I.%I IN SHARE MODE', __HOME__, 'job_' || old.suffix);
    -- What lives, what did not succeed, what ended late, what a handler still holds, what is in a group that goes on.
    EXECUTE format(
        'SELECT array_agg(k.id), (SELECT count(*) FROM %1$I.%3$I) FROM (
            SELECT j.id FROM %1$I.%2$I j LEFT JOIN %1$I.%3$I o ON o.job = j.id
            WHERE o.job IS NULL OR o.state <> 2 OR o.at > $1
                OR EXISTS (SELECT FROM %1$I.lingering x WHERE x.job = j.id)
                OR EXISTS (
                    SELECT FROM %1$I.member m JOIN %1$I.job_group g ON g.id = m.grp
                    WHERE m.job = j.id AND g.finished_at IS NULL
                )
            LIMIT $2 + 1
        ) k', __HOME__, 'job_' || old.suffix, 'outcome_' || old.suffix)
    INTO kept, ended USING cutoff, most;
    kept := COALESCE(kept, '{}');
    IF cardinality(kept) > most THEN
        RETURN -1;
    END IF;
    SELECT c.oid INTO leaf FROM pg_class c
    WHERE c.relnamespace = __HOME__::regnamespace AND c.relname = 'outcome_' || old.suffix;
    -- All at once, in the order in which statements take them.
    LOCK TABLE ratchet.job, ratchet.outcome, ratchet.attempt, ratchet.note, ratchet.log IN ACCESS EXCLUSIVE MODE;
    FOREACH base IN ARRAY ARRAY['job', 'outcome', 'attempt', 'note', 'log'] LOOP
        key := CASE base WHEN 'job' THEN 'id' ELSE 'job' END;
        EXECUTE format('ALTER TABLE %1$I.%2$I DETACH PARTITION %1$I.%3$I', __HOME__, base, base || '_' || old.suffix);
        EXECUTE format('INSERT INTO %1$I.%2$I SELECT * FROM %1$I.%3$I WHERE %4$I = ANY($1)', __HOME__, base,
            base || '_' || old.suffix, key) USING kept;
        EXECUTE format('DROP TABLE %I.%I', __HOME__, base || '_' || old.suffix);
    END LOOP;
    DELETE FROM ratchet.part p WHERE p.starts = old.starts;
    DELETE FROM ratchet.tally t WHERE t.part = leaf;
    INSERT INTO ratchet.tally (queue, state, part, change)
    SELECT j.queue, o.state, o.tableoid, count(*)
    FROM unnest(kept) AS k(id) JOIN ratchet.outcome o ON o.job = k.id JOIN ratchet.job j ON j.id = k.id
    WHERE NOT EXISTS (SELECT FROM ratchet.paused p WHERE p.job = k.id)
    GROUP BY j.queue, o.state, o.tableoid;
    DELETE FROM ratchet.member m
    WHERE m.job >= ratchet.id_at(old.starts) AND m.job < ratchet.id_at(old.ends) AND NOT m.job = ANY(kept);
    DELETE FROM ratchet.edge e
    WHERE e.parent >= ratchet.id_at(old.starts) AND e.parent < ratchet.id_at(old.ends) AND NOT e.parent_group
        AND NOT e.parent = ANY(kept);
    DELETE FROM ratchet.reject r
    WHERE r.job >= ratchet.id_at(old.starts) AND r.job < ratchet.id_at(old.ends) AND NOT r.job = ANY(kept);
    DELETE FROM ratchet.graph g
    WHERE g.id >= ratchet.id_at(old.starts) AND g.id < ratchet.id_at(old.ends)
        AND NOT EXISTS (SELECT FROM ratchet.member m WHERE m.graph = g.id)
        AND NOT EXISTS (SELECT FROM ratchet.job_group o WHERE o.graph = g.id);
    -- A lease that still stands must not speak for jobs that are gone.
    UPDATE ratchet.lease l
    SET versions = ARRAY(
        SELECT CASE
            WHEN m.job >= ratchet.id_at(old.starts) AND m.job < ratchet.id_at(old.ends) AND NOT m.job = ANY(kept) THEN 0
            ELSE COALESCE(m.version, 1) END
        FROM unnest(l.jobs, l.versions) WITH ORDINALITY AS m(job, version, place) ORDER BY m.place
    )
    WHERE EXISTS (
        SELECT FROM unnest(l.jobs) AS m(job)
        WHERE m.job >= ratchet.id_at(old.starts) AND m.job < ratchet.id_at(old.ends)
    );
    RETURN ended - (SELECT count(*) FROM unnest(kept) AS k(id) JOIN ratchet.outcome o ON o.job = k.id);
END
$body$;
