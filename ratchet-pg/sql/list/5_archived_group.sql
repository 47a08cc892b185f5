    AND ($14::uuid IS NULL OR j.extra::json #>> '{step,group}' = $14::text)
