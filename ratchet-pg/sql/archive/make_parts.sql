-- No rows: the archive has the partitions for these jobs.
SELECT ratchet.make_archive_parts($1)
