-- No rows. Counts suppressed alerts.
UPDATE ratchet.alert a SET suppressed = a.suppressed + x.n FROM unnest($1::bigint[], $2::bigint[]) AS x(id, n) WHERE a.id = x.id
