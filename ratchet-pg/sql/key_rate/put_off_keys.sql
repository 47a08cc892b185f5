-- No rows. Sets when the lanes of these keys bring back jobs again.
UPDATE ratchet.key_lane l SET back = x.back
FROM unnest($1::text[], $2::text[], $3::bigint[]) AS x(queue, key, back) WHERE l.queue = x.queue AND l.key = x.key
