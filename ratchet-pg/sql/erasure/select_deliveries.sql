-- Messages that contain a text.
SELECT d.id, d.envelope FROM ratchet.delivery d WHERE d.envelope IS NOT NULL AND strpos(d.envelope, $1) > 0
ORDER BY d.id LIMIT $2
