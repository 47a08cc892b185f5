-- One row: until the end of the transaction, a lock is waited for this long.
SELECT set_config('lock_timeout', $1, true)
