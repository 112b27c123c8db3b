/** Texts that programs and offices commonly write for missing values, with the errors of spreadsheets. */
export const USUAL_NULLS: readonly string[] = [
  ...[
    'NA',
    'N/A',
    'n/a',
    'N.A.',
    'n.a.',
    'n/d',
    'N/D',
    'n.d.',
    's/d',
    'k. A.',
    'k.A.',
    'k. A',
    'k.A',
    'n. v.',
    'n.v.',
  ],
  ...['NULL', 'null', 'None', 'nil', '\\N', '<NA>', 'NaT', '(null)', '[null]', 'missing', 'not available'],
  ...['-', '--', '---', '–', '—', '.', '..', '...', '…', ':', '?', '#N/A', '#NV', '#N/D'],
  ...[
    '#DIV/0!',
    '#NAME?',
    '#NULL!',
    '#NUM!',
    '#REF!',
    '#VALUE!',
    '#BEZUG!',
    '#WERT!',
    '#ZAHL!',
    '#VALEUR!',
    '#NOM?',
  ],
]

/** Whether a text commonly stands for a missing value: such a word, or nothing but whitespace. */
export const isUsualNull = (text: string) => USUAL_NULLS.includes(text) || /^\s+$/.test(text)

export const USUAL_BOOLEANS = ['t', 'f'] as const

/** Symbols of currencies and shares that are found around numbers. */
export const USUAL_SYMBOLS: readonly string[] = [
  ...[
    '€',
    '$',
    '£',
    '¥',
    '円',
    '₹',
    '₽',
    '₩',
    '₺',
    '%',
    '‰',
    'R$',
    'US$',
    'CA$',
    'A$',
    'zł',
    'Kč',
    'kr',
    'kr.',
    'Ft',
  ],
  ...['EUR', 'USD', 'GBP', 'JPY', 'CHF', 'CAD', 'AUD', 'CNY', 'INR', 'SEK', 'NOK', 'DKK', 'PLN', 'CZK'],
]
