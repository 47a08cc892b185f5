-- No rows: until the end of the transaction, what a filter leaves out is not in the plan.
SET LOCAL plan_cache_mode = force_custom_plan
