/**
 * Whether few documents match an expression, which decides how PostgreSQL should search for it: by the server's own
 * statistics or, if these do not show it, by a sample of the documents.
 */
import { LRUCache } from 'lru-cache';
import type { Builder, Session } from '../../database.ts';
import type { DialectWords } from '../dialect.ts';
import type { Expression, Term } from '../expression.ts';
import { toSpan } from './frequency.ts';
import type { createReadStatements } from './statements.ts';

/** The most recently requested expressions whose result is cached. */
const cachedRare = 5000;
/** An expression is rare if fewer than one in this many documents match. */
const rareShare = 100;
/** Milliseconds after which the server's statistics are read again. */
const countedMs = 300_000;

type Shares = ReadonlyMap<string, number>;

const isCommon = (shares: Shares, { word, mark = '', prefix }: Term): boolean =>
  prefix === true
    ? [...shares].some(([other, share]) => share * rareShare >= 1 && other.startsWith(mark + word))
    : (shares.get(mark + word) ?? 0) * rareShare >= 1;

/** Undefined if statistics do not show it: common words may be rare together. */
function isRareBy(shares: Shares, expression: Expression): boolean | undefined {
  const isAnyRare = expression.some(group =>
    group.every(choice => choice.some(term => !isCommon(shares, term))),
  );
  if (isAnyRare) return true;
  const [group, another] = expression;
  const isPlain =
    another === undefined &&
    group?.some(choice => choice.length === 1 && choice.some(term => isCommon(shares, term)));
  return isPlain === true ? false : undefined;
}

export function createRarityTest(
  words: DialectWords,
  build: Builder,
  { sampleQuery }: Pick<ReturnType<typeof createReadStatements>, 'sampleQuery'>,
): (session: Session, expression: Expression) => Promise<boolean> {
  const sampled = new LRUCache<string, boolean>({ max: cachedRare });
  const commonQuery = words.commonWords?.().compile(build);
  let counted: { readonly shares: Shares; readonly until: number } | undefined;

  async function readShares(session: Session): Promise<Shares> {
    if (counted !== undefined && performance.now() < counted.until) return counted.shares;
    const rows = commonQuery === undefined ? [] : await session.all(commonQuery);
    const shares = new Map(rows.map(({ word, share }) => [word, share]));
    counted = { shares, until: performance.now() + countedMs };
    return shares;
  }

  return async (session, expression) => {
    if (words.sample === undefined) return false;
    const shares = await readShares(session);
    const said = shares.size === 0 ? undefined : isRareBy(shares, expression);
    if (said !== undefined) return said;
    const query = words.text(expression);
    const known = sampled.get(query);
    if (known !== undefined) return known;
    // Most documents are products.
    const sample = await session.first(sampleQuery({ query, ...toSpan(['product']) }));
    const found = sample !== undefined && sample.hits * rareShare < sample.documents;
    sampled.set(query, found);
    return found;
  };
}
