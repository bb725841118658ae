-- Statements about the graph of every.pg, separated by empty lines. every.queries has the same
-- questions as queries, in the same order.

SELECT count(*), count(opt_i32), count(opt_text), sum(opt_f64)
FROM 'every/nodes/Every/*.parquet'

SELECT i.id, count(*), sum(r.weight)
FROM 'every/edges/Related/*.parquet' r
JOIN 'every/nodes/Every/*.parquet' e ON e.id = r."from"
JOIN 'every/nodes/Id/*.parquet' i ON i.id = r."to"
GROUP BY i.id ORDER BY i.id

SELECT id FROM 'every/nodes/Every/*.parquet' WHERE list_contains(texts, 'a') ORDER BY id

SELECT id FROM 'every/nodes/Every/*.parquet'
ORDER BY list_cosine_distance(vector, [0, -1, 3]::FLOAT[]) LIMIT 2

SELECT p."from", o.number
FROM 'every/edges/Points/*.parquet' p
JOIN 'every/nodes/Other/*.parquet' o ON o.id = p."to" AND p.to_type = 'Other'
ORDER BY p."from"
