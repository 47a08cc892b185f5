-- Until when a node leads.
SELECT lease_until FROM ratchet_leader WHERE one = 1
