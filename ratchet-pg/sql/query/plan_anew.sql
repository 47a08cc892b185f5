-- No rows. Until the end of the transaction, statements are planned for their parameters, so that unused filters are
-- not part of the plan.
SET LOCAL plan_cache_mode = force_custom_plan
