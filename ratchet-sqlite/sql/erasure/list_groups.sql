-- Groups of a tenant or a correlation id that have ended, are empty, and have no live step waiting for them.
SELECT id, body FROM ratchet_group AS old
WHERE finished_at IS NOT NULL AND json_valid(body)
  AND (body ->> '$.tenant' = ?1 OR body ->> '$.correlation_id' = ?2)
  AND NOT EXISTS (SELECT 1 FROM ratchet_job WHERE grp = old.id)
  AND NOT EXISTS (SELECT 1 FROM ratchet_group AS inner_group WHERE inner_group.owner = old.id)
  AND NOT EXISTS (
      SELECT 1 FROM ratchet_edge AS edge JOIN ratchet_job AS job ON job.id = substr(edge.child, 2)
      WHERE edge.parent = CAST(x'01' || old.id AS BLOB) AND job.state NOT IN (2, 3, 5)
  )
ORDER BY finished_at LIMIT ?3
