-- No rows. Sets when these lanes bring back jobs again; null until a job of their key was claimed.
UPDATE ratchet.key_lane l SET back = x.back, at = $3
FROM unnest($1::text[], $2::bigint[]) AS x(cause, back) WHERE l.cause = x.cause
