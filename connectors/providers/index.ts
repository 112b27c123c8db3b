import type { Connector } from '../connector.ts'
import { alphavantage } from './alphavantage.ts'
import { bankOfCanada } from './bank-of-canada.ts'
import { bis } from './bis.ts'
import { bls } from './bls.ts'
import { dbnomics } from './dbnomics.ts'
import { ecb } from './ecb.ts'
import { eurostat } from './eurostat.ts'
import { frankfurter } from './frankfurter.ts'
import { fred } from './fred.ts'
import { ilo } from './ilo.ts'
import { imf } from './imf.ts'
import { nasdaq } from './nasdaq.ts'
import { norgesBank } from './norges-bank.ts'
import { oecd } from './oecd.ts'
import { statcan } from './statcan.ts'
import { usTreasury } from './us-treasury.ts'
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
  dbnomics,
  bankOfCanada,
  alphavantage,
  nasdaq,
  usTreasury,
  statcan,
  frankfurter,
]
