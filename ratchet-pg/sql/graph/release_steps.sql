-- The queues in which released steps can be claimed. A paused step stays paused.
WITH freed AS (UPDATE ratchet.member m SET wait = NULL WHERE m.job = ANY($1::uuid[]) RETURNING m.job, m.delay),
taken AS (
    DELETE FROM ratchet.blocked b USING freed f WHERE b.job = f.job AND b.cause = 'parent' RETURNING b.*, f.delay
),
-- Due now, or later if the due time or the delay of the step has not passed.
due AS MATERIALIZED (
    SELECT t.*, GREATEST(t.due, LEAST($2 + t.delay, 253402207200999999)) AS at FROM taken t
),
due_now AS (
    INSERT INTO ratchet.ready (job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation, climit, keyed, queue, name, ckey, service, judges, tenant)
    SELECT job, sort_key + at - due, at, version + 1, run, job_version, attempts, crashes, deferrals, generation, climit,
        keyed, queue, name, ckey, service, judges,
        (SELECT j.tenant FROM ratchet.job j WHERE j.id = due.job)
    FROM due WHERE at <= $2
    RETURNING queue
),
due_later AS (
    INSERT INTO ratchet.scheduled (job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation, climit, keyed, queue, name, ckey, service, judges)
    SELECT job, sort_key + at - due, at, version + 1, run, job_version, attempts, crashes, deferrals, generation, climit,
        keyed, queue, name, ckey, service, judges
    FROM due WHERE at > $2
),
aside AS (
    UPDATE ratchet.paused p
    SET sort_key = p.sort_key - p.due + GREATEST(p.due, LEAST($2 + f.delay, 253402207200999999)),
        due = GREATEST(p.due, LEAST($2 + f.delay, 253402207200999999)), version = p.version + 1
    FROM freed f WHERE p.job = f.job AND NOT p.failed
)
SELECT DISTINCT queue FROM due_now
