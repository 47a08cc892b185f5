-- Submits a job from any language, inside the caller's own transaction and with the rules of the library.
-- Answers with the id of the job that stands for the submit: the new one, or for a repeated idempotency key the first.
-- A business key that is taken and an idempotency key that was used for something else raise errors.
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
        INSERT INTO ratchet.business (scope, key, job) VALUES (scope_of, enqueue.business_key, new_id)
        ON CONFLICT DO NOTHING;
        SELECT b.job INTO seen FROM ratchet.business b WHERE b.scope = scope_of AND b.key = enqueue.business_key;
        IF seen.job IS DISTINCT FROM new_id THEN
            RAISE EXCEPTION 'business key % is held by job %', enqueue.business_key, seen.job USING ERRCODE = '23505';
        END IF;
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
