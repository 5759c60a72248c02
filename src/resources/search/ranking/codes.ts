/**
 * Queries that are, as a whole, the code of a variant: its sku, with whatever between its parts, or its GTIN. Products are
 * indexed without the codes of their variants: with ten thousand, each change of one would write the codes of all.
 */
import { sql } from 'kysely';
import type { Database } from '../../../storage/database.ts';
import { prepareQuery } from '../../../storage/prepared.ts';
import { type DocumentType, getDocumentType, toPosition } from '../../../storage/search/index.ts';
import type { SearchSession } from '../../../storage/search/reading/frequency.ts';
import { countCodeWords, toComparedCode } from '../../../storage/search/text/words.ts';
import { isGtin, toComparableGtin } from '../../products/members/gtin.ts';
import type { Ranking } from './ranked.ts';

/** Shorter ones are words and numbers before they are codes. */
const shortestCode = 4;
const longestCode = 100;
/** Products that are found by one GTIN. */
const mostProducts = 20;

interface Coded {
  readonly id: number;
  readonly status: string;
}

/** What is searched for as one piece, with a digit in it or of several parts. */
function findCode(query: string): string | undefined {
  const text = query.trim();
  if (text.length < shortestCode || text.length > longestCode || /\s/.test(text)) return undefined;
  return /\d/.test(text) || countCodeWords(text) > 1 ? text : undefined;
}

/** @returns what gives the places in the index of products of which a variant has the code that a query is */
export function createCodeLookup({ build }: Pick<Database, 'build'>) {
  const bySku = prepareQuery<{ code: string }, Coded>(
    build,
    ({ code }) => sql`select id, status from products
        where id in (select product_id from product_variants where code = ${code})
        order by id limit ${sql.lit(mostProducts)}`,
  );
  const byGtin = prepareQuery<{ variant: string; product: string }, Coded>(
    build,
    ({ variant, product }) => sql`select id, status from products
        where id in (select product_id from product_variants where gtin = ${variant}
          union select id from products where gtin = ${product})
        order by id limit ${sql.lit(mostProducts)}`,
  );
  const any = sql<{ found: number }>`select 1 as found from product_variants where code is not null limit 1`;
  const anyQuery = any.compile(build);
  let known: { readonly seen: number | undefined; readonly isAny: boolean } | undefined;
  /** Most catalogs have no variants with codes of their own. */
  async function isAnyCode(session: SearchSession): Promise<boolean> {
    const { seen } = session;
    if (known === undefined || known.seen === undefined || known.seen !== seen)
      known = { seen, isAny: (await session.first(anyQuery)) !== undefined };
    return known.isAny;
  }
  return async (session: SearchSession, query: string, types: readonly DocumentType[]): Promise<number[]> => {
    const text = findCode(query);
    if (text === undefined) return [];
    const found = (await isAnyCode(session)) ? await session.all(bySku({ code: toComparedCode(text) })) : [];
    if (found.length === 0 && isGtin(text)) {
      const gtin = toComparableGtin(text);
      found.push(...(await session.all(byGtin({ variant: gtin, product: gtin }))));
    }
    const places = found.map(({ id, status }) => ({
      type: status === 'archived' ? ('archived' as const) : ('product' as const),
      id,
    }));
    return places.filter(({ type }) => types.includes(type)).map(({ type, id }) => toPosition(type, id));
  };
}

/** What is searched for by its code: nothing is better or worse, and nothing is missing. */
export function rankAlike(
  positions: readonly number[],
  visible: readonly DocumentType[],
  types: readonly DocumentType[],
): { readonly ranking: Ranking; readonly counts: ReadonlyMap<DocumentType, number> } {
  const counts = new Map(visible.map(type => [type, 0]));
  for (const position of positions)
    counts.set(getDocumentType(position), (counts.get(getDocumentType(position)) ?? 0) + 1);
  const head = positions.map(position => ({ position, score: 1, missing: [] }));
  return { ranking: { head, all: undefined, types, total: head.length }, counts };
}
