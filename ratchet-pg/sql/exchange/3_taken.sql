taken AS (
    DELETE FROM ratchet.ready
    WHERE ctid = ANY (ARRAY(SELECT p.row_id FROM picked p WHERE (SELECT clear FROM road)))
),
