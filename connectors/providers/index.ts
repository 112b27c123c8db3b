import type { Connector } from '../connector.ts'
import { alphavantage } from './alphavantage.ts'
import { bankOfCanada } from './bank-of-canada.ts'
import { bls } from './bls.ts'
import { dbnomics } from './dbnomics.ts'
import { frankfurter } from './frankfurter.ts'
import { fred } from './fred.ts'
import { nasdaq } from './nasdaq.ts'
import { statcan } from './statcan.ts'
import { usTreasury } from './us-treasury.ts'
import { worldbank } from './worldbank.ts'

/** All providers, in the order in which they are listed. A new one is a file beside this one and a line here. */
export const connectors: readonly Connector[] = [
  fred,
  bls,
  worldbank,
  dbnomics,
  bankOfCanada,
  alphavantage,
  nasdaq,
  usTreasury,
  statcan,
  frankfurter,
]
