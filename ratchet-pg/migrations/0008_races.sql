-- What two transactions at once could break.

-- A probe of a breaker holds a slot whose key names the service and the opening. It is marked as such: a concurrency key may
-- read the same.
ALTER TABLE ratchet.slot ADD COLUMN probe boolean NOT NULL DEFAULT false;
UPDATE ratchet.slot s SET probe = true
WHERE s.key LIKE 'probe %' AND NOT EXISTS (SELECT FROM ratchet.job j WHERE j.id = s.job AND j.ckey = s.key);
ALTER TABLE ratchet.slot DROP CONSTRAINT slot_pkey, ADD PRIMARY KEY (job, lease, version, key, probe);

-- Makes the ranges that are missing from now on until `ahead`, each `width` long. Answers how many it made.
CREATE OR REPLACE FUNCTION ratchet.make_parts(width bigint, ahead bigint) RETURNS integer LANGUAGE plpgsql AS $body$
DECLARE
    now_at bigint := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
    low bigint := now_at - now_at % width;
    high bigint;
    covered bigint;
    name text;
    base text;
    key text;
    rest oid;
    leaf oid;
    -- More than this many strays are left where they are, and the range is not made.
    most integer := 10000;
    made integer := 0;
BEGIN
    -- Set first: the lock may be held for as long as it takes to drop a range.
    PERFORM set_config('lock_timeout', '500', true);
    PERFORM pg_advisory_xact_lock(hashtextextended(__HOME__ || ' parts', 0));
    WHILE low < now_at + ahead LOOP
        SELECT p.ends INTO covered FROM ratchet.part p WHERE p.starts <= low AND p.ends > low;
        IF FOUND THEN
            low := covered;
            CONTINUE;
        END IF;
        -- Ends on the grid, also after the width has changed, and where the next range begins.
        high := LEAST(low - low % width + width, (SELECT min(p.starts) FROM ratchet.part p WHERE p.starts > low));
        IF (
            SELECT count(*) FROM (
                SELECT FROM ratchet.job_rest j WHERE j.id >= ratchet.id_at(low) AND j.id < ratchet.id_at(high) LIMIT most + 1
            ) s
        ) <= most THEN
            name := to_char(to_timestamp(low / 1000000) AT TIME ZONE 'UTC', 'YYYYMMDD"t"HH24MI');
            FOREACH base IN ARRAY ARRAY['job', 'outcome', 'attempt', 'note', 'log'] LOOP
                key := CASE base WHEN 'job' THEN 'id' ELSE 'job' END;
                -- Made apart, then attached: that lock lets readers and writers go on.
                EXECUTE format('CREATE TABLE %1$I.%2$I (LIKE %1$I.%3$I INCLUDING DEFAULTS)',
                    __HOME__, base || '_' || name, base);
                -- What came before its range is in the rest, and goes where it belongs.
                EXECUTE format('WITH moved AS (DELETE FROM %1$I.%2$I WHERE %3$I >= %4$L AND %3$I < %5$L RETURNING *)
                    INSERT INTO %1$I.%6$I SELECT * FROM moved',
                    __HOME__, base || '_rest', key, ratchet.id_at(low), ratchet.id_at(high), base || '_' || name);
                EXECUTE format('ALTER TABLE %1$I.%3$I ATTACH PARTITION %1$I.%2$I FOR VALUES FROM (%4$L) TO (%5$L)',
                    __HOME__, base || '_' || name, base, ratchet.id_at(low), ratchet.id_at(high));
            END LOOP;
            -- Their ends are counted with the table they are in.
            SELECT c.oid INTO rest FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = __HOME__ AND c.relname = 'outcome_rest';
            SELECT c.oid INTO leaf FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = __HOME__ AND c.relname = 'outcome_' || name;
            INSERT INTO ratchet.tally (queue, state, part, change)
            SELECT j.queue, o.state, t.part, t.sign * count(*)
            FROM ratchet.outcome o JOIN ratchet.job j ON j.id = o.job
            CROSS JOIN (VALUES (rest, -1), (leaf, 1)) AS t(part, sign)
            WHERE o.job >= ratchet.id_at(low) AND o.job < ratchet.id_at(high)
                AND NOT EXISTS (SELECT FROM ratchet.paused p WHERE p.job = o.job)
            GROUP BY j.queue, o.state, t.part, t.sign;
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
-- much must stay. What belongs to graphs and rejects goes with its jobs.
CREATE OR REPLACE FUNCTION ratchet.drop_part(cutoff bigint, most integer) RETURNS bigint LANGUAGE plpgsql AS $body$
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
    SELECT c.oid INTO leaf FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = __HOME__ AND c.relname = 'outcome_' || old.suffix;
    -- Leases before tables, and in one order: so does a settle.
    PERFORM l.id FROM ratchet.lease l
    WHERE EXISTS (
        SELECT FROM unnest(l.jobs) AS m(job)
        WHERE m.job >= ratchet.id_at(old.starts) AND m.job < ratchet.id_at(old.ends)
    )
    ORDER BY l.id FOR UPDATE;
    -- All at once, in the order in which statements take them.
    LOCK TABLE ratchet.job, ratchet.outcome, ratchet.attempt, ratchet.note, ratchet.log IN ACCESS EXCLUSIVE MODE;
    -- A retry may have opened a group again since its members were read. Whoever is at it now has read these tables, and is
    -- waited for.
    SELECT array_agg(DISTINCT k.id) INTO kept FROM (
        SELECT unnest(kept) AS id
        UNION ALL
        SELECT m.job FROM ratchet.job_group g JOIN ratchet.member m ON m.graph = g.graph AND m.grp = g.id
        WHERE g.finished_at IS NULL AND m.job >= ratchet.id_at(old.starts) AND m.job < ratchet.id_at(old.ends)
    ) k;
    kept := COALESCE(kept, '{}');
    IF cardinality(kept) > most THEN
        RETURN -1;
    END IF;
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

-- Submits a job from any language, inside the caller's own transaction and with the rules of the library.
-- Answers with the id of the job that stands for the submit: the new one, or for a repeated idempotency key the first.
-- A business key that is taken and an idempotency key that was used for something else raise errors.
CREATE OR REPLACE FUNCTION ratchet.enqueue(
    name text,
    payload jsonb,
    queue text DEFAULT 'default',
    priority integer DEFAULT 2,
    run_at timestamptz DEFAULT NULL,
    idempotency_key text DEFAULT NULL,
    business_key text DEFAULT NULL,
    tenant text DEFAULT NULL,
    tags text[] DEFAULT '{}',
    version integer DEFAULT 1,
    correlation_id text DEFAULT NULL,
    service text DEFAULT NULL
) RETURNS uuid LANGUAGE plpgsql AS $body$
#variable_conflict use_column
DECLARE
    now_at bigint := ratchet.now_micros();
    due_at bigint := COALESCE((extract(epoch FROM enqueue.run_at) * 1000000)::bigint, now_at);
    ahead bigint := 900000000::bigint * enqueue.priority;
    scope_of text := CASE WHEN enqueue.tenant IS NULL THEN '' ELSE '=' || enqueue.tenant END;
    bytes bytea := convert_to(enqueue.payload::text, 'UTF8');
    millis text := lpad(to_hex((extract(epoch FROM clock_timestamp()) * 1000)::bigint), 12, '0');
    random text := replace(gen_random_uuid()::text, '-', '');
    new_id uuid := (millis || '7' || substr(random, 14, 3) || substr(random, 17, 16))::uuid;
    seen record;
    is_keyed boolean := enqueue.business_key IS NOT NULL;
    tries integer := 0;
BEGIN
    IF enqueue.priority NOT BETWEEN 0 AND 4 THEN
        RAISE EXCEPTION 'priority is 0 (lowest) to 4 (critical)' USING ERRCODE = '22023';
    END IF;
    IF enqueue.idempotency_key IS NOT NULL THEN
        INSERT INTO ratchet.idempotency (scope, key, job, name, digest)
        VALUES (scope_of, enqueue.idempotency_key, new_id, enqueue.name, sha256(bytes))
        ON CONFLICT DO NOTHING;
        SELECT i.job, i.name, i.digest INTO seen FROM ratchet.idempotency i
        WHERE i.scope = scope_of AND i.key = enqueue.idempotency_key;
        IF seen.job <> new_id THEN
            IF seen.name <> enqueue.name OR seen.digest <> sha256(bytes) THEN
                RAISE EXCEPTION 'idempotency key % was used before for another job or other arguments (job %)',
                    enqueue.idempotency_key, seen.job USING ERRCODE = '23505';
            END IF;
            RETURN seen.job;
        END IF;
    END IF;
    IF enqueue.business_key IS NOT NULL THEN
        LOOP
            INSERT INTO ratchet.business (scope, key, job) VALUES (scope_of, enqueue.business_key, new_id)
            ON CONFLICT DO NOTHING;
            SELECT b.job INTO seen FROM ratchet.business b WHERE b.scope = scope_of AND b.key = enqueue.business_key;
            EXIT WHEN seen.job = new_id;
            -- Without a holder it was freed between the two statements, and is asked for again.
            tries := tries + 1;
            IF seen.job IS NOT NULL THEN
                RAISE EXCEPTION 'business key % is held by job %', enqueue.business_key, seen.job USING ERRCODE = '23505';
            ELSIF tries > 100 THEN
                RAISE EXCEPTION 'business key % keeps changing hands: submit again', enqueue.business_key
                    USING ERRCODE = '40001';
            END IF;
        END LOOP;
    END IF;
    INSERT INTO ratchet.job (id, queued_at, due, head, version, priority, name, queue, payload, business_key,
        idempotency_key, service, tenant, correlation_id, tags)
    VALUES (new_id, now_at, due_at, ahead, enqueue.version, enqueue.priority, enqueue.name, enqueue.queue, bytes,
        enqueue.business_key, enqueue.idempotency_key, enqueue.service, enqueue.tenant, enqueue.correlation_id,
        CASE WHEN cardinality(enqueue.tags) > 0 THEN to_jsonb(enqueue.tags) END);
    IF due_at <= now_at THEN
        INSERT INTO ratchet.ready (job, sort_key, due, version, run, job_version, attempts, crashes, deferrals,
            generation, keyed, queue, name, service)
        VALUES (new_id, due_at - ahead, due_at, 0, 0, enqueue.version, 0, 0, 0, 1, is_keyed, enqueue.queue,
            enqueue.name, enqueue.service);
        PERFORM pg_notify(__CHANNEL__, 'sql p ' || (due_at - ahead) || ' ' || enqueue.queue);
    ELSE
        INSERT INTO ratchet.scheduled (job, sort_key, due, version, run, job_version, attempts, crashes, deferrals,
            generation, keyed, queue, name, service)
        VALUES (new_id, due_at - ahead, due_at, 0, 0, enqueue.version, 0, 0, 0, 1, is_keyed, enqueue.queue,
            enqueue.name, enqueue.service);
    END IF;
    RETURN new_id;
END
$body$;
