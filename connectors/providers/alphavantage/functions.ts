/** A function of the API. The API has no list of its functions, so they are listed here. */
export interface FunctionDefinition {
  readonly title: string
  /** In the order in which a series id gives them. */
  readonly parameters: readonly string[]
  /** Parameters as written in a series id, for the list of series. */
  readonly examples: readonly string[]
  /** The frequency, if it doesn't depend on a parameter. */
  readonly frequency?: string | undefined
  /** Whether the function answers with the last 100 points unless asked for all. */
  readonly hasSizes?: boolean
}

export interface Call {
  readonly name: string
  readonly definition: FunctionDefinition
  readonly parameters: Readonly<Record<string, string>>
  /** Which of several values at a time is meant; undefined for the usual one. */
  readonly field: string | undefined
}

const SYMBOLS = ['AAPL', 'AMZN', 'BA', 'GOOGL', 'IBM', 'JPM', 'MSFT', 'NVDA']
const PAIRS = ['EUR/USD', 'GBP/USD', 'USD/CHF', 'USD/CNY', 'USD/JPY']
const COINS = ['BTC/EUR', 'BTC/USD', 'ETH/EUR', 'ETH/USD']
const MATURITIES = ['3month', '2year', '5year', '7year', '10year', '30year']

/** Makes functions that take the same parameters. */
const taking =
  (parameters: string, examples: readonly string[]) =>
  (title: string, frequency?: string, hasSizes = false): FunctionDefinition => ({
    title,
    parameters: parameters === '' ? [] : parameters.split('/'),
    examples,
    frequency,
    hasSizes,
  })
const stock = taking('symbol', SYMBOLS)
const intraday = taking(
  'symbol/interval',
  SYMBOLS.map((symbol) => `${symbol}/60min`),
)
const pair = taking('from_symbol/to_symbol', PAIRS)
const latest = taking('from_currency/to_currency', [...PAIRS, ...COINS])
const coin = taking('symbol/market', COINS)
const ofMarket = taking('interval', ['daily', 'weekly', 'monthly'])
const monthly = taking('interval', ['monthly', 'quarterly', 'annual'])
const plain = taking('', [''])
const average = taking(
  'symbol/interval/time_period/series_type',
  SYMBOLS.map((symbol) => `${symbol}/daily/20/close`),
)

export const groups: readonly {
  readonly path: string
  readonly name: string
  readonly functions: Readonly<Record<string, FunctionDefinition>>
}[] = [
  {
    path: 'stocks',
    name: 'Stocks',
    functions: {
      TIME_SERIES_INTRADAY: intraday('Intraday prices', 'intraday', true),
      TIME_SERIES_DAILY: stock('Daily prices', 'daily', true),
      TIME_SERIES_DAILY_ADJUSTED: stock('Daily adjusted prices', 'daily', true),
      TIME_SERIES_WEEKLY: stock('Weekly prices', 'weekly'),
      TIME_SERIES_WEEKLY_ADJUSTED: stock('Weekly adjusted prices', 'weekly'),
      TIME_SERIES_MONTHLY: stock('Monthly prices', 'monthly'),
      TIME_SERIES_MONTHLY_ADJUSTED: stock('Monthly adjusted prices', 'monthly'),
      GLOBAL_QUOTE: stock('Latest price', 'daily'),
    },
  },
  {
    path: 'currencies',
    name: 'Exchange rates',
    functions: {
      FX_DAILY: pair('Daily exchange rates', 'daily', true),
      FX_WEEKLY: pair('Weekly exchange rates', 'weekly'),
      FX_MONTHLY: pair('Monthly exchange rates', 'monthly'),
      CURRENCY_EXCHANGE_RATE: latest('Latest exchange rate', 'intraday'),
    },
  },
  {
    path: 'crypto',
    name: 'Crypto-currencies',
    functions: {
      DIGITAL_CURRENCY_DAILY: coin('Daily prices', 'daily'),
      DIGITAL_CURRENCY_WEEKLY: coin('Weekly prices', 'weekly'),
      DIGITAL_CURRENCY_MONTHLY: coin('Monthly prices', 'monthly'),
    },
  },
  {
    path: 'commodities',
    name: 'Commodities',
    functions: {
      WTI: ofMarket('Crude oil, West Texas Intermediate'),
      BRENT: ofMarket('Crude oil, Brent'),
      NATURAL_GAS: ofMarket('Natural gas, Henry Hub'),
      COPPER: monthly('Copper'),
      ALUMINUM: monthly('Aluminum'),
      WHEAT: monthly('Wheat'),
      CORN: monthly('Corn'),
      COTTON: monthly('Cotton'),
      SUGAR: monthly('Sugar'),
      COFFEE: monthly('Coffee'),
      ALL_COMMODITIES: monthly('All commodities'),
    },
  },
  {
    path: 'economy',
    name: 'U.S. economic indicators',
    functions: {
      REAL_GDP: taking('interval', ['annual', 'quarterly'])('Real gross domestic product'),
      REAL_GDP_PER_CAPITA: plain('Real gross domestic product per capita', 'quarterly'),
      TREASURY_YIELD: taking(
        'interval/maturity',
        MATURITIES.flatMap((maturity) => [`daily/${maturity}`, `monthly/${maturity}`]),
      )('Treasury yield'),
      FEDERAL_FUNDS_RATE: ofMarket('Federal funds rate'),
      CPI: taking('interval', ['monthly', 'semiannual'])('Consumer price index'),
      INFLATION: plain('Inflation', 'annual'),
      RETAIL_SALES: plain('Retail sales', 'monthly'),
      DURABLES: plain('Orders of durable goods', 'monthly'),
      UNEMPLOYMENT: plain('Unemployment rate', 'monthly'),
      NONFARM_PAYROLL: plain('Nonfarm payroll', 'monthly'),
    },
  },
  {
    path: 'indicators',
    name: 'Technical indicators',
    functions: {
      SMA: average('Simple moving average'),
      EMA: average('Exponential moving average'),
      WMA: average('Weighted moving average'),
      RSI: average('Relative strength index'),
      ROC: average('Rate of change'),
      MACD: taking(
        'symbol/interval/series_type',
        SYMBOLS.map((symbol) => `${symbol}/daily/close`),
      )('Moving average convergence and divergence'),
    },
  },
]

const functions: Readonly<Record<string, FunctionDefinition>> = Object.assign(
  {},
  ...groups.map((group) => group.functions),
)

/** The function that a series id begins with. */
export function functionNamed(id: string): FunctionDefinition | undefined {
  const name = nameIn(id)
  return Object.hasOwn(functions, name) ? functions[name] : undefined
}

function nameIn(id: string): string {
  return (id.split(/[/&]/, 1)[0] ?? '').replace(/^function=/i, '').toUpperCase()
}

/**
 * Reads a series id as a call: the parameters in order, or as `name=value`, separated by `/` or `&`; one more part is a
 * field. undefined if parameters are missing, unknown or too many.
 */
export function readId(id: string): Call | undefined {
  const definition = functionNamed(id)
  if (definition === undefined) return undefined
  const parameters: Record<string, string> = {}
  let field: string | undefined
  for (const part of id.split(/[/&]/).slice(1)) {
    const [, named, value = part] = /^(\w+)=(.*)$/.exec(part) ?? []
    const name = named ?? definition.parameters.find((each) => !(each in parameters))
    if (value === '' || (name === undefined && field !== undefined)) return undefined
    if (name === undefined || name === 'field') field = value
    else if (definition.parameters.includes(name)) parameters[name] = value
    else return undefined
  }
  const isComplete = definition.parameters.every((each) => each in parameters)
  return isComplete ? { name: nameIn(id), definition, parameters, field } : undefined
}
