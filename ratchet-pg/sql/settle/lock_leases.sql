-- One row per lease, locked in a fixed order, so that settlements, rescues and cancels exclude each other.
SELECT id, ratchet.now_micros() AS now FROM ratchet.lease WHERE id = ANY($1::uuid[]) ORDER BY id FOR UPDATE
