-- Copies the templates of jobs (a list of seq of the file of the jobs). A template with this id is the same.
INSERT OR IGNORE INTO main.ratchet_template (id, queue, name, version, body)
SELECT id, queue, name, version, body FROM live.ratchet_template
WHERE id IN (SELECT template FROM live.ratchet_job WHERE seq IN (SELECT value FROM json_each(?1)))
