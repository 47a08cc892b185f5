-- The latest alert of each name and fingerprint.
SELECT k.place, a.id, a.at
FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS k(name, fingerprint, place)
CROSS JOIN LATERAL (
    SELECT a.id, a.at FROM ratchet.alert a WHERE a.name = k.name AND a.fingerprint = k.fingerprint
    ORDER BY a.id DESC LIMIT 1
) a
