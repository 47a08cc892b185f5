told AS (SELECT queue FROM freed UNION SELECT queue FROM put)
SELECT queue FROM told
