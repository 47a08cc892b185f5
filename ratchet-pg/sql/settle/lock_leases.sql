-- One row per lease: locked in one order, so that settle, rescue and cancel take turns.
SELECT id, ratchet.now_micros() AS now FROM ratchet.lease WHERE id = ANY($1::uuid[]) ORDER BY id FOR UPDATE
