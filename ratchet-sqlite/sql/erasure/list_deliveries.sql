-- Messages that contain a text.
SELECT number, envelope FROM ratchet_delivery WHERE envelope IS NOT NULL AND instr(envelope, ?1) > 0
ORDER BY number LIMIT ?2
