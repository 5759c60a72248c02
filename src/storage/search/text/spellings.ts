/** English words with two spellings: a shop writes `moisturiser` or `moisturizer`, and shoppers search for both. */
import { toWordMap } from '../../../arrays/words.ts';

/** The British and American beginnings of words, which all of their forms share. */
const starts = 'arm behavi col endeav fav flav glam harb hon hum lab neighb od parl rum sav tum vap vig';
const pairs = starts.split(' ').map(start => [`${start}our`, `${start}or`] as const);
const others = toWordMap(
  `aeroplane:airplane aluminium:aluminum catalogue:catalog centre:center cosy:cozy defence:defense doughnut:donut
  fibre:fiber grey:gray jewellery:jewelry litre:liter mould:mold orthopaedic:orthopedic plough:plow pyjama:pajama
  theatre:theater traveller:traveler travelling:traveling tyre:tire yoghurt:yogurt`,
);
const all = [...pairs, ...others];
const british = new Map(all);
const american = new Map(all.map(([one, other]) => [other, one]));
const maxStartLength = Math.max(...all.flat().map(({ length }) => length));

/** The word with its beginning in the other spelling. */
function replaceStart(word: string, spellings: ReadonlyMap<string, string>): string {
  for (let length = Math.min(word.length, maxStartLength); length > 0; length--) {
    const other = spellings.get(word.slice(0, length));
    if (other !== undefined) return other + word.slice(length);
  }
  return word;
}

/** Longer than `rise` and `prize`, which have no other spelling. */
const endsBritish = /^(.{4,})is(e[ds]?|ers?|ings?|ations?)$/;
const endsAmerican = /^(.{4,})iz(e[ds]?|ers?|ings?|ations?)$/;

/** The word in its American spelling, in which forms of both spellings are compared. */
export const toAmerican = (word: string): string =>
  replaceStart(word, british).replace(endsBritish, '$1iz$2');

/** Whether the word has no other, American spelling. */
export const isAmerican = (word: string): boolean => toAmerican(word) === word;

export function findOtherSpelling(word: string): string | undefined {
  const spelt = toAmerican(word);
  const other = spelt === word ? replaceStart(word, american).replace(endsAmerican, '$1is$2') : spelt;
  return other === word ? undefined : other;
}
