-- Hands the lanes of a queue that waited for the rate of a key to the claims that bring back lanes of unknown names: the
-- queue has no rate per key any more.
UPDATE ratchet_aside SET unknown = 1, back = NULL, brought = NULL
WHERE lane IN (
    SELECT lane FROM ratchet_aside WHERE queue = ?1 AND back IS NOT NULL
    UNION ALL SELECT lane FROM ratchet_aside WHERE brought >= 0 AND queue = ?1
)
