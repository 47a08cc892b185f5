-- No rows: what members wait for, and what their cancel goes back to.
UPDATE ratchet.member m SET wait = x.wait, root = x.root
FROM unnest($1::uuid[], $2::text[], $3::text[]) AS x(job, wait, root) WHERE m.job = x.job
