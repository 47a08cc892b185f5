-- What cannot be read holds up nothing else, and little of it can be written.

-- Jobs that could not be read. One that waited is in `blocked` under the cause `unreadable`, so that no claim looks at it again.
CREATE TABLE ratchet.unreadable (
    job uuid PRIMARY KEY,
    found_at bigint NOT NULL,
    -- The first column that could not be read, and why.
    cause text NOT NULL,
    why text NOT NULL
);
CREATE INDEX unreadable_found ON ratchet.unreadable (found_at, job);

-- Where a job with this due time stands in line; none if a damaged number is too large to be subtracted.
CREATE FUNCTION ratchet.sort_key(due bigint, head bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE
        WHEN due BETWEEN -4000000000000000000 AND 4000000000000000000
            AND head BETWEEN -4000000000000000000 AND 4000000000000000000 THEN due - head
    END
$$;

-- Values that no version of the library writes. Rows that are there already are not looked at: a damaged one must not stop
-- the migration. The tables that every job passes (`job`, `ready`, `lease`, `outcome`) have no constraints: a statement that
-- writes a single row prepares them anew each time, which is a tenth of the time in which an idle worker picks up a job. What is
-- damaged there is found by its readers.
ALTER TABLE ratchet.attempt ADD CONSTRAINT attempt_numbers CHECK (result BETWEEN 0 AND 9) NOT VALID;
ALTER TABLE ratchet.log ADD CONSTRAINT log_numbers CHECK (level BETWEEN 0 AND 3) NOT VALID;
ALTER TABLE ratchet.note ADD CONSTRAINT note_warnings CHECK (array_position(warnings, NULL) IS NULL) NOT VALID;
-- A claim compares the conditions of a job with what a node knows.
ALTER TABLE ratchet.scheduled
    ADD CONSTRAINT scheduled_judges CHECK (judges IS NULL OR json_typeof(judges::json) = 'array') NOT VALID;
ALTER TABLE ratchet.blocked
    ADD CONSTRAINT blocked_judges CHECK (judges IS NULL OR json_typeof(judges::json) = 'array') NOT VALID;
ALTER TABLE ratchet.paused
    ADD CONSTRAINT paused_judges CHECK (judges IS NULL OR json_typeof(judges::json) = 'array') NOT VALID;

-- Refuses a text that the library would refuse: an empty one, one of more bytes than `most`, an identifier with other
-- characters than those of identifiers. A text of PostgreSQL has no NUL.
CREATE FUNCTION ratchet.check_text(field text, value text, most integer, identifier boolean) RETURNS void
LANGUAGE plpgsql IMMUTABLE AS $body$
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
$body$;

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
                EXECUTE format('CREATE TABLE %1$I.%2$I (LIKE %1$I.%3$I INCLUDING DEFAULTS INCLUDING CONSTRAINTS)',
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

-- Submits a job from any language, inside the caller's own transaction and with the rules of the library.
-- Answers with the id of the job that stands for the submit: the new one, or for a repeated idempotency key the first.
-- A business key that is taken and an idempotency key that was used for something else raise errors. So does an argument that
-- the library would refuse; the error names it.
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
    PERFORM ratchet.check_text('job name', enqueue.name, 200, true), ratchet.check_text('queue name', enqueue.queue, 200, true);
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
        PERFORM ratchet.check_text('idempotency key', enqueue.idempotency_key, 1000, false);
    END IF;
    IF enqueue.business_key IS NOT NULL THEN
        PERFORM ratchet.check_text('business key', enqueue.business_key, 1000, false);
    END IF;
    IF enqueue.tenant IS NOT NULL THEN
        PERFORM ratchet.check_text('tenant', enqueue.tenant, 1000, false);
    END IF;
    IF enqueue.correlation_id IS NOT NULL THEN
        PERFORM ratchet.check_text('correlation id', enqueue.correlation_id, 1000, false);
    END IF;
    IF enqueue.service IS NOT NULL THEN
        PERFORM ratchet.check_text('service name', enqueue.service, 200, false);
    END IF;
    IF array_ndims(enqueue.tags) > 1 THEN
        RAISE EXCEPTION 'tags is an array of arrays; it must be a list of texts' USING ERRCODE = '22023';
    END IF;
    IF cardinality(enqueue.tags) > 100 THEN
        RAISE EXCEPTION 'the tag is one of %, the limit is 100', cardinality(enqueue.tags) USING ERRCODE = '22023';
    END IF;
    PERFORM ratchet.check_text('tag', t.tag, 500, false) FROM unnest(enqueue.tags) AS t(tag);
    bytes := convert_to(enqueue.payload::text, 'UTF8');
    IF octet_length(bytes) > payload_limit THEN
        RAISE EXCEPTION 'the payload has % bytes, the limit is %', octet_length(bytes), payload_limit
            USING ERRCODE = '22023', HINT = 'Pass a reference to the data instead, or set the parameter payload_limit of ratchet.';
    END IF;
    ahead := 900000000::bigint * enqueue.priority;
    due_at := COALESCE((extract(epoch FROM enqueue.run_at) * 1000000)::bigint, now_at);
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
