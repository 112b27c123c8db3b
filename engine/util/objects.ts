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
