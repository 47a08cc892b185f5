-- The job names and versions that live nodes know.
SELECT known FROM ratchet_node WHERE lease_until > ?1
