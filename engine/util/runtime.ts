/**
 * Refuses runtimes on which the engine fails in the middle of its work: Bun has no working pools of threads for it, and
 * Deno's SQLite locks the catalog.
 * @throws Error that says what to use
 */
export function checkRuntime({ bun, deno }: Partial<Record<string, string>> = process.versions): void {
  const other = bun ? `Bun ${bun}` : deno ? `Deno ${deno}` : undefined
  if (other === undefined) return
  throw new Error(
    `Parquetry's engine and server need Node 22.19 or newer and do not run on ${other}. parquetry/client does.`,
  )
}
