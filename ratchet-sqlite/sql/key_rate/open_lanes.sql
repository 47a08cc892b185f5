-- Lets the next claim consider all lanes of a queue that wait for the rate of a key, because the rate has changed.
UPDATE ratchet_aside SET back = ?2, brought = NULL
WHERE lane IN (
    SELECT lane FROM ratchet_aside WHERE queue = ?1 AND back IS NOT NULL
    UNION ALL SELECT lane FROM ratchet_aside WHERE brought >= 0 AND queue = ?1
)
