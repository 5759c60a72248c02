/** Stretches of a query that may be the code of a variant: its sku, with whatever between its parts, or its GTIN. */
import { numeral } from '../../../storage/search/text/joined.ts';
import { countCodeWords } from '../../../storage/search/text/words.ts';
import { isGtin, toComparableGtin } from '../../products/members/gtin.ts';
import { generatePieces, parsePieces } from './pieces.ts';

/** Shorter ones are words and numbers before they are codes: `X10` by itself is one, and none where a query has more. */
const shortestCode = 4;
const shortestWhole = 2;
const longestCode = 100;
/** Pieces of a query that are looked at, and of one stretch that is not the whole query. */
const mostPieces = 20;
const longestRun = 6;
/** Of how many parts without a digit a code has to be: of two are `t-shirt` and `blu-ray`. */
const fewestParts = { alone: 2, besideOthers: 3 } as const;

/** A stretch. */
export interface Run {
  /** As codes are compared. */
  readonly word: string;
  /** The same as a GTIN, where it is one. */
  readonly gtin: string | undefined;
  /** Which words of the query it is, among the distinct ones. */
  readonly places: readonly number[];
  readonly isWhole: boolean;
  /** Whether it may go on: it ends with the query, and is long enough to say of what it is the beginning. */
  readonly isLast: boolean;
}

/** A piece of the query with the stretch between blanks that it is in. */
interface Written {
  readonly word: string;
  readonly token: number;
  readonly place: number;
}

/** Those that have a digit, or are written as a code is. None for most queries without digits. */
export function findRuns(query: string): Run[] {
  const tokens = query.trim().split(/\s+/);
  const parts = tokens.length === 1 ? fewestParts.alone : fewestParts.besideOthers;
  const isCode = tokens.map(token => countCodeWords(token) >= parts);
  if (!numeral.test(query) && !isCode.includes(true)) return [];
  const written = parseWritten(query, tokens);
  const isOneToken = (first: number, last: number): boolean => {
    const token = written[first]?.token;
    return (
      written[last]?.token === token &&
      written[first - 1]?.token !== token &&
      written[last + 1]?.token !== token
    );
  };
  const runs: Run[] = [];
  for (let first = 0; first < written.length; first++) {
    let word = '';
    const places = new Set<number>();
    for (const [offset, piece] of written.slice(first).entries()) {
      const last = first + offset;
      word += piece.word;
      places.add(piece.place);
      if (word.length > longestCode) break;
      const endsQuery = last === written.length - 1;
      const isWhole = first === 0 && endsQuery;
      const isLast = endsQuery && word.length >= shortestCode;
      if (!isLongEnough(word, isWhole) || (offset >= longestRun && !isWhole)) continue;
      if (!numeral.test(word) && !(isCode[piece.token] === true && isOneToken(first, last))) continue;
      const gtin = isGtin(word) ? toComparableGtin(word) : undefined;
      runs.push({ word, gtin, places: [...places], isWhole, isLast });
    }
  }
  return runs;
}

const isLongEnough = (word: string, isWhole: boolean): boolean =>
  word.length >= shortestCode ||
  (isWhole && word.length >= shortestWhole && numeral.test(word) && /\p{L}/u.test(word));

function parseWritten(query: string, tokens: readonly string[]): Written[] {
  const placeOf = new Map(parsePieces(query).map(({ word }, place) => [word, place]));
  const written: Written[] = [];
  for (const [token, text] of tokens.entries()) {
    for (const { word, isMark } of generatePieces(text)) {
      if (written.length === mostPieces) return written;
      const place = placeOf.get(word);
      // No mark is part of a code.
      if (place !== undefined) written.push({ word: isMark === true ? '' : word, token, place });
    }
  }
  return written;
}
