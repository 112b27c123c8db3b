SELECT [1, NULL, 3] AS "list", {'a': 1.5::DOUBLE, 'b': 'x'} AS "struct", MAP {'k': INTERVAL '1 day'} AS "map",
  union_value(num := 2) AS "union", [['a'], []] AS "nested", INTERVAL '14 months 3 days 1.5 seconds' AS "interval",
  'b'::ENUM('a', 'b') AS "enum", '0101'::BIT AS "bit", 170141183460469231731687303715884105727::UHUGEINT AS "huge"
UNION ALL SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
