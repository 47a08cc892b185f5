-- How many jobs cannot be read.
SELECT count(*) FROM ratchet.unreadable
