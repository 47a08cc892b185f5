-- The digests that replace idempotency keys when everything of a tenant or a correlation id is deleted.
CREATE TABLE ratchet.erased_key (
    digest bytea PRIMARY KEY,
    job uuid NOT NULL,
    expires bigint
);
CREATE INDEX erased_key_expires ON ratchet.erased_key (expires) WHERE expires IS NOT NULL;

-- What belongs to a job, a tenant or a correlation id.
CREATE INDEX alert_job ON ratchet.alert (job);
CREATE INDEX delivery_alert ON ratchet.delivery (alert) WHERE alert IS NOT NULL;
CREATE INDEX hand_off_job ON ratchet.hand_off (job);
CREATE INDEX hand_off_tenant ON ratchet.hand_off (tenant) WHERE tenant IS NOT NULL;
CREATE INDEX hand_off_correlation ON ratchet.hand_off (correlation_id) WHERE correlation_id IS NOT NULL;
CREATE INDEX admission_handed_by ON ratchet.admission (handed_by);

-- Returns the digest of an idempotency key, as the library computes it.
CREATE FUNCTION ratchet.key_digest(scope text, key text) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT sha256(convert_to(octet_length(convert_to(scope, 'UTF8')) || ':' || scope || key, 'UTF8')) $$;

-- Returns the job that has used an idempotency key of which only the digest is kept, or null. Volatile, so that it sees what
-- was committed while the statement that calls it waited for a lock.
CREATE FUNCTION ratchet.erased_use(scope text, key text) RETURNS uuid LANGUAGE plpgsql VOLATILE AS $body$
BEGIN
    RETURN (
        SELECT e.job FROM ratchet.erased_key e
        WHERE e.digest = ratchet.key_digest(erased_use.scope, erased_use.key)
            AND (e.expires IS NULL OR e.expires > ratchet.now_micros())
    );
END
$body$;

-- As before, but a key of which only the digest is kept is found.
CREATE OR REPLACE FUNCTION ratchet.enqueue(
    name text,
    payload jsonb,
    queue text DEFAULT NULL,
    priority integer DEFAULT NULL,
    run_at timestamptz DEFAULT NULL,
    idempotency_key text DEFAULT NULL,
    business_key text DEFAULT NULL,
    tenant text DEFAULT NULL,
    tags text[] DEFAULT '{}',
    version integer DEFAULT NULL,
    correlation_id text DEFAULT NULL,
    service text DEFAULT NULL,
    idempotency_within interval DEFAULT NULL,
    expires_at timestamptz DEFAULT NULL
) RETURNS uuid LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
#variable_conflict use_column
DECLARE
    digest_of bytea;
    now_at bigint := ratchet.now_micros();
    due_at bigint;
    key_expires bigint;
    job_expires bigint;
    more jsonb;
    ahead bigint;
    scope_of text := CASE WHEN enqueue.tenant IS NULL THEN '' ELSE '=' || enqueue.tenant END;
    bytes bytea;
    millis text := lpad(to_hex((extract(epoch FROM clock_timestamp()) * 1000)::bigint), 12, '0');
    random text := replace(gen_random_uuid()::text, '-', '');
    new_id uuid := (millis || '7' || substr(random, 14, 3) || substr(random, 17, 16))::uuid;
    -- As `payload_limit` of the workers; a database or a role may set another one.
    payload_limit integer := COALESCE(NULLIF(current_setting('ratchet' || '.payload_limit', true), ''), '102400')::integer;
    seen record;
    erased_by uuid;
    tries integer := 0;
    entry_text text;
    -- What a program has recorded about the job, and the job with its default options.
    entry jsonb;
    template jsonb := '{}';
    -- The contract, if the arguments have the version that it describes.
    checks jsonb;
    mistake text[];
    job_name text := enqueue.name;
    job_queue text;
    job_priority integer;
    job_version integer;
    job_service text;
    job_tags text[];
    boost numeric := 900000000;
    business_of text := enqueue.business_key;
    idempotency_of text := enqueue.idempotency_key;
    derived text;
    concurrency text;
    concurrency_limit integer;
    -- For a job that runs in order: its graph, and the job that it must wait for.
    after_failure text;
    sequence uuid;
    follows uuid;
    without text[] := '{}';
BEGIN
    PERFORM ratchet.check_text('job name', enqueue.name, 200, true);
    IF enqueue.payload IS NULL THEN
        RAISE EXCEPTION 'the payload is null: a job without arguments has the payload {}' USING ERRCODE = '22023';
    END IF;
    -- The payload is one level, its arguments may have 100.
    IF jsonb_path_exists(enqueue.payload, 'strict $.**{101 to last} ? (@.type() == "array" || @.type() == "object")') THEN
        RAISE EXCEPTION 'the payload is nested deeper than 101 levels' USING ERRCODE = '22023';
    END IF;
    -- The entry that a worker has recorded last. A name takes precedence over an alias.
    SELECT c.entry INTO entry_text FROM ratchet.catalog c WHERE c.name = enqueue.name ORDER BY c.last_seen DESC LIMIT 1;
    IF entry_text IS NULL THEN
        SELECT c.entry INTO entry_text FROM ratchet.catalog c
        WHERE ratchet.catalog_json(c.entry) -> 'aliases' ? enqueue.name
        ORDER BY c.last_seen DESC LIMIT 1;
    END IF;
    IF entry_text IS NOT NULL THEN
        entry := ratchet.catalog_json(entry_text);
        template := entry -> 'template';
        job_name := entry ->> 'name';
        IF entry -> 'signed' = 'true' THEN
            RAISE EXCEPTION 'cannot enqueue `%`: its workers refuse jobs without a signature, and SQL cannot sign', job_name
                USING ERRCODE = '0A000', HINT = 'Submit it over HTTP, with the command line or with a program that has the keyring.';
        END IF;
        IF enqueue.version IS NULL OR enqueue.version = (entry ->> 'version')::integer THEN
            checks := NULLIF(entry -> 'checks', 'null');
        END IF;
        boost := CASE WHEN template ? 'boost' THEN ratchet.duration_micros(template -> 'boost') ELSE boost END;
    ELSIF COALESCE(NULLIF(current_setting('ratchet' || '.allow_unknown', true), ''), 'off') NOT IN ('on', 'true', 'yes', '1') THEN
        RAISE EXCEPTION 'cannot enqueue `%`: no program of the cluster has recorded a job with that name', enqueue.name
            USING ERRCODE = '42704', HINT = 'Check the name, or start a worker that has the job. To submit it anyway, set the parameter allow_unknown of ratchet to on.';
    END IF;
    IF checks IS NOT NULL THEN
        mistake := ratchet.check_fields(checks -> 'types', checks -> 'arguments', enqueue.payload, '$', NULL);
        IF mistake IS NOT NULL THEN
            RAISE EXCEPTION 'cannot enqueue `%`: % %', job_name, mistake[1], mistake[2]
                USING ERRCODE = '22023', DETAIL = mistake[1];
        END IF;
        -- The library stores optional arguments that are absent as null.
        payload := enqueue.payload || COALESCE((
            SELECT jsonb_object_agg(f.field ->> 'name', NULL::jsonb) FROM jsonb_array_elements(checks -> 'arguments' -> 'fields') AS f(field)
            WHERE f.field -> 'required' = 'false' AND f.field -> 'shape' ? 'optional'
                AND NOT checks -> 'defaults' ? (f.field ->> 'name') AND NOT enqueue.payload ? (f.field ->> 'name')
                AND NOT enqueue.payload ?| ARRAY(SELECT jsonb_array_elements_text(f.field -> 'aliases'))), '{}');
        business_of := COALESCE(business_of, ratchet.derived_key(checks -> 'keys' -> 'business', enqueue.payload));
        derived := ratchet.derived_key(checks -> 'keys' -> 'idempotency', enqueue.payload);
        idempotency_of := COALESCE(idempotency_of, derived);
        concurrency := ratchet.derived_key(checks -> 'keys' -> 'concurrency', enqueue.payload);
        concurrency_limit := CASE WHEN concurrency IS NOT NULL THEN COALESCE((entry ->> 'concurrency_limit')::integer, 1) END;
        -- Arguments with their default value do not count when a repeat is compared.
        SELECT COALESCE(array_agg(d.key), '{}') INTO without FROM jsonb_each(checks -> 'defaults') AS d(key, value)
        WHERE enqueue.payload -> d.key = d.value;
    END IF;
    IF concurrency IS NULL AND jsonb_typeof(template -> 'concurrency') = 'object' THEN
        concurrency := template -> 'concurrency' ->> 'key';
        concurrency_limit := (template -> 'concurrency' ->> 'limit')::integer;
    END IF;
    job_queue := COALESCE(enqueue.queue, template ->> 'queue', 'default');
    job_version := COALESCE(enqueue.version, (entry ->> 'version')::integer, 1);
    job_priority := COALESCE(enqueue.priority,
        array_position('{lowest,low,normal,high,critical}'::text[], template ->> 'priority') - 1, 2);
    job_service := COALESCE(enqueue.service, template ->> 'service');
    job_tags := CASE WHEN template ? 'tags' THEN ARRAY(SELECT jsonb_array_elements_text(template -> 'tags')) ELSE '{}' END;
    PERFORM ratchet.check_text('queue name', job_queue, 200, true);
    IF job_priority NOT BETWEEN 0 AND 4 THEN
        RAISE EXCEPTION 'priority is 0 (lowest) to 4 (critical)' USING ERRCODE = '22023';
    END IF;
    IF job_version < 0 THEN
        RAISE EXCEPTION 'the version is % and must not be negative', job_version USING ERRCODE = '22023';
    END IF;
    -- The library writes times from -9999 to 9999.
    IF NOT isfinite(enqueue.run_at) OR enqueue.run_at NOT BETWEEN '4713-01-01 BC' AND '9999-12-30' THEN
        RAISE EXCEPTION 'run_at is %, which is no time that a job can wait for', enqueue.run_at USING ERRCODE = '22023';
    END IF;
    -- What the job declares beyond its columns.
    SELECT COALESCE(jsonb_object_agg(t.key, t.value), '{}') INTO more FROM jsonb_each(template) AS t(key, value)
    WHERE t.key IN ('options', 'boost', 'on_success', 'on_failure', 'expires', 'retry_until') AND t.value <> 'null';
    IF enqueue.expires_at IS NOT NULL THEN
        IF NOT isfinite(enqueue.expires_at) OR enqueue.expires_at NOT BETWEEN '0001-01-02' AND '9999-12-30' THEN
            RAISE EXCEPTION 'expires_at is %, which is no time at which a job can expire', enqueue.expires_at
                USING ERRCODE = '22023';
        END IF;
        job_expires := (extract(epoch FROM enqueue.expires_at) * 1000000)::bigint;
        more := more || jsonb_build_object('expires', jsonb_build_object('at',
            to_char(enqueue.expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')));
    ELSIF template -> 'expires' ? 'in' THEN
        job_expires := least(now_at + ratchet.duration_micros(template -> 'expires' -> 'in'), 253402207200999999)::bigint;
    ELSIF template -> 'expires' ? 'at' THEN
        job_expires := (extract(epoch FROM (template -> 'expires' ->> 'at')::timestamptz) * 1000000)::bigint;
    END IF;
    IF idempotency_of IS NOT NULL THEN
        PERFORM ratchet.check_text('idempotency key', idempotency_of, 1000, false);
    END IF;
    IF enqueue.idempotency_within IS NOT NULL THEN
        IF idempotency_of IS NULL THEN
            RAISE EXCEPTION 'idempotency_within needs an idempotency_key that expires' USING ERRCODE = '22023';
        END IF;
        -- A month has 30 days. The library writes times up to 9999.
        key_expires := least(now_at + floor(extract(epoch FROM enqueue.idempotency_within) * 1000000), 253402207200000000)::bigint;
        IF key_expires <= now_at THEN
            RAISE EXCEPTION 'idempotency_within is % and must be longer than zero', enqueue.idempotency_within
                USING ERRCODE = '22023';
        END IF;
    ELSIF derived IS NOT NULL AND jsonb_typeof(entry -> 'idempotency_within') = 'object' THEN
        key_expires := least(now_at + ratchet.duration_micros(entry -> 'idempotency_within'), 253402207200000000)::bigint;
    END IF;
    IF business_of IS NOT NULL THEN
        PERFORM ratchet.check_text('business key', business_of, 1000, false);
    END IF;
    IF enqueue.tenant IS NOT NULL THEN
        PERFORM ratchet.check_text('tenant', enqueue.tenant, 1000, false);
    END IF;
    IF enqueue.correlation_id IS NOT NULL THEN
        PERFORM ratchet.check_text('correlation id', enqueue.correlation_id, 1000, false);
    END IF;
    IF job_service IS NOT NULL THEN
        PERFORM ratchet.check_text('service name', job_service, 200, false);
    END IF;
    IF array_ndims(enqueue.tags) > 1 THEN
        RAISE EXCEPTION 'tags is an array of arrays; it must be a list of texts' USING ERRCODE = '22023';
    END IF;
    job_tags := job_tags || COALESCE(enqueue.tags, '{}');
    IF cardinality(job_tags) > 100 THEN
        RAISE EXCEPTION 'the tag is one of %, the limit is 100', cardinality(job_tags) USING ERRCODE = '22023';
    END IF;
    PERFORM ratchet.check_text('tag', t.tag, 500, false) FROM unnest(job_tags) AS t(tag);
    bytes := convert_to(enqueue.payload::text, 'UTF8');
    IF octet_length(bytes) > payload_limit THEN
        RAISE EXCEPTION 'the payload has % bytes, the limit is %', octet_length(bytes), payload_limit
            USING ERRCODE = '22023', HINT = 'Pass a reference to the data instead, or set the parameter payload_limit of ratchet.';
    END IF;
    -- Without aging, one level of priority is worth a century.
    ahead := (CASE WHEN boost = 0 THEN 3153600000000000 ELSE least(boost, 3153600000000000) END)::bigint * job_priority;
    due_at := COALESCE((extract(epoch FROM enqueue.run_at) * 1000000)::bigint,
        least(now_at + ratchet.duration_micros(entry -> 'delay'), 253402207200999999)::bigint);
    -- Graphs must be locked before keys.
    after_failure := CASE WHEN concurrency IS NOT NULL THEN entry ->> 'order' END;
    IF after_failure IS NOT NULL THEN
        sequence := ratchet.sequence_id(concurrency);
        follows := ratchet.lock_sequence(sequence, after_failure);
        more := more || jsonb_build_object('step', jsonb_build_object('edges', true, 'order', after_failure));
    END IF;
    IF idempotency_of IS NOT NULL THEN
        digest_of := '\x01'::bytea || sha256(convert_to(ratchet.canonical(
            CASE WHEN cardinality(without) > 0 THEN enqueue.payload - without ELSE enqueue.payload END), 'UTF8'));
        LOOP
            INSERT INTO ratchet.idempotency (scope, key, job, name, digest, expires)
            VALUES (scope_of, idempotency_of, new_id, job_name, digest_of, key_expires)
            ON CONFLICT DO NOTHING;
            UPDATE ratchet.idempotency i SET job = new_id, name = job_name, digest = digest_of, expires = key_expires
            WHERE i.scope = scope_of AND i.key = idempotency_of AND i.expires <= now_at;
            SELECT i.job, i.name, i.digest INTO seen FROM ratchet.idempotency i
            WHERE i.scope = scope_of AND i.key = idempotency_of;
            EXIT WHEN seen.job IS NOT NULL;
            -- It had expired and was deleted between two statements.
            tries := tries + 1;
            IF tries > 100 THEN
                RAISE EXCEPTION 'idempotency key % expires again and again: submit again', idempotency_of
                    USING ERRCODE = '40001';
            END IF;
        END LOOP;
        IF seen.job <> new_id THEN
            IF seen.name <> job_name
                OR seen.digest <> (CASE octet_length(seen.digest) WHEN 32 THEN sha256(bytes) ELSE digest_of END) THEN
                RAISE EXCEPTION 'idempotency key % was used before for another job or other arguments (job %)',
                    idempotency_of, seen.job USING ERRCODE = '23505';
            END IF;
            RETURN seen.job;
        END IF;
        erased_by := ratchet.erased_use(scope_of, idempotency_of);
        IF erased_by IS NOT NULL THEN
            DELETE FROM ratchet.idempotency i WHERE i.scope = scope_of AND i.key = idempotency_of AND i.job = new_id;
            RETURN erased_by;
        END IF;
    END IF;
    IF business_of IS NOT NULL THEN
        LOOP
            INSERT INTO ratchet.business (scope, key, job) VALUES (scope_of, business_of, new_id)
            ON CONFLICT DO NOTHING;
            SELECT b.job INTO seen FROM ratchet.business b WHERE b.scope = scope_of AND b.key = business_of;
            EXIT WHEN seen.job = new_id;
            -- Without a holder it was freed between the two statements, and is asked for again.
            tries := tries + 1;
            IF seen.job IS NOT NULL THEN
                RAISE EXCEPTION 'business key % is held by job %', business_of, seen.job USING ERRCODE = '23505';
            ELSIF tries > 100 THEN
                RAISE EXCEPTION 'business key % keeps changing hands: submit again', business_of
                    USING ERRCODE = '40001';
            END IF;
        END LOOP;
    END IF;
    INSERT INTO ratchet.job (id, queued_at, due, head, version, priority, name, queue, payload, business_key,
        idempotency_key, service, tenant, correlation_id, tags, extra, ckey, climit)
    VALUES (new_id, now_at, due_at, ahead, job_version, job_priority, job_name, job_queue, bytes,
        business_of, idempotency_of, job_service, enqueue.tenant, enqueue.correlation_id,
        CASE WHEN cardinality(job_tags) > 0 THEN to_jsonb(job_tags) END, NULLIF(more, '{}')::text, concurrency, concurrency_limit);
    IF job_expires IS NOT NULL THEN
        INSERT INTO ratchet.expiry (job, at) VALUES (new_id, job_expires);
    END IF;
    IF after_failure IS NOT NULL THEN
        PERFORM ratchet.join_sequence(sequence, new_id, follows, after_failure);
    END IF;
    IF follows IS NOT NULL THEN
        INSERT INTO ratchet.blocked (job, sort_key, due, version, run, job_version, attempts, crashes, deferrals,
            generation, keyed, queue, name, service, ckey, climit, cause)
        VALUES (new_id, due_at - ahead, due_at, 0, 0, job_version, 0, 0, 0, 1, true, job_queue, job_name, job_service,
            concurrency, concurrency_limit, 'parent');
    ELSIF due_at <= now_at THEN
        INSERT INTO ratchet.ready (job, sort_key, due, version, run, job_version, attempts, crashes, deferrals,
            generation, keyed, queue, name, service, ckey, climit, tenant)
        VALUES (new_id, due_at - ahead, due_at, 0, 0, job_version, 0, 0, 0, 1, business_of IS NOT NULL OR concurrency IS NOT NULL, job_queue,
            job_name, job_service, concurrency, concurrency_limit, enqueue.tenant);
        PERFORM pg_notify(__CHANNEL__, 'sql p ' || (due_at - ahead) || ' ' || job_queue);
    ELSE
        INSERT INTO ratchet.scheduled (job, sort_key, due, version, run, job_version, attempts, crashes, deferrals,
            generation, keyed, queue, name, service, ckey, climit)
        VALUES (new_id, due_at - ahead, due_at, 0, 0, job_version, 0, 0, 0, 1, business_of IS NOT NULL OR concurrency IS NOT NULL, job_queue,
            job_name, job_service, concurrency, concurrency_limit);
    END IF;
    RETURN new_id;
END
$body$;
