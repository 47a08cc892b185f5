-- The columns of a job, without the one that is numbered by each file.
SELECT group_concat('"' || name || '"', ', ') FROM pragma_table_info('ratchet_job') WHERE name <> 'seq'
