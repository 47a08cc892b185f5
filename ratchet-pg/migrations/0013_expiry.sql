-- When jobs expire that have not ended. The row of a job that has ended is deleted when its time has come.
CREATE TABLE ratchet.expiry (
    job uuid PRIMARY KEY,
    at bigint NOT NULL
) WITH (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX expiry_at ON ratchet.expiry (at);

-- With one more argument it is another function. Two of them would make calls ambiguous.
DROP FUNCTION ratchet.enqueue(text, jsonb, text, integer, timestamptz, text, text, text, text[], integer, text, text, interval);
CREATE FUNCTION ratchet.enqueue(
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
    service text DEFAULT NULL,
    idempotency_within interval DEFAULT NULL,
    expires_at timestamptz DEFAULT NULL
) RETURNS uuid LANGUAGE plpgsql AS $body$
#variable_conflict use_column
DECLARE
    digest_of bytea;
    now_at bigint := ratchet.now_micros();
    due_at bigint;
    key_expires bigint;
    job_expires bigint;
    more text;
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
    IF enqueue.expires_at IS NOT NULL THEN
        IF NOT isfinite(enqueue.expires_at) OR enqueue.expires_at NOT BETWEEN '0001-01-02' AND '9999-12-30' THEN
            RAISE EXCEPTION 'expires_at is %, which is no time at which a job can expire', enqueue.expires_at
                USING ERRCODE = '22023';
        END IF;
        job_expires := (extract(epoch FROM enqueue.expires_at) * 1000000)::bigint;
        more := jsonb_build_object('expires', jsonb_build_object('at',
            to_char(enqueue.expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')))::text;
    END IF;
    IF enqueue.idempotency_key IS NOT NULL THEN
        PERFORM ratchet.check_text('idempotency key', enqueue.idempotency_key, 1000, false);
    END IF;
    IF enqueue.idempotency_within IS NOT NULL THEN
        IF enqueue.idempotency_key IS NULL THEN
            RAISE EXCEPTION 'idempotency_within needs an idempotency_key that expires' USING ERRCODE = '22023';
        END IF;
        -- A month has 30 days. The library writes times up to 9999.
        key_expires := least(now_at + floor(extract(epoch FROM enqueue.idempotency_within) * 1000000), 253402207200000000)::bigint;
        IF key_expires <= now_at THEN
            RAISE EXCEPTION 'idempotency_within is % and must be longer than zero', enqueue.idempotency_within
                USING ERRCODE = '22023';
        END IF;
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
        digest_of := '\x01'::bytea || sha256(convert_to(ratchet.canonical(enqueue.payload), 'UTF8'));
        LOOP
            INSERT INTO ratchet.idempotency (scope, key, job, name, digest, expires)
            VALUES (scope_of, enqueue.idempotency_key, new_id, enqueue.name, digest_of, key_expires)
            ON CONFLICT DO NOTHING;
            UPDATE ratchet.idempotency i SET job = new_id, name = enqueue.name, digest = digest_of, expires = key_expires
            WHERE i.scope = scope_of AND i.key = enqueue.idempotency_key AND i.expires <= now_at;
            SELECT i.job, i.name, i.digest INTO seen FROM ratchet.idempotency i
            WHERE i.scope = scope_of AND i.key = enqueue.idempotency_key;
            EXIT WHEN seen.job IS NOT NULL;
            -- It had expired and was deleted between two statements.
            tries := tries + 1;
            IF tries > 100 THEN
                RAISE EXCEPTION 'idempotency key % expires again and again: submit again', enqueue.idempotency_key
                    USING ERRCODE = '40001';
            END IF;
        END LOOP;
        IF seen.job <> new_id THEN
            IF seen.name <> enqueue.name
                OR seen.digest <> (CASE octet_length(seen.digest) WHEN 32 THEN sha256(bytes) ELSE digest_of END) THEN
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
        idempotency_key, service, tenant, correlation_id, tags, extra)
    VALUES (new_id, now_at, due_at, ahead, enqueue.version, enqueue.priority, enqueue.name, enqueue.queue, bytes,
        enqueue.business_key, enqueue.idempotency_key, enqueue.service, enqueue.tenant, enqueue.correlation_id,
        CASE WHEN cardinality(enqueue.tags) > 0 THEN to_jsonb(enqueue.tags) END, more);
    IF job_expires IS NOT NULL THEN
        INSERT INTO ratchet.expiry (job, at) VALUES (new_id, job_expires);
    END IF;
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
