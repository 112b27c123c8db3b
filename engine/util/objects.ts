/** Makes objects of rows whose values stand in the order of the names. */
export function objectMaker(names: readonly string[]): (row: readonly unknown[]) => Record<string, unknown> {
  // An assignment to this name would replace the object's prototype.
  if (names.includes('__proto__')) {
    return (row) => Object.fromEntries(names.map((name, index) => [name, row[index]]))
  }
  return (row) => {
    const object: Record<string, unknown> = {}
    for (let index = 0; index < names.length; index++) object[names[index]!] = row[index]
    return object
  }
}

/**
 * Makes an object of each row, batch by batch, because the arrays of a batch may be written again when the next one is
 * read.
 */
export async function* inBatches<Row, Item>(
  batches: AsyncIterable<Iterable<Row>>,
  make: (row: Row) => Item,
): AsyncGenerator<Item[], void, undefined> {
  for await (const rows of batches) yield Array.from(rows, make)
}
