/**
 * Reads the search index: common words of products from memory (words.ts), words of few products from the index.
 * Documents of other types are found only by the index.
 */
import type { Choice } from '../expression.ts';
import { countByType, type DocumentType, getDocumentType, searchTypes } from '../index.ts';
import { estimate, reachLimit, type SearchSession, toSpan } from '../reading/frequency.ts';
import { maxDocuments, type SearchReader } from '../reading/index.ts';
import { createFinder } from './finder.ts';
import { createGroupTest } from './matching.ts';
import { countDocuments, getSomeIds } from './set.ts';
import type { WordSets } from './words.ts';

/** Words of more products are kept in memory. */
const fewDocuments = 200;

/** @param few words of more products are kept in memory */
export function createMemoryReader(reader: SearchReader, words: WordSets, few = fewDocuments): SearchReader {
  const { fetch: fetchChoices, read, hold, group: groupOf, match } = createFinder(reader, words, few);

  /** Whether no word begins with the first letters and digit of a code, so that none begins with the code. */
  async function isNoCode(session: SearchSession, word: string): Promise<boolean> {
    const start = /^\D+\d/.exec(word)?.[0];
    return start !== undefined && (await reader.beginning(session, start, 1)) === 0;
  }

  /** @param choices those of several terms are read only where a server intersects them */
  async function fetch(session: SearchSession, choices: readonly Choice[]): Promise<void> {
    const wanted: Choice[] = [];
    for (const choice of choices) {
      const [term, another] = choice;
      if (term === undefined || (another !== undefined && reader.blocksEventLoop)) continue;
      const isAbsent = reader.blocksEventLoop && term.prefix === true && (await isNoCode(session, term.word));
      if (!isAbsent) wanted.push(choice);
      else for (const one of [term, { word: term.word }]) await hold(session, one, []);
    }
    return fetchChoices(session, wanted);
  }

  const omitProducts = (types: readonly DocumentType[]): readonly DocumentType[] =>
    types.filter(type => type !== 'product');

  return {
    ...reader,
    seen: words.seen,
    fetch,

    async beginning(session, word) {
      const term = { word, prefix: true };
      await fetch(session, [[term]]);
      const known = await read(session, term);
      if (known !== undefined) return countDocuments(known.set) + known.others.length;
      const total = await reader.beginning(session, word);
      if (total === undefined) return undefined;
      const page = { limit: maxDocuments, smallest: total };
      const found = total === 0 ? [] : await reader.page(session, [[[term]]], searchTypes, page);
      await hold(session, term, found);
      return found.length;
    },

    async page(session, expression, types, page) {
      const { limit, offset = 0, descending = false } = page;
      const found = descending || !types.includes('product') ? undefined : await match(session, expression);
      if (found === undefined) return reader.page(session, expression, types, page);
      const span = toSpan(['product']);
      const { ids, left: skipped } = getSomeIds(found.products, {
        low: Math.max(0, (page.low ?? 0) - span.low),
        high: Math.min(span.high, page.high ?? span.high) - span.low,
        skip: offset,
        limit,
      });
      const positions = ids.map(id => span.low + id);
      const left = limit - ids.length;
      const others = omitProducts(types);
      if (left <= 0 || others.length === 0) return positions;
      const known = await found.others();
      if (known !== undefined) {
        const { low = 0, high = Number.POSITIVE_INFINITY } = page;
        const those = known.filter(at => at >= low && at < high && others.includes(getDocumentType(at)));
        return [...positions, ...those.slice(skipped, skipped + left)];
      }
      const rest = { ...page, limit: left, offset: skipped };
      return [...positions, ...(await reader.page(session, expression, others, rest))];
    },

    async frequency(session, expression, types, smallest) {
      const isOne = expression.length === 1 && types.includes('product');
      const found = isOne ? await match(session, expression) : undefined;
      if (found === undefined) return reader.frequency(session, expression, types, smallest);
      const total = countDocuments(found.products);
      if (total >= reachLimit) {
        // Estimated as from the index, so that the result is the same whether or not the word is in memory.
        const { ids } = getSomeIds(found.products, {
          low: 0,
          high: Infinity,
          skip: reachLimit - 1,
          limit: 1,
        });
        return estimate(reachLimit, ids[0] ?? 0, await reader.documents(session));
      }
      const others = await found.others();
      const all = total + (others?.filter(at => types.includes(getDocumentType(at))).length ?? reachLimit);
      return all < reachLimit ? all : reader.frequency(session, expression, types, smallest);
    },

    async among(session, group, positions, types, within) {
      const found = types.includes('product') ? await groupOf(session, group) : undefined;
      if (found === undefined) return reader.among(session, group, positions, types, within);
      const { low, high } = toSpan(['product']);
      const matchesGroup = createGroupTest(found.choices);
      const those: number[] = [];
      let at = 0;
      for (; at < positions.length; at++) {
        const position = positions[at] ?? 0;
        if (position >= high) break;
        if (matchesGroup(position - low)) those.push(position);
      }
      if (at === positions.length) return those;
      const beyond = positions.slice(at);
      return [...those, ...(await reader.among(session, group, beyond, omitProducts(types), within))];
    },

    async counts(session, expression, types, smallest) {
      const found = types.includes('product') ? await match(session, expression) : undefined;
      if (found === undefined) return reader.counts(session, expression, types, smallest);
      const others = omitProducts(types);
      const known = others.length === 0 ? [] : await found.others();
      const counts =
        known === undefined
          ? await reader.counts(session, expression, others, smallest)
          : countByType(known, others);
      return new Map(
        types.map(type => [
          type,
          type === 'product' ? countDocuments(found.products) : (counts.get(type) ?? 0),
        ]),
      );
    },
  };
}
