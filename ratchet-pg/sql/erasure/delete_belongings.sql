-- One row: how many alerts, messages and hand-offs of these jobs were deleted.
WITH letters AS (
    DELETE FROM ratchet.delivery WHERE alert = ANY (ARRAY(SELECT a.id FROM ratchet.alert a WHERE a.job = ANY($1::uuid[]))) RETURNING id
),
outcomes AS (DELETE FROM ratchet.delivery WHERE job = ANY($1::uuid[]) RETURNING id),
alerts AS (DELETE FROM ratchet.alert WHERE job = ANY($1::uuid[]) RETURNING id),
handed AS (DELETE FROM ratchet.hand_off WHERE job = ANY($1::uuid[]) RETURNING number),
admitted AS (DELETE FROM ratchet.admission WHERE job = ANY($1::uuid[])),
handed_on AS (DELETE FROM ratchet.admission WHERE handed_by = ANY($1::uuid[]) AND job <> ALL($1::uuid[]))
SELECT (SELECT count(*) FROM alerts) AS alerts,
    (SELECT count(*) FROM letters) + (SELECT count(*) FROM outcomes) AS deliveries,
    (SELECT count(*) FROM handed) AS hand_offs
