-- How many jobs wait. Counts up to a limit in each of the tables that have them.
SELECT (SELECT count(*) FROM (SELECT FROM ratchet.ready LIMIT $1) r)
    + (SELECT count(*) FROM (SELECT FROM ratchet.scheduled LIMIT $1) s)
    + (SELECT count(*) FROM (SELECT FROM ratchet.blocked LIMIT $1) b)
