SELECT 1::BIGINT AS a, 'x' AS b WHERE false
