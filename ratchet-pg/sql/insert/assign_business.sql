-- No rows. Assigns reserved keys to the jobs that hold them.
UPDATE ratchet.business b SET job = k.job
FROM unnest($1::text[], $2::text[], $3::uuid[]) AS k(scope, key, job)
WHERE b.scope = k.scope AND b.key = k.key AND b.job <> k.job
