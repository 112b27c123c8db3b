SELECT u::UUID AS "uuid", b::BLOB AS "binary", j::JSON AS "json" FROM (VALUES
  ('0a141de5-2f4c-4273-9881-8ef1e6ef6192', '', '{"a": [1, 2.50, "x,\"y"]}'), (NULL, NULL, NULL),
  ('00000000-0000-0000-0000-000000000000', 'a', 'null'), ('ffffffff-ffff-ffff-ffff-ffffffffffff', 'ab', '"text"'),
  ('80000000-0000-0000-0000-000000000001', 'abc', '12345678901234567890123'), ('7fffffff-0000-4000-8000-000000000000', '\x00\xFF\x80', '{' || chr(10) || '"nan": NaN,' || chr(10) || '"minus": -Infinity, "i": Infinity, "s": "NaN"}')
) AS rows(u, b, j)
