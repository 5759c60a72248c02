/** Problems with names in a request under `Prefer: handling=strict`: collected, then refused together. */
import { countTypos } from '../../storage/search/text/distance.ts';
import { quoteValue } from '../credentials.ts';
import { buildErrorDetail, type ErrorDetail, HttpError } from '../errors.ts';

/** Maximum number of problems in one response. */
const maxProblems = 100;
/** Problems named in the message, for readers who ignore the details. */
const maxInMessage = 5;
/** Characters of a pointer's token that a message quotes. */
const quotedLength = 100;
/** Known names are listed if none is near and there are at most this many. */
const maxListed = 12;

/** The names on the path to a problem. */
export type Path = readonly (string | number)[];

export interface UnknownName {
  /** The names that would have been known there. */
  readonly known: Iterable<string>;
  /** Names that begin with one of these are known, too. */
  readonly prefixes?: readonly string[];
  /** The unknown name, if it is not the last of the path. */
  readonly name?: string;
}

export class Problems {
  private readonly details: ErrorDetail[] = [];

  /** Whether no more problems are added: the remaining checks can be skipped. */
  get isFull(): boolean {
    return this.details.length >= maxProblems;
  }

  addReadOnly(path: Path): void {
    if (!this.isFull) this.details.push(buildErrorDetail(path, 'readOnly', 'is read-only'));
  }

  /** Adds a query parameter with an empty name. */
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

  /** @throws HttpError 400 if there are problems */
  refuse(): void {
    if (this.details.length === 0) return;
    const named = this.details.slice(0, maxInMessage).map(({ field, message }) => `${field}: ${message}`);
    const rest = this.details.length - named.length;
    const more = rest === 0 ? '' : `; and ${rest} more, see details`;
    throw new HttpError('VALIDATION_FAILED', {
      message: `${named.join('; ')}${more}`,
      details: this.details,
    });
  }
}

/** A hint about the right name: the nearest one, otherwise all known names if they are few. */
function describeKnown(name: string, { known, prefixes = [] }: UnknownName): string {
  const nearest = findNearest(name, known, prefixes);
  if (nearest !== undefined) return `; the nearest known name is ${nearest}`;
  const [prefix] = prefixes;
  // The prefix was probably omitted: a filter by an attribute, under the bare name of the attribute.
  if (prefix !== undefined && /^[a-z][\w.-]{0,99}$/.test(name)) return `; perhaps ${prefix}${name} is meant`;
  const names = [...known, ...prefixes.map(prefix => `${prefix}{name}`)];
  const last = names.at(-1);
  if (last === undefined) return '; there are none';
  if (names.length === 1) return `; the only known name is ${last}`;
  return names.length > maxListed ? '' : `; the known names are ${names.slice(0, -1).join(', ')} and ${last}`;
}

/**
 * The known name with the smallest edit distance (insertions, deletions, substitutions, transpositions), ignoring case;
 * the first of several.
 * @param prefixes names that begin with one of these are known, whatever follows
 * @returns undefined if none is near: more than a third of the longer name would have to change
 */
function findNearest(
  name: string,
  known: Iterable<string>,
  prefixes: readonly string[] = [],
): string | undefined {
  let nearest: { readonly name: string; readonly edits: number } | undefined;
  const compareWith = (given: string, candidate: string, proposal = candidate) => {
    const edits = countEdits(given, candidate);
    if (edits !== undefined && (nearest === undefined || edits < nearest.edits))
      nearest = { name: proposal, edits };
  };
  // Many programs write the values of a list as `id[]=1&id[]=2` or `id[0]=1&id[1]=2`.
  const bare = name.replace(/\[[^[\]]{0,20}\]$/, '');
  for (const candidate of known) {
    compareWith(name, candidate);
    compareWith(bare, candidate);
  }
  for (const prefix of prefixes) {
    const [given = ''] = /^[a-z\d]+[^a-z\d]?/i.exec(name) ?? [];
    const rest = name.slice(given.length);
    compareWith(given, prefix, `${prefix}${/^[\w.-]+$/.test(rest) ? rest : '{name}'}`);
  }
  return nearest?.name;
}

/** The distance of two texts; undefined if it exceeds a third of the longer one. */
function countEdits(given: string, candidate: string): number | undefined {
  const most = Math.floor(Math.max(given.length, candidate.length) / 3);
  // Bounds the work by the length of the known name, regardless of the length of the caller's.
  if (Math.abs(given.length - candidate.length) > most) return undefined;
  const edits = countTypos(given.toLowerCase(), candidate.toLowerCase(), most);
  return edits <= most ? edits : undefined;
}
