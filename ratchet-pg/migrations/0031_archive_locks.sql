-- Ranges are archived and dropped without a long stop of the workers. What can be done before the exclusive locks is done
-- before them, and a lock that is not available soon is requested again later.

-- A search for archived jobs by their business key. Each range gets the same index before it is attached.
CREATE INDEX job_business_key ON ratchet_archive.job (business_key, id) WHERE business_key IS NOT NULL;

-- Locks the tables of a range for a change of its partitions, and these leases. A statement that needs one of the tables
-- waits behind the request, so each request ends after 50 ms. Then all locks are released and requested again, at most ten
-- times. `replaces` also locks the tables of the archive against readers.
CREATE FUNCTION ratchet.lock_part(suffix text, leases uuid[], replaces boolean) RETURNS void LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp AS $body$
DECLARE
    tries integer := 1;
BEGIN
    LOOP
        BEGIN
            PERFORM set_config('lock_timeout', '50', true);
            -- Leases before tables, and in one order: so does a settlement.
            PERFORM l.id FROM ratchet.lease l WHERE l.id = ANY(leases) ORDER BY l.id FOR UPDATE;
            -- In the order in which an exchange takes them. Every statement takes the parent table first. A lock on the other
            -- partitions would wait for their vacuums.
            LOCK TABLE ONLY ratchet.outcome, ONLY ratchet.job, ONLY ratchet.attempt, ONLY ratchet.note, ONLY ratchet.log
                IN ACCESS EXCLUSIVE MODE;
            EXECUTE format('LOCK TABLE %1$I.%2$I, %1$I.%3$I, %1$I.%4$I, %1$I.%5$I, %1$I.%6$I,
                %1$I.outcome_rest, %1$I.job_rest, %1$I.attempt_rest, %1$I.note_rest, %1$I.log_rest IN ACCESS EXCLUSIVE MODE',
                __HOME__, 'outcome_' || suffix, 'job_' || suffix, 'attempt_' || suffix, 'note_' || suffix, 'log_' || suffix);
            -- Readers take the tables of the archive last.
            IF replaces THEN
                LOCK TABLE ONLY ratchet_archive.outcome, ONLY ratchet_archive.job, ONLY ratchet_archive.attempt,
                    ONLY ratchet_archive.note, ONLY ratchet_archive.log IN ACCESS EXCLUSIVE MODE;
            ELSE
                LOCK TABLE ONLY ratchet_archive.outcome, ONLY ratchet_archive.job, ONLY ratchet_archive.attempt,
                    ONLY ratchet_archive.note, ONLY ratchet_archive.log IN SHARE UPDATE EXCLUSIVE MODE;
            END IF;
            RETURN;
        EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
            IF tries >= 10 THEN
                RAISE;
            END IF;
        END;
        tries := tries + 1;
        PERFORM pg_sleep(0.1 + random() * 0.1);
    END LOOP;
END
$body$;

-- Keeps the vacuums of the server away from a range and from the rest until the end of the transaction. A vacuum that runs
-- is canceled after a second. These locks stop neither readers nor writers.
CREATE FUNCTION ratchet.keep_vacuums_away(suffix text) RETURNS void LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp AS $body$
BEGIN
    PERFORM set_config('lock_timeout', '3000', true);
    EXECUTE format('LOCK TABLE %1$I.%2$I, %1$I.%3$I, %1$I.%4$I, %1$I.%5$I, %1$I.%6$I,
        %1$I.outcome_rest, %1$I.job_rest, %1$I.attempt_rest, %1$I.note_rest, %1$I.log_rest IN SHARE UPDATE EXCLUSIVE MODE',
        __HOME__, 'outcome_' || suffix, 'job_' || suffix, 'attempt_' || suffix, 'note_' || suffix, 'log_' || suffix);
    PERFORM set_config('lock_timeout', '500', true);
END
$body$;

DROP FUNCTION ratchet.prepare_archive_part(bigint);

-- Prepares one table of the oldest range whose ids are all older than `cutoff` for the archive: it gets the constraint with
-- which it can be attached without being read. The constraint is not checked here, because this commit must be short. Returns
-- how many tables are not prepared yet, and null if there is no such range.
CREATE FUNCTION ratchet.prepare_archive_part(cutoff bigint) RETURNS integer LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
DECLARE
    old record;
    base text;
    key text;
    leaf regclass;
    prepared boolean := false;
    remaining integer := 0;
BEGIN
    IF NOT pg_try_advisory_xact_lock(hashtextextended(__HOME__ || ' parts', 0)) THEN
        RETURN NULL;
    END IF;
    SELECT p.* INTO old FROM ratchet.part p WHERE p.ends <= cutoff ORDER BY p.starts LIMIT 1;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    PERFORM set_config('lock_timeout', '50', true);
    FOREACH base IN ARRAY ARRAY['outcome', 'job', 'attempt', 'note', 'log'] LOOP
        key := CASE base WHEN 'job' THEN 'id' ELSE 'job' END;
        leaf := to_regclass(format('%I.%I', __HOME__, base || '_' || old.suffix));
        CONTINUE WHEN EXISTS (SELECT FROM pg_constraint c WHERE c.conrelid = leaf AND c.conname = 'archive_bounds');
        IF NOT prepared THEN
            BEGIN
                EXECUTE format('ALTER TABLE %1$s ADD CONSTRAINT archive_bounds
                    CHECK (%2$I IS NOT NULL AND %2$I >= %3$L AND %2$I < %4$L) NOT VALID',
                    leaf, key, ratchet.id_at(old.starts), ratchet.id_at(old.ends));
                prepared := true;
                CONTINUE;
            EXCEPTION WHEN lock_not_available THEN
                -- A statement that needs this table must not wait again at once.
                prepared := true;
            END;
        END IF;
        remaining := remaining + 1;
    END LOOP;
    RETURN remaining;
END
$body$;

-- Moves the range that was prepared to the archive, with the successes that ended before `cutoff`. Jobs that must stay move
-- to the rest, unless they are more than `most`. Rows of graphs, rejects and successors are deleted, as when a range is
-- dropped. Returns how many jobs were archived: null if there was nothing to move, -1 if too many jobs must stay or are in the
-- archive already, and -2 if the locks were not available.
CREATE OR REPLACE FUNCTION ratchet.archive_part(cutoff bigint, most integer) RETURNS bigint LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
DECLARE
    old record;
    base text;
    key text;
    kept uuid[];
    ended bigint;
    stayed bigint;
    leaf oid;
    rest oid;
    earlier record;
    has_earlier boolean;
    graphs uuid[];
    open_members uuid[];
    leases uuid[];
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
    PERFORM set_config('statement_timeout', '0', true), set_config('enable_seqscan', 'on', true);

    -- What is committed even if the locks are not available. The checks read each table from end to end and stop no reader
    -- and no writer. Jobs are no longer submitted into this range, so no submit waits for the index.
    BEGIN
        PERFORM ratchet.keep_vacuums_away(old.suffix);
        FOREACH base IN ARRAY ARRAY['outcome', 'job', 'attempt', 'note', 'log'] LOOP
            EXECUTE format('ALTER TABLE %I.%I VALIDATE CONSTRAINT archive_bounds', __HOME__, base || '_' || old.suffix);
        END LOOP;
        EXECUTE format('CREATE INDEX IF NOT EXISTS %I ON %I.%I (business_key, id) WHERE business_key IS NOT NULL',
            'job_' || old.suffix || '_business_key', __HOME__, 'job_' || old.suffix);
    EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
        RETURN -2;
    END;

    BEGIN
        -- Before the exclusive locks. Until the end, no job of the range is added or deleted. Claims go on reading.
        EXECUTE format('LOCK TABLE %I.%I IN SHARE MODE', __HOME__, 'job_' || old.suffix);
        SELECT c.oid INTO leaf FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = __HOME__ AND c.relname = 'outcome_' || old.suffix;
        SELECT c.oid INTO rest FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = __HOME__ AND c.relname = 'outcome_rest';
        -- Jobs of this range that were moved one by one before are put into it. They must not be purged meanwhile.
        has_earlier := EXISTS (SELECT FROM ratchet_archive.part a WHERE a.starts < old.ends AND a.ends > old.starts);
        IF has_earlier THEN
            IF EXISTS (
                SELECT FROM ratchet_archive.part a
                WHERE a.starts < old.ends AND a.ends > old.starts AND (a.starts < old.starts OR a.ends > old.ends)
            ) THEN
                RETURN -1;
            END IF;
            FOR earlier IN SELECT a.* FROM ratchet_archive.part a WHERE a.starts < old.ends AND a.ends > old.starts LOOP
                FOREACH base IN ARRAY ARRAY['outcome', 'job', 'attempt', 'note', 'log'] LOOP
                    EXECUTE format('LOCK TABLE %I.%I IN SHARE MODE', __ARCHIVE__, base || '_' || earlier.suffix);
                END LOOP;
            END LOOP;
            IF (SELECT count(*) FROM (SELECT FROM ratchet_archive.job j WHERE j.id >= low AND j.id < high LIMIT most + 1) m) > most THEN
                RETURN -1;
            END IF;
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
        -- Graphs that have ended. A retry would lock its graph first, so none of them is opened again.
        SELECT array_agg(g.id) INTO graphs FROM (
            SELECT g.id FROM ratchet.graph g
            WHERE g.id IN (SELECT m.graph FROM ratchet.member m WHERE m.job >= low AND m.job < high) AND g.last IS NULL
                AND NOT EXISTS (SELECT FROM ratchet.job_group o WHERE o.graph = g.id AND o.finished_at IS NULL)
                AND NOT EXISTS (
                    SELECT FROM ratchet.member m
                    WHERE m.graph = g.id AND NOT EXISTS (SELECT FROM ratchet.outcome o WHERE o.job = m.job OFFSET 0)
                )
            ORDER BY g.id FOR UPDATE SKIP LOCKED
        ) g;
        -- Checked again, because one may have been opened before it was locked.
        SELECT array_agg(x.id) INTO graphs FROM unnest(graphs) AS x(id)
        WHERE NOT EXISTS (SELECT FROM ratchet.job_group o WHERE o.graph = x.id AND o.finished_at IS NULL)
            AND NOT EXISTS (
                SELECT FROM ratchet.member m
                WHERE m.graph = x.id AND NOT EXISTS (SELECT FROM ratchet.outcome o WHERE o.job = m.job OFFSET 0)
            );
        graphs := COALESCE(graphs, '{}');
        SELECT COALESCE(array_agg(m.job), '{}') INTO open_members FROM ratchet.member m
        WHERE m.job >= low AND m.job < high AND NOT m.graph = ANY(graphs);
        DELETE FROM ratchet.edge e
        WHERE e.parent >= low AND e.parent < high AND NOT e.parent_group
            AND NOT e.parent = ANY(kept) AND NOT e.parent = ANY(open_members);
        DELETE FROM ratchet.member m
        WHERE m.job >= low AND m.job < high AND NOT m.job = ANY(kept) AND NOT m.job = ANY(open_members);
        DELETE FROM ratchet.reject r
        WHERE r.job >= low AND r.job < high AND NOT r.job = ANY(kept) AND NOT r.job = ANY(open_members);
        DELETE FROM ratchet.graph g
        WHERE (g.id = ANY(graphs) OR g.id >= low AND g.id < high AND g.last IS NULL)
            AND NOT EXISTS (SELECT FROM ratchet.member m WHERE m.graph = g.id)
            AND NOT EXISTS (SELECT FROM ratchet.job_group o WHERE o.graph = g.id);
        IF has_earlier THEN
            FOREACH base IN ARRAY ARRAY['outcome', 'job', 'attempt', 'note', 'log'] LOOP
                key := CASE base WHEN 'job' THEN 'id' ELSE 'job' END;
                EXECUTE format('INSERT INTO %1$I.%2$I SELECT * FROM %3$I.%4$I WHERE %5$I >= $1 AND %5$I < $2',
                    __HOME__, base || '_' || old.suffix, __ARCHIVE__, base, key) USING low, high;
            END LOOP;
            INSERT INTO ratchet_archive.tally (queue, state, part, change)
            SELECT j.queue, o.state, leaf, count(*)
            FROM ratchet_archive.job j JOIN ratchet_archive.outcome o ON o.job = j.id
            WHERE j.id >= low AND j.id < high GROUP BY j.queue, o.state;
            DELETE FROM ratchet_archive.tally t USING ratchet_archive.part a
            WHERE a.starts < old.ends AND a.ends > old.starts
                AND t.part = to_regclass(format('%I.%I', __ARCHIVE__, 'outcome_' || a.suffix));
        END IF;
        -- A lease that names jobs of the range. A lease of a later claim names only jobs that stay.
        SELECT array_agg(l.id) INTO leases FROM ratchet.lease l
        WHERE EXISTS (SELECT FROM unnest(l.jobs) AS m(job) WHERE m.job >= low AND m.job < high);

        -- Under the exclusive locks.
        PERFORM ratchet.lock_part(old.suffix, leases, has_earlier);
        -- A retry may have opened a group again since its members were read. Transactions that did so have ended.
        SELECT COALESCE(array_agg(DISTINCT k.id), '{}') INTO kept FROM (
            SELECT unnest(kept) AS id
            UNION ALL
            SELECT m.job FROM unnest(open_members) AS x(job)
            CROSS JOIN LATERAL (SELECT * FROM ratchet.member m WHERE m.job = x.job OFFSET 0) m
            CROSS JOIN LATERAL (SELECT g.finished_at FROM ratchet.job_group g WHERE g.id = m.grp OFFSET 0) g
            WHERE g.finished_at IS NULL
        ) k;
        IF cardinality(kept) > most THEN
            -- Undoes the deletions.
            RAISE SQLSTATE 'RT001';
        END IF;
        EXECUTE format('WITH stays AS MATERIALIZED (
                SELECT j.queue, o.state, count(*) AS n FROM unnest($1) AS k(id)
                CROSS JOIN LATERAL (SELECT o.state FROM %1$I.%2$I o WHERE o.job = k.id OFFSET 0) o
                CROSS JOIN LATERAL (SELECT j.queue FROM %1$I.%3$I j WHERE j.id = k.id OFFSET 0) j
                WHERE NOT EXISTS (SELECT FROM %1$I.paused p WHERE p.job = k.id)
                GROUP BY j.queue, o.state
            ),
            gone AS (DELETE FROM %1$I.tally t WHERE t.part = $2 RETURNING t.queue, t.state, t.change),
            in_rest AS (INSERT INTO %1$I.tally (queue, state, part, change) SELECT s.queue, s.state, $3, s.n FROM stays s)
            INSERT INTO %4$I.tally (queue, state, part, change)
            SELECT c.queue, c.state, $2, sum(c.change)
            FROM (SELECT g.queue, g.state, g.change FROM gone g UNION ALL SELECT s.queue, s.state, -s.n FROM stays s) c
            GROUP BY c.queue, c.state HAVING sum(c.change) <> 0',
            __HOME__, 'outcome_' || old.suffix, 'job_' || old.suffix, __ARCHIVE__) USING kept, leaf, rest;
        FOREACH base IN ARRAY ARRAY['outcome', 'job', 'attempt', 'note', 'log'] LOOP
            key := CASE base WHEN 'job' THEN 'id' ELSE 'job' END;
            EXECUTE format('ALTER TABLE %1$I.%2$I DETACH PARTITION %1$I.%3$I', __HOME__, base, base || '_' || old.suffix);
            IF cardinality(kept) > 0 THEN
                EXECUTE format('WITH kept AS (DELETE FROM %1$I.%3$I WHERE %4$I = ANY($1) RETURNING *)
                    INSERT INTO %1$I.%2$I SELECT * FROM kept', __HOME__, base || '_rest', base || '_' || old.suffix, key)
                USING kept;
                IF base = 'outcome' THEN
                    GET DIAGNOSTICS stayed = ROW_COUNT;
                END IF;
            END IF;
            IF has_earlier THEN
                FOR earlier IN SELECT a.* FROM ratchet_archive.part a WHERE a.starts < old.ends AND a.ends > old.starts LOOP
                    EXECUTE format('DROP TABLE %I.%I', __ARCHIVE__, base || '_' || earlier.suffix);
                END LOOP;
            END IF;
            EXECUTE format('ALTER TABLE %I.%I SET SCHEMA %I', __HOME__, base || '_' || old.suffix, __ARCHIVE__);
            EXECUTE format('ALTER TABLE %1$I.%2$I ATTACH PARTITION %1$I.%3$I FOR VALUES FROM (%4$L) TO (%5$L)',
                __ARCHIVE__, base, base || '_' || old.suffix, low, high);
        END LOOP;
        DELETE FROM ratchet_archive.part a WHERE a.starts < old.ends AND a.ends > old.starts;
        INSERT INTO ratchet_archive.part (starts, ends, suffix, at)
        VALUES (old.starts, old.ends, old.suffix, ratchet.now_micros());
        DELETE FROM ratchet.part p WHERE p.starts = old.starts;
        IF cardinality(open_members) > 0 THEN
            DELETE FROM ratchet.edge e WHERE e.parent = ANY(open_members) AND NOT e.parent_group AND NOT e.parent = ANY(kept);
            DELETE FROM ratchet.reject r WHERE r.job = ANY(open_members) AND NOT r.job = ANY(kept);
            WITH gone AS (
                DELETE FROM ratchet.member m WHERE m.job = ANY(open_members) AND NOT m.job = ANY(kept) RETURNING m.graph
            )
            SELECT array_agg(DISTINCT g.graph) INTO graphs FROM gone g;
            DELETE FROM ratchet.graph g
            WHERE g.id = ANY(graphs) AND g.last IS NULL
                AND NOT EXISTS (SELECT FROM ratchet.member m WHERE m.graph = g.id)
                AND NOT EXISTS (SELECT FROM ratchet.job_group o WHERE o.graph = g.id);
        END IF;
        DELETE FROM ratchet.successor s WHERE s.original >= low AND s.original < high AND NOT s.original = ANY(kept);
        -- A lease that is still held must not name jobs that are gone.
        UPDATE ratchet.lease l
        SET versions = ARRAY(
            SELECT CASE WHEN m.job >= low AND m.job < high AND NOT m.job = ANY(kept) THEN 0 ELSE COALESCE(m.version, 1) END
            FROM unnest(l.jobs, l.versions) WITH ORDINALITY AS m(job, version, place) ORDER BY m.place
        )
        WHERE l.id = ANY(leases);
        RETURN ended - COALESCE(stayed, 0);
    EXCEPTION
        WHEN lock_not_available OR deadlock_detected THEN
            RETURN -2;
        WHEN SQLSTATE 'RT001' THEN
            RETURN -1;
    END;
END
$body$;

-- Drops the oldest range whose ids are all older than `cutoff`, with the successes that ended before it. Jobs that must stay
-- move to the rest, unless they are more than `most`. Returns how many jobs were dropped: null if there was nothing to drop,
-- and -1 if too many jobs must stay. Rows of graphs, rejects and successors are deleted with their jobs.
CREATE OR REPLACE FUNCTION ratchet.drop_part(cutoff bigint, most integer) RETURNS bigint LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
DECLARE
    old record;
    base text;
    key text;
    kept uuid[];
    ended bigint;
    leaf oid;
    leases uuid[];
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
    PERFORM set_config('statement_timeout', '0', true), set_config('enable_seqscan', 'on', true);
    PERFORM ratchet.keep_vacuums_away(old.suffix);
    -- Jobs are no longer submitted into this range, so no submit waits for this lock. Claims go on reading.
    EXECUTE format('LOCK TABLE %I.%I IN SHARE MODE', __HOME__, 'job_' || old.suffix);
    -- Jobs that have not ended, that did not succeed, that ended late, whose handler is still running, and members of a group
    -- that has not ended.
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
    -- A lease that names jobs of the range. A lease of a later claim names only jobs that stay.
    SELECT array_agg(l.id) INTO leases FROM ratchet.lease l
    WHERE EXISTS (SELECT FROM unnest(l.jobs) AS m(job) WHERE m.job >= low AND m.job < high);
    PERFORM ratchet.lock_part(old.suffix, leases, false);
    -- A retry may have opened a group again since its members were read. Transactions that did so have ended.
    SELECT COALESCE(array_agg(DISTINCT k.id), '{}') INTO kept FROM (
        SELECT unnest(kept) AS id
        UNION ALL
        SELECT m.job FROM ratchet.job_group g JOIN ratchet.member m ON m.graph = g.graph AND m.grp = g.id
        WHERE g.finished_at IS NULL AND m.job >= low AND m.job < high
    ) k;
    IF cardinality(kept) > most THEN
        RETURN -1;
    END IF;
    FOREACH base IN ARRAY ARRAY['outcome', 'job', 'attempt', 'note', 'log'] LOOP
        key := CASE base WHEN 'job' THEN 'id' ELSE 'job' END;
        EXECUTE format('ALTER TABLE %1$I.%2$I DETACH PARTITION %1$I.%3$I', __HOME__, base, base || '_' || old.suffix);
        EXECUTE format('INSERT INTO %1$I.%2$I SELECT * FROM %1$I.%3$I WHERE %4$I = ANY($1)', __HOME__, base || '_rest',
            base || '_' || old.suffix, key) USING kept;
        EXECUTE format('DROP TABLE %I.%I', __HOME__, base || '_' || old.suffix);
    END LOOP;
    DELETE FROM ratchet.part p WHERE p.starts = old.starts;
    DELETE FROM ratchet.tally t WHERE t.part = leaf;
    INSERT INTO ratchet.tally (queue, state, part, change)
    SELECT j.queue, o.state, o.tableoid, count(*)
    FROM unnest(kept) AS k(id) JOIN ratchet.outcome_rest o ON o.job = k.id JOIN ratchet.job_rest j ON j.id = k.id
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
    WHERE l.id = ANY(leases);
    RETURN ended - (SELECT count(*) FROM unnest(kept) AS k(id) JOIN ratchet.outcome_rest o ON o.job = k.id);
END
$body$;

REVOKE EXECUTE ON FUNCTION ratchet.lock_part(text, uuid[], boolean) FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION ratchet.keep_vacuums_away(text) FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION ratchet.prepare_archive_part(bigint) FROM PUBLIC;
