SELECT clock.now, road.due AS due_waits, road.long, road.next_due,
    -- The applied jobs, only if some successes were not applied.
    CASE WHEN (SELECT COALESCE(sum(n), 0) FROM counted) <> $18::bigint THEN ARRAY(SELECT job FROM done) END AS applied,
    ARRAY(SELECT id FROM emptied) AS emptied, ARRAY(
        SELECT queue FROM freed
        UNION SELECT queue FROM put
        UNION SELECT l.queue FROM locked l JOIN ratchet.queue q ON q.name = l.queue AND q.limited
    ) AS freed,
