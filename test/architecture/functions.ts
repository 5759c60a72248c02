/** Finds the functions of a source file: declarations, methods, and arrows with a block or an expression. */
import type { Token } from './source.ts';

export interface FunctionLines {
  /** The function's first line, counted from one. */
  readonly line: number;
  /** The name of the function or of what it is assigned to; otherwise empty. */
  readonly name: string;
  /** The number of lines, without nested functions and without the calls named in `tables`. */
  readonly own: number;
  /** The number of all lines. */
  readonly whole: number;
}

/** A range in a list of tokens. */
interface Span {
  readonly start: number;
  readonly end: number;
  readonly name: string;
}

/** The tokens except white space and comments, and the counterpart of each bracket. */
class Source {
  readonly tokens: readonly Token[];
  readonly #pairs = new Map<number, number>();

  constructor(tokens: readonly Token[]) {
    this.tokens = tokens.filter(({ type }) => !/^(WhiteSpace|LineTerm|.*Comment)/.test(type));
    const open: number[] = [];
    for (const [at, { value, type }] of this.tokens.entries()) {
      const isSign = type === 'Punctuator';
      if (type === 'TemplateHead' || (isSign && '([{'.includes(value))) open.push(at);
      if (type !== 'TemplateTail' && !(isSign && ')]}'.includes(value))) continue;
      const start = open.pop() ?? 0;
      this.#pairs.set(start, at).set(at, start);
    }
  }

  value(at: number): string {
    return this.tokens[at]?.value ?? '';
  }

  line(at: number): number {
    return this.tokens[at]?.line ?? 0;
  }

  isName(at: number): boolean {
    return ['IdentifierName', 'PrivateIdentifier'].includes(this.tokens[at]?.type ?? '');
  }

  other(at: number): number {
    return this.#pairs.get(at) ?? at;
  }

  /** Whether the token closes a bracket, and so ends a surrounding construct. */
  closes(at: number): boolean {
    const other = this.#pairs.get(at);
    return this.tokens[at]?.type === 'TemplateMiddle' || (other !== undefined && other < at);
  }
}

const notHeads = new Set(['if', 'for', 'while', 'switch', 'catch', 'with']);
/** After these tokens a brace begins a type literal; after any other in a function's head, it begins the body. */
const beforeTypeLiteral = new Set([':', '|', '&', '<', ',', 'is']);

/** @param tables names of functions whose calls are declarations: their lines count for no function */
export function functionsOf(tokens: readonly Token[], tables: readonly string[] = []): FunctionLines[] {
  const source = new Source(tokens);
  const places = [...source.tokens.keys()];
  const spans = places.flatMap(at => arrowAt(source, at) ?? blockAt(source, at) ?? []);
  const declared = places.flatMap(at =>
    source.value(at) === '(' && tables.includes(source.value(at - 1))
      ? { start: at, end: source.other(at) }
      : [],
  );
  return spans.map(({ start, end, name }) => {
    const inside = [...spans, ...declared].filter(other => other.start > start && other.end <= end);
    const linesOf = (span: Pick<Span, 'start' | 'end'>) =>
      linesBetween(source.line(span.start), source.line(span.end));
    const nested = new Set(inside.flatMap(linesOf));
    const lines = linesOf({ start, end });
    return {
      line: lines[0] ?? 0,
      name,
      own: lines.filter(line => !nested.has(line)).length,
      whole: lines.length,
    };
  });
}

const linesBetween = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

/** `a => …`, `(a: A) => …`, `(a: A): B => …`, with a block or an expression. */
function arrowAt(source: Source, at: number): Span | undefined {
  if (source.value(at) !== '=>') return undefined;
  let start = at - 1;
  // Go back over the return type, which begins with a colon after the parameters.
  for (let back = at - 1; back > at - 30 && back > 0 && !/^[=({;]$/.test(source.value(back)); back -= 1) {
    if (source.closes(back)) {
      if (source.value(back) === ')' && (back === at - 1 || source.value(back + 1) === ':')) {
        start = source.other(back);
        break;
      }
      back = source.other(back);
    }
  }
  const isBlock = source.value(at + 1) === '{';
  const end = isBlock ? source.other(at + 1) : expressionEnd(source, at + 1);
  return { start, end, name: nameBefore(source, start) };
}

function expressionEnd(source: Source, from: number): number {
  let at = from;
  while (at < source.tokens.length && !/^[,;]$/.test(source.value(at)) && !source.closes(at)) {
    at = Math.max(at, source.other(at)) + 1;
  }
  return at - 1;
}

/** The name that an arrow is assigned to: `name = …` or `name: …`. */
function nameBefore(source: Source, start: number): string {
  let at = start - 1;
  if (source.value(at) === 'async') at -= 1;
  return /^[=:]$/.test(source.value(at)) && source.isName(at - 1) ? source.value(at - 1) : '';
}

/** The function or method at a parameter list: the list, an optional type, and a block. */
function blockAt(source: Source, at: number): Span | undefined {
  if (source.value(at) !== '(' || notHeads.has(source.value(at - 1))) return undefined;
  const body = bodyAfter(source, source.other(at) + 1);
  if (body === undefined) return undefined;
  let start = at - 1;
  // Go back over type parameters.
  if (source.value(start) === '>') while (start > 0 && source.value(start) !== '<') start -= 1;
  while (start > 0 && source.value(start) === '<') start -= 1;
  return { start, end: source.other(body), name: source.isName(start) ? source.value(start) : '' };
}

function bodyAfter(source: Source, from: number): number | undefined {
  if (source.value(from) === '{') return from;
  if (source.value(from) !== ':') return undefined;
  for (let at = from + 1; at < source.tokens.length; at += 1) {
    const value = source.value(at);
    if (/^(;|=|=>|\?)$/.test(value) || source.closes(at)) return undefined;
    if (value === '{' && !beforeTypeLiteral.has(source.value(at - 1))) return at;
    at = Math.max(at, source.other(at));
  }
  return undefined;
}
