-- Entries of the catalog, by name and program, the one that was recorded last first.
SELECT program, binary_version, digest, entry, first_seen, last_seen FROM ratchet.catalog
ORDER BY name, program, last_seen DESC, version DESC, digest
