-- The jobs of a group after the given id, ordered by id.
SELECT m.job FROM ratchet.member m
WHERE m.graph = (SELECT g.graph FROM ratchet.job_group g WHERE g.id = $1) AND m.grp = $1 AND m.job > $2
ORDER BY m.job LIMIT $3
