-- One row if the node leads maintenance. It remains the leader until the commit.
SELECT FROM ratchet.leader l WHERE l.node = $1 AND l.until > ratchet.now_micros() FOR UPDATE
