import { FUNCTIONS, TABLE_FUNCTIONS } from '../../../engine/sql/nodes.ts'

const HEAD = `# SQL

One SELECT over datasets, in the SQL of DuckDB, at \`POST /sql\` (the statement as \`text/plain\`, or \`{"sql", "parameters"?}\` as JSON) and \`GET /sql?q=\`. Formats, headers, \`$top\`, \`$skip\`, writing options and limits are those of \`GET /datasets/{id}/data\`. In the library it is \`engine.sql(text, parameters)\`.

\`\`\`sh
curl -u "$KEY:" -H 'Content-Type: text/plain' "$URL/sql?\\$format=json" \\
  --data 'SELECT Species, avg("Body Mass (g)") AS mass FROM penguins GROUP BY Species ORDER BY mass DESC'
\`\`\`

**Tables** are datasets: \`"repository"."dataset"\`, \`dataset\` if only one that the key may read has the name, or \`dataset_17\` by its id. Your own come before those shared with you, and these before public ones; \`"owner"."repository"."dataset"\` always means the same ([names](../permissions.md#names)). \`AT (VERSION => 3)\` and \`AT (TIMESTAMP => '2024-01-31T12:00:00Z')\` read an earlier version. A table that the key may not read does not exist for it (400 \`unknown_table\`). Rights are checked when the statement has been read, and again before its rows are.

**Columns** have their own names. As usual in SQL, case does not matter, except where two columns differ only by case.

**Parameters** are written \`$1\` or \`?\`, with a list of values, or \`$name\`, with an object.

**Statements.** SELECT, WITH (also RECURSIVE), VALUES, FROM, DESCRIBE, SUMMARIZE, UNPIVOT, and PIVOT with the values after IN. Everything else is 400 \`invalid_sql\`; a function that is not below is 400 \`sql_not_allowed\`. The message gives the position.

**Safety.** DuckDB reads the statement and gives its tree. Every node and every function of the tree must be on a list of what is allowed. The tree is then written as SQL again, with tables that are read from the parts of a leased version. It runs in a process of its own, whose DuckDB can open the parts of this statement and no other file, with limits of memory, disk and processor time. If the process ends, only this statement fails, with 503.

**ETag.** It follows the statement and the versions of all its tables. There is none if the statement uses time or chance, such as \`now()\`, \`random()\` or a sample without \`REPEATABLE\`.
`

/** The reference page of SQL. */
export function renderSqlReference(): string {
  const lists = Object.entries({ ...FUNCTIONS, 'after FROM': [...TABLE_FUNCTIONS] })
  const sections = lists.map(([kind, names]) => {
    const title = `${kind[0]!.toUpperCase()}${kind.slice(1)}`
    return `### ${title}\n\n${names.map((name) => `\`${name}\``).join(' ')}\n`
  })
  return `${HEAD}\n## Functions\n\n${sections.join('\n')}`
}
