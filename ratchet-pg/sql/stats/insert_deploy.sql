-- No rows. Records the first appearance of a version.
INSERT INTO ratchet.deploy (at, program, binary_version) VALUES (ratchet.now_micros(), $1, $2)
