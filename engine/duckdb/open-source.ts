import type { Source, SourceOptions } from './source.ts'

export interface OpenSourceOptions extends SourceOptions {
  /** How to reach DuckDB: its C API, its Node package (slower, works everywhere), or the first of them that loads. */
  readonly source?: 'ffi' | 'node' | 'auto'
  /** Called with the reason if `auto` has to take the slower one. */
  readonly onSlower?: (reason: unknown) => void
}

/** Opens a new DuckDB. Of the two kinds of source, only the one that is needed is loaded. */
export async function openSource(options: OpenSourceOptions): Promise<Source> {
  const { source = 'auto' } = options
  if (source === 'node') return openSlower(options)
  let native: typeof import('./native/native-source.ts')
  try {
    native = await import('./native/native-source.ts')
    native.load()
  } catch (error) {
    if (source === 'ffi') throw error
    options.onSlower?.(error)
    return openSlower(options)
  }
  return native.openNativeSource(options)
}

async function openSlower(options: SourceOptions): Promise<Source> {
  return (await import('./node/node-source.ts')).openNodeSource(options)
}
