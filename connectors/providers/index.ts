import type { Connector } from '../connector.ts'
import { bis } from './bis.ts'
import { bls } from './bls.ts'
import { ecb } from './ecb.ts'
import { eurostat } from './eurostat.ts'
import { fred } from './fred.ts'
import { ilo } from './ilo.ts'
import { imf } from './imf.ts'
import { norgesBank } from './norges-bank.ts'
import { oecd } from './oecd.ts'
import { worldbank } from './worldbank.ts'

/** All providers, in the order in which they are listed. A new one is a file beside this one and a line here. */
export const connectors: readonly Connector[] = [
  fred,
  bls,
  worldbank,
  ecb,
  oecd,
  eurostat,
  imf,
  bis,
  norgesBank,
  ilo,
]
