import {
  defaultParserErrorProvider,
  EmbeddedActionsParser,
  type IRecognitionException,
  type ParserMethod,
} from 'chevrotain'
import type { Builder } from './build.ts'
import { Comma, type Token, VOCABULARY } from './tokens.ts'

export type Rule<T> = ParserMethod<[], T>

/** Stands for the builder while chevrotain runs each rule once without tokens, to see what it consists of. */
const NO_NODES = new Proxy({} as Builder, { get: () => () => undefined })

/** What the rules of the grammar share. */
export abstract class Rules extends EmbeddedActionsParser {
  /** Makes the nodes of the text that is being read. */
  protected build: Builder = NO_NODES

  /** @param skipValidations whether chevrotain skips checks of the grammar itself, which only tests need */
  constructor(skipValidations: boolean) {
    super(VOCABULARY, {
      maxLookahead: 2,
      skipValidations,
      // The names of tokens are enough: `complaints.ts` makes sentences of them.
      errorMessageProvider: {
        ...defaultParserErrorProvider,
        buildMismatchTokenMessage: ({ expected }) => expected.name,
      },
    })
  }

  /** Reads tokens by a rule. The error is set if they don't follow it. */
  read<T>(
    rule: Rule<T>,
    tokens: readonly Token[],
    build: Builder,
  ): { readonly tree: T; readonly error: IRecognitionException | undefined } {
    this.build = build
    this.input = [...tokens]
    const tree = rule.call(this)
    return { tree, error: this.errors[0] }
  }

  /** Items with commas between them, at least one. */
  protected separated<T>(item: () => T): readonly T[] {
    const items: T[] = []
    this.AT_LEAST_ONE_SEP({ SEP: Comma, DEF: () => items.push(item()) })
    return items
  }
}
