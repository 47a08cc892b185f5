-- The holder of a business key.
SELECT job FROM ratchet_business WHERE scoped_key = ?1
