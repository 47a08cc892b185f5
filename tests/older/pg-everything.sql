CREATE SCHEMA ratchet;
CREATE FUNCTION ratchet.check_text(field text, value text, most integer, identifier boolean) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    AS $_$
BEGIN
    IF value IS NULL THEN
        RAISE EXCEPTION 'the % is null', field USING ERRCODE = '22023';
    ELSIF value = '' THEN
        RAISE EXCEPTION 'the % is empty', field USING ERRCODE = '22023';
    ELSIF octet_length(value) > most THEN
        RAISE EXCEPTION 'the % has % bytes, the limit is %', field, octet_length(value), most USING ERRCODE = '22023';
    ELSIF identifier AND value !~ '^[A-Za-z0-9_./:-]+$' THEN
        RAISE EXCEPTION 'the % contains %; it holds letters, digits and `_ - . / :` only', field,
            quote_literal(substring(value FROM '[^A-Za-z0-9_./:-]')) USING ERRCODE = '22023';
    END IF;
END
$_$;
CREATE FUNCTION ratchet.drop_part(cutoff bigint, most integer) RETURNS bigint
    LANGUAGE plpgsql
    AS $_$
DECLARE
    old record;
    base text;
    key text;
    kept uuid[];
    ended bigint;
    leaf oid;
BEGIN
    IF NOT pg_try_advisory_xact_lock(hashtextextended('ratchet' || ' parts', 0)) THEN
        RETURN NULL;
    END IF;
    SELECT p.* INTO old FROM "ratchet".part p WHERE p.ends <= cutoff ORDER BY p.starts LIMIT 1;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    PERFORM set_config('lock_timeout', '500', true), set_config('statement_timeout', '0', true),
        set_config('enable_seqscan', 'on', true);
    -- Nobody submits into the past, so this stops nobody; claims go on reading.
    EXECUTE format('LOCK TABLE %I.%I IN SHARE MODE', 'ratchet', 'job_' || old.suffix);
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
        ) k', 'ratchet', 'job_' || old.suffix, 'outcome_' || old.suffix)
    INTO kept, ended USING cutoff, most;
    kept := COALESCE(kept, '{}');
    IF cardinality(kept) > most THEN
        RETURN -1;
    END IF;
    SELECT c.oid INTO leaf FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = 'ratchet' AND c.relname = 'outcome_' || old.suffix;
    -- Leases before tables, and in one order: so does a settle.
    PERFORM l.id FROM "ratchet".lease l
    WHERE EXISTS (
        SELECT FROM unnest(l.jobs) AS m(job)
        WHERE m.job >= "ratchet".id_at(old.starts) AND m.job < "ratchet".id_at(old.ends)
    )
    ORDER BY l.id FOR UPDATE;
    -- All at once, in the order in which statements take them.
    LOCK TABLE "ratchet".job, "ratchet".outcome, "ratchet".attempt, "ratchet".note, "ratchet".log IN ACCESS EXCLUSIVE MODE;
    -- A retry may have opened a group again since its members were read. Whoever is at it now has read these tables, and is
    -- waited for.
    SELECT array_agg(DISTINCT k.id) INTO kept FROM (
        SELECT unnest(kept) AS id
        UNION ALL
        SELECT m.job FROM "ratchet".job_group g JOIN "ratchet".member m ON m.graph = g.graph AND m.grp = g.id
        WHERE g.finished_at IS NULL AND m.job >= "ratchet".id_at(old.starts) AND m.job < "ratchet".id_at(old.ends)
    ) k;
    kept := COALESCE(kept, '{}');
    IF cardinality(kept) > most THEN
        RETURN -1;
    END IF;
    FOREACH base IN ARRAY ARRAY['job', 'outcome', 'attempt', 'note', 'log'] LOOP
        key := CASE base WHEN 'job' THEN 'id' ELSE 'job' END;
        EXECUTE format('ALTER TABLE %1$I.%2$I DETACH PARTITION %1$I.%3$I', 'ratchet', base, base || '_' || old.suffix);
        EXECUTE format('INSERT INTO %1$I.%2$I SELECT * FROM %1$I.%3$I WHERE %4$I = ANY($1)', 'ratchet', base,
            base || '_' || old.suffix, key) USING kept;
        EXECUTE format('DROP TABLE %I.%I', 'ratchet', base || '_' || old.suffix);
    END LOOP;
    DELETE FROM "ratchet".part p WHERE p.starts = old.starts;
    DELETE FROM "ratchet".tally t WHERE t.part = leaf;
    INSERT INTO "ratchet".tally (queue, state, part, change)
    SELECT j.queue, o.state, o.tableoid, count(*)
    FROM unnest(kept) AS k(id) JOIN "ratchet".outcome o ON o.job = k.id JOIN "ratchet".job j ON j.id = k.id
    WHERE NOT EXISTS (SELECT FROM "ratchet".paused p WHERE p.job = k.id)
    GROUP BY j.queue, o.state, o.tableoid;
    DELETE FROM "ratchet".member m
    WHERE m.job >= "ratchet".id_at(old.starts) AND m.job < "ratchet".id_at(old.ends) AND NOT m.job = ANY(kept);
    DELETE FROM "ratchet".edge e
    WHERE e.parent >= "ratchet".id_at(old.starts) AND e.parent < "ratchet".id_at(old.ends) AND NOT e.parent_group
        AND NOT e.parent = ANY(kept);
    DELETE FROM "ratchet".reject r
    WHERE r.job >= "ratchet".id_at(old.starts) AND r.job < "ratchet".id_at(old.ends) AND NOT r.job = ANY(kept);
    DELETE FROM "ratchet".graph g
    WHERE g.id >= "ratchet".id_at(old.starts) AND g.id < "ratchet".id_at(old.ends)
        AND NOT EXISTS (SELECT FROM "ratchet".member m WHERE m.graph = g.id)
        AND NOT EXISTS (SELECT FROM "ratchet".job_group o WHERE o.graph = g.id);
    -- A lease that still stands must not speak for jobs that are gone.
    UPDATE "ratchet".lease l
    SET versions = ARRAY(
        SELECT CASE
            WHEN m.job >= "ratchet".id_at(old.starts) AND m.job < "ratchet".id_at(old.ends) AND NOT m.job = ANY(kept) THEN 0
            ELSE COALESCE(m.version, 1) END
        FROM unnest(l.jobs, l.versions) WITH ORDINALITY AS m(job, version, place) ORDER BY m.place
    )
    WHERE EXISTS (
        SELECT FROM unnest(l.jobs) AS m(job)
        WHERE m.job >= "ratchet".id_at(old.starts) AND m.job < "ratchet".id_at(old.ends)
    );
    RETURN ended - (SELECT count(*) FROM unnest(kept) AS k(id) JOIN "ratchet".outcome o ON o.job = k.id);
END
$_$;
CREATE FUNCTION ratchet.enqueue(name text, payload jsonb, queue text DEFAULT 'default'::text, priority integer DEFAULT 2, run_at timestamp with time zone DEFAULT NULL::timestamp with time zone, idempotency_key text DEFAULT NULL::text, business_key text DEFAULT NULL::text, tenant text DEFAULT NULL::text, tags text[] DEFAULT '{}'::text[], version integer DEFAULT 1, correlation_id text DEFAULT NULL::text, service text DEFAULT NULL::text) RETURNS uuid
    LANGUAGE plpgsql
    AS $_$
#variable_conflict use_column
DECLARE
    now_at bigint := "ratchet".now_micros();
    due_at bigint;
    ahead bigint;
    scope_of text := CASE WHEN enqueue.tenant IS NULL THEN '' ELSE '=' || enqueue.tenant END;
    bytes bytea;
    millis text := lpad(to_hex((extract(epoch FROM clock_timestamp()) * 1000)::bigint), 12, '0');
    random text := replace(gen_random_uuid()::text, '-', '');
    new_id uuid := (millis || '7' || substr(random, 14, 3) || substr(random, 17, 16))::uuid;
    -- As `payload_limit` of the workers; a database or a role may set another one.
    payload_limit integer := COALESCE(NULLIF(current_setting('ratchet' || '.payload_limit', true), ''), '102400')::integer;
    seen record;
    is_keyed boolean := enqueue.business_key IS NOT NULL;
    tries integer := 0;
BEGIN
    PERFORM "ratchet".check_text('job name', enqueue.name, 200, true), "ratchet".check_text('queue name', enqueue.queue, 200, true);
    IF enqueue.payload IS NULL THEN
        RAISE EXCEPTION 'the payload is null: a job without arguments has the payload {}' USING ERRCODE = '22023';
    END IF;
    -- The payload is one level, its arguments may have 100.
    IF jsonb_path_exists(enqueue.payload, 'strict $.**{101 to last} ? (@.type() == "array" || @.type() == "object")') THEN
        RAISE EXCEPTION 'the payload is nested deeper than 101 levels' USING ERRCODE = '22023';
    END IF;
    IF enqueue.priority IS NULL OR enqueue.priority NOT BETWEEN 0 AND 4 THEN
        RAISE EXCEPTION 'priority is 0 (lowest) to 4 (critical)' USING ERRCODE = '22023';
    END IF;
    IF enqueue.version IS NULL OR enqueue.version < 0 THEN
        RAISE EXCEPTION 'the version is % and must not be negative', COALESCE(enqueue.version::text, 'null')
            USING ERRCODE = '22023';
    END IF;
    -- The library writes times from -9999 to 9999.
    IF NOT isfinite(enqueue.run_at) OR enqueue.run_at NOT BETWEEN '4713-01-01 BC' AND '9999-12-30' THEN
        RAISE EXCEPTION 'run_at is %, which is no time that a job can wait for', enqueue.run_at USING ERRCODE = '22023';
    END IF;
    IF enqueue.idempotency_key IS NOT NULL THEN
        PERFORM "ratchet".check_text('idempotency key', enqueue.idempotency_key, 1000, false);
    END IF;
    IF enqueue.business_key IS NOT NULL THEN
        PERFORM "ratchet".check_text('business key', enqueue.business_key, 1000, false);
    END IF;
    IF enqueue.tenant IS NOT NULL THEN
        PERFORM "ratchet".check_text('tenant', enqueue.tenant, 1000, false);
    END IF;
    IF enqueue.correlation_id IS NOT NULL THEN
        PERFORM "ratchet".check_text('correlation id', enqueue.correlation_id, 1000, false);
    END IF;
    IF enqueue.service IS NOT NULL THEN
        PERFORM "ratchet".check_text('service name', enqueue.service, 200, false);
    END IF;
    IF array_ndims(enqueue.tags) > 1 THEN
        RAISE EXCEPTION 'tags is an array of arrays; it must be a list of texts' USING ERRCODE = '22023';
    END IF;
    IF cardinality(enqueue.tags) > 100 THEN
        RAISE EXCEPTION 'the tag is one of %, the limit is 100', cardinality(enqueue.tags) USING ERRCODE = '22023';
    END IF;
    PERFORM "ratchet".check_text('tag', t.tag, 500, false) FROM unnest(enqueue.tags) AS t(tag);
    bytes := convert_to(enqueue.payload::text, 'UTF8');
    IF octet_length(bytes) > payload_limit THEN
        RAISE EXCEPTION 'the payload has % bytes, the limit is %', octet_length(bytes), payload_limit
            USING ERRCODE = '22023', HINT = 'Pass a reference to the data instead, or set the parameter payload_limit of "ratchet".';
    END IF;
    ahead := 900000000::bigint * enqueue.priority;
    due_at := COALESCE((extract(epoch FROM enqueue.run_at) * 1000000)::bigint, now_at);
    IF enqueue.idempotency_key IS NOT NULL THEN
        INSERT INTO "ratchet".idempotency (scope, key, job, name, digest)
        VALUES (scope_of, enqueue.idempotency_key, new_id, enqueue.name, sha256(bytes))
        ON CONFLICT DO NOTHING;
        SELECT i.job, i.name, i.digest INTO seen FROM "ratchet".idempotency i
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
            INSERT INTO "ratchet".business (scope, key, job) VALUES (scope_of, enqueue.business_key, new_id)
            ON CONFLICT DO NOTHING;
            SELECT b.job INTO seen FROM "ratchet".business b WHERE b.scope = scope_of AND b.key = enqueue.business_key;
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
    INSERT INTO "ratchet".job (id, queued_at, due, head, version, priority, name, queue, payload, business_key,
        idempotency_key, service, tenant, correlation_id, tags)
    VALUES (new_id, now_at, due_at, ahead, enqueue.version, enqueue.priority, enqueue.name, enqueue.queue, bytes,
        enqueue.business_key, enqueue.idempotency_key, enqueue.service, enqueue.tenant, enqueue.correlation_id,
        CASE WHEN cardinality(enqueue.tags) > 0 THEN to_jsonb(enqueue.tags) END);
    IF due_at <= now_at THEN
        INSERT INTO "ratchet".ready (job, sort_key, due, version, run, job_version, attempts, crashes, deferrals,
            generation, keyed, queue, name, service)
        VALUES (new_id, due_at - ahead, due_at, 0, 0, enqueue.version, 0, 0, 0, 1, is_keyed, enqueue.queue,
            enqueue.name, enqueue.service);
        PERFORM pg_notify('ratchet:ratchet', 'sql p ' || (due_at - ahead) || ' ' || enqueue.queue);
    ELSE
        INSERT INTO "ratchet".scheduled (job, sort_key, due, version, run, job_version, attempts, crashes, deferrals,
            generation, keyed, queue, name, service)
        VALUES (new_id, due_at - ahead, due_at, 0, 0, enqueue.version, 0, 0, 0, 1, is_keyed, enqueue.queue,
            enqueue.name, enqueue.service);
    END IF;
    RETURN new_id;
END
$_$;
CREATE FUNCTION ratchet.id_at(instant bigint) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT (lpad(to_hex(GREATEST(instant, 0) / 1000), 12, '0') || repeat('0', 20))::uuid $$;
CREATE FUNCTION ratchet.make_parts(width bigint, ahead bigint) RETURNS integer
    LANGUAGE plpgsql
    AS $_$
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
    PERFORM pg_advisory_xact_lock(hashtextextended('ratchet' || ' parts', 0));
    WHILE low < now_at + ahead LOOP
        SELECT p.ends INTO covered FROM "ratchet".part p WHERE p.starts <= low AND p.ends > low;
        IF FOUND THEN
            low := covered;
            CONTINUE;
        END IF;
        -- Ends on the grid, also after the width has changed, and where the next range begins.
        high := LEAST(low - low % width + width, (SELECT min(p.starts) FROM "ratchet".part p WHERE p.starts > low));
        IF (
            SELECT count(*) FROM (
                SELECT FROM "ratchet".job_rest j WHERE j.id >= "ratchet".id_at(low) AND j.id < "ratchet".id_at(high) LIMIT most + 1
            ) s
        ) <= most THEN
            name := to_char(to_timestamp(low / 1000000) AT TIME ZONE 'UTC', 'YYYYMMDD"t"HH24MI');
            FOREACH base IN ARRAY ARRAY['job', 'outcome', 'attempt', 'note', 'log'] LOOP
                key := CASE base WHEN 'job' THEN 'id' ELSE 'job' END;
                -- Made apart, then attached: that lock lets readers and writers go on.
                EXECUTE format('CREATE TABLE %1$I.%2$I (LIKE %1$I.%3$I INCLUDING DEFAULTS INCLUDING CONSTRAINTS)',
                    'ratchet', base || '_' || name, base);
                -- What came before its range is in the rest, and goes where it belongs.
                EXECUTE format('WITH moved AS (DELETE FROM %1$I.%2$I WHERE %3$I >= %4$L AND %3$I < %5$L RETURNING *)
                    INSERT INTO %1$I.%6$I SELECT * FROM moved',
                    'ratchet', base || '_rest', key, "ratchet".id_at(low), "ratchet".id_at(high), base || '_' || name);
                EXECUTE format('ALTER TABLE %1$I.%3$I ATTACH PARTITION %1$I.%2$I FOR VALUES FROM (%4$L) TO (%5$L)',
                    'ratchet', base || '_' || name, base, "ratchet".id_at(low), "ratchet".id_at(high));
            END LOOP;
            -- Their ends are counted with the table they are in.
            SELECT c.oid INTO rest FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = 'ratchet' AND c.relname = 'outcome_rest';
            SELECT c.oid INTO leaf FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = 'ratchet' AND c.relname = 'outcome_' || name;
            INSERT INTO "ratchet".tally (queue, state, part, change)
            SELECT j.queue, o.state, t.part, t.sign * count(*)
            FROM "ratchet".outcome o JOIN "ratchet".job j ON j.id = o.job
            CROSS JOIN (VALUES (rest, -1), (leaf, 1)) AS t(part, sign)
            WHERE o.job >= "ratchet".id_at(low) AND o.job < "ratchet".id_at(high)
                AND NOT EXISTS (SELECT FROM "ratchet".paused p WHERE p.job = o.job)
            GROUP BY j.queue, o.state, t.part, t.sign;
            INSERT INTO "ratchet".part (starts, ends, suffix) VALUES (low, high, name);
            made := made + 1;
        END IF;
        low := high;
    END LOOP;
    RETURN made;
END
$_$;
CREATE FUNCTION ratchet.now_micros() RETURNS bigint
    LANGUAGE sql PARALLEL SAFE
    AS $$ SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint $$;
CREATE FUNCTION ratchet.sort_key(due bigint, head bigint) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    SELECT CASE
        WHEN due BETWEEN -4000000000000000000 AND 4000000000000000000
            AND head BETWEEN -4000000000000000000 AND 4000000000000000000 THEN due - head
    END
$$;
CREATE TABLE ratchet.alert (
    id bigint NOT NULL,
    job uuid NOT NULL,
    at bigint NOT NULL,
    suppressed bigint DEFAULT 0 NOT NULL,
    name text NOT NULL,
    fingerprint text NOT NULL,
    message text NOT NULL
);
ALTER TABLE ratchet.alert ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME ratchet.alert_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE ratchet.attempt (
    job uuid NOT NULL,
    run bigint NOT NULL,
    started_at bigint NOT NULL,
    finished_at bigint NOT NULL,
    due bigint NOT NULL,
    duration bigint NOT NULL,
    node uuid NOT NULL,
    attempt integer NOT NULL,
    generation integer NOT NULL,
    result smallint NOT NULL,
    error text,
    note text
)
PARTITION BY RANGE (job);
CREATE TABLE ratchet.attempt_20261112t0000 (
    job uuid NOT NULL,
    run bigint NOT NULL,
    started_at bigint NOT NULL,
    finished_at bigint NOT NULL,
    due bigint NOT NULL,
    duration bigint NOT NULL,
    node uuid NOT NULL,
    attempt integer NOT NULL,
    generation integer NOT NULL,
    result smallint NOT NULL,
    error text,
    note text,
    CONSTRAINT attempt_numbers CHECK (((result >= 0) AND (result <= 9)))
);
CREATE TABLE ratchet.attempt_20261119t0000 (
    job uuid NOT NULL,
    run bigint NOT NULL,
    started_at bigint NOT NULL,
    finished_at bigint NOT NULL,
    due bigint NOT NULL,
    duration bigint NOT NULL,
    node uuid NOT NULL,
    attempt integer NOT NULL,
    generation integer NOT NULL,
    result smallint NOT NULL,
    error text,
    note text,
    CONSTRAINT attempt_numbers CHECK (((result >= 0) AND (result <= 9)))
);
CREATE TABLE ratchet.attempt_20261126t0000 (
    job uuid NOT NULL,
    run bigint NOT NULL,
    started_at bigint NOT NULL,
    finished_at bigint NOT NULL,
    due bigint NOT NULL,
    duration bigint NOT NULL,
    node uuid NOT NULL,
    attempt integer NOT NULL,
    generation integer NOT NULL,
    result smallint NOT NULL,
    error text,
    note text,
    CONSTRAINT attempt_numbers CHECK (((result >= 0) AND (result <= 9)))
);
CREATE TABLE ratchet.attempt_rest (
    job uuid NOT NULL,
    run bigint NOT NULL,
    started_at bigint NOT NULL,
    finished_at bigint NOT NULL,
    due bigint NOT NULL,
    duration bigint NOT NULL,
    node uuid NOT NULL,
    attempt integer NOT NULL,
    generation integer NOT NULL,
    result smallint NOT NULL,
    error text,
    note text
);
CREATE TABLE ratchet.blocked (
    job uuid NOT NULL,
    sort_key bigint NOT NULL,
    due bigint NOT NULL,
    version bigint NOT NULL,
    run bigint NOT NULL,
    job_version integer NOT NULL,
    attempts integer NOT NULL,
    crashes integer NOT NULL,
    deferrals integer NOT NULL,
    generation integer NOT NULL,
    climit integer,
    keyed boolean NOT NULL,
    queue text NOT NULL,
    name text NOT NULL,
    ckey text,
    service text,
    cause text NOT NULL,
    judges text
)
WITH (fillfactor='90', autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_cost_delay='0');
CREATE TABLE ratchet.breaker (
    service text NOT NULL,
    closed boolean NOT NULL,
    until bigint,
    breaker text NOT NULL
)
WITH (fillfactor='50');
CREATE TABLE ratchet.business (
    scope text NOT NULL,
    key text NOT NULL,
    job uuid NOT NULL
);
CREATE TABLE ratchet.delivery (
    id bigint NOT NULL,
    channel smallint NOT NULL,
    held_until bigint DEFAULT 0 NOT NULL,
    alert bigint,
    envelope text,
    job uuid
);
ALTER TABLE ratchet.delivery ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME ratchet.delivery_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE ratchet.edge (
    parent uuid NOT NULL,
    ordinal integer NOT NULL,
    child uuid NOT NULL,
    parent_group boolean NOT NULL,
    child_group boolean NOT NULL,
    condition text NOT NULL,
    resolution text
)
WITH (fillfactor='80');
CREATE TABLE ratchet.graph (
    id uuid NOT NULL
);
CREATE TABLE ratchet.hand_off (
    number bigint NOT NULL,
    pipeline text NOT NULL,
    key text NOT NULL,
    job uuid NOT NULL,
    at bigint NOT NULL,
    held_until bigint DEFAULT 0 NOT NULL,
    repeats bigint DEFAULT 0 NOT NULL,
    finished boolean DEFAULT false NOT NULL,
    checkpoint text NOT NULL
);
ALTER TABLE ratchet.hand_off ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME ratchet.hand_off_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE ratchet.idempotency (
    scope text NOT NULL,
    key text NOT NULL,
    job uuid NOT NULL,
    name text NOT NULL,
    digest bytea NOT NULL
);
CREATE TABLE ratchet.job (
    id uuid NOT NULL,
    queued_at bigint NOT NULL,
    due bigint NOT NULL,
    head bigint NOT NULL,
    version integer NOT NULL,
    climit integer,
    priority smallint NOT NULL,
    name text NOT NULL,
    queue text NOT NULL,
    payload bytea NOT NULL,
    business_key text,
    idempotency_key text,
    ckey text,
    service text,
    tenant text,
    correlation_id text,
    tags jsonb,
    extra text
)
PARTITION BY RANGE (id);
CREATE TABLE ratchet.job_20261112t0000 (
    id uuid NOT NULL,
    queued_at bigint NOT NULL,
    due bigint NOT NULL,
    head bigint NOT NULL,
    version integer NOT NULL,
    climit integer,
    priority smallint NOT NULL,
    name text NOT NULL,
    queue text NOT NULL,
    payload bytea NOT NULL,
    business_key text,
    idempotency_key text,
    ckey text,
    service text,
    tenant text,
    correlation_id text,
    tags jsonb,
    extra text
);
CREATE TABLE ratchet.job_20261119t0000 (
    id uuid NOT NULL,
    queued_at bigint NOT NULL,
    due bigint NOT NULL,
    head bigint NOT NULL,
    version integer NOT NULL,
    climit integer,
    priority smallint NOT NULL,
    name text NOT NULL,
    queue text NOT NULL,
    payload bytea NOT NULL,
    business_key text,
    idempotency_key text,
    ckey text,
    service text,
    tenant text,
    correlation_id text,
    tags jsonb,
    extra text
);
CREATE TABLE ratchet.job_20261126t0000 (
    id uuid NOT NULL,
    queued_at bigint NOT NULL,
    due bigint NOT NULL,
    head bigint NOT NULL,
    version integer NOT NULL,
    climit integer,
    priority smallint NOT NULL,
    name text NOT NULL,
    queue text NOT NULL,
    payload bytea NOT NULL,
    business_key text,
    idempotency_key text,
    ckey text,
    service text,
    tenant text,
    correlation_id text,
    tags jsonb,
    extra text
);
CREATE TABLE ratchet.job_group (
    id uuid NOT NULL,
    graph uuid NOT NULL,
    owner uuid,
    finished_at bigint,
    body text NOT NULL
)
WITH (fillfactor='50');
CREATE TABLE ratchet.job_rest (
    id uuid NOT NULL,
    queued_at bigint NOT NULL,
    due bigint NOT NULL,
    head bigint NOT NULL,
    version integer NOT NULL,
    climit integer,
    priority smallint NOT NULL,
    name text NOT NULL,
    queue text NOT NULL,
    payload bytea NOT NULL,
    business_key text,
    idempotency_key text,
    ckey text,
    service text,
    tenant text,
    correlation_id text,
    tags jsonb,
    extra text
);
CREATE TABLE ratchet.leader (
    one boolean DEFAULT true NOT NULL,
    node uuid NOT NULL,
    until bigint NOT NULL,
    CONSTRAINT leader_one_check CHECK (one)
);
CREATE TABLE ratchet.lease (
    id uuid NOT NULL,
    node uuid NOT NULL,
    at bigint NOT NULL,
    remaining integer NOT NULL,
    started boolean NOT NULL,
    keyed boolean NOT NULL,
    queue text NOT NULL,
    jobs uuid[] NOT NULL,
    dues bigint[] NOT NULL,
    versions bigint[],
    runs bigint[],
    attempts integer[],
    crashes integer[],
    deferrals integer[],
    generations integer[]
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_cost_delay='0');
ALTER TABLE ONLY ratchet.lease ALTER COLUMN jobs SET STORAGE EXTERNAL;
ALTER TABLE ONLY ratchet.lease ALTER COLUMN dues SET STORAGE EXTERNAL;
CREATE TABLE ratchet.lingering (
    job uuid NOT NULL,
    lease uuid NOT NULL,
    version bigint NOT NULL,
    node uuid NOT NULL,
    canceled boolean NOT NULL
);
CREATE SEQUENCE ratchet.log_line
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
CREATE TABLE ratchet.log (
    job uuid NOT NULL,
    line bigint DEFAULT nextval('ratchet.log_line'::regclass) NOT NULL,
    run bigint NOT NULL,
    after bigint NOT NULL,
    level smallint NOT NULL,
    message text NOT NULL
)
PARTITION BY RANGE (job);
CREATE TABLE ratchet.log_20261112t0000 (
    job uuid NOT NULL,
    line bigint DEFAULT nextval('ratchet.log_line'::regclass) NOT NULL,
    run bigint NOT NULL,
    after bigint NOT NULL,
    level smallint NOT NULL,
    message text NOT NULL,
    CONSTRAINT log_numbers CHECK (((level >= 0) AND (level <= 3)))
);
CREATE TABLE ratchet.log_20261119t0000 (
    job uuid NOT NULL,
    line bigint DEFAULT nextval('ratchet.log_line'::regclass) NOT NULL,
    run bigint NOT NULL,
    after bigint NOT NULL,
    level smallint NOT NULL,
    message text NOT NULL,
    CONSTRAINT log_numbers CHECK (((level >= 0) AND (level <= 3)))
);
CREATE TABLE ratchet.log_20261126t0000 (
    job uuid NOT NULL,
    line bigint DEFAULT nextval('ratchet.log_line'::regclass) NOT NULL,
    run bigint NOT NULL,
    after bigint NOT NULL,
    level smallint NOT NULL,
    message text NOT NULL,
    CONSTRAINT log_numbers CHECK (((level >= 0) AND (level <= 3)))
);
CREATE TABLE ratchet.log_rest (
    job uuid NOT NULL,
    line bigint DEFAULT nextval('ratchet.log_line'::regclass) NOT NULL,
    run bigint NOT NULL,
    after bigint NOT NULL,
    level smallint NOT NULL,
    message text NOT NULL
);
CREATE TABLE ratchet.member (
    job uuid NOT NULL,
    graph uuid NOT NULL,
    grp uuid,
    delay bigint NOT NULL,
    linked boolean NOT NULL,
    first_match boolean NOT NULL,
    judges text,
    wait text,
    root text
)
WITH (fillfactor='80');
CREATE TABLE ratchet.migration (
    version integer NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL
);
CREATE TABLE ratchet.node (
    id uuid NOT NULL,
    joined_at bigint NOT NULL,
    until bigint NOT NULL,
    pid bigint NOT NULL,
    host text NOT NULL,
    binary_version text NOT NULL,
    queues text[] NOT NULL,
    names text[] NOT NULL,
    versions integer[] NOT NULL
);
CREATE TABLE ratchet.note (
    job uuid NOT NULL,
    percent real,
    message text,
    checkpoint text,
    warnings text[] DEFAULT '{}'::text[] NOT NULL
)
PARTITION BY RANGE (job);
CREATE TABLE ratchet.note_20261112t0000 (
    job uuid NOT NULL,
    percent real,
    message text,
    checkpoint text,
    warnings text[] DEFAULT '{}'::text[] NOT NULL,
    CONSTRAINT note_warnings CHECK ((array_position(warnings, NULL::text) IS NULL))
);
CREATE TABLE ratchet.note_20261119t0000 (
    job uuid NOT NULL,
    percent real,
    message text,
    checkpoint text,
    warnings text[] DEFAULT '{}'::text[] NOT NULL,
    CONSTRAINT note_warnings CHECK ((array_position(warnings, NULL::text) IS NULL))
);
CREATE TABLE ratchet.note_20261126t0000 (
    job uuid NOT NULL,
    percent real,
    message text,
    checkpoint text,
    warnings text[] DEFAULT '{}'::text[] NOT NULL,
    CONSTRAINT note_warnings CHECK ((array_position(warnings, NULL::text) IS NULL))
);
CREATE TABLE ratchet.note_rest (
    job uuid NOT NULL,
    percent real,
    message text,
    checkpoint text,
    warnings text[] DEFAULT '{}'::text[] NOT NULL
);
CREATE TABLE ratchet.outcome (
    job uuid NOT NULL,
    at bigint NOT NULL,
    due bigint NOT NULL,
    version bigint NOT NULL,
    run bigint NOT NULL,
    lease uuid,
    node uuid,
    started_at bigint,
    duration bigint,
    attempts integer NOT NULL,
    crashes integer NOT NULL,
    deferrals integer NOT NULL,
    generation integer NOT NULL,
    attempt integer,
    state smallint NOT NULL,
    result smallint,
    cause smallint,
    output text,
    envelope text,
    reason text,
    fingerprint text
)
PARTITION BY RANGE (job);
CREATE TABLE ratchet.outcome_20261112t0000 (
    job uuid NOT NULL,
    at bigint NOT NULL,
    due bigint NOT NULL,
    version bigint NOT NULL,
    run bigint NOT NULL,
    lease uuid,
    node uuid,
    started_at bigint,
    duration bigint,
    attempts integer NOT NULL,
    crashes integer NOT NULL,
    deferrals integer NOT NULL,
    generation integer NOT NULL,
    attempt integer,
    state smallint NOT NULL,
    result smallint,
    cause smallint,
    output text,
    envelope text,
    reason text,
    fingerprint text
);
CREATE TABLE ratchet.outcome_20261119t0000 (
    job uuid NOT NULL,
    at bigint NOT NULL,
    due bigint NOT NULL,
    version bigint NOT NULL,
    run bigint NOT NULL,
    lease uuid,
    node uuid,
    started_at bigint,
    duration bigint,
    attempts integer NOT NULL,
    crashes integer NOT NULL,
    deferrals integer NOT NULL,
    generation integer NOT NULL,
    attempt integer,
    state smallint NOT NULL,
    result smallint,
    cause smallint,
    output text,
    envelope text,
    reason text,
    fingerprint text
);
CREATE TABLE ratchet.outcome_20261126t0000 (
    job uuid NOT NULL,
    at bigint NOT NULL,
    due bigint NOT NULL,
    version bigint NOT NULL,
    run bigint NOT NULL,
    lease uuid,
    node uuid,
    started_at bigint,
    duration bigint,
    attempts integer NOT NULL,
    crashes integer NOT NULL,
    deferrals integer NOT NULL,
    generation integer NOT NULL,
    attempt integer,
    state smallint NOT NULL,
    result smallint,
    cause smallint,
    output text,
    envelope text,
    reason text,
    fingerprint text
);
CREATE TABLE ratchet.outcome_rest (
    job uuid NOT NULL,
    at bigint NOT NULL,
    due bigint NOT NULL,
    version bigint NOT NULL,
    run bigint NOT NULL,
    lease uuid,
    node uuid,
    started_at bigint,
    duration bigint,
    attempts integer NOT NULL,
    crashes integer NOT NULL,
    deferrals integer NOT NULL,
    generation integer NOT NULL,
    attempt integer,
    state smallint NOT NULL,
    result smallint,
    cause smallint,
    output text,
    envelope text,
    reason text,
    fingerprint text
);
CREATE TABLE ratchet.part (
    starts bigint NOT NULL,
    ends bigint NOT NULL,
    suffix text NOT NULL
);
CREATE TABLE ratchet.paused (
    job uuid NOT NULL,
    sort_key bigint NOT NULL,
    due bigint NOT NULL,
    version bigint NOT NULL,
    run bigint NOT NULL,
    job_version integer NOT NULL,
    attempts integer NOT NULL,
    crashes integer NOT NULL,
    deferrals integer NOT NULL,
    generation integer NOT NULL,
    climit integer,
    keyed boolean NOT NULL,
    queue text NOT NULL,
    name text NOT NULL,
    ckey text,
    service text,
    failed boolean NOT NULL,
    judges text
);
CREATE TABLE ratchet.queue (
    name text NOT NULL,
    limited boolean NOT NULL,
    rules text NOT NULL
);
CREATE TABLE ratchet.ready (
    job uuid NOT NULL,
    sort_key bigint NOT NULL,
    due bigint NOT NULL,
    version bigint NOT NULL,
    run bigint NOT NULL,
    job_version integer NOT NULL,
    attempts integer NOT NULL,
    crashes integer NOT NULL,
    deferrals integer NOT NULL,
    generation integer NOT NULL,
    climit integer,
    keyed boolean NOT NULL,
    queue text NOT NULL,
    name text NOT NULL,
    ckey text,
    service text,
    judges text,
    payload bytea
)
WITH (fillfactor='90', autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_cost_delay='0');
CREATE TABLE ratchet.reject (
    job uuid NOT NULL,
    number bigint NOT NULL,
    run bigint NOT NULL,
    at bigint NOT NULL,
    job_name text NOT NULL,
    error_type text NOT NULL,
    fingerprint text NOT NULL,
    message text NOT NULL,
    payload text
);
CREATE TABLE ratchet.schedule (
    name text NOT NULL,
    version bigint NOT NULL,
    next bigint,
    paused boolean NOT NULL,
    body text NOT NULL
);
CREATE TABLE ratchet.scheduled (
    job uuid NOT NULL,
    sort_key bigint NOT NULL,
    due bigint NOT NULL,
    version bigint NOT NULL,
    run bigint NOT NULL,
    job_version integer NOT NULL,
    attempts integer NOT NULL,
    crashes integer NOT NULL,
    deferrals integer NOT NULL,
    generation integer NOT NULL,
    climit integer,
    keyed boolean NOT NULL,
    queue text NOT NULL,
    name text NOT NULL,
    ckey text,
    service text,
    judges text
)
WITH (fillfactor='90', autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_cost_delay='0');
CREATE TABLE ratchet.slot (
    job uuid NOT NULL,
    lease uuid NOT NULL,
    version bigint NOT NULL,
    key text NOT NULL,
    queue text NOT NULL,
    probe boolean DEFAULT false NOT NULL
);
CREATE TABLE ratchet.tally (
    queue text NOT NULL,
    state smallint NOT NULL,
    part oid NOT NULL,
    change bigint NOT NULL
);
CREATE TABLE ratchet.unreadable (
    job uuid NOT NULL,
    found_at bigint NOT NULL,
    cause text NOT NULL,
    why text NOT NULL
);
ALTER TABLE ONLY ratchet.attempt ATTACH PARTITION ratchet.attempt_20261112t0000 FOR VALUES FROM ('01a1cd0d-dc00-0000-0000-000000000000') TO ('01a1f11a-6000-0000-0000-000000000000');
ALTER TABLE ONLY ratchet.attempt ATTACH PARTITION ratchet.attempt_20261119t0000 FOR VALUES FROM ('01a1f11a-6000-0000-0000-000000000000') TO ('01a21526-e400-0000-0000-000000000000');
ALTER TABLE ONLY ratchet.attempt ATTACH PARTITION ratchet.attempt_20261126t0000 FOR VALUES FROM ('01a21526-e400-0000-0000-000000000000') TO ('01a23933-6800-0000-0000-000000000000');
ALTER TABLE ONLY ratchet.attempt ATTACH PARTITION ratchet.attempt_rest DEFAULT;
ALTER TABLE ONLY ratchet.job ATTACH PARTITION ratchet.job_20261112t0000 FOR VALUES FROM ('01a1cd0d-dc00-0000-0000-000000000000') TO ('01a1f11a-6000-0000-0000-000000000000');
ALTER TABLE ONLY ratchet.job ATTACH PARTITION ratchet.job_20261119t0000 FOR VALUES FROM ('01a1f11a-6000-0000-0000-000000000000') TO ('01a21526-e400-0000-0000-000000000000');
ALTER TABLE ONLY ratchet.job ATTACH PARTITION ratchet.job_20261126t0000 FOR VALUES FROM ('01a21526-e400-0000-0000-000000000000') TO ('01a23933-6800-0000-0000-000000000000');
ALTER TABLE ONLY ratchet.job ATTACH PARTITION ratchet.job_rest DEFAULT;
ALTER TABLE ONLY ratchet.log ATTACH PARTITION ratchet.log_20261112t0000 FOR VALUES FROM ('01a1cd0d-dc00-0000-0000-000000000000') TO ('01a1f11a-6000-0000-0000-000000000000');
ALTER TABLE ONLY ratchet.log ATTACH PARTITION ratchet.log_20261119t0000 FOR VALUES FROM ('01a1f11a-6000-0000-0000-000000000000') TO ('01a21526-e400-0000-0000-000000000000');
ALTER TABLE ONLY ratchet.log ATTACH PARTITION ratchet.log_20261126t0000 FOR VALUES FROM ('01a21526-e400-0000-0000-000000000000') TO ('01a23933-6800-0000-0000-000000000000');
ALTER TABLE ONLY ratchet.log ATTACH PARTITION ratchet.log_rest DEFAULT;
ALTER TABLE ONLY ratchet.note ATTACH PARTITION ratchet.note_20261112t0000 FOR VALUES FROM ('01a1cd0d-dc00-0000-0000-000000000000') TO ('01a1f11a-6000-0000-0000-000000000000');
ALTER TABLE ONLY ratchet.note ATTACH PARTITION ratchet.note_20261119t0000 FOR VALUES FROM ('01a1f11a-6000-0000-0000-000000000000') TO ('01a21526-e400-0000-0000-000000000000');
ALTER TABLE ONLY ratchet.note ATTACH PARTITION ratchet.note_20261126t0000 FOR VALUES FROM ('01a21526-e400-0000-0000-000000000000') TO ('01a23933-6800-0000-0000-000000000000');
ALTER TABLE ONLY ratchet.note ATTACH PARTITION ratchet.note_rest DEFAULT;
ALTER TABLE ONLY ratchet.outcome ATTACH PARTITION ratchet.outcome_20261112t0000 FOR VALUES FROM ('01a1cd0d-dc00-0000-0000-000000000000') TO ('01a1f11a-6000-0000-0000-000000000000');
ALTER TABLE ONLY ratchet.outcome ATTACH PARTITION ratchet.outcome_20261119t0000 FOR VALUES FROM ('01a1f11a-6000-0000-0000-000000000000') TO ('01a21526-e400-0000-0000-000000000000');
ALTER TABLE ONLY ratchet.outcome ATTACH PARTITION ratchet.outcome_20261126t0000 FOR VALUES FROM ('01a21526-e400-0000-0000-000000000000') TO ('01a23933-6800-0000-0000-000000000000');
ALTER TABLE ONLY ratchet.outcome ATTACH PARTITION ratchet.outcome_rest DEFAULT;
INSERT INTO ratchet.alert OVERRIDING SYSTEM VALUE VALUES (1, '01a1f0fb-c983-7000-a277-5dd7f7fae80a', 1795044397259104, 1, 'older.echo', '3a330798a324bba4', 'as requested');
INSERT INTO ratchet.attempt_20261112t0000 VALUES ('01a1f0fb-c2e0-7000-b233-07d989efdaec', 1, 1795044395363847, 1795044395368713, 1795044393698354, 239, '01a1f0fb-bee3-7000-8d99-d15eb71a62df', 1, 1, 1, '{"kind":"error","error_type":"Message","message":"as requested","code":"error","fingerprint":"3a330798a324bba4","retryable":true}', NULL);
INSERT INTO ratchet.attempt_20261112t0000 VALUES ('01a1f0fb-c983-7000-a277-5dd7f7fae80a', 1, 1795044395399780, 1795044395403537, 1795044395397619, 150, '01a1f0fb-bee3-7000-8d99-d15eb71a62df', 1, 1, 1, '{"kind":"error","error_type":"Message","message":"as requested","code":"error","fingerprint":"3a330798a324bba4","retryable":true}', NULL);
INSERT INTO ratchet.attempt_20261112t0000 VALUES ('01a1f0fb-c983-7000-a277-5dd7f7fae80a', 2, 1795044396526180, 1795044396529061, 1795044395413537, 155, '01a1f0fb-bee3-7000-8d99-d15eb71a62df', 2, 1, 1, '{"kind":"error","error_type":"Message","message":"as requested","code":"error","fingerprint":"3a330798a324bba4","retryable":true}', NULL);
INSERT INTO ratchet.attempt_20261112t0000 VALUES ('01a1f0fb-c983-7000-a277-5dd7f7fae80a', 3, 1795044396817830, 1795044396822323, 1795044396539061, 188, '01a1f0fb-bee3-7000-8d99-d15eb71a62df', 3, 1, 1, '{"kind":"error","error_type":"Message","message":"as requested","code":"error","fingerprint":"3a330798a324bba4","retryable":true}', NULL);
INSERT INTO ratchet.attempt_20261112t0000 VALUES ('01a1f0fb-d0d9-7000-99dd-ca03d7720cc1', 1, 1795044398698063, 1795044398701023, 1795044397273885, 172, '01a1f0fb-bee3-7000-8d99-d15eb71a62df', 1, 1, 1, '{"kind":"error","error_type":"Message","message":"as requested","code":"error","fingerprint":"3a330798a324bba4","retryable":true}', NULL);
INSERT INTO ratchet.attempt_20261112t0000 VALUES ('01a1f0fb-d0d9-7000-99dd-ca03d7720cc1', 2, 1795044400030711, 1795044400034027, 1795044398711023, 188, '01a1f0fb-bee3-7000-8d99-d15eb71a62df', 2, 1, 1, '{"kind":"error","error_type":"Message","message":"as requested","code":"error","fingerprint":"3a330798a324bba4","retryable":true}', NULL);
INSERT INTO ratchet.attempt_20261112t0000 VALUES ('01a1f0fb-d0d9-7000-99dd-ca03d7720cc1', 3, 1795044402025155, 1795044402028489, 1795044400044027, 201, '01a1f0fb-bee3-7000-8d99-d15eb71a62df', 3, 1, 1, '{"kind":"error","error_type":"Message","message":"as requested","code":"error","fingerprint":"3a330798a324bba4","retryable":true}', NULL);
INSERT INTO ratchet.blocked VALUES ('01a1f0fb-f482-7002-b799-e3351687400e', 1795042606404707, 1795044406404707, 0, 0, 1, 0, 0, 0, 1, NULL, false, 'default', 'older.next', NULL, NULL, 'parent', NULL);
INSERT INTO ratchet.blocked VALUES ('01a1f0fb-f483-7000-9a84-847682fa44f6', 1795042606404707, 1795044406404707, 0, 0, 1, 0, 0, 0, 1, NULL, false, 'default', 'older.next', NULL, NULL, 'parent', NULL);
INSERT INTO ratchet.blocked VALUES ('01a1f0fb-f48d-7003-803e-e878f4da2195', 1795042606414922, 1795044406414922, 0, 0, 1, 0, 0, 0, 1, NULL, false, 'default', 'older.join', NULL, NULL, 'parent', NULL);
INSERT INTO ratchet.blocked VALUES ('01a1f0fb-f492-7004-833c-bd5388928ad4', 1795042606419533, 1795044406419533, 0, 0, 1, 0, 0, 0, 1, NULL, false, 'default', 'older.report', NULL, NULL, 'parent', NULL);
INSERT INTO ratchet.breaker VALUES ('older-service', false, 4948644406451817, '{"settings":{"failure_rate":50,"window":100,"min_calls":5,"open_for":{"secs":30,"nanos":0},"probes":3},"phase":{"Open":{"until":"2126-10-25T23:26:46.451817Z","good":0}},"window":"","opening":1,"since":"2026-11-18T23:26:46.451817Z"}');
INSERT INTO ratchet.business VALUES ('', 'order-1', '01a1f0fb-f461-7000-9fcd-02692e533b05');
INSERT INTO ratchet.delivery OVERRIDING SYSTEM VALUE VALUES (1, 0, 0, 1, NULL, NULL);
INSERT INTO ratchet.edge VALUES ('01a1f0fb-ed81-7001-870e-10fa7d9707b5', 0, '01a1f0fb-ed81-7002-98ac-3f6c38ff431b', false, false, '"success"', '"fired"');
INSERT INTO ratchet.edge VALUES ('01a1f0fb-edb9-7000-ac53-b24d84f2bfa5', 0, '01a1f0fb-edb9-7003-a785-537323510f4b', true, false, '"always"', '"fired"');
INSERT INTO ratchet.edge VALUES ('01a1f0fb-f482-7001-87e6-d9232ed2018a', 0, '01a1f0fb-f482-7002-b799-e3351687400e', false, false, '"success"', NULL);
INSERT INTO ratchet.edge VALUES ('01a1f0fb-f482-7002-b799-e3351687400e', 0, '01a1f0fb-f483-7000-9a84-847682fa44f6', false, false, '"success"', NULL);
INSERT INTO ratchet.edge VALUES ('01a1f0fb-f48d-7001-b8ad-529ded96383b', 0, '01a1f0fb-f48d-7003-803e-e878f4da2195', false, false, '"success"', NULL);
INSERT INTO ratchet.edge VALUES ('01a1f0fb-f48d-7002-98bd-8abef6a3596f', 0, '01a1f0fb-f48d-7003-803e-e878f4da2195', false, false, '"success"', NULL);
INSERT INTO ratchet.edge VALUES ('01a1f0fb-f492-7000-8ea2-a66cc47de37b', 0, '01a1f0fb-f492-7004-833c-bd5388928ad4', true, false, '"always"', NULL);
INSERT INTO ratchet.graph VALUES ('01a1f0fb-ed81-7000-bac4-59d644e08589');
INSERT INTO ratchet.graph VALUES ('01a1f0fb-edb9-7000-ac53-b24d84f2bfa5');
INSERT INTO ratchet.graph VALUES ('01a1f0fb-f482-7000-858f-9fabfdb4af77');
INSERT INTO ratchet.graph VALUES ('01a1f0fb-f48d-7000-b64a-861a2a421070');
INSERT INTO ratchet.graph VALUES ('01a1f0fb-f492-7000-8ea2-a66cc47de37b');
INSERT INTO ratchet.hand_off OVERRIDING SYSTEM VALUE VALUES (1, 'older-pages', 'page-1', '01a1f0fb-e7b2-7000-ae76-c3bd218608d2', 1795044404586187, 0, 0, false, '"first page"');
INSERT INTO ratchet.idempotency VALUES ('=acme', 'older-done', '01a1f0fb-bef5-7000-9e90-36a3c216689c', 'older.echo', '\x81415742a5330fef510fe5a38c1fab69277359fe1b0f0419fa7e333cb81340c2');
INSERT INTO ratchet.job_20261112t0000 VALUES ('01a1f0fb-bef5-7000-9e90-36a3c216689c', 1795044392701532, 1795044392701532, 1800000000, 1, NULL, 2, 'older.echo', 'default', '\x7b2274657874223a22646f6e65222c226661696c73223a307d', NULL, 'older-done', NULL, NULL, 'acme', NULL, '["old"]', '{"options":{"max_retries":3,"backoff":{"kind":{"fixed":{"delay":{"secs":0,"nanos":10000000}}},"jitter":"none"},"timeout":{"secs":1800,"nanos":0},"soft_timeout":null,"panic":"retry"}}');
INSERT INTO ratchet.job_20261112t0000 VALUES ('01a1f0fb-c2e0-7000-b233-07d989efdaec', 1795044393698354, 1795044393698354, 1800000000, 1, NULL, 2, 'older.echo', 'default', '\x7b2274657874223a2272657472696564222c226661696c73223a317d', NULL, NULL, NULL, NULL, NULL, 'trip-1', NULL, '{"options":{"max_retries":3,"backoff":{"kind":{"fixed":{"delay":{"secs":0,"nanos":10000000}}},"jitter":"none"},"timeout":{"secs":1800,"nanos":0},"soft_timeout":null,"panic":"retry"}}');
INSERT INTO ratchet.job_20261112t0000 VALUES ('01a1f0fb-c983-7000-a277-5dd7f7fae80a', 1795044395397619, 1795044395397619, 1800000000, 1, NULL, 2, 'older.echo', 'default', '\x7b2274657874223a2264656164222c226661696c73223a397d', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"options":{"max_retries":3,"backoff":{"kind":{"fixed":{"delay":{"secs":0,"nanos":10000000}}},"jitter":"none"},"timeout":{"secs":1800,"nanos":0},"soft_timeout":null,"panic":"retry"}}');
INSERT INTO ratchet.job_20261112t0000 VALUES ('01a1f0fb-d0d9-7000-99dd-ca03d7720cc1', 1795044397273885, 1795044397273885, 1800000000, 1, NULL, 2, 'older.echo', 'default', '\x7b2274657874223a227061757365642064656164222c226661696c73223a397d', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"options":{"max_retries":3,"backoff":{"kind":{"fixed":{"delay":{"secs":0,"nanos":10000000}}},"jitter":"none"},"timeout":{"secs":1800,"nanos":0},"soft_timeout":null,"panic":"retry"}}');
INSERT INTO ratchet.job_20261112t0000 VALUES ('01a1f0fb-e79f-7000-8615-ad8494ab3fbc', 1795044403104691, 4948644403104691, 1800000000, 1, NULL, 2, 'older.echo', 'default', '\x7b2274657874223a2263616e63656c6564222c226661696c73223a307d', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"options":{"max_retries":3,"backoff":{"kind":{"fixed":{"delay":{"secs":0,"nanos":10000000}}},"jitter":"none"},"timeout":{"secs":1800,"nanos":0},"soft_timeout":null,"panic":"retry"}}');
INSERT INTO ratchet.job_20261112t0000 VALUES ('01a1f0fb-e7b2-7000-ae76-c3bd218608d2', 1795044403122729, 1795044403122729, 1800000000, 1, NULL, 2, 'older.items', 'default', '\x7b7d', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO ratchet.job_20261112t0000 VALUES ('01a1f0fb-ed71-7000-800d-246321b80a3a', 1795044404594557, 1795044404594557, 1800000000, 1, NULL, 2, 'older.parent', 'default', '\x7b2274657874223a2263616c6c6564206261636b227d', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"on_success":{"name":"older.thank","version":1,"queue":"default","priority":"normal","payload":[123,125],"options":{"max_retries":5,"backoff":{"kind":{"exponential":{"base":{"secs":1,"nanos":0},"factor":2.0,"max":{"secs":30,"nanos":0}}},"jitter":"equal"},"timeout":{"secs":1800,"nanos":0},"soft_timeout":null,"panic":"retry"},"business_key":null,"idempotency_key":null,"concurrency":null,"service":null,"tags":[],"tenant":null,"correlation_id":null,"on_success":null,"on_failure":null,"finished":null,"boost":{"secs":900,"nanos":0}}}');
INSERT INTO ratchet.job_20261112t0000 VALUES ('01a1f0fb-ed76-7000-887e-dd6c862af9dc', 1795044404599535, 1795044404599535, 1800000000, 1, NULL, 2, 'older.thank', 'default', '\x7b7d', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"finished":{"id":"01a1f0fb-ed71-7000-800d-246321b80a3a","name":"older.parent","generation":1,"payload":[123,34,116,101,120,116,34,58,34,99,97,108,108,101,100,32,98,97,99,107,34,125],"attempts":1,"tags":[],"outcome":{"succeeded":"\"called back\""}}}');
INSERT INTO ratchet.job_20261112t0000 VALUES ('01a1f0fb-ed81-7001-870e-10fa7d9707b5', 1795044404611625, 1795044404611625, 1800000000, 1, NULL, 2, 'older.echo', 'default', '\x7b2274657874223a22636861696e6564222c226661696c73223a307d', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"options":{"max_retries":3,"backoff":{"kind":{"fixed":{"delay":{"secs":0,"nanos":10000000}}},"jitter":"none"},"timeout":{"secs":1800,"nanos":0},"soft_timeout":null,"panic":"retry"},"step":{"group":"01a1f0fb-ed81-7000-bac4-59d644e08589","edges":true}}');
INSERT INTO ratchet.job_20261112t0000 VALUES ('01a1f0fb-ed81-7002-98ac-3f6c38ff431b', 1795044404611625, 1795044404611625, 1800000000, 1, NULL, 2, 'older.next', 'default', '\x7b7d', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"step":{"group":"01a1f0fb-ed81-7000-bac4-59d644e08589","number":1,"wait":{"mode":"all","edges":1,"fired":0,"dead":0},"inputs":[{"name":null,"from":["01a1f0fb-ed81-7001-870e-10fa7d9707b5"]}]}}');
INSERT INTO ratchet.job_20261112t0000 VALUES ('01a1f0fb-edb9-7001-9d70-bfa268eeb687', 1795044404666338, 1795044404666338, 1800000000, 1, NULL, 2, 'older.echo', 'default', '\x7b2274657874223a2261222c226661696c73223a307d', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"options":{"max_retries":3,"backoff":{"kind":{"fixed":{"delay":{"secs":0,"nanos":10000000}}},"jitter":"none"},"timeout":{"secs":1800,"nanos":0},"soft_timeout":null,"panic":"retry"},"step":{"group":"01a1f0fb-edb9-7000-ac53-b24d84f2bfa5"}}');
INSERT INTO ratchet.job_20261112t0000 VALUES ('01a1f0fb-edb9-7002-b548-2822067bf25d', 1795044404666338, 1795044404666338, 1800000000, 1, NULL, 2, 'older.echo', 'default', '\x7b2274657874223a2262222c226661696c73223a307d', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"options":{"max_retries":3,"backoff":{"kind":{"fixed":{"delay":{"secs":0,"nanos":10000000}}},"jitter":"none"},"timeout":{"secs":1800,"nanos":0},"soft_timeout":null,"panic":"retry"},"step":{"group":"01a1f0fb-edb9-7000-ac53-b24d84f2bfa5","number":1}}');
INSERT INTO ratchet.job_20261112t0000 VALUES ('01a1f0fb-edb9-7003-a785-537323510f4b', 1795044404666338, 1795044404666338, 1800000000, 1, NULL, 2, 'older.report', 'default', '\x7b7d', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"step":{"wait":{"mode":"all","edges":1,"fired":0,"dead":0},"reports":"01a1f0fb-edb9-7000-ac53-b24d84f2bfa5"}}');
INSERT INTO ratchet.job_20261112t0000 VALUES ('01a1f0fb-f461-7000-9fcd-02692e533b05', 1795044406377875, 1795044406377875, 2700000000, 1, NULL, 3, 'older.echo', 'default', '\x7b2274657874223a2277616974696e67222c226661696c73223a307d', 'order-1', NULL, NULL, NULL, NULL, NULL, NULL, '{"options":{"max_retries":3,"backoff":{"kind":{"fixed":{"delay":{"secs":0,"nanos":10000000}}},"jitter":"none"},"timeout":{"secs":1800,"nanos":0},"soft_timeout":null,"panic":"retry"}}');
INSERT INTO ratchet.job_20261112t0000 VALUES ('01a1f0fb-f46b-7000-8619-40e176bbea50', 1795044406382277, 1795044406382277, 1800000000, 1, NULL, 2, 'older.echo', 'default', '\x7b2274657874223a22746167676564222c226661696c73223a307d', NULL, NULL, NULL, NULL, 'acme', NULL, '["a", "b"]', '{"options":{"max_retries":3,"backoff":{"kind":{"fixed":{"delay":{"secs":0,"nanos":10000000}}},"jitter":"none"},"timeout":{"secs":1800,"nanos":0},"soft_timeout":null,"panic":"retry"}}');
INSERT INTO ratchet.job_20261112t0000 VALUES ('01a1f0fb-f46f-7000-b95a-76bd6346323e', 1795044406388563, 4948644406388563, 1800000000, 1, NULL, 2, 'older.echo', 'default', '\x7b2274657874223a226c61746572222c226661696c73223a307d', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"options":{"max_retries":3,"backoff":{"kind":{"fixed":{"delay":{"secs":0,"nanos":10000000}}},"jitter":"none"},"timeout":{"secs":1800,"nanos":0},"soft_timeout":null,"panic":"retry"}}');
INSERT INTO ratchet.job_20261112t0000 VALUES ('01a1f0fb-f475-7000-a7cf-a55fb0e1c627', 1795044406389904, 1795044406389904, 1800000000, 1, NULL, 2, 'older.echo', 'default', '\x7b2274657874223a22706175736564222c226661696c73223a307d', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"options":{"max_retries":3,"backoff":{"kind":{"fixed":{"delay":{"secs":0,"nanos":10000000}}},"jitter":"none"},"timeout":{"secs":1800,"nanos":0},"soft_timeout":null,"panic":"retry"}}');
INSERT INTO ratchet.job_20261112t0000 VALUES ('01a1f0fb-f47e-7000-b6b8-a9e1b22876aa', 1795044406399970, 1795044406399970, 1800000000, 1, 1, 2, 'older.echo', 'default', '\x7b2274657874223a226f6e6520617420612074696d65222c226661696c73223a307d', NULL, NULL, 'one', NULL, NULL, NULL, NULL, '{"options":{"max_retries":3,"backoff":{"kind":{"fixed":{"delay":{"secs":0,"nanos":10000000}}},"jitter":"none"},"timeout":{"secs":1800,"nanos":0},"soft_timeout":null,"panic":"retry"}}');
INSERT INTO ratchet.job_20261112t0000 VALUES ('01a1f0fb-f480-7000-9a3d-888361f1dbc3', 1795044406401617, 1795044406401617, 1800000000, 1, 1, 2, 'older.echo', 'default', '\x7b2274657874223a226f6e6520617420612074696d65222c226661696c73223a307d', NULL, NULL, 'one', NULL, NULL, NULL, NULL, '{"options":{"max_retries":3,"backoff":{"kind":{"fixed":{"delay":{"secs":0,"nanos":10000000}}},"jitter":"none"},"timeout":{"secs":1800,"nanos":0},"soft_timeout":null,"panic":"retry"}}');
INSERT INTO ratchet.job_20261112t0000 VALUES ('01a1f0fb-f482-7001-87e6-d9232ed2018a', 1795044406404707, 1795044406404707, 1800000000, 1, NULL, 2, 'older.echo', 'default', '\x7b2274657874223a22636861696e222c226661696c73223a307d', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"options":{"max_retries":3,"backoff":{"kind":{"fixed":{"delay":{"secs":0,"nanos":10000000}}},"jitter":"none"},"timeout":{"secs":1800,"nanos":0},"soft_timeout":null,"panic":"retry"},"step":{"group":"01a1f0fb-f482-7000-858f-9fabfdb4af77","edges":true}}');
INSERT INTO ratchet.job_20261112t0000 VALUES ('01a1f0fb-f482-7002-b799-e3351687400e', 1795044406404707, 1795044406404707, 1800000000, 1, NULL, 2, 'older.next', 'default', '\x7b7d', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"step":{"group":"01a1f0fb-f482-7000-858f-9fabfdb4af77","number":1,"edges":true,"wait":{"mode":"all","edges":1,"fired":0,"dead":0},"inputs":[{"name":null,"from":["01a1f0fb-f482-7001-87e6-d9232ed2018a"]}]}}');
INSERT INTO ratchet.job_20261112t0000 VALUES ('01a1f0fb-f483-7000-9a84-847682fa44f6', 1795044406404707, 1795044406404707, 1800000000, 1, NULL, 2, 'older.next', 'default', '\x7b7d', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"step":{"group":"01a1f0fb-f482-7000-858f-9fabfdb4af77","number":2,"wait":{"mode":"all","edges":1,"fired":0,"dead":0},"inputs":[{"name":null,"from":["01a1f0fb-f482-7002-b799-e3351687400e"]}]}}');
INSERT INTO ratchet.job_20261112t0000 VALUES ('01a1f0fb-f48d-7001-b8ad-529ded96383b', 1795044406414922, 1795044406414922, 1800000000, 1, NULL, 2, 'older.echo', 'default', '\x7b2274657874223a226c222c226661696c73223a307d', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"options":{"max_retries":3,"backoff":{"kind":{"fixed":{"delay":{"secs":0,"nanos":10000000}}},"jitter":"none"},"timeout":{"secs":1800,"nanos":0},"soft_timeout":null,"panic":"retry"},"step":{"group":"01a1f0fb-f48d-7000-b64a-861a2a421070","name":"left","edges":true}}');
INSERT INTO ratchet.job_20261112t0000 VALUES ('01a1f0fb-f4b6-7000-a86e-55351903553a', 1795044406455219, 1795044406455219, 1800000000, 1, NULL, 2, 'older.stuck', 'stuck', '\x7b7d', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO ratchet.job_20261112t0000 VALUES ('01a1f0fb-f48d-7002-98bd-8abef6a3596f', 1795044406414922, 1795044406414922, 1800000000, 1, NULL, 2, 'older.echo', 'default', '\x7b2274657874223a2272222c226661696c73223a307d', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"options":{"max_retries":3,"backoff":{"kind":{"fixed":{"delay":{"secs":0,"nanos":10000000}}},"jitter":"none"},"timeout":{"secs":1800,"nanos":0},"soft_timeout":null,"panic":"retry"},"step":{"group":"01a1f0fb-f48d-7000-b64a-861a2a421070","name":"right","number":1,"edges":true}}');
INSERT INTO ratchet.job_20261112t0000 VALUES ('01a1f0fb-f48d-7003-803e-e878f4da2195', 1795044406414922, 1795044406414922, 1800000000, 1, NULL, 2, 'older.join', 'default', '\x7b7d', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"step":{"group":"01a1f0fb-f48d-7000-b64a-861a2a421070","name":"join","number":2,"wait":{"mode":"all","edges":2,"fired":0,"dead":0},"inputs":[{"name":"left","from":["01a1f0fb-f48d-7001-b8ad-529ded96383b"]},{"name":"right","from":["01a1f0fb-f48d-7002-98bd-8abef6a3596f"]}]}}');
INSERT INTO ratchet.job_20261112t0000 VALUES ('01a1f0fb-f492-7001-a5dc-b868e77b3e4a', 1795044406419533, 1795044406419533, 1800000000, 1, NULL, 2, 'older.echo', 'default', '\x7b2274657874223a2263222c226661696c73223a307d', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"options":{"max_retries":3,"backoff":{"kind":{"fixed":{"delay":{"secs":0,"nanos":10000000}}},"jitter":"none"},"timeout":{"secs":1800,"nanos":0},"soft_timeout":null,"panic":"retry"},"step":{"group":"01a1f0fb-f492-7000-8ea2-a66cc47de37b"}}');
INSERT INTO ratchet.job_20261112t0000 VALUES ('01a1f0fb-f492-7002-ad30-b273e176a7ec', 1795044406419533, 1795044406419533, 1800000000, 1, NULL, 2, 'older.echo', 'default', '\x7b2274657874223a2264222c226661696c73223a307d', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"options":{"max_retries":3,"backoff":{"kind":{"fixed":{"delay":{"secs":0,"nanos":10000000}}},"jitter":"none"},"timeout":{"secs":1800,"nanos":0},"soft_timeout":null,"panic":"retry"},"step":{"group":"01a1f0fb-f492-7000-8ea2-a66cc47de37b","number":1}}');
INSERT INTO ratchet.job_20261112t0000 VALUES ('01a1f0fb-f492-7003-995e-a0bed089fe31', 1795044406419533, 1795044406419533, 1800000000, 1, NULL, 2, 'older.echo', 'default', '\x7b2274657874223a2265222c226661696c73223a307d', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"options":{"max_retries":3,"backoff":{"kind":{"fixed":{"delay":{"secs":0,"nanos":10000000}}},"jitter":"none"},"timeout":{"secs":1800,"nanos":0},"soft_timeout":null,"panic":"retry"},"step":{"group":"01a1f0fb-f492-7000-8ea2-a66cc47de37b","number":2}}');
INSERT INTO ratchet.job_20261112t0000 VALUES ('01a1f0fb-f492-7004-833c-bd5388928ad4', 1795044406419533, 1795044406419533, 1800000000, 1, NULL, 2, 'older.report', 'default', '\x7b7d', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"step":{"wait":{"mode":"all","edges":1,"fired":0,"dead":0},"reports":"01a1f0fb-f492-7000-8ea2-a66cc47de37b"}}');
INSERT INTO ratchet.job_20261112t0000 VALUES ('01a1f0fb-f498-7000-ad27-dbe9827a0bf9', 1795044406425795, 1795044406425795, 1800000000, 1, NULL, 2, 'older.parent', 'default', '\x7b2274657874223a2263616c6c73206261636b206c61746572227d', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"on_success":{"name":"older.thank","version":1,"queue":"default","priority":"normal","payload":[123,125],"options":{"max_retries":5,"backoff":{"kind":{"exponential":{"base":{"secs":1,"nanos":0},"factor":2.0,"max":{"secs":30,"nanos":0}}},"jitter":"equal"},"timeout":{"secs":1800,"nanos":0},"soft_timeout":null,"panic":"retry"},"business_key":null,"idempotency_key":null,"concurrency":null,"service":null,"tags":[],"tenant":null,"correlation_id":null,"on_success":null,"on_failure":null,"finished":null,"boost":{"secs":900,"nanos":0}}}');
INSERT INTO ratchet.job_group VALUES ('01a1f0fb-ed81-7000-bac4-59d644e08589', '01a1f0fb-ed81-7000-bac4-59d644e08589', NULL, 1795044404660230, '{"id":"01a1f0fb-ed81-7000-bac4-59d644e08589","kind":"chain","name":"older.echo","owner":null,"step":null,"state":"SUCCEEDED","counts":{"total":2,"succeeded":2,"failed":0,"canceled":0,"skipped":0},"sealed":true,"wait":null,"edges":false,"canceled":null,"root_cause":null,"queued_at":"2026-11-18T23:26:44.611625Z","finished_at":"2026-11-18T23:26:44.66023Z"}');
INSERT INTO ratchet.job_group VALUES ('01a1f0fb-edb9-7000-ac53-b24d84f2bfa5', '01a1f0fb-edb9-7000-ac53-b24d84f2bfa5', NULL, 1795044406339311, '{"id":"01a1f0fb-edb9-7000-ac53-b24d84f2bfa5","kind":"batch","name":"older-batch","owner":null,"step":null,"state":"SUCCEEDED","counts":{"total":2,"succeeded":2,"failed":0,"canceled":0,"skipped":0},"sealed":true,"wait":null,"edges":true,"canceled":null,"root_cause":null,"queued_at":"2026-11-18T23:26:44.666338Z","finished_at":"2026-11-18T23:26:46.339311Z"}');
INSERT INTO ratchet.job_group VALUES ('01a1f0fb-f482-7000-858f-9fabfdb4af77', '01a1f0fb-f482-7000-858f-9fabfdb4af77', NULL, NULL, '{"id":"01a1f0fb-f482-7000-858f-9fabfdb4af77","kind":"chain","name":"older.echo","owner":null,"step":null,"state":"RUNNING","counts":{"total":3,"succeeded":0,"failed":0,"canceled":0,"skipped":0},"sealed":true,"wait":null,"edges":false,"canceled":null,"root_cause":null,"queued_at":"2026-11-18T23:26:46.404707Z","finished_at":null}');
INSERT INTO ratchet.job_group VALUES ('01a1f0fb-f48d-7000-b64a-861a2a421070', '01a1f0fb-f48d-7000-b64a-861a2a421070', NULL, NULL, '{"id":"01a1f0fb-f48d-7000-b64a-861a2a421070","kind":"workflow","name":"older-flow","owner":null,"step":null,"state":"RUNNING","counts":{"total":3,"succeeded":0,"failed":0,"canceled":0,"skipped":0},"sealed":true,"wait":null,"edges":false,"canceled":null,"root_cause":null,"queued_at":"2026-11-18T23:26:46.414922Z","finished_at":null}');
INSERT INTO ratchet.job_group VALUES ('01a1f0fb-f492-7000-8ea2-a66cc47de37b', '01a1f0fb-f492-7000-8ea2-a66cc47de37b', NULL, NULL, '{"id":"01a1f0fb-f492-7000-8ea2-a66cc47de37b","kind":"batch","name":"older-open","owner":null,"step":null,"state":"RUNNING","counts":{"total":3,"succeeded":0,"failed":0,"canceled":0,"skipped":0},"sealed":true,"wait":null,"edges":true,"canceled":null,"root_cause":null,"queued_at":"2026-11-18T23:26:46.419533Z","finished_at":null}');
INSERT INTO ratchet.leader VALUES (true, '01a1f0fb-bee3-7000-8d99-d15eb71a62df', 1795044513744705);
INSERT INTO ratchet.lease VALUES ('01a1f0fb-f4bb-7000-8d59-64f760ba0191', '01a1f0fb-bee3-7000-8d99-d15eb71a62df', 1795044406460004, 1, true, false, 'stuck', '{01a1f0fb-f4b6-7000-a86e-55351903553a}', '{1795044406455219}', NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO ratchet.log_20261112t0000 VALUES ('01a1f0fb-bef5-7000-9e90-36a3c216689c', 1, 1, 219, 1, 'attempt 1');
INSERT INTO ratchet.log_20261112t0000 VALUES ('01a1f0fb-c2e0-7000-b233-07d989efdaec', 2, 1, 738, 1, 'attempt 1');
INSERT INTO ratchet.log_20261112t0000 VALUES ('01a1f0fb-c2e0-7000-b233-07d989efdaec', 3, 2, 149, 1, 'attempt 2');
INSERT INTO ratchet.log_20261112t0000 VALUES ('01a1f0fb-c983-7000-a277-5dd7f7fae80a', 4, 1, 155, 1, 'attempt 1');
INSERT INTO ratchet.log_20261112t0000 VALUES ('01a1f0fb-c983-7000-a277-5dd7f7fae80a', 5, 2, 169, 1, 'attempt 2');
INSERT INTO ratchet.log_20261112t0000 VALUES ('01a1f0fb-c983-7000-a277-5dd7f7fae80a', 6, 3, 221, 1, 'attempt 3');
INSERT INTO ratchet.log_20261112t0000 VALUES ('01a1f0fb-c983-7000-a277-5dd7f7fae80a', 7, 4, 665, 1, 'attempt 4');
INSERT INTO ratchet.log_20261112t0000 VALUES ('01a1f0fb-d0d9-7000-99dd-ca03d7720cc1', 8, 1, 211, 1, 'attempt 1');
INSERT INTO ratchet.log_20261112t0000 VALUES ('01a1f0fb-d0d9-7000-99dd-ca03d7720cc1', 9, 2, 235, 1, 'attempt 2');
INSERT INTO ratchet.log_20261112t0000 VALUES ('01a1f0fb-d0d9-7000-99dd-ca03d7720cc1', 10, 3, 267, 1, 'attempt 3');
INSERT INTO ratchet.log_20261112t0000 VALUES ('01a1f0fb-d0d9-7000-99dd-ca03d7720cc1', 11, 4, 743, 1, 'attempt 4');
INSERT INTO ratchet.log_20261112t0000 VALUES ('01a1f0fb-ed81-7001-870e-10fa7d9707b5', 12, 1, 185, 1, 'attempt 1');
INSERT INTO ratchet.log_20261112t0000 VALUES ('01a1f0fb-edb9-7001-9d70-bfa268eeb687', 13, 1, 252, 1, 'attempt 1');
INSERT INTO ratchet.log_20261112t0000 VALUES ('01a1f0fb-edb9-7002-b548-2822067bf25d', 14, 1, 124, 1, 'attempt 1');
INSERT INTO ratchet.member VALUES ('01a1f0fb-ed81-7001-870e-10fa7d9707b5', '01a1f0fb-ed81-7000-bac4-59d644e08589', '01a1f0fb-ed81-7000-bac4-59d644e08589', 0, true, false, NULL, NULL, NULL);
INSERT INTO ratchet.member VALUES ('01a1f0fb-ed81-7002-98ac-3f6c38ff431b', '01a1f0fb-ed81-7000-bac4-59d644e08589', '01a1f0fb-ed81-7000-bac4-59d644e08589', 0, false, false, NULL, NULL, NULL);
INSERT INTO ratchet.member VALUES ('01a1f0fb-edb9-7001-9d70-bfa268eeb687', '01a1f0fb-edb9-7000-ac53-b24d84f2bfa5', '01a1f0fb-edb9-7000-ac53-b24d84f2bfa5', 0, false, false, NULL, NULL, NULL);
INSERT INTO ratchet.member VALUES ('01a1f0fb-edb9-7002-b548-2822067bf25d', '01a1f0fb-edb9-7000-ac53-b24d84f2bfa5', '01a1f0fb-edb9-7000-ac53-b24d84f2bfa5', 0, false, false, NULL, NULL, NULL);
INSERT INTO ratchet.member VALUES ('01a1f0fb-edb9-7003-a785-537323510f4b', '01a1f0fb-edb9-7000-ac53-b24d84f2bfa5', NULL, 0, false, false, NULL, NULL, NULL);
INSERT INTO ratchet.member VALUES ('01a1f0fb-f482-7001-87e6-d9232ed2018a', '01a1f0fb-f482-7000-858f-9fabfdb4af77', '01a1f0fb-f482-7000-858f-9fabfdb4af77', 0, true, false, NULL, NULL, NULL);
INSERT INTO ratchet.member VALUES ('01a1f0fb-f482-7002-b799-e3351687400e', '01a1f0fb-f482-7000-858f-9fabfdb4af77', '01a1f0fb-f482-7000-858f-9fabfdb4af77', 0, true, false, NULL, '{"mode":"all","edges":1,"fired":0,"dead":0}', NULL);
INSERT INTO ratchet.member VALUES ('01a1f0fb-f483-7000-9a84-847682fa44f6', '01a1f0fb-f482-7000-858f-9fabfdb4af77', '01a1f0fb-f482-7000-858f-9fabfdb4af77', 0, false, false, NULL, '{"mode":"all","edges":1,"fired":0,"dead":0}', NULL);
INSERT INTO ratchet.member VALUES ('01a1f0fb-f48d-7001-b8ad-529ded96383b', '01a1f0fb-f48d-7000-b64a-861a2a421070', '01a1f0fb-f48d-7000-b64a-861a2a421070', 0, true, false, NULL, NULL, NULL);
INSERT INTO ratchet.member VALUES ('01a1f0fb-f48d-7002-98bd-8abef6a3596f', '01a1f0fb-f48d-7000-b64a-861a2a421070', '01a1f0fb-f48d-7000-b64a-861a2a421070', 0, true, false, NULL, NULL, NULL);
INSERT INTO ratchet.member VALUES ('01a1f0fb-f48d-7003-803e-e878f4da2195', '01a1f0fb-f48d-7000-b64a-861a2a421070', '01a1f0fb-f48d-7000-b64a-861a2a421070', 0, false, false, NULL, '{"mode":"all","edges":2,"fired":0,"dead":0}', NULL);
INSERT INTO ratchet.member VALUES ('01a1f0fb-f492-7001-a5dc-b868e77b3e4a', '01a1f0fb-f492-7000-8ea2-a66cc47de37b', '01a1f0fb-f492-7000-8ea2-a66cc47de37b', 0, false, false, NULL, NULL, NULL);
INSERT INTO ratchet.member VALUES ('01a1f0fb-f492-7002-ad30-b273e176a7ec', '01a1f0fb-f492-7000-8ea2-a66cc47de37b', '01a1f0fb-f492-7000-8ea2-a66cc47de37b', 0, false, false, NULL, NULL, NULL);
INSERT INTO ratchet.member VALUES ('01a1f0fb-f492-7003-995e-a0bed089fe31', '01a1f0fb-f492-7000-8ea2-a66cc47de37b', '01a1f0fb-f492-7000-8ea2-a66cc47de37b', 0, false, false, NULL, NULL, NULL);
INSERT INTO ratchet.member VALUES ('01a1f0fb-f492-7004-833c-bd5388928ad4', '01a1f0fb-f492-7000-8ea2-a66cc47de37b', NULL, 0, false, false, NULL, '{"mode":"all","edges":1,"fired":0,"dead":0}', NULL);
INSERT INTO ratchet.migration VALUES (1, '2026-11-18 23:26:32.449002+00');
INSERT INTO ratchet.migration VALUES (2, '2026-11-18 23:26:32.449002+00');
INSERT INTO ratchet.migration VALUES (3, '2026-11-18 23:26:32.449002+00');
INSERT INTO ratchet.migration VALUES (4, '2026-11-18 23:26:32.449002+00');
INSERT INTO ratchet.migration VALUES (5, '2026-11-18 23:26:32.449002+00');
INSERT INTO ratchet.migration VALUES (6, '2026-11-18 23:26:32.449002+00');
INSERT INTO ratchet.migration VALUES (7, '2026-11-18 23:26:32.449002+00');
INSERT INTO ratchet.migration VALUES (8, '2026-11-18 23:26:32.449002+00');
INSERT INTO ratchet.migration VALUES (9, '2026-11-18 23:26:32.449002+00');
INSERT INTO ratchet.node VALUES ('01a1f0fb-bee3-7000-8d99-d15eb71a62df', 1795044392677866, 1795044417699486, 20426, 'vm', 'write', '{default,stuck}', '{older.echo,older.items,older.join,older.next,older.parent,older.report,older.stuck,older.thank,older.tick,proof.first,proof.next,proof.work}', '{1,1,1,1,1,1,1,1,1,1,1,1}');
INSERT INTO ratchet.note_20261112t0000 VALUES ('01a1f0fb-bef5-7000-9e90-36a3c216689c', 50, 'half', NULL, '{}');
INSERT INTO ratchet.note_20261112t0000 VALUES ('01a1f0fb-c2e0-7000-b233-07d989efdaec', 50, 'half', NULL, '{}');
INSERT INTO ratchet.note_20261112t0000 VALUES ('01a1f0fb-c983-7000-a277-5dd7f7fae80a', 50, 'half', NULL, '{}');
INSERT INTO ratchet.note_20261112t0000 VALUES ('01a1f0fb-d0d9-7000-99dd-ca03d7720cc1', 50, 'half', NULL, '{}');
INSERT INTO ratchet.note_20261112t0000 VALUES ('01a1f0fb-e7b2-7000-ae76-c3bd218608d2', NULL, NULL, '7', '{}');
INSERT INTO ratchet.note_20261112t0000 VALUES ('01a1f0fb-ed81-7001-870e-10fa7d9707b5', 50, 'half', NULL, '{}');
INSERT INTO ratchet.note_20261112t0000 VALUES ('01a1f0fb-edb9-7001-9d70-bfa268eeb687', 50, 'half', NULL, '{}');
INSERT INTO ratchet.note_20261112t0000 VALUES ('01a1f0fb-edb9-7002-b548-2822067bf25d', 50, 'half', NULL, '{}');
INSERT INTO ratchet.outcome_20261112t0000 VALUES ('01a1f0fb-bef5-7000-9e90-36a3c216689c', 1795044393663583, 1795044392701532, 2, 1, '01a1f0fb-c2b3-7000-bc6c-3c082e0b10dc', '01a1f0fb-bee3-7000-8d99-d15eb71a62df', 1795044393658551, 124, 0, 0, 0, 1, 1, 2, 0, NULL, '"done"', NULL, NULL, NULL);
INSERT INTO ratchet.outcome_20261112t0000 VALUES ('01a1f0fb-c2e0-7000-b233-07d989efdaec', 1795044395388854, 1795044395378713, 4, 2, '01a1f0fb-c979-7000-83f5-bbff46c8d428', '01a1f0fb-bee3-7000-8d99-d15eb71a62df', 1795044395385870, 95, 1, 0, 0, 1, 2, 2, 0, NULL, '"retried"', NULL, NULL, NULL);
INSERT INTO ratchet.outcome_20261112t0000 VALUES ('01a1f0fb-c983-7000-a277-5dd7f7fae80a', 1795044397259104, 1795044396832323, 8, 4, '01a1f0fb-d0c6-7000-95aa-98f4f3c12e00', '01a1f0fb-bee3-7000-8d99-d15eb71a62df', 1795044397255664, 176, 4, 0, 0, 1, 4, 3, 1, NULL, NULL, '{"tenant":null,"job_id":"01a1f0fb-c983-7000-a277-5dd7f7fae80a","execution_key":"01a1f0fb-c983-7000-a277-5dd7f7fae80a:1","transition_key":"01a1f0fb-c983-7000-a277-5dd7f7fae80a:0:4","correlation_id":null,"job_name":"older.echo","queue":"default","reason":"retry_exhausted","explanation":null,"failure":{"kind":"error","error_type":"Message","message":"as requested","code":"error","fingerprint":"3a330798a324bba4","retryable":true},"attempts":4,"binary_version":"write","node":"01a1f0fb-bee3-7000-8d99-d15eb71a62df","at":"2026-11-18T23:26:37.259104Z"}', 'retry_exhausted', '3a330798a324bba4');
INSERT INTO ratchet.outcome_20261112t0000 VALUES ('01a1f0fb-d0d9-7000-99dd-ca03d7720cc1', 1795044403072304, 1795044402038489, 8, 4, '01a1f0fb-e77c-7000-8812-8e2c0f6ca910', '01a1f0fb-bee3-7000-8d99-d15eb71a62df', 1795044403069013, 176, 4, 0, 0, 1, 4, 3, 1, NULL, NULL, '{"tenant":null,"job_id":"01a1f0fb-d0d9-7000-99dd-ca03d7720cc1","execution_key":"01a1f0fb-d0d9-7000-99dd-ca03d7720cc1:1","transition_key":"01a1f0fb-d0d9-7000-99dd-ca03d7720cc1:0:4","correlation_id":null,"job_name":"older.echo","queue":"default","reason":"retry_exhausted","explanation":null,"failure":{"kind":"error","error_type":"Message","message":"as requested","code":"error","fingerprint":"3a330798a324bba4","retryable":true},"attempts":4,"binary_version":"write","node":"01a1f0fb-bee3-7000-8d99-d15eb71a62df","at":"2026-11-18T23:26:43.072304Z"}', 'retry_exhausted', '3a330798a324bba4');
INSERT INTO ratchet.outcome_20261112t0000 VALUES ('01a1f0fb-e79f-7000-8615-ad8494ab3fbc', 1795044403119240, 4948644403104691, 1, 0, NULL, NULL, NULL, NULL, 0, 0, 0, 1, NULL, 5, NULL, 0, NULL, NULL, NULL, NULL);
INSERT INTO ratchet.outcome_20261112t0000 VALUES ('01a1f0fb-e7b2-7000-ae76-c3bd218608d2', 1795044404586187, 1795044403122729, 2, 1, '01a1f0fb-ed66-7000-a308-47b2a67ca165', '01a1f0fb-bee3-7000-8d99-d15eb71a62df', 1795044404583870, 143, 0, 0, 0, 1, 1, 2, 0, NULL, NULL, NULL, NULL, NULL);
INSERT INTO ratchet.outcome_20261112t0000 VALUES ('01a1f0fb-ed71-7000-800d-246321b80a3a', 1795044404599535, 1795044404594557, 2, 1, '01a1f0fb-ed74-7000-9337-7a89855746a3', '01a1f0fb-bee3-7000-8d99-d15eb71a62df', 1795044404597220, 93, 0, 0, 0, 1, 1, 2, 0, NULL, '"called back"', NULL, NULL, NULL);
INSERT INTO ratchet.outcome_20261112t0000 VALUES ('01a1f0fb-ed76-7000-887e-dd6c862af9dc', 1795044404621895, 1795044404599535, 2, 1, '01a1f0fb-ed80-7000-9397-05f77ff3248a', '01a1f0fb-bee3-7000-8d99-d15eb71a62df', 1795044404609764, 76, 0, 0, 0, 1, 1, 2, 0, NULL, '"called back"', NULL, NULL, NULL);
INSERT INTO ratchet.outcome_20261112t0000 VALUES ('01a1f0fb-ed81-7001-870e-10fa7d9707b5', 1795044404631262, 1795044404611625, 2, 1, '01a1f0fb-ed90-7000-8154-f7c46c55b7be', '01a1f0fb-bee3-7000-8d99-d15eb71a62df', 1795044404625086, 123, 0, 0, 0, 1, 1, 2, 0, NULL, '"chained"', NULL, NULL, NULL);
INSERT INTO ratchet.outcome_20261112t0000 VALUES ('01a1f0fb-ed81-7002-98ac-3f6c38ff431b', 1795044404660230, 1795044404631262, 3, 1, '01a1f0fb-eda1-7000-9878-9e51c0672ee8', '01a1f0fb-bee3-7000-8d99-d15eb71a62df', 1795044404642458, 2038, 0, 0, 0, 1, 1, 2, 0, NULL, '"chained!"', NULL, NULL, NULL);
INSERT INTO ratchet.outcome_20261112t0000 VALUES ('01a1f0fb-edb9-7001-9d70-bfa268eeb687', 1795044406321993, 1795044404666338, 2, 1, '01a1f0fb-f42c-7000-b80c-4119966e9ad6', '01a1f0fb-bee3-7000-8d99-d15eb71a62df', 1795044406317741, 126, 0, 0, 0, 1, 1, 2, 0, NULL, '"a"', NULL, NULL, NULL);
INSERT INTO ratchet.outcome_20261112t0000 VALUES ('01a1f0fb-edb9-7002-b548-2822067bf25d', 1795044406339311, 1795044404666338, 2, 1, '01a1f0fb-f440-7000-9b2f-409dd917afa7', '01a1f0fb-bee3-7000-8d99-d15eb71a62df', 1795044406337054, 78, 0, 0, 0, 1, 1, 2, 0, NULL, '"b"', NULL, NULL, NULL);
INSERT INTO ratchet.outcome_20261112t0000 VALUES ('01a1f0fb-edb9-7003-a785-537323510f4b', 1795044406371558, 1795044406339311, 3, 1, '01a1f0fb-f44e-7000-8378-d8263f37cddf', '01a1f0fb-bee3-7000-8d99-d15eb71a62df', 1795044406351284, 1603, 0, 0, 0, 1, 1, 2, 0, NULL, '2', NULL, NULL, NULL);
INSERT INTO ratchet.part VALUES (1794441600000000, 1795046400000000, '20261112t0000');
INSERT INTO ratchet.part VALUES (1795046400000000, 1795651200000000, '20261119t0000');
INSERT INTO ratchet.part VALUES (1795651200000000, 1796256000000000, '20261126t0000');
INSERT INTO ratchet.paused VALUES ('01a1f0fb-d0d9-7000-99dd-ca03d7720cc1', 1795042602038489, 1795044402038489, 9, 4, 1, 4, 0, 0, 1, NULL, false, 'default', 'older.echo', NULL, NULL, true, NULL);
INSERT INTO ratchet.paused VALUES ('01a1f0fb-f475-7000-a7cf-a55fb0e1c627', 1795042606389904, 1795044406389904, 1, 0, 1, 0, 0, 0, 1, NULL, false, 'default', 'older.echo', NULL, NULL, false, NULL);
INSERT INTO ratchet.queue VALUES ('default', false, '{"paused":true,"limits":{"concurrency":null,"rate":null},"recent":[]}');
INSERT INTO ratchet.queue VALUES ('limited', true, '{"paused":false,"limits":{"concurrency":4,"rate":null},"recent":[]}');
INSERT INTO ratchet.ready VALUES ('01a1f0fb-f461-7000-9fcd-02692e533b05', 1795041706377875, 1795044406377875, 0, 0, 1, 0, 0, 0, 1, NULL, true, 'default', 'older.echo', NULL, NULL, NULL, NULL);
INSERT INTO ratchet.ready VALUES ('01a1f0fb-f46b-7000-8619-40e176bbea50', 1795042606382277, 1795044406382277, 0, 0, 1, 0, 0, 0, 1, NULL, false, 'default', 'older.echo', NULL, NULL, NULL, NULL);
INSERT INTO ratchet.ready VALUES ('01a1f0fb-f47e-7000-b6b8-a9e1b22876aa', 1795042606399970, 1795044406399970, 0, 0, 1, 0, 0, 0, 1, 1, true, 'default', 'older.echo', 'one', NULL, NULL, NULL);
INSERT INTO ratchet.ready VALUES ('01a1f0fb-f480-7000-9a3d-888361f1dbc3', 1795042606401617, 1795044406401617, 0, 0, 1, 0, 0, 0, 1, 1, true, 'default', 'older.echo', 'one', NULL, NULL, NULL);
INSERT INTO ratchet.ready VALUES ('01a1f0fb-f482-7001-87e6-d9232ed2018a', 1795042606404707, 1795044406404707, 0, 0, 1, 0, 0, 0, 1, NULL, false, 'default', 'older.echo', NULL, NULL, NULL, NULL);
INSERT INTO ratchet.ready VALUES ('01a1f0fb-f48d-7001-b8ad-529ded96383b', 1795042606414922, 1795044406414922, 0, 0, 1, 0, 0, 0, 1, NULL, false, 'default', 'older.echo', NULL, NULL, NULL, NULL);
INSERT INTO ratchet.ready VALUES ('01a1f0fb-f48d-7002-98bd-8abef6a3596f', 1795042606414922, 1795044406414922, 0, 0, 1, 0, 0, 0, 1, NULL, false, 'default', 'older.echo', NULL, NULL, NULL, NULL);
INSERT INTO ratchet.ready VALUES ('01a1f0fb-f492-7001-a5dc-b868e77b3e4a', 1795042606419533, 1795044406419533, 0, 0, 1, 0, 0, 0, 1, NULL, false, 'default', 'older.echo', NULL, NULL, NULL, NULL);
INSERT INTO ratchet.ready VALUES ('01a1f0fb-f492-7002-ad30-b273e176a7ec', 1795042606419533, 1795044406419533, 0, 0, 1, 0, 0, 0, 1, NULL, false, 'default', 'older.echo', NULL, NULL, NULL, NULL);
INSERT INTO ratchet.ready VALUES ('01a1f0fb-f492-7003-995e-a0bed089fe31', 1795042606419533, 1795044406419533, 0, 0, 1, 0, 0, 0, 1, NULL, false, 'default', 'older.echo', NULL, NULL, NULL, NULL);
INSERT INTO ratchet.ready VALUES ('01a1f0fb-f498-7000-ad27-dbe9827a0bf9', 1795042606425795, 1795044406425795, 0, 0, 1, 0, 0, 0, 1, NULL, false, 'default', 'older.parent', NULL, NULL, NULL, NULL);
INSERT INTO ratchet.reject VALUES ('01a1f0fb-e7b2-7000-ae76-c3bd218608d2', 7, 1, 1795044404586187, 'older.items', 'Message', 'b8a9f44456f1d093', 'not a number', '"seven"');
INSERT INTO ratchet.schedule VALUES ('older-tick', 1, 1795051800000000, false, '{"name":"older-tick","spec":{"name":"older.tick","version":1,"queue":"default","priority":"normal","payload":[123,125],"options":{"max_retries":5,"backoff":{"kind":{"exponential":{"base":{"secs":1,"nanos":0},"factor":2.0,"max":{"secs":30,"nanos":0}}},"jitter":"equal"},"timeout":{"secs":1800,"nanos":0},"soft_timeout":null,"panic":"retry"},"business_key":null,"idempotency_key":null,"concurrency":null,"service":null,"tags":[],"tenant":null,"correlation_id":null,"on_success":null,"on_failure":null,"finished":null,"boost":{"secs":900,"nanos":0}},"expression":"0 30 2 * * *","zone":"Europe/Berlin","missed":"fire_once","next":"2026-11-19T01:30:00Z","last":null,"paused":false,"version":0}');
INSERT INTO ratchet.schedule VALUES ('older-paused', 2, 1798761600000000, true, '{"name":"older-paused","spec":{"name":"older.tick","version":1,"queue":"default","priority":"normal","payload":[123,125],"options":{"max_retries":5,"backoff":{"kind":{"exponential":{"base":{"secs":1,"nanos":0},"factor":2.0,"max":{"secs":30,"nanos":0}}},"jitter":"equal"},"timeout":{"secs":1800,"nanos":0},"soft_timeout":null,"panic":"retry"},"business_key":null,"idempotency_key":null,"concurrency":null,"service":null,"tags":[],"tenant":null,"correlation_id":null,"on_success":null,"on_failure":null,"finished":null,"boost":{"secs":900,"nanos":0}},"expression":"0 0 0 1 1 *","zone":"UTC","missed":"fire_once","next":"2027-01-01T00:00:00Z","last":null,"paused":true,"version":1}');
INSERT INTO ratchet.scheduled VALUES ('01a1f0fb-f46f-7000-b95a-76bd6346323e', 4948642606388563, 4948644406388563, 0, 0, 1, 0, 0, 0, 1, NULL, false, 'default', 'older.echo', NULL, NULL, NULL);
INSERT INTO ratchet.tally VALUES ('default', 2, 16684, 1);
INSERT INTO ratchet.tally VALUES ('default', 2, 16684, 1);
INSERT INTO ratchet.tally VALUES ('default', 3, 16684, 1);
INSERT INTO ratchet.tally VALUES ('default', 3, 16684, 1);
INSERT INTO ratchet.tally VALUES ('default', 3, 16684, -1);
INSERT INTO ratchet.tally VALUES ('default', 5, 16684, 1);
INSERT INTO ratchet.tally VALUES ('default', 2, 16684, 1);
INSERT INTO ratchet.tally VALUES ('default', 2, 16684, 1);
INSERT INTO ratchet.tally VALUES ('default', 2, 16684, 1);
INSERT INTO ratchet.tally VALUES ('default', 2, 16684, 1);
INSERT INTO ratchet.tally VALUES ('default', 2, 16684, 1);
INSERT INTO ratchet.tally VALUES ('default', 2, 16684, 1);
INSERT INTO ratchet.tally VALUES ('default', 2, 16684, 1);
INSERT INTO ratchet.tally VALUES ('default', 2, 16684, 1);
SELECT pg_catalog.setval('ratchet.alert_id_seq', 1, true);
SELECT pg_catalog.setval('ratchet.delivery_id_seq', 1, true);
SELECT pg_catalog.setval('ratchet.hand_off_number_seq', 1, true);
SELECT pg_catalog.setval('ratchet.log_line', 14, true);
ALTER TABLE ONLY ratchet.alert
    ADD CONSTRAINT alert_pkey PRIMARY KEY (id);
ALTER TABLE ONLY ratchet.attempt
    ADD CONSTRAINT attempt_pkey PRIMARY KEY (job, run);
ALTER TABLE ONLY ratchet.attempt_20261112t0000
    ADD CONSTRAINT attempt_20261112t0000_pkey PRIMARY KEY (job, run);
ALTER TABLE ONLY ratchet.attempt_20261119t0000
    ADD CONSTRAINT attempt_20261119t0000_pkey PRIMARY KEY (job, run);
ALTER TABLE ONLY ratchet.attempt_20261126t0000
    ADD CONSTRAINT attempt_20261126t0000_pkey PRIMARY KEY (job, run);
ALTER TABLE ratchet.attempt
    ADD CONSTRAINT attempt_numbers CHECK (((result >= 0) AND (result <= 9))) NOT VALID;
ALTER TABLE ONLY ratchet.attempt_rest
    ADD CONSTRAINT attempt_rest_pkey PRIMARY KEY (job, run);
ALTER TABLE ratchet.blocked
    ADD CONSTRAINT blocked_judges CHECK (((judges IS NULL) OR (json_typeof((judges)::json) = 'array'::text))) NOT VALID;
ALTER TABLE ONLY ratchet.breaker
    ADD CONSTRAINT breaker_pkey PRIMARY KEY (service);
ALTER TABLE ONLY ratchet.business
    ADD CONSTRAINT business_pkey PRIMARY KEY (scope, key);
ALTER TABLE ONLY ratchet.delivery
    ADD CONSTRAINT delivery_pkey PRIMARY KEY (id);
ALTER TABLE ONLY ratchet.edge
    ADD CONSTRAINT edge_pkey PRIMARY KEY (parent, ordinal);
ALTER TABLE ONLY ratchet.graph
    ADD CONSTRAINT graph_pkey PRIMARY KEY (id);
ALTER TABLE ONLY ratchet.hand_off
    ADD CONSTRAINT hand_off_pkey PRIMARY KEY (pipeline, key);
ALTER TABLE ONLY ratchet.idempotency
    ADD CONSTRAINT idempotency_pkey PRIMARY KEY (scope, key);
ALTER TABLE ONLY ratchet.job
    ADD CONSTRAINT job_pkey PRIMARY KEY (id);
ALTER TABLE ONLY ratchet.job_20261112t0000
    ADD CONSTRAINT job_20261112t0000_pkey PRIMARY KEY (id);
ALTER TABLE ONLY ratchet.job_20261119t0000
    ADD CONSTRAINT job_20261119t0000_pkey PRIMARY KEY (id);
ALTER TABLE ONLY ratchet.job_20261126t0000
    ADD CONSTRAINT job_20261126t0000_pkey PRIMARY KEY (id);
ALTER TABLE ONLY ratchet.job_group
    ADD CONSTRAINT job_group_pkey PRIMARY KEY (id);
ALTER TABLE ONLY ratchet.job_rest
    ADD CONSTRAINT job_rest_pkey PRIMARY KEY (id);
ALTER TABLE ONLY ratchet.leader
    ADD CONSTRAINT leader_pkey PRIMARY KEY (one);
ALTER TABLE ONLY ratchet.lease
    ADD CONSTRAINT lease_pkey PRIMARY KEY (id);
ALTER TABLE ONLY ratchet.lingering
    ADD CONSTRAINT lingering_pkey PRIMARY KEY (job, lease, version);
ALTER TABLE ONLY ratchet.log
    ADD CONSTRAINT log_pkey PRIMARY KEY (job, line);
ALTER TABLE ONLY ratchet.log_20261112t0000
    ADD CONSTRAINT log_20261112t0000_pkey PRIMARY KEY (job, line);
ALTER TABLE ONLY ratchet.log_20261119t0000
    ADD CONSTRAINT log_20261119t0000_pkey PRIMARY KEY (job, line);
ALTER TABLE ONLY ratchet.log_20261126t0000
    ADD CONSTRAINT log_20261126t0000_pkey PRIMARY KEY (job, line);
ALTER TABLE ratchet.log
    ADD CONSTRAINT log_numbers CHECK (((level >= 0) AND (level <= 3))) NOT VALID;
ALTER TABLE ONLY ratchet.log_rest
    ADD CONSTRAINT log_rest_pkey PRIMARY KEY (job, line);
ALTER TABLE ONLY ratchet.member
    ADD CONSTRAINT member_pkey PRIMARY KEY (job);
ALTER TABLE ONLY ratchet.migration
    ADD CONSTRAINT migration_pkey PRIMARY KEY (version);
ALTER TABLE ONLY ratchet.node
    ADD CONSTRAINT node_pkey PRIMARY KEY (id);
ALTER TABLE ONLY ratchet.note
    ADD CONSTRAINT note_pkey PRIMARY KEY (job);
ALTER TABLE ONLY ratchet.note_20261112t0000
    ADD CONSTRAINT note_20261112t0000_pkey PRIMARY KEY (job);
ALTER TABLE ONLY ratchet.note_20261119t0000
    ADD CONSTRAINT note_20261119t0000_pkey PRIMARY KEY (job);
ALTER TABLE ONLY ratchet.note_20261126t0000
    ADD CONSTRAINT note_20261126t0000_pkey PRIMARY KEY (job);
ALTER TABLE ONLY ratchet.note_rest
    ADD CONSTRAINT note_rest_pkey PRIMARY KEY (job);
ALTER TABLE ratchet.note
    ADD CONSTRAINT note_warnings CHECK ((array_position(warnings, NULL::text) IS NULL)) NOT VALID;
ALTER TABLE ONLY ratchet.outcome
    ADD CONSTRAINT outcome_pkey PRIMARY KEY (job);
ALTER TABLE ONLY ratchet.outcome_20261112t0000
    ADD CONSTRAINT outcome_20261112t0000_pkey PRIMARY KEY (job);
ALTER TABLE ONLY ratchet.outcome_20261119t0000
    ADD CONSTRAINT outcome_20261119t0000_pkey PRIMARY KEY (job);
ALTER TABLE ONLY ratchet.outcome_20261126t0000
    ADD CONSTRAINT outcome_20261126t0000_pkey PRIMARY KEY (job);
ALTER TABLE ONLY ratchet.outcome_rest
    ADD CONSTRAINT outcome_rest_pkey PRIMARY KEY (job);
ALTER TABLE ONLY ratchet.part
    ADD CONSTRAINT part_pkey PRIMARY KEY (starts);
ALTER TABLE ratchet.paused
    ADD CONSTRAINT paused_judges CHECK (((judges IS NULL) OR (json_typeof((judges)::json) = 'array'::text))) NOT VALID;
ALTER TABLE ONLY ratchet.paused
    ADD CONSTRAINT paused_pkey PRIMARY KEY (job);
ALTER TABLE ONLY ratchet.queue
    ADD CONSTRAINT queue_pkey PRIMARY KEY (name);
ALTER TABLE ONLY ratchet.reject
    ADD CONSTRAINT reject_pkey PRIMARY KEY (job, number);
ALTER TABLE ONLY ratchet.schedule
    ADD CONSTRAINT schedule_pkey PRIMARY KEY (name);
ALTER TABLE ratchet.scheduled
    ADD CONSTRAINT scheduled_judges CHECK (((judges IS NULL) OR (json_typeof((judges)::json) = 'array'::text))) NOT VALID;
ALTER TABLE ONLY ratchet.slot
    ADD CONSTRAINT slot_pkey PRIMARY KEY (job, lease, version, key, probe);
ALTER TABLE ONLY ratchet.unreadable
    ADD CONSTRAINT unreadable_pkey PRIMARY KEY (job);
CREATE INDEX alert_latest ON ratchet.alert USING btree (name, fingerprint, id);
CREATE UNIQUE INDEX blocked_job ON ratchet.blocked USING btree (job);
CREATE INDEX blocked_order ON ratchet.blocked USING btree (cause, sort_key, due, job);
CREATE INDEX business_job ON ratchet.business USING btree (job);
CREATE INDEX delivery_channel ON ratchet.delivery USING btree (channel, id);
CREATE INDEX delivery_job ON ratchet.delivery USING btree (job, id) WHERE (job IS NOT NULL);
CREATE INDEX hand_off_waiting ON ratchet.hand_off USING btree (pipeline, number) WHERE (NOT finished);
CREATE INDEX job_group_finished ON ratchet.job_group USING btree (finished_at) WHERE (finished_at IS NOT NULL);
CREATE INDEX job_group_graph ON ratchet.job_group USING btree (graph);
CREATE INDEX job_group_owner ON ratchet.job_group USING btree (owner, id);
CREATE INDEX lease_node ON ratchet.lease USING btree (node, at);
CREATE INDEX lingering_node ON ratchet.lingering USING btree (node);
CREATE INDEX member_group ON ratchet.member USING btree (graph, grp, job);
CREATE INDEX outcome_failed ON ONLY ratchet.outcome USING btree (job) WHERE (state = 3);
CREATE INDEX outcome_20261112t0000_job_idx ON ratchet.outcome_20261112t0000 USING btree (job) WHERE (state = 3);
CREATE INDEX outcome_canceled ON ONLY ratchet.outcome USING btree (job) WHERE (state = 5);
CREATE INDEX outcome_20261112t0000_job_idx1 ON ratchet.outcome_20261112t0000 USING btree (job) WHERE (state = 5);
CREATE INDEX outcome_20261119t0000_job_idx ON ratchet.outcome_20261119t0000 USING btree (job) WHERE (state = 3);
CREATE INDEX outcome_20261119t0000_job_idx1 ON ratchet.outcome_20261119t0000 USING btree (job) WHERE (state = 5);
CREATE INDEX outcome_20261126t0000_job_idx ON ratchet.outcome_20261126t0000 USING btree (job) WHERE (state = 3);
CREATE INDEX outcome_20261126t0000_job_idx1 ON ratchet.outcome_20261126t0000 USING btree (job) WHERE (state = 5);
CREATE INDEX outcome_rest_job_idx ON ratchet.outcome_rest USING btree (job) WHERE (state = 3);
CREATE INDEX outcome_rest_job_idx1 ON ratchet.outcome_rest USING btree (job) WHERE (state = 5);
CREATE UNIQUE INDEX ready_moved ON ratchet.ready USING btree (job) WHERE (version > 0);
CREATE INDEX ready_order ON ratchet.ready USING btree (queue, sort_key, due, job) WITH (deduplicate_items=off);
CREATE INDEX schedule_due ON ratchet.schedule USING btree (next) WHERE (NOT paused);
CREATE UNIQUE INDEX scheduled_job ON ratchet.scheduled USING btree (job);
CREATE INDEX scheduled_order ON ratchet.scheduled USING btree (queue, due, job);
CREATE INDEX slot_key ON ratchet.slot USING btree (key);
CREATE INDEX unreadable_found ON ratchet.unreadable USING btree (found_at, job);
ALTER INDEX ratchet.attempt_pkey ATTACH PARTITION ratchet.attempt_20261112t0000_pkey;
ALTER INDEX ratchet.attempt_pkey ATTACH PARTITION ratchet.attempt_20261119t0000_pkey;
ALTER INDEX ratchet.attempt_pkey ATTACH PARTITION ratchet.attempt_20261126t0000_pkey;
ALTER INDEX ratchet.attempt_pkey ATTACH PARTITION ratchet.attempt_rest_pkey;
ALTER INDEX ratchet.job_pkey ATTACH PARTITION ratchet.job_20261112t0000_pkey;
ALTER INDEX ratchet.job_pkey ATTACH PARTITION ratchet.job_20261119t0000_pkey;
ALTER INDEX ratchet.job_pkey ATTACH PARTITION ratchet.job_20261126t0000_pkey;
ALTER INDEX ratchet.job_pkey ATTACH PARTITION ratchet.job_rest_pkey;
ALTER INDEX ratchet.log_pkey ATTACH PARTITION ratchet.log_20261112t0000_pkey;
ALTER INDEX ratchet.log_pkey ATTACH PARTITION ratchet.log_20261119t0000_pkey;
ALTER INDEX ratchet.log_pkey ATTACH PARTITION ratchet.log_20261126t0000_pkey;
ALTER INDEX ratchet.log_pkey ATTACH PARTITION ratchet.log_rest_pkey;
ALTER INDEX ratchet.note_pkey ATTACH PARTITION ratchet.note_20261112t0000_pkey;
ALTER INDEX ratchet.note_pkey ATTACH PARTITION ratchet.note_20261119t0000_pkey;
ALTER INDEX ratchet.note_pkey ATTACH PARTITION ratchet.note_20261126t0000_pkey;
ALTER INDEX ratchet.note_pkey ATTACH PARTITION ratchet.note_rest_pkey;
ALTER INDEX ratchet.outcome_failed ATTACH PARTITION ratchet.outcome_20261112t0000_job_idx;
ALTER INDEX ratchet.outcome_canceled ATTACH PARTITION ratchet.outcome_20261112t0000_job_idx1;
ALTER INDEX ratchet.outcome_pkey ATTACH PARTITION ratchet.outcome_20261112t0000_pkey;
ALTER INDEX ratchet.outcome_failed ATTACH PARTITION ratchet.outcome_20261119t0000_job_idx;
ALTER INDEX ratchet.outcome_canceled ATTACH PARTITION ratchet.outcome_20261119t0000_job_idx1;
ALTER INDEX ratchet.outcome_pkey ATTACH PARTITION ratchet.outcome_20261119t0000_pkey;
ALTER INDEX ratchet.outcome_failed ATTACH PARTITION ratchet.outcome_20261126t0000_job_idx;
ALTER INDEX ratchet.outcome_canceled ATTACH PARTITION ratchet.outcome_20261126t0000_job_idx1;
ALTER INDEX ratchet.outcome_pkey ATTACH PARTITION ratchet.outcome_20261126t0000_pkey;
ALTER INDEX ratchet.outcome_failed ATTACH PARTITION ratchet.outcome_rest_job_idx;
ALTER INDEX ratchet.outcome_canceled ATTACH PARTITION ratchet.outcome_rest_job_idx1;
ALTER INDEX ratchet.outcome_pkey ATTACH PARTITION ratchet.outcome_rest_pkey;
