-- One row: when the first and the last job that are archived were archived, and the size of the archive in bytes.
SELECT
    LEAST((SELECT min(at) FROM ratchet_archive.part), (SELECT min(at) FROM ratchet_archive.moved)) AS oldest,
    GREATEST((SELECT max(at) FROM ratchet_archive.part), (SELECT max(at) FROM ratchet_archive.moved)) AS newest,
    (
        SELECT COALESCE(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c
        JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = __ARCHIVE__ AND c.relkind = 'r'
    ) AS bytes
