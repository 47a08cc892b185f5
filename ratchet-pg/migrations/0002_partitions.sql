-- What belongs to jobs is kept in ranges of their ids, which begin with the milliseconds they were made at: what is old
-- is dropped as a whole. Whatever falls into no range is in the `rest`.

CREATE TABLE ratchet.job_rest PARTITION OF ratchet.job DEFAULT;
CREATE TABLE ratchet.outcome_rest PARTITION OF ratchet.outcome DEFAULT;
CREATE TABLE ratchet.attempt_rest PARTITION OF ratchet.attempt DEFAULT;
CREATE TABLE ratchet.note_rest PARTITION OF ratchet.note DEFAULT;
CREATE TABLE ratchet.log_rest PARTITION OF ratchet.log DEFAULT;

-- The ranges there are. `suffix` is what the names of their tables end in.
CREATE TABLE ratchet.part (
    starts bigint PRIMARY KEY,
    ends bigint NOT NULL,
    suffix text NOT NULL
);

-- The first id of an instant.
CREATE FUNCTION ratchet.id_at(instant bigint) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT (lpad(to_hex(GREATEST(instant, 0) / 1000), 12, '0') || repeat('0', 20))::uuid $$;

-- Makes the ranges from now on until `ahead`, each `width` long. Answers how many it made.
CREATE FUNCTION ratchet.make_parts(width bigint, ahead bigint) RETURNS integer LANGUAGE plpgsql AS $body$
DECLARE
    now_at bigint := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
    low bigint;
    high bigint;
    name text;
    base text;
    made integer := 0;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended(__HOME__ || ' parts', 0));
    PERFORM set_config('lock_timeout', '500', true);
    low := now_at - now_at % width;
    low := GREATEST(low, (SELECT max(p.ends) FROM ratchet.part p));
    WHILE low < now_at + ahead LOOP
        -- Ends on the grid, also after the width has changed.
        high := low - low % width + width;
        -- Ids that came before their range stay in the rest, and the range is not made.
        IF NOT EXISTS (
            SELECT FROM ratchet.job_rest j WHERE j.id >= ratchet.id_at(low) AND j.id < ratchet.id_at(high)
        ) THEN
            name := to_char(to_timestamp(low / 1000000) AT TIME ZONE 'UTC', 'YYYYMMDD"t"HH24MI');
            FOREACH base IN ARRAY ARRAY['job', 'outcome', 'attempt', 'note', 'log'] LOOP
                -- Made apart, then attached: that lock lets readers and writers go on.
                EXECUTE format('CREATE TABLE %1$I.%2$I (LIKE %1$I.%3$I INCLUDING DEFAULTS)',
                    __HOME__, base || '_' || name, base);
                EXECUTE format('ALTER TABLE %1$I.%3$I ATTACH PARTITION %1$I.%2$I FOR VALUES FROM (%4$L) TO (%5$L)',
                    __HOME__, base || '_' || name, base, ratchet.id_at(low), ratchet.id_at(high));
            END LOOP;
            INSERT INTO ratchet.part (starts, ends, suffix) VALUES (low, high, name);
            made := made + 1;
        END IF;
        low := high;
    END LOOP;
    RETURN made;
END
$body$;

-- Drops the oldest range whose ids are all older than `cutoff`, with the successes that ended before it. What must stay moves
-- to the rest, unless it is more than `most`. Answers with how many jobs went; null if there was nothing to drop, -1 if too
-- much must stay.
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
    -- What lives, what did not succeed, what ended late, what a handler still holds.
    EXECUTE format(
        'SELECT array_agg(k.id), (SELECT count(*) FROM %1$I.%3$I) FROM (
            SELECT j.id FROM %1$I.%2$I j LEFT JOIN %1$I.%3$I o ON o.job = j.id
            WHERE o.job IS NULL OR o.state <> 2 OR o.at > $1
                OR EXISTS (SELECT FROM %1$I.lingering x WHERE x.job = j.id)
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
