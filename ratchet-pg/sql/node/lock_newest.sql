-- One row if these are the newest declarations of the program, locked so that they remain the newest until the commit.
SELECT 1 FROM ratchet.program WHERE name = $1 AND declarations = $2 FOR SHARE
