-- The concurrency keys that were locked, without those that another claim has locked.
SELECT k.key FROM unnest($1::text[]) AS k(key)
WHERE pg_try_advisory_xact_lock(hashtextextended(__SCOPE__ || 'slot ' || k.key, 0))
