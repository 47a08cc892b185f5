-- The tables, views and indexes of Ratchet.
SELECT name FROM sqlite_schema WHERE name LIKE 'ratchet%'
