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
INSERT INTO ratchet.blocked VALUES ('01a1f0fb-f70d-7003-a550-e4d16c422ba4', 1795042607055845, 1795044407055845, 0, 0, 1, 0, 0, 0, 1, NULL, false, 'default', 'proof.next', NULL, NULL, 'parent', NULL);
INSERT INTO ratchet.blocked VALUES ('01a1f0fb-f70e-7000-932b-f36a68a45748', 1795042607055845, 1795044407055845, 0, 0, 1, 0, 0, 0, 1, NULL, false, 'default', 'proof.next', NULL, NULL, 'parent', NULL);
INSERT INTO ratchet.edge VALUES ('01a1f0fb-f70d-7002-975d-ebf7c5d59a51', 0, '01a1f0fb-f70d-7003-a550-e4d16c422ba4', false, false, '"success"', NULL);
INSERT INTO ratchet.edge VALUES ('01a1f0fb-f70d-7003-a550-e4d16c422ba4', 0, '01a1f0fb-f70e-7000-932b-f36a68a45748', false, false, '"success"', NULL);
INSERT INTO ratchet.graph VALUES ('01a1f0fb-f70d-7001-9458-f62a41a1491f');
INSERT INTO ratchet.job_20261112t0000 VALUES ('01a1f0fb-f702-7000-92e6-32062ae1d64c', 1795044407045804, 1795044407045804, 1800000000, 1, NULL, 2, 'proof.work', 'default', '\x7b226e6170223a31302c226661696c73223a307d', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"options":{"max_retries":5,"backoff":{"kind":{"fixed":{"delay":{"secs":0,"nanos":50000000}}},"jitter":"none"},"timeout":{"secs":1800,"nanos":0},"soft_timeout":null,"panic":"retry"}}');
INSERT INTO ratchet.job_20261112t0000 VALUES ('01a1f0fb-f708-7000-b5c3-82c8632f93f0', 1795044407049351, 1795044407049351, 1800000000, 1, NULL, 2, 'proof.work', 'default', '\x7b226e6170223a31302c226661696c73223a307d', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"options":{"max_retries":5,"backoff":{"kind":{"fixed":{"delay":{"secs":0,"nanos":50000000}}},"jitter":"none"},"timeout":{"secs":1800,"nanos":0},"soft_timeout":null,"panic":"retry"}}');
INSERT INTO ratchet.job_20261112t0000 VALUES ('01a1f0fb-f709-7000-bb4c-8e7cc03ba17b', 1795044407050495, 1795044407050495, 1800000000, 1, NULL, 2, 'proof.work', 'default', '\x7b226e6170223a31302c226661696c73223a307d', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"options":{"max_retries":5,"backoff":{"kind":{"fixed":{"delay":{"secs":0,"nanos":50000000}}},"jitter":"none"},"timeout":{"secs":1800,"nanos":0},"soft_timeout":null,"panic":"retry"}}');
INSERT INTO ratchet.job_20261112t0000 VALUES ('01a1f0fb-f70b-7000-94e2-2e39105ce259', 1795044407051577, 1795044407051577, 1800000000, 1, NULL, 2, 'proof.work', 'default', '\x7b226e6170223a31302c226661696c73223a307d', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"options":{"max_retries":5,"backoff":{"kind":{"fixed":{"delay":{"secs":0,"nanos":50000000}}},"jitter":"none"},"timeout":{"secs":1800,"nanos":0},"soft_timeout":null,"panic":"retry"}}');
INSERT INTO ratchet.job_20261112t0000 VALUES ('01a1f0fb-f70c-7000-9998-57fc01514e7b', 1795044407052463, 1795044407052463, 1800000000, 1, NULL, 2, 'proof.work', 'default', '\x7b226e6170223a31302c226661696c73223a307d', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"options":{"max_retries":5,"backoff":{"kind":{"fixed":{"delay":{"secs":0,"nanos":50000000}}},"jitter":"none"},"timeout":{"secs":1800,"nanos":0},"soft_timeout":null,"panic":"retry"}}');
INSERT INTO ratchet.job_20261112t0000 VALUES ('01a1f0fb-f70d-7000-ace1-fef33a0fa447', 1795044407053475, 1795044407053475, 1800000000, 1, NULL, 2, 'proof.work', 'default', '\x7b226e6170223a31302c226661696c73223a307d', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"options":{"max_retries":5,"backoff":{"kind":{"fixed":{"delay":{"secs":0,"nanos":50000000}}},"jitter":"none"},"timeout":{"secs":1800,"nanos":0},"soft_timeout":null,"panic":"retry"}}');
INSERT INTO ratchet.job_20261112t0000 VALUES ('01a1f0fb-f70d-7002-975d-ebf7c5d59a51', 1795044407055845, 1795044407055845, 1800000000, 1, NULL, 2, 'proof.first', 'default', '\x7b2266726f6d223a317d', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"step":{"group":"01a1f0fb-f70d-7001-9458-f62a41a1491f","edges":true}}');
INSERT INTO ratchet.job_20261112t0000 VALUES ('01a1f0fb-f70d-7003-a550-e4d16c422ba4', 1795044407055845, 1795044407055845, 1800000000, 1, NULL, 2, 'proof.next', 'default', '\x7b7d', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"step":{"group":"01a1f0fb-f70d-7001-9458-f62a41a1491f","number":1,"edges":true,"wait":{"mode":"all","edges":1,"fired":0,"dead":0},"inputs":[{"name":null,"from":["01a1f0fb-f70d-7002-975d-ebf7c5d59a51"]}]}}');
INSERT INTO ratchet.job_20261112t0000 VALUES ('01a1f0fb-f70e-7000-932b-f36a68a45748', 1795044407055845, 1795044407055845, 1800000000, 1, NULL, 2, 'proof.next', 'default', '\x7b7d', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"step":{"group":"01a1f0fb-f70d-7001-9458-f62a41a1491f","number":2,"wait":{"mode":"all","edges":1,"fired":0,"dead":0},"inputs":[{"name":null,"from":["01a1f0fb-f70d-7003-a550-e4d16c422ba4"]}]}}');
INSERT INTO ratchet.job_group VALUES ('01a1f0fb-f70d-7001-9458-f62a41a1491f', '01a1f0fb-f70d-7001-9458-f62a41a1491f', NULL, NULL, '{"id":"01a1f0fb-f70d-7001-9458-f62a41a1491f","kind":"chain","name":"proof.first","owner":null,"step":null,"state":"RUNNING","counts":{"total":3,"succeeded":0,"failed":0,"canceled":0,"skipped":0},"sealed":true,"wait":null,"edges":false,"canceled":null,"root_cause":null,"queued_at":"2026-11-18T23:26:47.055845Z","finished_at":null}');
INSERT INTO ratchet.member VALUES ('01a1f0fb-f70d-7002-975d-ebf7c5d59a51', '01a1f0fb-f70d-7001-9458-f62a41a1491f', '01a1f0fb-f70d-7001-9458-f62a41a1491f', 0, true, false, NULL, NULL, NULL);
INSERT INTO ratchet.member VALUES ('01a1f0fb-f70d-7003-a550-e4d16c422ba4', '01a1f0fb-f70d-7001-9458-f62a41a1491f', '01a1f0fb-f70d-7001-9458-f62a41a1491f', 0, true, false, NULL, '{"mode":"all","edges":1,"fired":0,"dead":0}', NULL);
INSERT INTO ratchet.member VALUES ('01a1f0fb-f70e-7000-932b-f36a68a45748', '01a1f0fb-f70d-7001-9458-f62a41a1491f', '01a1f0fb-f70d-7001-9458-f62a41a1491f', 0, false, false, NULL, '{"mode":"all","edges":1,"fired":0,"dead":0}', NULL);
INSERT INTO ratchet.migration VALUES (1, '2026-11-18 23:26:46.826855+00');
INSERT INTO ratchet.migration VALUES (2, '2026-11-18 23:26:46.826855+00');
INSERT INTO ratchet.migration VALUES (3, '2026-11-18 23:26:46.826855+00');
INSERT INTO ratchet.migration VALUES (4, '2026-11-18 23:26:46.826855+00');
INSERT INTO ratchet.migration VALUES (5, '2026-11-18 23:26:46.826855+00');
INSERT INTO ratchet.migration VALUES (6, '2026-11-18 23:26:46.826855+00');
INSERT INTO ratchet.migration VALUES (7, '2026-11-18 23:26:46.826855+00');
INSERT INTO ratchet.migration VALUES (8, '2026-11-18 23:26:46.826855+00');
INSERT INTO ratchet.migration VALUES (9, '2026-11-18 23:26:46.826855+00');
INSERT INTO ratchet.part VALUES (1794441600000000, 1795046400000000, '20261112t0000');
INSERT INTO ratchet.part VALUES (1795046400000000, 1795651200000000, '20261119t0000');
INSERT INTO ratchet.part VALUES (1795651200000000, 1796256000000000, '20261126t0000');
INSERT INTO ratchet.ready VALUES ('01a1f0fb-f702-7000-92e6-32062ae1d64c', 1795042607045804, 1795044407045804, 0, 0, 1, 0, 0, 0, 1, NULL, false, 'default', 'proof.work', NULL, NULL, NULL, NULL);
INSERT INTO ratchet.ready VALUES ('01a1f0fb-f708-7000-b5c3-82c8632f93f0', 1795042607049351, 1795044407049351, 0, 0, 1, 0, 0, 0, 1, NULL, false, 'default', 'proof.work', NULL, NULL, NULL, NULL);
INSERT INTO ratchet.ready VALUES ('01a1f0fb-f709-7000-bb4c-8e7cc03ba17b', 1795042607050495, 1795044407050495, 0, 0, 1, 0, 0, 0, 1, NULL, false, 'default', 'proof.work', NULL, NULL, NULL, NULL);
INSERT INTO ratchet.ready VALUES ('01a1f0fb-f70b-7000-94e2-2e39105ce259', 1795042607051577, 1795044407051577, 0, 0, 1, 0, 0, 0, 1, NULL, false, 'default', 'proof.work', NULL, NULL, NULL, NULL);
INSERT INTO ratchet.ready VALUES ('01a1f0fb-f70c-7000-9998-57fc01514e7b', 1795042607052463, 1795044407052463, 0, 0, 1, 0, 0, 0, 1, NULL, false, 'default', 'proof.work', NULL, NULL, NULL, NULL);
INSERT INTO ratchet.ready VALUES ('01a1f0fb-f70d-7000-ace1-fef33a0fa447', 1795042607053475, 1795044407053475, 0, 0, 1, 0, 0, 0, 1, NULL, false, 'default', 'proof.work', NULL, NULL, NULL, NULL);
INSERT INTO ratchet.ready VALUES ('01a1f0fb-f70d-7002-975d-ebf7c5d59a51', 1795042607055845, 1795044407055845, 0, 0, 1, 0, 0, 0, 1, NULL, false, 'default', 'proof.first', NULL, NULL, NULL, NULL);
SELECT pg_catalog.setval('ratchet.alert_id_seq', 1, false);
SELECT pg_catalog.setval('ratchet.delivery_id_seq', 1, false);
SELECT pg_catalog.setval('ratchet.hand_off_number_seq', 1, false);
SELECT pg_catalog.setval('ratchet.log_line', 1, false);
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
