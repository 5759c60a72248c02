/** The functions of a source file, of every spelling: declarations, methods, arrows with a block or an expression. */
import type { Token } from './source.ts';

export interface FunctionLines {
  /** The line it begins on, counted from one. */
  readonly line: number;
  /** Its name, or that of what it is assigned to; empty where it has none. */
  readonly name: string;
  /** Its lines without those of the functions inside it, and without those of the calls named in `tables`. */
  readonly own: number;
  /** Its lines with those. */
  readonly whole: number;
}

/** Places in a list of tokens. */
interface Span {
  readonly start: number;
  readonly end: number;
  readonly name: string;
}

/** The tokens that are neither white space nor comments, and for each bracket the other of its pair. */
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

  /** Whether a bracket closes before it opens here: the end of what surrounds this place. */
  closes(at: number): boolean {
    const other = this.#pairs.get(at);
    return this.tokens[at]?.type === 'TemplateMiddle' || (other !== undefined && other < at);
  }
}

const notHeads = new Set(['if', 'for', 'while', 'switch', 'catch', 'with']);
/** After these a brace begins the literal of a type; after anything else in a head, the body. */
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
  // Back over the type of what it returns, which begins with a colon after the parameters.
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

/** What an arrow is assigned to: `name = …` and `name: …`. */
function nameBefore(source: Source, start: number): string {
  let at = start - 1;
  if (source.value(at) === 'async') at -= 1;
  return /^[=:]$/.test(source.value(at)) && source.isName(at - 1) ? source.value(at - 1) : '';
}

/** Functions and methods: a list of parameters, perhaps a type, and a block. */
function blockAt(source: Source, at: number): Span | undefined {
  if (source.value(at) !== '(' || notHeads.has(source.value(at - 1))) return undefined;
  const body = bodyAfter(source, source.other(at) + 1);
  if (body === undefined) return undefined;
  let start = at - 1;
  // Back over type parameters.
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
