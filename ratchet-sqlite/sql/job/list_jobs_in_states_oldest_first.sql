-- Like list_jobs_oldest_first.sql, but only jobs in the given states (as bits) except succeeded ones. Waiting jobs are sorted.
SELECT job.* FROM (
    SELECT id FROM ratchet_job INDEXED BY ratchet_job_failed WHERE ?3 & 8 AND state = 3 AND id > ?1
    UNION ALL
    SELECT id FROM ratchet_job INDEXED BY ratchet_job_canceled WHERE ?3 & 32 AND state = 5 AND id > ?1
    UNION ALL
    SELECT id FROM ratchet_job INDEXED BY ratchet_job_paused WHERE ?3 & 16 AND state = 4 AND id > ?1
    UNION ALL
    SELECT id FROM ratchet_job INDEXED BY ratchet_job_running WHERE ?3 & 2 AND state = 1 AND id > ?1
    UNION ALL
    SELECT id FROM ratchet_job INDEXED BY ratchet_job_line WHERE ?3 & 1 AND state = 0 AND ready = 1 AND id > ?1
    UNION ALL
    SELECT id FROM ratchet_job INDEXED BY ratchet_job_future WHERE ?3 & 1 AND state = 0 AND ready = 0 AND id > ?1
    UNION ALL
    SELECT id FROM ratchet_job INDEXED BY ratchet_job_aside WHERE ?3 & 1 AND state = 0 AND ready = 2 AND id > ?1
    UNION ALL
    SELECT id FROM ratchet_job INDEXED BY ratchet_job_waiting WHERE ?3 & 1 AND state = 0 AND ready > 2 AND id > ?1
    ORDER BY id LIMIT ?2
) AS listed CROSS JOIN ratchet_job AS job ON job.id = listed.id
ORDER BY listed.id
