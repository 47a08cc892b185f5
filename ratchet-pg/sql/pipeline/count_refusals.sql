-- No rows. Counts refusals of full pipelines.
UPDATE ratchet.pipeline p SET refusals = p.refusals + x.refused
FROM (SELECT name, sum(refused)::bigint AS refused FROM unnest($1::text[], $2::bigint[]) AS y(name, refused) GROUP BY name) x
WHERE p.name = x.name
