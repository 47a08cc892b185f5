-- Marks a slot to be folded.
INSERT INTO ratchet_stat_mark (tier, slot) VALUES (?1, ?2) ON CONFLICT DO NOTHING
