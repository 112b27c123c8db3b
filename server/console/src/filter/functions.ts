/** A filter function, as shown by the completion. */
export interface FilterFunction {
  readonly name: string
  /** Its arguments, as shown to the user. */
  readonly shape: string
  readonly hint: string
  /** Whether it is a condition by itself, or a value to compare. */
  readonly gives: 'condition' | 'value'
}

const condition = (name: string, shape: string, hint: string): FilterFunction => ({
  name,
  shape,
  hint,
  gives: 'condition',
})
const value = (name: string, shape: string, hint: string): FilterFunction => ({
  name,
  shape,
  hint,
  gives: 'value',
})

export const FUNCTIONS: readonly FilterFunction[] = [
  condition('contains', '(text, part)', 'the text holds the part'),
  condition('startswith', '(text, beginning)', 'the text begins with it'),
  condition('endswith', '(text, end)', 'the text ends with it'),
  condition('matchesPattern', '(text, pattern)', 'the text matches a regular expression'),
  value('length', '(text)', 'how many characters'),
  value('indexof', '(text, part)', 'where the part begins, from 0; -1 if it does not occur'),
  value('substring', '(text, start, length)', 'a part of the text; length is optional'),
  value('tolower', '(text)', 'in lower case'),
  value('toupper', '(text)', 'in upper case'),
  value('trim', '(text)', 'without spaces at the ends'),
  value('concat', '(text, text)', 'both, one after the other'),
  value('year', '(date)', 'the year'),
  value('month', '(date)', 'the month, 1 to 12'),
  value('day', '(date)', 'the day of the month'),
  value('hour', '(time)', 'the hour, 0 to 23'),
  value('minute', '(time)', 'the minute'),
  value('second', '(time)', 'the second'),
  value('fractionalseconds', '(time)', 'the fraction of the second'),
  value('date', '(timestamp)', 'only the date'),
  value('time', '(timestamp)', 'only the time of day'),
  value('now', '()', 'the current time'),
  value('mindatetime', '()', 'the earliest possible time'),
  value('maxdatetime', '()', 'the latest possible time'),
  value('totaloffsetminutes', '(timestamp)', 'its offset from UTC; always 0'),
  value('totalseconds', '(duration)', 'a span of time in seconds'),
  value('round', '(number)', 'to the nearest whole number'),
  value('floor', '(number)', 'down to a whole number'),
  value('ceiling', '(number)', 'up to a whole number'),
  value('case', '(condition: value, true: value)', 'the value of the first condition that is true'),
]

const BY_NAME = new Map(FUNCTIONS.map((known) => [known.name.toLowerCase(), known]))

export function functionNamed(name: string): FilterFunction | undefined {
  return BY_NAME.get(name.toLowerCase())
}
