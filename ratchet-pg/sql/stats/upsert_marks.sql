-- No rows. Marks slots to be folded. A mark that exists is locked until the commit, so that the leader cannot remove it
-- before.
INSERT INTO ratchet.stat_mark AS m (tier, slot) SELECT u.* FROM unnest($1::smallint[], $2::bigint[]) u ORDER BY 1, 2
ON CONFLICT (tier, slot) DO UPDATE SET slot = m.slot
