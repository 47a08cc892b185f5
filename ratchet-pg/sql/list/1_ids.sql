-- The ids of jobs that match the filter, newest first, among the next jobs of a source.
SELECT j.id
FROM (
