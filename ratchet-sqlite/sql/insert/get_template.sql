-- The body of one template.
SELECT body FROM ratchet_template WHERE id = ?1
