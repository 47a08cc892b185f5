-- One row: how many hand-offs of a tenant before an instant were deleted.
WITH gone AS (
    DELETE FROM ratchet.hand_off WHERE ctid = ANY (ARRAY(
        SELECT h.ctid FROM ratchet.hand_off h WHERE h.tenant = $1 AND h.at < $2 LIMIT $3 FOR UPDATE SKIP LOCKED
    ))
    RETURNING job, pipeline, key
),
admissions AS (
    DELETE FROM ratchet.admission a USING gone g
    WHERE a.handed_by = g.job AND a.pipeline = g.pipeline AND a.key = g.key
)
SELECT count(*) FROM gone
