-- How many groups a tenant or a correlation id has, at most a number.
SELECT count(*) FROM (
    SELECT 1 FROM ratchet_group
    WHERE json_valid(body) AND (body ->> '$.tenant' = ?1 OR body ->> '$.correlation_id' = ?2) LIMIT ?3
)
