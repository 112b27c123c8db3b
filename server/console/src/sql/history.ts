const SLOT = 'parquetry.statements'
const MOST = 50

/** The statements that were run in this browser, newest first. */
export function pastStatements(): readonly string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(SLOT) ?? '[]')
    return Array.isArray(kept) ? kept.map(String) : []
  } catch {
    return []
  }
}

export function rememberStatement(sql: string): void {
  const others = pastStatements().filter((one) => one !== sql)
  localStorage.setItem(SLOT, JSON.stringify([sql, ...others].slice(0, MOST)))
}
