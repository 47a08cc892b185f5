-- The body of a template.
SELECT body FROM ratchet_template WHERE id = ?1
