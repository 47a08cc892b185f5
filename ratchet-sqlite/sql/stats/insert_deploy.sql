-- Records the first appearance of a version.
INSERT INTO ratchet_deploy (at, program, binary_version) VALUES (?1, ?2, ?3)
