-- Records of groups that contain a text.
SELECT g.body FROM ratchet.job_group g WHERE strpos(g.body, $1) > 0 ORDER BY g.id LIMIT $2
