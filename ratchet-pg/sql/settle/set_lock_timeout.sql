-- One row. Limits lock waits until the end of the transaction.
SELECT set_config('lock_timeout', $1, true)
