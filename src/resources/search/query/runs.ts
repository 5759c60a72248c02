/** Runs of a query that may be the code of a variant: its SKU, with any characters between its parts, or its GTIN. */
import { numeral } from '../../../storage/search/text/joined.ts';
import { countCodeWords } from '../../../storage/search/text/words.ts';
import { isGtin, toComparableGtin } from '../../products/members/gtin.ts';
import { generatePieces, parsePieces } from './pieces.ts';

/** Shorter runs are taken as words or numbers: `X10` is a code only if it is the whole query. */
const minCodeLength = 4;
const minWholeLength = 2;
const maxCodeLength = 100;
/** The most pieces of a query that are examined, and that a run has unless it is the whole query. */
const maxPieces = 20;
const maxRunLength = 6;
/** The fewest parts of a code without a digit, alone or among other words: `t-shirt` and `blu-ray` have two. */
const minParts = { alone: 2, besideOthers: 3 } as const;

export interface Run {
  /** In the form in which codes are compared. */
  readonly word: string;
  /** The same as a GTIN, if it is one. */
  readonly gtin: string | undefined;
  /** The indexes of its words among the distinct words of the query. */
  readonly places: readonly number[];
  readonly isWhole: boolean;
  /** Whether it may be a prefix: it ends the query and is long enough. */
  readonly isLast: boolean;
}

/** A piece of the query, with the index of the token between blanks that it is in. */
interface Written {
  readonly word: string;
  readonly token: number;
  readonly place: number;
}

/** Runs that have a digit or are written like a code. Most queries without digits have none. */
export function findRuns(query: string): Run[] {
  const tokens = query.trim().split(/\s+/);
  const parts = tokens.length === 1 ? minParts.alone : minParts.besideOthers;
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
      if (word.length > maxCodeLength) break;
      const endsQuery = last === written.length - 1;
      const isWhole = first === 0 && endsQuery;
      const isLast = endsQuery && word.length >= minCodeLength;
      if (!isLongEnough(word, isWhole) || (offset >= maxRunLength && !isWhole)) continue;
      if (!numeral.test(word) && !(isCode[piece.token] === true && isOneToken(first, last))) continue;
      const gtin = isGtin(word) ? toComparableGtin(word) : undefined;
      runs.push({ word, gtin, places: [...places], isWhole, isLast });
    }
  }
  return runs;
}

const isLongEnough = (word: string, isWhole: boolean): boolean =>
  word.length >= minCodeLength ||
  (isWhole && word.length >= minWholeLength && numeral.test(word) && /\p{L}/u.test(word));

function parseWritten(query: string, tokens: readonly string[]): Written[] {
  const placeOf = new Map(parsePieces(query).map(({ word }, place) => [word, place]));
  const written: Written[] = [];
  for (const [token, text] of tokens.entries()) {
    for (const { word, whole = word, isMark } of generatePieces(text)) {
      if (written.length === maxPieces) return written;
      const place = placeOf.get(word);
      // A mark is not part of a code.
      if (place !== undefined) written.push({ word: isMark === true ? '' : whole, token, place });
    }
  }
  return written;
}
