import { open } from 'node:fs/promises'

/** Resolves when a file's content, or the names in a folder, would survive a power cut. */
export async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
