import { describe, expect, test } from 'vitest'
import { refusal } from '../support/refusal.ts'

/** What users read. Each says where, what was found, and what would be right. */
describe('messages', () => {
  test.each([
    ['', 'At position 1: the filter is empty. Write a condition, as in Price gt 5.'],
    [
      'Name eq',
      "At position 8: the filter ends after 'eq', where a column, a literal, a function or '(' is expected.",
    ],
    [
      'Sold and',
      "At position 9: the filter ends after 'and', where a column, a literal, a function or '(' is expected.",
    ],
    [
      'Sold and )',
      "At position 10: found ')' after 'and', where a column, a literal, a function or '(' is expected.",
    ],
    [
      'Stock gt 5 Sold',
      "At position 12: found 'Sold', where an operator like eq or and, or the end, is expected.",
    ],
    [
      '(Stock gt 5 Sold)',
      "At position 13: found 'Sold', where an operator like eq or and, or ')', is expected.",
    ],
    [
      "Name equal 'x'",
      "At position 6: found 'equal', where an operator like eq or and, or the end, is expected.",
    ],
    [
      "Name neq 'x'",
      "At position 6: found 'neq', where an operator like eq or and, or the end, is expected. Did you mean eq?",
    ],
    [
      'eq 5',
      "At position 4: found '5', where an operator like eq or and, or the end, is expected. 'eq' was read as a " +
        'column, because of where it stands.',
    ],
    [
      "Name like 'a%'",
      "At position 6: 'like' is not an operator here. Write contains(x, 'a'), startswith(x, 'a') or endswith(x, 'a').",
    ],
    ['Name is null', "At position 6: 'is' is not an operator here. Write eq, as in x eq null or x eq true."],
    [
      "Name not in ('a')",
      "At position 6: 'not' is not an operator here. It stands before a whole condition: not (x in (1, 2)), not (x " +
        'eq 1).',
    ],
    [
      "Name contains 'a'",
      "At position 6: found 'contains', where an operator like eq or and, or the end, is expected. contains is a " +
        'function: write contains(Name, …).',
    ],
    [
      'Unit price gt 5',
      'At position 6: found \'price\', where an operator like eq or and, or the end, is expected. A name that holds a blank stands in double quotes: "Unit price".',
    ],
    [
      'Body Mass (g) gt 6000',
      'At position 6: found \'Mass\', where an operator like eq or and, or the end, is expected. A name that holds a blank stands in double quotes: "Body Mass (g)".',
    ],
    [
      'Sold or (Rate of change 2024 gt 5)',
      "At position 15: found 'of', where an operator like eq or and, or ')', is expected. A name that holds a blank stands in double quotes: \"Rate of change 2024\".",
    ],
    [
      "(Sold and Stock of) gt 5 and Name eq 'x'",
      "At position 17: found 'of', where an operator like eq or and, or ')', is expected.",
    ],
    [
      'Unit price in (1, 2)',
      'At position 6: found \'price\', where an operator like eq or and, or the end, is expected. A name that holds a blank stands in double quotes: "Unit price".',
    ],
    [
      'Stock - 5 gt 5',
      "At position 7: found '-', where an operator like eq or and, or the end, is expected. To subtract, write sub. " +
        "A name that holds a '-' stands in double quotes.",
    ],
    [
      'Stock gt 1,000',
      "At position 11: found ',' outside of a function and of a list. A number has no commas; its decimal sign is a " +
        'point.',
    ],
    [
      'Seen gt 2024-01-01 10:00',
      "At position 20: found '10:00', where an operator like eq or and, or the end, is expected. A moment is written " +
        'with a T: 2024-01-01T10:00Z.',
    ],
    [
      'Made eq 01/02/2024',
      "At position 11: '/' leads only from a json column into its values, as in doc/a/b. To divide, write div or " +
        'divby; a date is written as 2024-02-29.',
    ],
    [
      'Stock€ gt 5',
      "At position 6: the character '€' can't stand here. A name that contains it is written in double quotes.",
    ],
    ["Name = 'x'", "At position 6: '=' is not an operator here. Write eq."],
    ['Stock ≥ 5', "At position 7: '≥' is not an operator here. Write ge."],
    ['Stock gt −5', "At position 10: '−' is not an operator here. Write -."],
    [
      'Stock gt 5 order by Name',
      "At position 12: 'order' is not an operator here. Rows are ordered by orderBy.",
    ],
    [
      'max(Stock) gt 5',
      'At position 1: max() is not a function here: it takes many rows. Write it in apply, as in aggregate(x with ' +
        'max as y).',
    ],
    [
      'Made gt 29.02.2024',
      "At position 9: '29.02.2024' is not a date, moment or guid. Write 2024-02-29, 2024-02-29T13:45:00Z or " +
        '01234567-89ab-cdef-0123-456789abcdef.',
    ],
    [
      'WHERE Stock gt 5',
      "At position 1: 'WHERE' is not part of a filter, which is only a condition, as in Price gt 5.",
    ],
    [
      '$filter=Stock gt 5',
      "At position 1: '$filter' is not part of a filter, which is only a condition, as in Price gt 5.",
    ],
    ['Sold && Sold', "At position 6: '&&' is not an operator here. Write and."],
    ['(Stock gt 5', "At position 12: the filter ends, but the '(' at position 1 is not closed."],
    ['Stock gt 5)', "At position 11: found ')' without a '(' before it."],
    [
      "Name eq ('a', 'b')",
      "At position 13: found ',' outside of a function and of a list. A list can stand only after 'in'.",
    ],
    [
      "Name in 'a'",
      "At position 9: found 'a' after 'in', where '(' and a list of literals are expected, as in x in (1, 2) or x in " +
        "('a', 'b').",
    ],
    [
      'Stock in (1 2)',
      "At position 13: found '2' in a list, which holds literals parted by commas, as in x in (1, 2) or x in ('a', " +
        "'b').",
    ],
    [
      "Name in 'a']",
      "At position 9: found 'a' after 'in', where '(' and a list of literals are expected, as in x in (1, 2) or x in " +
        "('a', 'b').",
    ],
    ['Stock gt 5]', "At position 11: found ']' without a '[' before it."],
    [
      'Name in ["a\\q"]',
      String.raw`At position 10: "a\q" is not a JSON string. In brackets, strings are written in "…" as in JSON, or in '…'.`,
    ],
    ["Name in ('a', Note)", "At position 15: a list after 'in' holds literals only, not 'Note'."],
    [
      'Name in ("a", "b")',
      "At position 10: a list after 'in' holds literals only, not \"a\". Double quotes are for names; a text stands in single ones: 'a'.",
    ],
    ["Name eq 'x", "At position 9: this text has no closing '. A ' inside a text is written twice."],
    [
      'Name eq ’x’',
      'At position 9: the quote ’ is not a straight one. Text is written in \'…\', names in "…".',
    ],
    [
      'Name eq `x`',
      'At position 9: the quote ` is not a straight one. Text is written in \'…\', names in "…".',
    ],
    ['Stock eq 5-3', "At position 10: '5-3' is not a literal. Write 5 sub 3."],
    ['Stock eq 5.', "At position 10: '5.' ends in a point. Write 5.0 or 5."],
    ['Stock eq .5', "At position 10: '.5' begins with a point. Write 0.5."],
    ['Stock eq 5.5L', "At position 10: '5.5L' ends in L, which only whole numbers do."],
    ['Opens eq 3:26:05', "At position 10: '3:26:05' is not a time of day. Write 03:26:05."],
    [
      'Made ge 2012-12',
      "At position 9: '2012-12' is not a date: a date has a day. Write 2012-12-01, or use year() and month().",
    ],
    [
      "replace(Name, 'a', 'b') eq 'c'",
      'At position 1: replace() is not a function: OData has none that replaces text.',
    ],
    ['Made eq today()', 'At position 9: today() is not a function. Did you mean date(now())?'],
    [
      'iif(Sold, 1, 2) eq 1',
      'At position 1: iif() is not a function. Did you mean case, as in case(x gt 5: 1, true: 0)?',
    ],
    [
      "coalesce(Name, 'a') eq 'a'",
      'At position 1: coalesce() is not a function. Did you mean case, as in case(x ne null: x, true: 0)?',
    ],
    [
      "Extra/tags/any(t: t eq 'x')",
      'At position 15: any(…) on a path is not supported here: no column holds a collection.',
    ],
    ['cast(Stock)', 'At position 1: cast() takes a value and a type, as in cast(Price, Edm.String).'],
    [
      'cast(Stock, Edm.Stream) eq 5',
      'At position 13: cast() takes one of the types Edm.Boolean, Edm.Byte, Edm.SByte, Edm.Int16, Edm.Int32, ' +
        'Edm.Int64, Edm.Decimal, Edm.Double, Edm.Single, Edm.String, Edm.Date, Edm.TimeOfDay, Edm.DateTimeOffset, ' +
        'Edm.Guid.',
    ],
    ['Name eq Edm.String', "At position 9: 'Edm.String' is a type, which can stand only in cast()."],
    [
      "matchesPattern(Name, 'a', 'x')",
      "At position 27: the flags of matchesPattern() are a literal: 'i' to ignore case, 's' to let a dot match " +
        "line ends, or 'is'.",
    ],
    [
      '2nd eq 5',
      `At position 1: '2nd' is not a number, and a name that begins with a digit is written "2nd".`,
    ],
    ['Made eq 2024-02-30', "At position 9: '2024-02-30' has day 30; that month has the days 01 to 29."],
    [
      'Made eq 2024-2-3',
      "At position 9: '2024-2-3' is not a date, moment or guid. Write 2024-02-29, 2024-02-29T13:45:00Z or " +
        '01234567-89ab-cdef-0123-456789abcdef.',
    ],
    [
      'Seen gt 2024-01-01T10:00:00 02:00',
      "At position 29: found '02:00', where an operator like eq or and, or the end, is expected. If this is an " +
        "offset, its '+' was lost: in a URL it is written %2B.",
    ],
    [
      'Opens eq 10:00:00Z',
      "At position 10: '10:00:00Z' is not a time of day. Write 13:45 or 13:45:00.5, without an offset.",
    ],
    [
      "Made eq constructor'2024-01'",
      "At position 9: constructor'…' is not supported here: no column has an enumeration type. Only duration and binary " +
        'may prefix a text.',
    ],
    ["Made eq datetime'2024-01'", "At position 9: datetime'2024-01' does not hold a timestamp."],
    [
      "Seen add duration'P1Y' gt now()",
      "At position 10: 'P1Y' is not a duration; one is written like duration'P1DT2H30M5.5S', of days, hours, minutes " +
        'and seconds.',
    ],
    [
      "Seen add duration'P106751992D' gt now()",
      "At position 10: 'P106751992D' is longer than a duration can be, 106,751,991 days.",
    ],
    ['in (1, 2)', "At position 1: 'in' stands between two operands, as in x in (1, 2)."],
    ['and (Age gt 1)', "At position 1: 'and' stands between two operands, as in x gt 1 and (…)."],
    ['gt (1)', "At position 1: 'gt' stands between two operands, as in x gt (…)."],
    ["contain(Name, 'a')", 'At position 1: contain() is not a function. Did you mean contains?'],
    ['contains(Name)', 'At position 1: contains(text, part) takes 2 arguments, not 1.'],
    [
      "Name has Sales.Color'Red'",
      "At position 6: 'has' is not an operator here, because no column has an enumeration type.",
    ],
    ['Price div 0 eq 1', "At position 7: 'div' divides by zero."],
    [
      "matchesPattern(Name, '(?=a)')",
      'At position 22: the pattern of matchesPattern() has a lookahead, which is not supported, at its character 1.',
    ],
    [
      'year(2024-01-01T00:00:00+02:00) eq 2023',
      'At position 6: year() looks at a moment in UTC, so its literal must be in UTC, too: write it with Z, not with ' +
        'another offset.',
    ],
    [
      'case(Sold: 1, 2) eq 1',
      "At position 16: case() takes pairs, a condition and a result with ':' between them. The result for all other " +
        "rows is written after 'true:'.",
    ],
  ])('%s', (filter, message) => {
    const error = refusal(filter)
    expect(error.code).toBe('invalid_filter')
    expect(error.message).toBe(message)
  })
})

describe('messages about types', () => {
  test.each([
    [
      'Name',
      'At position 1: a filter is a condition, but Name is string. Compare it with something, as in x eq 5.',
    ],
    ['Name eq 5', "At position 6: 'eq' can't compare Name (string) with 5 (integer). Write it as text: '5'."],
    [
      "Price eq '5'",
      "At position 7: 'eq' can't compare Price (decimal(10,2)) with '5' (string). Write 5 without quotes.",
    ],
    [
      "Made gt 'May'",
      "At position 6: 'gt' can't compare Made (date) with 'May' (string). A date is written without quotes, as " +
        '2024-02-29.',
    ],
    [
      "Stock eq 'x'",
      "At position 7: 'eq' can't compare Stock (integer) with 'x' (string). An integer is written without quotes, as " +
        '5.',
    ],
    ['Sold eq 1', "At position 6: 'eq' can't compare Sold (boolean) with 1 (integer). Write true or false."],
    [
      'Made gt 2024',
      "At position 6: 'gt' can't compare Made (date) with 2024 (integer). A date is written as 2024-02-29.",
    ],
    [
      'Made sub Made gt 5',
      "At position 15: 'gt' can't compare Made sub Made (duration) with 5 (integer). A duration is written like " +
        "duration'P1D'; totalseconds() makes a number of one.",
    ],
    [
      "Name eq 'a' or 'b'",
      "At position 16: 'or' takes conditions, but 'b' is string. Write x eq 1 or x eq 2, or x in (1, 2).",
    ],
    [
      'Raw eq Raw',
      "At position 5: 'eq' can't compare binary values; they can only be compared with null, by eq and ne.",
    ],
    [
      "Raw in (binary'T0RhdGE')",
      "At position 9: a list can't hold binary values; they can only be compared with null, by eq and ne.",
    ],
    ['5 lt Stock lt 10', "At position 12: comparisons don't chain. Write 5 lt Stock and Stock lt 10."],
    [
      'Extra/a eq Extra/b',
      'At position 9: the types of Extra/a and Extra/b are unknown. Give the type of one, as in cast(Extra/a, ' +
        'Edm.String).',
    ],
    [
      'Name/Length eq 5',
      'At position 1: Name is string; only json columns have paths. To divide, write div or divby.',
    ],
    ['cast(Stock, Edm.Boolean)', 'At position 1: cast() makes no Edm.Boolean of Stock (integer).'],
    [
      '(Stock add 1) mul 2 eq Name',
      "At position 21: 'eq' can't compare (Stock add 1) mul 2 (integer) with Name (string).",
    ],
    [
      "not Name eq 'x'",
      "At position 1: 'not' takes a condition, but Name is string. 'not' binds more tightly than eq: write not (Name " +
        'eq …).',
    ],
    ['Sold and Stock', "At position 10: 'and' takes conditions, but Stock is integer."],
    [
      "Name add 'x' eq 'y'",
      "At position 6: 'add' takes two numbers, or a date, moment or duration and a duration, not Name (string) and " +
        "'x' (string). To join texts, write concat(a, b).",
    ],
    [
      'Seen add 5 gt now()',
      "At position 6: 'add' takes two numbers, or a date, moment or duration and a duration, not Seen (timestamptz) " +
        "and 5 (integer). A duration is written like duration'P1D' or duration'PT12H'.",
    ],
    [
      'Stock add 1 in (2)',
      "At position 7: 'add' takes two numbers, or a date, moment or duration and a duration, not Stock (integer) and " +
        "1 in (2) (boolean). 'in' binds more tightly: put the arithmetic in parentheses.",
    ],
    ['-Name eq 5', "At position 1: '-' changes the sign of a number or a duration, not of Name (string)."],
    ['length(Stock) eq 5', 'At position 8: length(text) takes string as text, not Stock (integer).'],
    [
      "hour('10:00') eq 10",
      "At position 6: hour(time) takes timestamp, timestamptz or time as time, not '10:00' (string). Write 10:00 " +
        'without quotes.',
    ],
    [
      'Name in (5)',
      "At position 10: 'in' can't find 5 (integer) equal to Name (string). Write it as text: '5'.",
    ],
    [
      'Name in (Note)',
      "At position 10: 'in' takes a list of literals, but Note is a column. To compare two columns, write eq.",
    ],
    [
      'Seen gt 2024-01-01T10:00',
      'At position 9: 2024-01-01T10:00 has no offset, which only a column of type timestamp may be compared with. ' +
        'Write 2024-01-01T10:00Z, or the offset.',
    ],
    [
      "Seen gt '2024-01-01 10:00'",
      'At position 9: 2024-01-01T10:00 has no offset, which only a column of type timestamp may be compared with. ' +
        'Write 2024-01-01T10:00Z, or the offset.',
    ],
    [
      "case(Sold: 1, true: 'x') eq 1",
      "At position 1: the results of case() must be of one type, or all numbers, but it gives 1 (integer) and 'x' " +
        '(string).',
    ],
    [
      'matchesPattern(Name, Note)',
      "At position 22: matchesPattern() takes its pattern as a literal, as in matchesPattern(Name, '^A').",
    ],
  ])('%s', (filter, message) => {
    const error = refusal(filter)
    expect(error.code).toBe('filter_type_error')
    expect(error.message).toBe(message)
  })
})

test('the option, the position and the problem are given as data, too', () => {
  expect(refusal('Stock eq 5-3').details).toEqual({
    option: '$filter',
    position: 9,
    problem: "'5-3' is not a literal. Write 5 sub 3.",
  })
})
