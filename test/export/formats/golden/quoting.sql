SELECT i AS "number", t AS "a ""quoted"", name" FROM (VALUES
  (1, 'plain'), (2, ''), (3, NULL), (4, 'comma, here'), (5, 'tab' || chr(9) || 'here'), (6, 'say "hi"'),
  (7, 'two' || chr(10) || 'lines'), (8, 'return' || chr(13)), (9, ' blanks '), (10, 'back\slash'),
  (11, chr(1) || chr(31) || chr(127)), (12, 'Grüße, 世界 😀'), (13, '=1+1'), (14, 'NULL'), (15, '"'), (16, 'a "b", c' || chr(10))
) AS rows(i, t)
