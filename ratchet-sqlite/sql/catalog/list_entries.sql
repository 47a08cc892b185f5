-- By name and program, the entry that was recorded last first.
SELECT program, binary_version, digest, entry, first_seen, last_seen FROM ratchet_catalog
ORDER BY name, program, last_seen DESC, version DESC, digest
