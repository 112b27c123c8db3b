import type { Source, SourceOptions } from './source.ts'

export interface OpenSourceOptions extends SourceOptions {
  /** How DuckDB is reached: its C API, its Node package (slower, works everywhere), or the first of them that loads. */
  readonly source?: 'ffi' | 'node' | 'auto'
  /** Told, with the reason, where `auto` must take the slower one. */
  readonly onSlower?: (reason: unknown) => void
}

/** Opens a DuckDB of its own. The two sources are loaded only where they are used. */
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
