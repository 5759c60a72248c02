/** What is wrong with the names in a request under `Prefer: handling=strict`: gathered, then refused together. */
import { quoteValue } from '../credentials.ts';
import { buildErrorDetail, type ErrorDetail, HttpError } from '../errors.ts';
import { findNearest } from './nearest.ts';

/** Problems named in one response at most. */
const mostProblems = 100;
/** Problems named in its message, for those who read no details. */
const mostInMessage = 5;
/** Characters of a token of a pointer that a message quotes. */
const quotedLength = 100;
/** Known names are listed where none is near and there are no more than this. */
const mostListed = 12;

/** The names on the way to what is wrong. */
export type Path = readonly (string | number)[];

export interface UnknownName {
  /** What would have been known in its place. */
  readonly known: Iterable<string>;
  /** Names that begin so are known too. */
  readonly prefixes?: readonly string[];
  /** Its name, where that is not the last of its path. */
  readonly name?: string;
}

export class Problems {
  private readonly details: ErrorDetail[] = [];

  /** Whether no more are named: what is still to be checked can be left. */
  get isFull(): boolean {
    return this.details.length >= mostProblems;
  }

  addReadOnly(path: Path): void {
    if (!this.isFull) this.details.push(buildErrorDetail(path, 'readOnly', 'is read-only'));
  }

  /** A parameter of the query whose name is empty. */
  addUnnamed(): void {
    if (!this.isFull)
      this.details.push(buildErrorDetail(['query'], 'unknown', 'has a parameter without a name'));
  }

  addUnknown(path: Path, unknown: UnknownName): void {
    if (this.isFull) return;
    const { name } = unknown;
    const which = name === undefined ? '' : `names ${quoteValue(name, quotedLength)}, which `;
    const hint = describeKnown(name ?? String(path.at(-1)), unknown);
    this.details.push(buildErrorDetail(path, 'unknown', `${which}is not known${hint}`));
  }

  /** @throws HttpError 400 when there are any */
  refuse(): void {
    if (this.details.length === 0) return;
    const named = this.details.slice(0, mostInMessage).map(({ field, message }) => `${field}: ${message}`);
    const rest = this.details.length - named.length;
    const more = rest === 0 ? '' : `; and ${rest} more, see details`;
    throw new HttpError('VALIDATION_FAILED', {
      message: `${named.join('; ')}${more}`,
      details: this.details,
    });
  }
}

/** What helps to find the right name: the nearest, else all where they are few. */
function describeKnown(name: string, { known, prefixes = [] }: UnknownName): string {
  const nearest = findNearest(name, known, prefixes);
  if (nearest !== undefined) return `; the nearest known name is ${nearest}`;
  const [prefix] = prefixes;
  // Left out most likely: a filter by an attribute, with the attribute's own name.
  if (prefix !== undefined && /^[a-z][\w.-]{0,99}$/.test(name)) return `; ${prefix}${name} would be`;
  const names = [...known, ...prefixes.map(prefix => `${prefix}{name}`)];
  const last = names.at(-1);
  if (last === undefined) return '; there are none';
  if (names.length === 1) return `; the only known name is ${last}`;
  return names.length > mostListed
    ? ''
    : `; the known names are ${names.slice(0, -1).join(', ')} and ${last}`;
}
