-- One row: the store's clock.
SELECT ratchet.now_micros()
