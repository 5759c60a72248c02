/**
 * Finds the codes of variants in a query: as a whole or among other words, in one piece or in several. Products are
 * indexed without the codes of their variants: with ten thousand variants, each change of one would write the codes of
 * all. The codes are therefore looked up here, whole or as far as they have been typed, in an index of their own.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../../storage/database.ts';
import { createCachedWords } from '../../../storage/search/cached.ts';
import { type DocumentType, toPosition } from '../../../storage/search/index.ts';
import type { SearchSession } from '../../../storage/search/reading/frequency.ts';
import { collectCode } from '../../../storage/search/text/words.ts';
import { findRuns, type Run } from '../query/runs.ts';
import { type Coded, factors, toChoice } from '../query/word.ts';

/** The most variants that are found by whole codes, by GTINs, and by the beginning of a code. */
const maxVariants = 20;
/** No character sorts after it. */
const lastCharacter = '\u{10ffff}';

export interface Codes {
  readonly coded: readonly Coded[];
  /** By the positions of products in the index: the words that they gain by these codes. */
  readonly words: ReadonlyMap<number, ReadonlySet<string>>;
  /** Whether the query as a whole is a code. */
  readonly isWhole: boolean;
}

interface Found {
  /** The code or GTIN in the form in which it is compared. */
  readonly found: string;
  /** The SKU as it was written. */
  readonly sku: string | null;
  readonly id: number;
  readonly status: string;
}

/** @returns a lookup of the codes in a query, for products of some types */
export function createCodeLookup({ build }: Pick<Database, 'build'>) {
  const any = sql<{ found: number }>`select 1 as found from product_variants where code is not null limit 1`;
  const anyQuery = any.compile(build);
  const keepAny = createCachedWords<boolean>(1);
  /** Most catalogs have no variants with codes of their own. */
  const isAnyCode = (session: SearchSession): Promise<boolean> =>
    keepAny(session.seen, '', async () => (await session.first(anyQuery)) !== undefined);

  async function readFound(session: SearchSession, runs: readonly Run[]): Promise<readonly Found[]> {
    if (runs.length === 0) return [];
    const isAny = await isAnyCode(session);
    const codes = isAny ? padList(runs.map(({ word }) => word)) : [];
    const gtins = padList(runs.flatMap(({ gtin }) => gtin ?? []));
    const beginnings = isAny ? runs.filter(({ isLast }) => isLast).map(({ word }) => word) : [];
    if (codes.length === 0 && gtins.length === 0) return [];
    return session.all(buildLookup({ codes, gtins, beginnings }).compile(build));
  }

  return async (session: SearchSession, query: string, types: readonly DocumentType[]): Promise<Codes> => {
    const runs = findRuns(query);
    const words = new Map<number, Set<string>>();
    const exact = new Set<Run>();
    const begun = new Map<Run, Set<string>>();
    let isWhole = false;
    for (const one of await readFound(session, runs)) {
      const type = one.status === 'archived' ? 'archived' : 'product';
      if (!types.includes(type)) continue;
      const position = toPosition(type, one.id);
      for (const run of runs) {
        const match = compareCode(run, one);
        if (match === undefined) continue;
        words.getOrInsertComputed(position, createSet).add(match === 'beginning' ? one.found : run.word);
        if (match === 'beginning') begun.getOrInsertComputed(run, createSet).add(one.found);
        else exact.add(run);
        isWhole ||= match === 'whole' && run.isWhole;
      }
    }
    return { coded: [...[...exact].map(toCoded), ...[...begun].map(toBegun)], words, isWhole };
  };
}

/** How a run matches a code. `word`: it is a word that the code would be indexed by, as `LM 7805` of `LM 7805 CT`. */
function compareCode(
  { word, gtin, isLast }: Run,
  { found, sku }: Found,
): 'whole' | 'word' | 'beginning' | undefined {
  if (found === word || found === gtin) return 'whole';
  if (!isLast || !found.startsWith(word)) return undefined;
  const words: string[] = [];
  if (sku !== null) collectCode(sku, words);
  return words.includes(word) ? 'word' : 'beginning';
}

const toCoded = ({ word, places }: Run): Coded => ({
  places,
  alternative: { choice: toChoice(word), factor: factors.together },
});

function toBegun([{ word, places }, codes]: readonly [Run, ReadonlySet<string>]): Coded {
  const choice = [{ word, prefix: true, longer: [...codes].sort() }];
  return { places, alternative: { choice, factor: factors.beginning } };
}

const createSet = () => new Set<string>();

/** Repeats the last element until the length is a power of two, so that there are few statements to prepare. */
function padList(list: readonly string[]): string[] {
  const filled = [...list];
  while ((filled.length & (filled.length - 1)) !== 0) filled.push(filled.at(-1) ?? '');
  return filled;
}

interface Wanted {
  readonly codes: readonly string[];
  readonly gtins: readonly string[];
  readonly beginnings: readonly string[];
}

/** One statement for all lists: each list takes a few seeks in an index. */
function buildLookup({ codes, gtins, beginnings }: Wanted): RawBuilder<Found> {
  const limit = sql.lit(maxVariants);
  const parts: RawBuilder<unknown>[] = [];
  if (codes.length > 0)
    parts.push(sql`select product_id, code as found, sku from product_variants
      where code in (${sql.join(codes)}) order by product_id limit ${limit}`);
  if (gtins.length > 0)
    parts.push(
      sql`select product_id, gtin as found, sku from product_variants
        where gtin in (${sql.join(gtins)}) order by product_id limit ${limit}`,
      sql`select id as product_id, gtin as found, sku from products
        where gtin in (${sql.join(gtins)}) order by id limit ${limit}`,
    );
  for (const beginning of beginnings)
    parts.push(sql`select product_id, code as found, sku from product_variants
      where code > ${beginning} and code < ${beginning + lastCharacter} order by code limit ${limit}`);
  const all = parts.map((part, at) => sql`select * from (${part}) as ${sql.raw(`part${at}`)}`);
  // SQLite keeps the order of a cross join; of another join, it might read all products first.
  return sql<Found>`select wanted.found, wanted.sku, products.id, products.status
    from (${sql.join(all, sql` union all `)}) as wanted cross join products
    where products.id = wanted.product_id`;
}
