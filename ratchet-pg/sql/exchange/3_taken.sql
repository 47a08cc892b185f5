taken AS (
    DELETE FROM ratchet.ready
    WHERE ctid = ANY (ARRAY(SELECT p.spot FROM picked p WHERE (SELECT clear FROM road)))
),
