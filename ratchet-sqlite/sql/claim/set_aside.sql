-- Sets aside jobs that cannot run now (a list of pairs of seq and lane).
UPDATE ratchet_job SET ready = 2, lane = blocked.value ->> 1
FROM json_each(?1) AS blocked WHERE ratchet_job.seq = blocked.value ->> 0
