-- The archive: a schema beside this one, with tables that are partitioned by the same ranges of ids. A range moves as a
-- whole: it is detached here and attached there, so that no row is copied. Later migrations must change these tables, too.
DO $body$
BEGIN
    IF to_regclass(format('%I.migration', __ARCHIVE__)) IS NOT NULL THEN
        RAISE EXCEPTION 'the schema % is needed for the archive of the schema %, and another store of Ratchet uses it', __ARCHIVE__, __HOME__;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_namespace n WHERE n.nspname = __ARCHIVE__) THEN
        EXECUTE format('CREATE SCHEMA %I', __ARCHIVE__);
    END IF;
END
$body$;

CREATE TABLE ratchet_archive.job (LIKE ratchet.job INCLUDING DEFAULTS INCLUDING INDEXES) PARTITION BY RANGE (id);
CREATE TABLE ratchet_archive.outcome (LIKE ratchet.outcome INCLUDING DEFAULTS INCLUDING INDEXES) PARTITION BY RANGE (job);
CREATE TABLE ratchet_archive.attempt (LIKE ratchet.attempt INCLUDING DEFAULTS INCLUDING INDEXES) PARTITION BY RANGE (job);
CREATE TABLE ratchet_archive.note (LIKE ratchet.note INCLUDING DEFAULTS INCLUDING INDEXES) PARTITION BY RANGE (job);
CREATE TABLE ratchet_archive.log (LIKE ratchet.log INCLUDING DEFAULTS INCLUDING INDEXES) PARTITION BY RANGE (job);

-- The ranges of the archive. `at` is when a range was moved as a whole; NULL if its jobs were moved one by one.
CREATE TABLE ratchet_archive.part (
    starts bigint PRIMARY KEY,
    ends bigint NOT NULL,
    suffix text NOT NULL,
    at bigint
);

-- Jobs that were moved one by one.
CREATE TABLE ratchet_archive.moved (
    job uuid PRIMARY KEY,
    state smallint NOT NULL,
    at bigint NOT NULL
);
CREATE INDEX moved_at ON ratchet_archive.moved (state, at, job);

-- How many jobs are archived, as changes that are added up, by the table that their outcomes are in.
CREATE TABLE ratchet_archive.tally (
    queue text NOT NULL,
    state smallint NOT NULL,
    part oid NOT NULL,
    change bigint NOT NULL
);
CREATE INDEX tally_part ON ratchet_archive.tally (part);

-- The instant of an id, to the millisecond.
CREATE FUNCTION ratchet.instant_of(id uuid) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT ('x' || substr(replace(id::text, '-', ''), 1, 12))::bit(48)::bigint * 1000 $$;

-- Makes the ranges of the archive for jobs that move one by one.
CREATE FUNCTION ratchet.make_archive_parts(jobs uuid[]) RETURNS void LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
DECLARE
    week bigint := 604800000000;
    made_at bigint;
    low bigint;
    high bigint;
    base text;
    name text;
BEGIN
    FOR made_at IN
        SELECT DISTINCT ratchet.instant_of(x.job) FROM unnest(jobs) AS x(job)
        WHERE NOT EXISTS (
            SELECT FROM ratchet_archive.part p
            WHERE p.starts <= ratchet.instant_of(x.job) AND p.ends > ratchet.instant_of(x.job)
        )
        ORDER BY 1
    LOOP
        PERFORM set_config('lock_timeout', '500', true);
        PERFORM pg_advisory_xact_lock(hashtextextended(__HOME__ || ' parts', 0));
        -- The last pass of this loop, or another transaction, may have made it.
        CONTINUE WHEN EXISTS (SELECT FROM ratchet_archive.part p WHERE p.starts <= made_at AND p.ends > made_at);
        SELECT p.starts, p.ends INTO low, high FROM ratchet.part p WHERE p.starts <= made_at AND p.ends > made_at;
        IF NOT FOUND THEN
            low := GREATEST(made_at - made_at % week, (SELECT max(p.ends) FROM ratchet.part p WHERE p.ends <= made_at));
            high := LEAST(made_at - made_at % week + week, (SELECT min(p.starts) FROM ratchet.part p WHERE p.starts > made_at));
        END IF;
        low := GREATEST(low, (SELECT max(p.ends) FROM ratchet_archive.part p WHERE p.ends <= made_at));
        high := LEAST(high, (SELECT min(p.starts) FROM ratchet_archive.part p WHERE p.starts > made_at));
        name := 'x' || to_hex(low / 1000);
        FOREACH base IN ARRAY ARRAY['job', 'outcome', 'attempt', 'note', 'log'] LOOP
            EXECUTE format('CREATE TABLE %1$I.%2$I (LIKE %1$I.%3$I INCLUDING DEFAULTS)', __ARCHIVE__, base || '_' || name, base);
            EXECUTE format('ALTER TABLE %1$I.%3$I ATTACH PARTITION %1$I.%2$I FOR VALUES FROM (%4$L) TO (%5$L)',
                __ARCHIVE__, base || '_' || name, base, ratchet.id_at(low), ratchet.id_at(high));
        END LOOP;
        INSERT INTO ratchet_archive.part (starts, ends, suffix) VALUES (low, high, name);
    END LOOP;
END
$body$;

-- Prepares the oldest range whose ids are all older than `cutoff` for the archive: it gets the constraint by which it can be
-- attached without being read. The constraint is not checked here, because this commit must be short. Returns whether there
-- is such a range.
CREATE FUNCTION ratchet.prepare_archive_part(cutoff bigint) RETURNS boolean LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
DECLARE
    old record;
    base text;
    key text;
    leaf regclass;
BEGIN
    IF NOT pg_try_advisory_xact_lock(hashtextextended(__HOME__ || ' parts', 0)) THEN
        RETURN false;
    END IF;
    SELECT p.* INTO old FROM ratchet.part p WHERE p.ends <= cutoff ORDER BY p.starts LIMIT 1;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM set_config('lock_timeout', '500', true);
    FOREACH base IN ARRAY ARRAY['job', 'outcome', 'attempt', 'note', 'log'] LOOP
        key := CASE base WHEN 'job' THEN 'id' ELSE 'job' END;
        leaf := to_regclass(format('%I.%I', __HOME__, base || '_' || old.suffix));
        IF NOT EXISTS (SELECT FROM pg_constraint c WHERE c.conrelid = leaf AND c.conname = 'archive_bounds') THEN
            EXECUTE format('ALTER TABLE %1$s ADD CONSTRAINT archive_bounds
                CHECK (%2$I IS NOT NULL AND %2$I >= %3$L AND %2$I < %4$L) NOT VALID',
                leaf, key, ratchet.id_at(old.starts), ratchet.id_at(old.ends));
        END IF;
    END LOOP;
    RETURN true;
END
$body$;

-- Moves the range that was prepared to the archive, with the successes that ended before `cutoff`. Jobs that must stay move to
-- the rest, unless they are more than `most`. Returns how many jobs were archived; null if there was nothing to move, -1 if too
-- many must stay or are in the archive already. Rows of graphs and rejects are deleted, as when a range is dropped.
CREATE FUNCTION ratchet.archive_part(cutoff bigint, most integer) RETURNS bigint LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
DECLARE
    old record;
    base text;
    key text;
    kept uuid[];
    ended bigint;
    leaf oid;
    earlier record;
    has_earlier boolean;
    low uuid;
    high uuid;
BEGIN
    IF NOT pg_try_advisory_xact_lock(hashtextextended(__HOME__ || ' parts', 0)) THEN
        RETURN NULL;
    END IF;
    SELECT p.* INTO old FROM ratchet.part p WHERE p.ends <= cutoff ORDER BY p.starts LIMIT 1;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    low := ratchet.id_at(old.starts);
    high := ratchet.id_at(old.ends);
    PERFORM set_config('lock_timeout', '500', true), set_config('statement_timeout', '0', true),
        set_config('enable_seqscan', 'on', true);
    -- Ids are not in the past, so that no submit waits for this lock. Claims go on reading.
    EXECUTE format('LOCK TABLE %I.%I IN SHARE MODE', __HOME__, 'job_' || old.suffix);
    -- Reads each table from end to end, and stops no reader and no writer.
    FOREACH base IN ARRAY ARRAY['job', 'outcome', 'attempt', 'note', 'log'] LOOP
        EXECUTE format('ALTER TABLE %I.%I VALIDATE CONSTRAINT archive_bounds', __HOME__, base || '_' || old.suffix);
    END LOOP;
    -- Jobs of this range that were moved one by one before are put into it.
    has_earlier := EXISTS (SELECT FROM ratchet_archive.part a WHERE a.starts < old.ends AND a.ends > old.starts);
    IF has_earlier AND (
        EXISTS (
            SELECT FROM ratchet_archive.part a
            WHERE a.starts < old.ends AND a.ends > old.starts AND (a.starts < old.starts OR a.ends > old.ends)
        )
        OR (SELECT count(*) FROM (SELECT FROM ratchet_archive.job j WHERE j.id >= low AND j.id < high LIMIT most + 1) m) > most
    ) THEN
        RETURN -1;
    END IF;
    -- Jobs that have not ended, that did not succeed, that ended late, whose handler is still running, and members of a
    -- group that has not ended.
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
    SELECT c.oid INTO leaf FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = __HOME__ AND c.relname = 'outcome_' || old.suffix;
    -- Leases before tables, and in one order: so does a settle.
    PERFORM l.id FROM ratchet.lease l
    WHERE EXISTS (SELECT FROM unnest(l.jobs) AS m(job) WHERE m.job >= low AND m.job < high)
    ORDER BY l.id FOR UPDATE;
    -- All at once, in the order in which statements take them. Readers take the tables of the archive last.
    LOCK TABLE ratchet.job, ratchet.outcome, ratchet.attempt, ratchet.note, ratchet.log IN ACCESS EXCLUSIVE MODE;
    -- A retry may have opened a group again since its members were read. A transaction that does so now has read these tables, and is
    -- waited for.
    SELECT array_agg(DISTINCT k.id) INTO kept FROM (
        SELECT unnest(kept) AS id
        UNION ALL
        SELECT m.job FROM ratchet.job_group g JOIN ratchet.member m ON m.graph = g.graph AND m.grp = g.id
        WHERE g.finished_at IS NULL AND m.job >= low AND m.job < high
    ) k;
    kept := COALESCE(kept, '{}');
    IF cardinality(kept) > most THEN
        RETURN -1;
    END IF;
    INSERT INTO ratchet_archive.tally (queue, state, part, change)
    SELECT t.queue, t.state, t.part, sum(t.change) FROM ratchet.tally t WHERE t.part = leaf GROUP BY t.queue, t.state, t.part;
    INSERT INTO ratchet_archive.tally (queue, state, part, change)
    SELECT j.queue, o.state, leaf, -count(*)
    FROM unnest(kept) AS k(id) JOIN ratchet.outcome o ON o.job = k.id JOIN ratchet.job j ON j.id = k.id
    WHERE o.tableoid = leaf AND NOT EXISTS (SELECT FROM ratchet.paused p WHERE p.job = k.id)
    GROUP BY j.queue, o.state;
    IF has_earlier THEN
        INSERT INTO ratchet_archive.tally (queue, state, part, change)
        SELECT j.queue, o.state, leaf, count(*)
        FROM ratchet_archive.job j JOIN ratchet_archive.outcome o ON o.job = j.id
        WHERE j.id >= low AND j.id < high GROUP BY j.queue, o.state;
        DELETE FROM ratchet_archive.tally t USING ratchet_archive.part a
        WHERE a.starts < old.ends AND a.ends > old.starts
            AND t.part = to_regclass(format('%I.%I', __ARCHIVE__, 'outcome_' || a.suffix));
    END IF;
    FOREACH base IN ARRAY ARRAY['job', 'outcome', 'attempt', 'note', 'log'] LOOP
        key := CASE base WHEN 'job' THEN 'id' ELSE 'job' END;
        EXECUTE format('ALTER TABLE %1$I.%2$I DETACH PARTITION %1$I.%3$I', __HOME__, base, base || '_' || old.suffix);
        IF cardinality(kept) > 0 THEN
            EXECUTE format('WITH kept AS (DELETE FROM %1$I.%3$I WHERE %4$I = ANY($1) RETURNING *)
                INSERT INTO %1$I.%2$I SELECT * FROM kept', __HOME__, base, base || '_' || old.suffix, key) USING kept;
        END IF;
        IF has_earlier THEN
            EXECUTE format('INSERT INTO %1$I.%2$I SELECT * FROM %3$I.%4$I WHERE %5$I >= $1 AND %5$I < $2',
                __HOME__, base || '_' || old.suffix, __ARCHIVE__, base, key) USING low, high;
            FOR earlier IN SELECT a.* FROM ratchet_archive.part a WHERE a.starts < old.ends AND a.ends > old.starts LOOP
                EXECUTE format('DROP TABLE %I.%I', __ARCHIVE__, base || '_' || earlier.suffix);
            END LOOP;
        END IF;
        EXECUTE format('ALTER TABLE %I.%I SET SCHEMA %I', __HOME__, base || '_' || old.suffix, __ARCHIVE__);
        EXECUTE format('ALTER TABLE %1$I.%2$I ATTACH PARTITION %1$I.%3$I FOR VALUES FROM (%4$L) TO (%5$L)',
            __ARCHIVE__, base, base || '_' || old.suffix, low, high);
        EXECUTE format('ALTER TABLE %I.%I DROP CONSTRAINT archive_bounds', __ARCHIVE__, base || '_' || old.suffix);
    END LOOP;
    DELETE FROM ratchet_archive.part a WHERE a.starts < old.ends AND a.ends > old.starts;
    INSERT INTO ratchet_archive.part (starts, ends, suffix, at)
    VALUES (old.starts, old.ends, old.suffix, ratchet.now_micros());
    DELETE FROM ratchet.part p WHERE p.starts = old.starts;
    DELETE FROM ratchet.tally t WHERE t.part = leaf;
    INSERT INTO ratchet.tally (queue, state, part, change)
    SELECT j.queue, o.state, o.tableoid, count(*)
    FROM unnest(kept) AS k(id) JOIN ratchet.outcome o ON o.job = k.id JOIN ratchet.job j ON j.id = k.id
    WHERE NOT EXISTS (SELECT FROM ratchet.paused p WHERE p.job = k.id)
    GROUP BY j.queue, o.state, o.tableoid;
    DELETE FROM ratchet.member m WHERE m.job >= low AND m.job < high AND NOT m.job = ANY(kept);
    DELETE FROM ratchet.edge e
    WHERE e.parent >= low AND e.parent < high AND NOT e.parent_group AND NOT e.parent = ANY(kept);
    DELETE FROM ratchet.reject r WHERE r.job >= low AND r.job < high AND NOT r.job = ANY(kept);
    DELETE FROM ratchet.successor s WHERE s.original >= low AND s.original < high AND NOT s.original = ANY(kept);
    DELETE FROM ratchet.graph g
    WHERE g.id >= low AND g.id < high
        AND NOT EXISTS (SELECT FROM ratchet.member m WHERE m.graph = g.id)
        AND NOT EXISTS (SELECT FROM ratchet.job_group o WHERE o.graph = g.id);
    -- A lease that is still held must not name jobs that are gone.
    UPDATE ratchet.lease l
    SET versions = ARRAY(
        SELECT CASE WHEN m.job >= low AND m.job < high AND NOT m.job = ANY(kept) THEN 0 ELSE COALESCE(m.version, 1) END
        FROM unnest(l.jobs, l.versions) WITH ORDINALITY AS m(job, version, place) ORDER BY m.place
    )
    WHERE EXISTS (SELECT FROM unnest(l.jobs) AS m(job) WHERE m.job >= low AND m.job < high);
    RETURN ended - (SELECT count(*) FROM unnest(kept) AS k(id) JOIN ratchet.outcome o ON o.job = k.id);
END
$body$;

-- Drops the oldest range of the archive that was moved as a whole before `cutoff`. Jobs in it that were moved one by one stay.
-- Returns how many jobs were deleted; null if there was nothing to drop.
CREATE FUNCTION ratchet.drop_archive_part(cutoff bigint) RETURNS bigint LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
DECLARE
    old record;
    base text;
    key text;
    name text;
    leaf regclass;
    dropped bigint;
    has_kept boolean;
BEGIN
    IF NOT pg_try_advisory_xact_lock(hashtextextended(__HOME__ || ' parts', 0)) THEN
        RETURN NULL;
    END IF;
    SELECT p.* INTO old FROM ratchet_archive.part p WHERE p.at <= cutoff ORDER BY p.starts LIMIT 1;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    PERFORM set_config('lock_timeout', '500', true), set_config('statement_timeout', '0', true);
    LOCK TABLE ratchet_archive.job, ratchet_archive.outcome, ratchet_archive.attempt, ratchet_archive.note, ratchet_archive.log
        IN ACCESS EXCLUSIVE MODE;
    leaf := to_regclass(format('%I.%I', __ARCHIVE__, 'outcome_' || old.suffix));
    SELECT COALESCE(sum(t.change), 0) INTO dropped FROM ratchet_archive.tally t WHERE t.part = leaf;
    DELETE FROM ratchet_archive.tally t WHERE t.part = leaf;
    has_kept := EXISTS (
        SELECT FROM ratchet_archive.moved m WHERE m.job >= ratchet.id_at(old.starts) AND m.job < ratchet.id_at(old.ends)
    );
    name := 'x' || to_hex(old.starts / 1000);
    FOREACH base IN ARRAY ARRAY['job', 'outcome', 'attempt', 'note', 'log'] LOOP
        key := CASE base WHEN 'job' THEN 'id' ELSE 'job' END;
        EXECUTE format('ALTER TABLE %1$I.%2$I DETACH PARTITION %1$I.%3$I', __ARCHIVE__, base, base || '_' || old.suffix);
        IF has_kept THEN
            EXECUTE format('CREATE TABLE %1$I.%2$I (LIKE %1$I.%3$I INCLUDING DEFAULTS)', __ARCHIVE__, base || '_' || name, base);
            EXECUTE format('INSERT INTO %1$I.%2$I SELECT t.* FROM %1$I.moved m JOIN %1$I.%3$I t ON t.%4$I = m.job
                WHERE m.job >= $1 AND m.job < $2', __ARCHIVE__, base || '_' || name, base || '_' || old.suffix, key)
                USING ratchet.id_at(old.starts), ratchet.id_at(old.ends);
            EXECUTE format('ALTER TABLE %1$I.%3$I ATTACH PARTITION %1$I.%2$I FOR VALUES FROM (%4$L) TO (%5$L)',
                __ARCHIVE__, base || '_' || name, base, ratchet.id_at(old.starts), ratchet.id_at(old.ends));
        END IF;
        EXECUTE format('DROP TABLE %I.%I', __ARCHIVE__, base || '_' || old.suffix);
    END LOOP;
    IF has_kept THEN
        UPDATE ratchet_archive.part p SET suffix = name, at = NULL WHERE p.starts = old.starts;
        INSERT INTO ratchet_archive.tally (queue, state, part, change)
        SELECT j.queue, o.state, o.tableoid, count(*)
        FROM ratchet_archive.outcome o JOIN ratchet_archive.job j ON j.id = o.job
        WHERE o.job >= ratchet.id_at(old.starts) AND o.job < ratchet.id_at(old.ends)
        GROUP BY j.queue, o.state, o.tableoid;
        dropped := dropped - (
            SELECT count(*) FROM ratchet_archive.moved m
            WHERE m.job >= ratchet.id_at(old.starts) AND m.job < ratchet.id_at(old.ends)
        );
    ELSE
        DELETE FROM ratchet_archive.part p WHERE p.starts = old.starts;
    END IF;
    RETURN dropped;
END
$body$;

REVOKE EXECUTE ON FUNCTION ratchet.make_archive_parts(uuid[]) FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION ratchet.prepare_archive_part(bigint) FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION ratchet.archive_part(bigint, integer) FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION ratchet.drop_archive_part(bigint) FROM PUBLIC;
