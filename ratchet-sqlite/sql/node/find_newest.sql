-- One row if these are the newest declarations of the program.
SELECT 1 FROM ratchet_program WHERE name = ?1 AND declarations = ?2
