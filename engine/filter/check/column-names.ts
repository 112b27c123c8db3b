import type { Syntax } from '../syntax/tree.ts'

/** The names of the columns in a tree, in the order of the text, each with its first position. */
export function columnsOf(tree: Syntax, names = new Map<string, number>()): ReadonlyMap<string, number> {
  if (tree.kind === 'column' && !names.has(tree.name)) names.set(tree.name, tree.at)
  for (const part of partsOf(tree)) columnsOf(part, names)
  return names
}

/** The direct parts of an expression, from left to right. */
function partsOf(node: Syntax): readonly Syntax[] {
  switch (node.kind) {
    case 'literal':
    case 'type':
    case 'column':
      return []
    case 'unary':
      return [node.operand]
    case 'binary':
      return [node.left, node.right]
    case 'logical':
      return node.operands
    case 'in':
      return [node.operand, ...node.items]
    case 'call':
      return node.args
    case 'case':
      return node.branches.flatMap(({ when, result }) => [when, result])
    default:
      return node satisfies never
  }
}
