import { accessSync, constants } from 'node:fs'
import { invalidOption } from '../../errors.ts'

const MODES = ['disable', 'require', 'verify-ca', 'verify-full', 'no-verify']
const FILES = ['sslrootcert', 'sslcert', 'sslkey']

/**
 * The address as the driver has to be told, so that its parameters about TLS mean what they mean in libpq.
 * @throws EngineError `invalid_option` if they are unknown, or name a file that can't be read
 */
export function driverAddress(url: string): string {
  const address = new URL(url)
  const { searchParams: given } = address
  const mode = given.get('sslmode')
  if (mode !== null && !MODES.includes(mode)) {
    throw invalidOption(
      `sslmode in the address of the database must be one of ${MODES.join(', ')} (got ${mode}).`,
    )
  }
  if (mode === 'verify-ca' && !given.has('sslrootcert')) {
    throw invalidOption(
      'sslmode=verify-ca needs sslrootcert=/path/ca.crt; without your own authority use verify-full.',
    )
  }
  for (const name of FILES) requireFile(name, given.get(name))
  // By default the driver checks names with `require` and `verify-ca`, too.
  if (mode === 'require' || mode === 'verify-ca') given.set('uselibpqcompat', 'true')
  return address.href
}

function requireFile(name: string, file: string | null): void {
  if (file === null) return
  try {
    accessSync(file, constants.R_OK)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw invalidOption(`${name} in the address of the database: can't read ${file} (${code}).`)
  }
}
